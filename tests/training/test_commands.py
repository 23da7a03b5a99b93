"""`incognote distill synth | select | annotate | translate`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.llm.base import Request
from incognote.prompts.loader import asked
from incognote.schemas.policy import load_policy
from incognote.testing import LocalServer

from .conftest import Run

pytest.importorskip("faker", reason="the generator draws names from Faker: pip install 'incognote[distill]'")


@pytest.fixture
def corpus(run: Run, tmp_path: Path) -> Path:
    settings = tmp_path / "distill.toml"
    settings.write_text("[synth]\nhandwritten = false\nn = 90\n", encoding="utf-8")
    words = ["--config", settings, "--seed", "4", "--sheet", tmp_path / "sheet.md"]
    made = run("distill", "synth", *words, "-o", tmp_path / "corpus.jsonl")
    assert made.code == 0, made.err
    assert "% without PHI" in made.out
    assert "| share a run of eight words with another |" in (tmp_path / "sheet.md").read_text(encoding="utf-8")
    return tmp_path / "corpus.jsonl"


def test_the_path_from_synthesis_to_soft_labels(run: Run, corpus: Path, tmp_path: Path) -> None:
    chosen, soft = tmp_path / "chosen.jsonl", tmp_path / "soft.jsonl"
    told = run("distill", "select", corpus, "-n", "30", "-o", chosen, "--json")
    assert json.loads(told.out)["data"]["chosen"] == 30
    assert run("distill", "annotate", chosen, "-o", soft).code == 0
    lines = [json.loads(line) for line in soft.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 30
    assert any(line["soft"] for line in lines)
    assert all(0.99 < sum(word["votes"].values()) < 1.01 for line in lines for word in line["soft"])


def test_the_cost_is_told_and_a_model_on_this_computer_is_asked(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    nothing = json.dumps({kind: [] for kind in asked(load_policy("strict"))})
    chosen, out = tmp_path / "chosen.jsonl", tmp_path / "soft.jsonl"
    run("distill", "select", corpus, "-n", "2", "-o", chosen)
    with LocalServer(lambda request: nothing) as server:
        words = [
            "distill",
            "annotate",
            chosen,
            "-o",
            out,
            "--model",
            "openai/stub",
            "--api-base",
            server.url,
            "-k",
            "2",
        ]
        told = run(*words, "--synthetic", "--estimate")
        assert "estimate:" in told.out
        assert not out.exists()
        told = run(*words, "--synthetic", "--yes")
    assert told.code == 0, told.err
    assert len(out.read_text(encoding="utf-8").splitlines()) == 2
    assert (tmp_path / "soft.jsonl.replies.jsonl").exists()


def test_an_unknown_setting_is_named(run: Run, tmp_path: Path) -> None:
    settings = tmp_path / "distill.toml"
    settings.write_text("[synth]\nmany = 3\n", encoding="utf-8")
    told = run("distill", "synth", "--config", settings, "-o", tmp_path / "x.jsonl")
    assert told.code == 2
    assert "many" in told.err
    assert not (tmp_path / "x.jsonl").exists()


def test_a_corpus_that_is_none_is_told_by_line_without_its_words(run: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "a", "text": "Ana Quispe"}\n', encoding="utf-8")
    told = run("distill", "select", corpus, "-o", tmp_path / "x.jsonl")
    assert told.code == 1
    assert "line 1" in told.err
    assert "Quispe" not in told.err


@pytest.fixture
def english(tmp_path: Path) -> Path:
    path = tmp_path / "english.jsonl"
    spans = [{"start": 8, "end": 18, "type": "PATIENT"}, {"start": 22, "end": 27, "type": "DATE"}]
    first = {"id": "a", "text": "Letter, Mary Abara on May 3.", "spans": spans}
    second = {"id": "b", "text": "For Ana.", "spans": [{"start": 4, "end": 7, "type": "PATIENT"}]}
    path.write_text("".join(json.dumps(row) + "\n" for row in (first, second)), encoding="utf-8")
    return path


def test_prompts_are_written_without_a_model_and_replies_to_them_make_documents(
    run: Run, english: Path, tmp_path: Path
) -> None:
    prompts, replies, out = (tmp_path / name for name in ("prompts.jsonl", "replies.jsonl", "ar.jsonl"))
    words = ["distill", "translate", "--corpus", english, "--language", "ar"]
    assert run(*words, "--prompts", prompts).out == "2 prompts\n"
    rows = [json.loads(line) for line in prompts.read_text(encoding="utf-8").splitlines()]
    assert [row["user"] for row in rows] == ["Letter, PATIENT1 on DATE1.", "For PATIENT1."]
    replies.write_text(
        '{"id": "a", "reply": "رسالة، في DATE1 لPATIENT1."}\n{"id": "b", "reply": "للمريضة."}\n', encoding="utf-8"
    )
    told = run(*words, "--replies", replies, "-o", out, "--json")
    assert told.data == {
        "documents": 2,
        "translated": 1,
        "rejected": {"lost type word": 1},
        "type words": {"expected": 3, "lost": 1, "doubled": 0, "unknown": 0, "inflected": 1, "reordered": 1},
    }
    (made,) = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert (made["id"], made["lang"], [span["type"] for span in made["spans"]]) == ("a-ar", "ar", ["DATE", "PATIENT"])
    told = run(*words, "--replies", replies, "-o", out, "--overwrite")
    assert "1 of 2 documents translated" in told.out
    assert "rejected: lost type word 1" in told.out
    assert "inflected 1" in told.out


def test_a_model_on_this_computer_translates_and_its_replies_are_recorded(
    run: Run, english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    sent: list[str] = []

    def answer(request: Request) -> str:
        sent.append(request.messages[-1].content)
        return "Brief: " + sent[-1]

    out = tmp_path / "de.jsonl"
    with LocalServer(answer) as server:
        words = ["distill", "translate", "--corpus", english, "--language", "de", "-o", out, "--synthetic", "--yes"]
        words += ["--model", "openai/stub", "--api-base", server.url]
        told = run(*words, "--estimate")
        assert "estimate: 2 calls" in told.out
        assert not out.exists()
        told = run(*words)
        assert told.code == 0, told.err
        first = out.read_bytes()
        assert run(*words, "--overwrite").code == 0
    assert out.read_bytes() == first
    assert len(first.splitlines()) == 2
    assert len(sent) == 2
    assert (tmp_path / "de.jsonl.replies.jsonl").exists()


def test_translate_needs_exactly_one_source_of_replies(run: Run, english: Path, tmp_path: Path) -> None:
    words = ["distill", "translate", "--corpus", english, "--language", "de"]
    for more in ([], ["-o", tmp_path / "x"], ["--prompts", tmp_path / "x", "-o", tmp_path / "y"]):
        told = run(*words, *more)
        assert told.code == 2
        assert "--prompts" in told.err
    assert not (tmp_path / "x").exists()
