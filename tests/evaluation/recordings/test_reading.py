"""Reading of intervals of recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.recordings.reading import FAILED, holds_intervals, pairs
from incognote.evaluation.recordings.report import evaluate_recordings
from incognote.speech.nouns import Interval


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def name(start: float, end: float, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "type": "PERSON", **more}


def test_intervals_of_one_phrase_are_one_identifier(tmp_path: Path) -> None:
    row = {"id": "a", "intervals": [name(1, 2, phrase=7), name(3, 4), name(2, 2.5, phrase=7)]}
    gold = lines(tmp_path / "gold.jsonl", row)
    found = lines(tmp_path / "found.jsonl", {"id": "a", "intervals": [name(0, 9)], "verdict": "release"})
    [pair] = pairs(gold, found)
    assert not isinstance(pair, CorpusProblem)
    assert [each.times for each in pair[0].identifiers] == [
        (Interval(1, 2), Interval(2, 2.5)),
        (Interval(3, 4),),
    ]
    assert (pair[1].muted, pair[1].verdict) == ((Interval(0, 9),), "release")


@pytest.mark.parametrize("rows", [[], [{"id": "a", "error": "unsupported-format"}]])
def test_a_recording_without_a_usable_line_counts_as_not_muted(tmp_path: Path, rows: list[Any]) -> None:
    gold = lines(tmp_path / "gold.jsonl", {"id": "a", "intervals": [name(1, 2)]})
    problem, pair = pairs(gold, lines(tmp_path / "found.jsonl", *rows))
    assert isinstance(problem, CorpusProblem)
    assert problem.scored
    assert not isinstance(pair, CorpusProblem)
    assert (pair[1].muted, pair[1].verdict) == ((), FAILED)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "b", "intervals": [name(2, 1)]},
        {"id": "b", "intervals": [name(-1, 1)]},
        {"id": "b", "intervals": [{"start": 0, "end": 1}]},
        {"intervals": []},
        ["b"],
    ],
)
def test_a_line_that_does_not_fit_is_a_problem_and_the_others_are_read(tmp_path: Path, row: Any) -> None:
    gold = lines(tmp_path / "gold.jsonl", {"id": "a", "intervals": []}, row)
    found = lines(tmp_path / "found.jsonl", {"id": "a", "intervals": []})
    problems = [each for each in pairs(gold, found) if isinstance(each, CorpusProblem)]
    assert len(problems) == 1


def test_only_lines_with_intervals_are_gold_of_recordings(tmp_path: Path) -> None:
    assert holds_intervals(lines(tmp_path / "a.jsonl", {"id": "a", "intervals": []}))
    assert not holds_intervals(lines(tmp_path / "b.jsonl", {"id": "a", "boxes": []}))
    assert not holds_intervals(lines(tmp_path / "c.txt", {"id": "a", "intervals": []}))
    assert not holds_intervals(tmp_path)


def test_the_report_says_what_was_scored_and_holds_no_words(tmp_path: Path) -> None:
    speech = [{"start": 0, "end": 1, "text": "Harper"}]
    gold = lines(tmp_path / "made-up.jsonl", {"id": "a", "intervals": [name(1, 2)], "speech": speech})
    found = lines(tmp_path / "found.jsonl", {"id": "a", "intervals": [name(0.5, 2)]})
    report = evaluate_recordings(gold, found, synthetic=True)
    assert report.provenance == "made-up (synthetic) · n = 1 recordings, 1 identifiers"
    assert "Harper" not in json.dumps(report.as_dict())
    assert report.figures["speech_seconds_kept"].value == 0.5


def test_gold_without_a_recording_is_refused(tmp_path: Path) -> None:
    empty = lines(tmp_path / "gold.jsonl")
    with pytest.raises(UsageError, match="no recording"):
        evaluate_recordings(empty, empty)
