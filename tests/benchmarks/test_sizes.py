"""Chunk sizes are compared on recorded replies. A note without one of them is left out of every row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote_benchmarks.reading.sizes import WHOLE, main, measure, plot, written
from incognote_benchmarks.recorded import read_notes

DATA = Path(__file__).parents[1] / "data"
REPLIES = DATA / "replies" / "extract-v2.jsonl"


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five notes with a reply, one of which needs a second pass that has no reply, and a note without a reply."""
    lines = {json.loads(line)["id"]: line for line in read_notes([DATA / "notes.jsonl"])}
    chosen = [line for line in lines.values() if "ARQ-7799-NEPH-302" in line]
    replied = [line for line in lines.values() if 60 < len(json.loads(line)["text"].split()) < 100]
    path = tmp_path_factory.mktemp("sizes") / "some.jsonl"
    longest = max(lines.values(), key=len)
    path.write_text("\n".join([*chosen, *replied[:6], longest]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def measured(notes: Path) -> dict[str, Any]:
    return measure([notes], REPLIES, "extract/v2", (WHOLE,), ("need", 1))


def test_every_row_has_the_same_notes_and_what_they_cost(measured: dict[str, Any]) -> None:
    embedded, *rows = measured["rows"]
    assert [(row["words"], row["passes"]) for row in rows if "rules" in row["detectors"]] == [
        (WHOLE, "need"),
        (WHOLE, 1),
    ]
    assert {row["calls"]["of"] for row in measured["rows"]} == {8 - measured["left_out"]}
    assert measured["left_out"] >= 2  # no reply to the second pass of one, and none to the long one
    assert embedded["calls"]["value"] == embedded["tokens_in"]["value"] == 0
    for row in rows:
        assert row["calls"]["value"] == 1
        assert row["tokens_in"]["value"] > 10 * row["tokens_out"]["value"] > 0
        assert row["tokens_in"]["low"] <= row["tokens_in"]["value"] <= row["tokens_in"]["high"]
        assert row["cpu"]["value"] > 0


def test_the_page_and_the_picture_show_every_row(measured: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra evaluation")
    page = written(measured, "sizes.png")
    assert page.count("\n| whole note | need |") == page.count("\n| no model |") == 1
    assert f"{measured['left_out']} notes left out" in page
    plot(measured, tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").stat().st_size > 10_000


def test_a_size_for_which_no_note_has_replies_is_refused(notes: Path) -> None:
    with pytest.raises(UsageError, match=r"make\.py"):
        main(["--notes", str(notes), "--prompt", "extract/v2", "--words", "32"])
