"""`incognote evaluate` on intervals of recordings, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    speech = [{"start": 0, "end": 1, "fact": True}, {"start": 1, "end": 2}]
    row = {"id": "a.wav", "intervals": [{"start": 1, "end": 2, "type": "PERSON"}], "speech": speech}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def found(tmp_path: Path) -> Path:
    path = tmp_path / "found.jsonl"
    muted = {"start": 0.7, "end": 2.3, "type": "PERSON", "score": 0.9, "sources": ["rules"]}
    path.write_text(json.dumps({"id": "a.wav", "intervals": [muted], "verdict": "release"}) + "\n", encoding="utf-8")
    return path


def test_intervals_are_told_from_texts_by_their_content(run: Run, gold: Path, found: Path) -> None:
    done = run("evaluate", gold, found)
    assert done.code == 0
    for line in ("Seconds of identifiers: muted", "Seconds of other speech: kept", "wholly muted, by type"):
        assert line in done.out
    scores = run("evaluate", gold, "--pred", found, "--json").data["figures"]
    assert scores["phi_seconds_muted"]["value"] == 1.0
    assert scores["speech_seconds_kept"]["value"] == pytest.approx(0.7)


def test_a_recording_without_a_line_makes_the_exit_code_1(run: Run, gold: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    done = run("evaluate", gold, empty)
    assert done.code == 1
    assert "no line; counted as nothing muted" in done.out


def test_options_for_pages_are_refused(run: Run, gold: Path, found: Path) -> None:
    assert "GOLD holds intervals of recordings" in run("evaluate", gold, found, "--iou", "0.5").err
    assert "Name one file of intervals" in run("evaluate", gold).err


def test_the_timelines_are_written_as_a_page(run: Run, gold: Path, found: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("evaluate", gold, found, "--html", page).code == 0
    assert "a.wav: 0.7 s kept, 1.6 s muted" in page.read_text(encoding="utf-8")
    assert "--overwrite" in run("evaluate", gold, found, "--html", page).err
