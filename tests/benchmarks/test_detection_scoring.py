"""The scoring benchmark runs and reports every promised figure. No test checks speed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote_benchmarks.detection.scoring import bench, main


def test_it_tells_time_and_memory_of_all_documents_and_of_a_tenth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes, out = tmp_path / "notes.jsonl", tmp_path / "scoring.json"
    spans = [{"start": 8, "end": 16, "type": "CLINICIAN"}]
    notes.write_text(json.dumps({"id": "1", "text": "Seen by Dr. Lund.", "spans": spans}) + "\n", encoding="utf-8")
    main(["--notes", str(notes), "--documents", "20", "--characters", "90", "--out", str(out)])
    told = json.loads(out.read_text(encoding="utf-8"))
    assert json.loads(capsys.readouterr().out) == told
    assert told["corpus"] == {"made_of": "notes.jsonl", "synthetic": None, "characters": 90}
    assert {name: (run["documents"], run["gold_spans"]) for name, run in told["runs"].items()} == {
        "2": (2, 10), "20": (20, 100),
    }  # fmt: skip
    for run in told["runs"].values():
        assert run["processor_seconds"] > 0
        assert 0 < run["recall"] < 1


def test_notes_without_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text('{"id": "1", "text": "", "spans": []}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"empty\.jsonl: no text"):
        bench(tmp_path / "empty.jsonl")
