"""`incognote distill synth | select | annotate`, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
