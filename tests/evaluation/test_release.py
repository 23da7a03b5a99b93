"""What a release would leak, counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote import Deidentifier, UsageError
from incognote.evaluation.release import release

NOTES = [
    {"id": "1", "text": "Seen by Dr. Abara.", "spans": [{"start": 12, "end": 17, "type": "PERSON"}]},
    {"id": "2", "text": "the quuxley came", "spans": [{"start": 4, "end": 11, "type": "PERSON"}]},
    {"id": "3", "text": "BP 120/80, afebrile.", "spans": []},
]


def test_verdicts_and_leaks_are_counted(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(note) + "\n" for note in NOTES), encoding="utf-8")
    told = release(gold, Deidentifier())
    assert (told.released.value, told.released.of) == (1.0, 3)
    assert told.review.value == 0.0
    assert (told.leaking.value, told.leaking.of) == (0.5, 2)
    assert json.loads(json.dumps(told.as_dict()))["leaking"]["of"] == 2
    assert any("0.500" in line for line in told.lines())


def test_no_gold_means_no_score(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(UsageError):
        release(empty, Deidentifier())
