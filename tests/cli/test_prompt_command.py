"""`incognote prompt`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.llm.base import Request
from incognote.prompts.loader import load, relex_prompt
from incognote.schemas.catalogue import catalogue
from incognote.testing import LocalServer, text_of

Run = Callable[..., Any]
DATA = Path(__file__).parents[1] / "data"
NOTE = "Seen by Zuleika Abara on 3/1, who thought that the wound was dry and the stitches could come out."


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(
        'base = "extract/v2"\n[append]\nguidelines = "- Mind nicknames."\n[entities.DATE]\nadd = "Bare years too."\n'
        '[[examples]]\ntext = "Call [[PERSON|Bob Stone]] back."\n'
    )
    return path


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Sixty short notes, each with a unique name. In a third of them, the name is in lower case."""
    rows = []
    for at in range(60):
        name = f"Abara{chr(97 + at % 26)}{chr(97 + at // 26)}"
        name = name.lower() if at % 3 == 0 else name
        text = f"Case {at}: {name} looked at the wound {at}, {at + 1} and {at + 2} times and went home again."
        start = text.index(name)
        rows.append(
            {"id": f"n{at}", "text": text, "spans": [{"start": start, "end": start + len(name), "type": "PERSON"}]}
        )
    path = tmp_path / "dev.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_shipped_prompts_are_listed_and_shown(run: Run) -> None:
    names = [row["name"] for row in run("prompt", "list", "--json").data["prompts"]]
    relex = ["relex/cluster/v1", "relex/query/v2", "relex/decision/v2", "relex/replacement/v2"]
    assert names == ["extract/v1", "extract/v2", "extract/v3", "propose/v1", *relex]
    assert load("extract/v2").version in run("prompt", "list").out
    assert "[guidelines]" in run("prompt", "show", "extract/v2").out
    assert "You improve the instructions" in run("prompt", "show", "propose/v1").out
    assert "[input]" in run("prompt", "show", "relex/decision/v2").out
    assert relex_prompt("relex/decision/v2").version in run("prompt", "show", "relex/decision/v2").out
    assert run("prompt", "show", "extract/v9").code == 2
    assert "relex/cluster/v1" in run("prompt", "show", "relex/cluster/v9").err


def test_a_diff_tells_what_an_overlay_changes_and_no_words_of_examples_unless_asked(run: Run, mine: Path) -> None:
    told = run("prompt", "diff", "extract/v2", mine).out
    assert "+- Mind nicknames." in told
    assert "Bare years too." in told
    assert "+[example 1] 20 characters, 1 identifiers: PERSON" in told
    assert "Bob Stone" not in told
    assert "[[PERSON|Bob Stone]]" in run("prompt", "diff", "extract/v2", mine, "--examples").out
    assert run("prompt", "diff", mine, mine).out == "The two prompts are the same.\n"


def test_lint_finds_what_loads_and_would_not_serve(run: Run, mine: Path, tmp_path: Path) -> None:
    assert run("prompt", "lint", "extract/v2").out.endswith("no faults\n")
    assert run("prompt", "lint", mine).code == 0
    mine.write_text('base = "extract/v2"\n[entities.PATIENT]\nadd = "x"\n[[examples]]\ntext = "The wound is dry."\n')
    done = run("prompt", "lint", mine)
    assert done.code == 1
    assert "error: entities.PATIENT: the policy requests it from no model: move it to PERSON" in done.out
    assert "warning: examples: none holds an identifier" in done.out
    corpus = tmp_path / "dev.jsonl"
    corpus.write_text(json.dumps({"id": "a", "text": "Monday: the wound is dry.", "spans": []}) + "\n")
    faults = run("prompt", "lint", mine, "--against", corpus, "--json")
    assert faults.code == 1
    assert {"error", "warning"} == {fault["level"] for fault in faults.data["faults"]}
    assert "examples 1: shares 8 consecutive words" in run("prompt", "lint", mine, "--against", corpus).out


