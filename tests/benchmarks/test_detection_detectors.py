"""The detector benchmark runs and reports every promised figure. No test checks speed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote_benchmarks.detection.detectors import WAYS, bench, main


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    text = "Seen by Dr. Ottoline Vandersloot on 03/14/2024.\nDoing well, no pain.\n"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for _ in range(6)), encoding="utf-8")
    return path


def test_it_tells_speed_price_and_memory_of_every_way(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = notes.parent / "out.json"
    asked = ["--words", "20", "--notes", "2", "--rounds", "1", "--dollars", "3.6", "--out", str(out)]
    assert main([str(notes), *asked]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["corpus"]["notes"] == 2
    assert list(told["ways"]) == list(WAYS)
    for row in told["ways"].values():
        hours = 1e6 / row["notes_per_second_and_core"] / 3600
        assert row["core_hours_per_million"] == pytest.approx(hours, rel=0.02, abs=0.06)
        assert row["dollars_per_million"] == pytest.approx(3.6 * hours, rel=0.02, abs=0.06)
        assert row["spans"] >= 2
    assert "notes/s" in capsys.readouterr().out


def test_too_little_text_is_said_so(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(notes), "--words", "50", "--notes", "9"]) == 2
    assert "the files hold 1 notes of 50 words" in capsys.readouterr().err
    assert bench([notes], words=10, notes=1, rounds=1)["corpus"]["words"] == 10
