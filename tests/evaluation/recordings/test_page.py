"""The page of timelines of muted recordings."""

from __future__ import annotations

import json
import re
from pathlib import Path

from incognote.evaluation.recordings.measures import GoldRecording, MutedRecording, SpokenIdentifier
from incognote.evaluation.recordings.page import said, timeline, write_page
from incognote.evaluation.recordings.report import evaluate_recordings
from incognote.speech.nouns import Interval

GOLD = GoldRecording("a", (SpokenIdentifier("PERSON", (Interval(2.0, 4.0),)),), (Interval(0.0, 10.0),))


def test_a_released_recording_is_kept_and_muted_seconds() -> None:
    found = MutedRecording("a", (Interval(1.5, 3.0),), "release")
    assert said(GOLD, found) == "8.5 s kept, 1.5 s muted; 1.0 s of identifiers are audible"


def test_a_recording_in_review_is_held() -> None:
    found = MutedRecording("a", (Interval(1.5, 4.5),), "review")
    assert said(GOLD, found) == "10.0 s held (review), of which 3.0 s would be muted"
    assert "held: the recording is not released: 0.00 to 1.50 s" in timeline(GOLD, found)


def test_the_bars_of_a_timeline_are_where_the_seconds_are() -> None:
    made = timeline(GOLD, MutedRecording("a", (Interval(1.5, 3.0),), "release"))
    bars = re.findall(r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"[^>]*><title>([^<]+):', made)
    assert [(float(x), float(wide), what) for x, _, wide, what in bars] == [
        (200, 100, "identifier, muted"), (300, 100, "identifier, not muted"), (0, 150, "kept"), (300, 700, "kept"),
        (150, 150, "muted"),
    ]  # fmt: skip


def test_an_empty_recording_has_a_timeline() -> None:
    assert said(GoldRecording("a", ()), MutedRecording("a", ())) == "0.0 s kept, 0.0 s muted"
    assert timeline(GoldRecording("a", ()), MutedRecording("a", ())).endswith("</svg>")


def test_the_page_shows_the_worst_recording_first_and_loads_nothing(tmp_path: Path) -> None:
    rows = [("fine", 2.0), ("bad<b>", 0.5)]
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
    gold.write_text("".join(
        json.dumps({"id": name, "intervals": [{"start": 1, "end": 2, "type": "PERSON"}]}) + "\n" for name, _ in rows
    ))  # fmt: skip
    found.write_text("".join(
        json.dumps({"id": name, "intervals": [{"start": 0, "end": end, "type": "PERSON"}], "verdict": "release"}) + "\n"
        for name, end in rows
    ))  # fmt: skip
    write_page(tmp_path / "page.html", evaluate_recordings(gold, found, resamples=10), gold, found)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r"<figcaption>([^:]+):", page) == ["bad&lt;b&gt;", "fine"]
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!#)', page)