def test_a_rendered_prompt_is_what_a_model_gets_word_for_word(
    run: Run, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note.txt"
    note.write_text(NOTE)
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "{}"

    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    with LocalServer(answer) as server:
        run("deid", note, "--model", "openai/any", "--api-base", server.url, "--prompt", mine, "--passes", "1")
    rendered = run("prompt", "render", mine, "--note", note).out
    assert rendered == "\n\n".join(message.content for message in asked[0].messages) + "\n"


def test_without_a_note_nothing_of_notes_or_examples_is_printed(run: Run, mine: Path) -> None:
    out = run("prompt", "render", mine).out
    assert "[1 examples: shown with --note]" in out
    assert "[the note]" in out
    assert "Bob Stone" not in out
    assert "# Checklist" in out


def test_a_long_note_is_rendered_chunk_by_chunk(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text(NOTE * 10)
    first = run("prompt", "render", "extract/v2", "--note", note, "--chunk-words", "64")
    assert "chunk 1 of" in first.err
    assert first.out != run("prompt", "render", "extract/v2", "--note", note, "--chunk-words", "64", "--chunk", "2").out
    assert run("prompt", "render", "extract/v2", "--note", note, "--chunk", "99").code == 2


def test_a_type_of_the_policys_own_can_be_spoken_of(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue(), "_types", dict(catalogue()._types))
    policy, mine = tmp_path / "trials.toml", tmp_path / "mine.toml"
    policy.write_text(
        'name = "trials"\nextends = "strict"\n[entities.STUDY_ARM]\nabout = "the arm of a trial"\n'
        'parent = "ORGANIZATION"\n[types.STUDY_ARM]\noperator = "label"\n'
    )
    mine.write_text('base = "extract/v2"\n[entities.STUDY_ARM]\nadd = "Colours too."\n')
    assert "entities.STUDY_ARM: unknown entity type" in run("prompt", "show", mine).err
    assert "STUDY_ARM: the arm of a trial Colours too." in run("prompt", "show", mine, "--policy", policy).out
    assert run("prompt", "lint", mine, "--policy", policy).code == 0


@pytest.mark.parametrize("strategy", ["random", "hardest", "covering"])
def test_examples_are_drawn_into_an_overlay_that_loads(run: Run, pool: Path, tmp_path: Path, strategy: str) -> None:
    out, other = tmp_path / "shots.toml", tmp_path / "other.jsonl"
    other.write_text(json.dumps({"id": "x", "text": NOTE}) + "\n")
    done = run("prompt", "examples", "extract/v2", "--pool", pool, "--against", other, "--k", 3, "--strategy", strategy,
               "--out", out)  # fmt: skip
    assert done.code == 0, done.err
    assert "Abara" not in done.out
    made = load(str(out))
    assert len(made.examples) == 3
    assert all(one.found for one in made.examples)
    assert out.stat().st_mode & 0o077 == 0
    assert f'strategy = "{strategy}"' in out.read_text()


def test_examples_never_come_from_a_test_set_or_quote_what_is_scored(run: Run, pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "shots.toml"
    same = run("prompt", "examples", "extract/v2", "--pool", pool, "--against", pool, "--out", out)
    assert same.code == 2
    assert "share no eight consecutive words" in same.err
    sealed = tmp_path / "notes_test.jsonl"
    sealed.write_text(pool.read_text())
    refused = run("prompt", "examples", "extract/v2", "--pool", sealed, "--against", pool, "--out", out)
    assert refused.code == 2
    assert "marked as a test set" in refused.err
    assert not out.exists()
    out.write_text("mine")
    assert (
        "already exists"
        in run("prompt", "examples", "extract/v2", "--pool", pool, "--against", pool, "--out", out).err
    )
    assert out.read_text() == "mine"


def test_a_proposal_goes_through_the_one_door_and_tells_its_cost(
    run: Run, pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)

    def answer(request: Request) -> str:
        system, text = request.messages[0].content, text_of(request)
        if "You improve the instructions" in system:
            return json.dumps({"guideline": "names of people, in lower case too", "reason": "they were missed"})
        name = text.split()[2]
        found = name if name[0].isupper() or "names of people, in lower case too" in system else ""
        return json.dumps({"PERSON": [f"<<{found}>>"]} if found else {})

    where = (
        "--gold",
        pool,
        "--out",
        tmp_path / "lab",
        "--rounds",
        1,
        "--budget-usd",
        1,
        "--synthetic",
        "--detectors",
        "llm",
    )
    with LocalServer(answer) as server:
        refused = run("prompt", "propose", "extract/v2", "--model", "openai/gpt-4o-mini", *where, "--yes")
        assert refused.code == 1
        assert "incognote model agree" in refused.err
        model = ("--model", "openai/any", "--api-base", server.url)
        done = run("prompt", "propose", "extract/v2", *where, *model)
        calls = server.calls
        again = run("prompt", "propose", "extract/v2", *where, *model)
        assert server.calls == calls
    assert done.code == 0, done.err
    assert "at most 90 calls" in done.out
    assert "Cost of this run: 91 calls" in done.out
    assert "Cost of this run: 0 calls" in again.out
    assert "accepted" in done.out
    assert (
        load(str(tmp_path / "lab" / "accepted.toml")).guidelines["PERSON"].about == "names of people, in lower case too"
    )
    assert "abara" not in (tmp_path / "lab" / "ledger.jsonl").read_text().lower()


def test_variants_are_reviewed_and_judged_without_gold(run: Run, pool: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in pool.read_text().splitlines()]
    texts, folder, gold = tmp_path / "texts.jsonl", tmp_path / "review", tmp_path / "gold.jsonl"
    texts.write_text("".join(json.dumps({"id": row["id"], "text": row["text"]}) + "\n" for row in rows))
    for name, step in (("all", 1), ("half", 2)):
        lines = [{"id": row["id"], "spans": row["spans"] if at % step == 0 else []} for at, row in enumerate(rows)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = run("prompt", "review", tmp_path / "all.jsonl", tmp_path / "half.jsonl", "--texts", texts, "--out", folder,
               "--sample", 10)  # fmt: skip
    assert made.code == 0, made.err
    assert "30 of 30 marks on which they differ" in made.out
    assert "10 of 30 marks on which they agree" in made.out
    unfinished = run("prompt", "judged", folder, "--by", "Ada")
    assert unfinished.code == 2
    assert "50 of 50 items have no decision" in unfinished.err
    decided = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    for row in decided:
        row["decision"] = "accept" if row["marked"] else "reject"
    (folder / "decisions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in decided))
    found = run("prompt", "judged", folder, "--by", "Ada", "--out", gold, "--json").data
    assert [one["recall"]["value"] for one in found["variants"]] == [1.0, 0.5]
    assert found["variants"][1]["less"][0] == -0.5
    assert found["unmarked"]["value"] == 0
    assert json.loads(gold.read_text().splitlines()[0])["provenance"][0]["by"] == "Ada"
    shown = run("prompt", "judged", folder, "--by", "Ada").out
    assert "0.500" in shown
    assert "Abara" not in made.out + shown


def test_examples_are_not_chosen_to_be_near_a_test_set(run: Run, pool: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "test.jsonl"
    sealed.write_text(json.dumps({"id": "a", "text": "The wound is dry.", "spans": []}) + "\n")
    asked = ("prompt", "examples", "extract/v2", "--pool", pool, "--against", sealed, "--strategy", "similar")
    done = run(*asked, "--like", sealed, "--out", tmp_path / "near.toml")
    assert (done.code, "test.jsonl is marked as a test set" in done.err) == (2, True)
    assert not (tmp_path / "near.toml").exists()
