"""The papers' tables, filled from recorded replies of a language model and from echoes that we wrote.

The development notes are synthetic. The echoes are the notes with their gold spans censored, so their scores are known.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import ModelProblem
from incognote.evaluation.intervals import Figure
from incognote.jsonlines import read_rows
from incognote.llm.base import Reply
from incognote.llm.recording import Recording
from incognote_benchmarks.peers.echo import baselines, echo_request
from incognote_benchmarks.recorded import MODEL, System
from incognote_benchmarks.tables import ECHOES, main

DATA = Path(__file__).parents[1] / "data"
DOCS = Path(__file__).parents[2] / "docs"
NOTES, PROMPT, ECHO = 14, "extract/v2", "echo, brief"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Short notes that the recorded model answered, its replies, and echoes: all exact except for the first.

    The model did not answer `others.jsonl`. They have echoes only.
    """
    folder = tmp_path_factory.mktemp("tables")
    replies = (DATA / "replies" / "extract-v2.jsonl").read_text(encoding="utf-8")
    (folder / "extract-v2.jsonl").write_text(replies, encoding="utf-8")
    lines = (DATA / "notes.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: len(row["text"]))
    rows = [row for row in rows if len(row["text"]) > 200][:60]
    with System("", PROMPT, detectors=()).open(folder) as opened:
        found = opened.detect_each([row["text"] for row in rows])
    kept = [row for row, spans in zip(rows, found, strict=True) if not isinstance(spans, ModelProblem)]
    kept = [*[row for row in kept if row["spans"]][: NOTES - 2], *[row for row in kept if not row["spans"]][:2]]
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    others = [{"id": f"other-{i}", "text": f"Visit {i}: well.", "spans": []} for i in range(60)]
    (folder / "others.jsonl").write_text("".join(json.dumps(row) + "\n" for row in others), encoding="utf-8")
    recording = Recording(folder / ECHOES, plain=True)
    for number, row in enumerate([*kept, *others]):
        echo = row["text"]
        for span in sorted(row["spans"], key=lambda span: -span["start"]):
            echo = echo[: span["start"]] + "[Censored]" + echo[span["end"] :]
        request = echo_request(row["text"], baselines()["brief"])
        recording.keep_reply(request.address(MODEL), Reply(echo if number else f"Of course: {echo}"))
    return folder


@pytest.fixture(scope="module")
def written(folder: Path) -> Path:
    """The folder with tables.json and tables.md."""
    out, page = folder / "tables.json", folder / "tables.md"
    notes = [str(folder / "others.jsonl"), str(folder / "notes.jsonl")]
    main([*notes, "--replies", str(folder), "--prompt", PROMPT, f"--out={out}", f"--page={page}"])
    return folder


@pytest.fixture(scope="module")
def systems(written: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((written / "tables.json").read_text(encoding="utf-8"))["with_echoes"]
    return loaded


def test_all_systems_are_scored_on_the_notes_that_have_every_reply(systems: dict[str, Any]) -> None:
    assert list(systems)[:4] == ["rules", "encoder", "rules + encoder", "model"]
    assert {row["redactor"]["documents"] for row in systems.values()} == {NOTES}


def test_a_baseline_without_a_recorded_echo_is_left_out(systems: dict[str, Any]) -> None:
    assert [name for name, row in systems.items() if row["changes"]] == [ECHO]


def test_a_perfect_echo_leaves_no_identifier(systems: dict[str, Any]) -> None:
    """Which of two adjacent marks covers a word between them is not always clear, so a few entities differ."""
    assert systems[ECHO]["characters"]["documents_leaking"]["value"] == 0
    assert systems[ECHO]["redactor"]["untyped"]["recall"]["value"] > 0.95


def test_words_that_an_echo_adds_are_counted_per_thousand(systems: dict[str, Any], written: Path) -> None:
    changes = systems[ECHO]["changes"]
    words = sum(len(row["text"].split()) for _, row in read_rows(written / "notes.jsonl"))
    assert changes["notes_changed"]["value"] == 1 / NOTES
    assert changes["words_lost_per_1000"]["value"] == 0
    assert changes["words_added_per_1000"]["value"] == pytest.approx(2000 / words)


def test_the_utility_score_is_what_remains_times_the_f1_of_table_1(systems: dict[str, Any]) -> None:
    assert systems
    for row in systems.values():
        score, f1 = row["clinical_utility_score"], row["redactor"]["untyped"]["f1"]["value"]
        assert score["value"] == pytest.approx((1 - row["information_loss"]["value"]) * f1)
        assert score["low"] < score["value"] < score["high"]


def test_tokens_are_counted_for_systems_that_ask_the_model(systems: dict[str, Any]) -> None:
    assert systems["rules"]["tokens_per_note"] == 0
    assert 0 < systems[ECHO]["tokens_per_note"] < systems["model"]["tokens_per_note"]


def test_an_echo_is_in_table_1_but_not_in_the_tables_by_type(written: Path) -> None:
    first, _, echoes = (written / "tables.md").read_text(encoding="utf-8").partition("## Echo baselines")
    assert "Layout of Table 3" in first
    assert ECHO not in first
    assert f"| {ECHO} |" in echoes[echoes.index("Layout of Table 1") :]
    assert "Layout of Table 2" not in echoes


def test_neither_file_holds_words_of_a_note(written: Path) -> None:
    shown = (written / "tables.json").read_text(encoding="utf-8") + (written / "tables.md").read_text(encoding="utf-8")
    rows = list(read_rows(written / "notes.jsonl"))
    assert rows
    for _, row in rows:
        assert row["id"] not in shown
        assert row["text"][:20] not in shown


def test_the_page_on_accuracy_shows_the_published_figures() -> None:
    published = json.loads((DOCS / "measured" / "tables.json").read_text(encoding="utf-8"))["systems"]
    page = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    section = page.partition("## With a language model")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    assert {row[0] for row in rows} == set(published) - {"gold spans"}
    for name, *shown in rows:
        by_character = {column: Figure(**figure) for column, figure in published[name]["characters"].items()}
        assert shown[:2] == [str(by_character["recall"]), str(by_character["precision"])]
        shares = [by_character["documents_leaking"], by_character["clean_texts_touched"]]
        assert shown[2:4] == [f"{each.value:.0%} [{each.low:.0%}, {each.high:.0%}]" for each in shares]
