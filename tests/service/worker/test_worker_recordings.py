"""Recordings in a worker: each is delivered once with its identifiers muted, and one that was hard to hear waits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("soundfile", reason="needs the extra audio")

import numpy as np

from incognote.nouns import MutedInterval
from incognote.runs.destination import FolderDestination
from incognote.service.review import ReviewDecision, ReviewQueue
from incognote.service.worker.hooks import Hooks
from incognote.speech.files import SoundFile

from ...formats.audio import made  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from ...speech import spoken  # noqa: TID252 -- as above

KilledAt = Callable[[Any, str], AbstractContextManager[None]]
NAME = slice(round(1.9 * made.RATE), round(2.4 * made.RATE))
"""The samples of "thompson"."""


def samples(path: Path) -> np.ndarray:
    return np.concatenate(list(SoundFile(path.read_bytes()).samples()))


@pytest.fixture
def hard(monkeypatch: pytest.MonkeyPatch) -> None:
    """All recordings are hard to hear."""
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard(confidence=0.5))
    monkeypatch.setattr("incognote.formats.audio.second.heard", lambda *_: made.heard(confidence=0.5))


def test_a_spoken_recording_is_delivered_as_a_file_whose_name_says_nothing(house: Any) -> None:
    pytest.importorskip("pocketsphinx", reason="needs the extra audio")
    said = spoken.say("his doctor is doctor smith. his blood pressure is high.", "slt")
    house.put("doctor smith.wav", made.file(said))
    assert house.run().states == {"released": 1}
    [path] = (house.destination / "r1").glob("*.wav")
    assert "smith" not in path.name
    after = samples(path)[:, 0]
    assert len(after) == len(said)
    assert np.count_nonzero(after) < 0.8 * np.count_nonzero(said)
    assert np.array_equal(after[-made.RATE :], said[-made.RATE :])
    assert house.whole()


def test_an_approved_recording_is_delivered_with_the_added_time_muted(
    house: Any, queue: ReviewQueue, hard: None
) -> None:
    house.put("visit.wav", made.file())
    assert house.run(house.worker(hooks=Hooks(reviews=queue))).states == {"review": 1}
    assert not list(house.destination.rglob("*.wav"))
    (entry,) = queue.list(None)
    case = queue.open(entry.id).case
    assert [reason.code for reason in case.reasons] == ["poor-hearing"]
    region = MutedInterval(5.0, 5.75, "PERSON", 1.0, ("person",))
    queue.decide(entry.id, ReviewDecision("approve", case.spans, (region,)), "Ada")
    house.run(house.worker(hooks=Hooks(reviews=queue)))
    assert house.counts() == {"released": 1}
    [path] = house.destination.rglob("*.wav")
    after = samples(path)
    assert not after[5 * made.RATE : round(5.75 * made.RATE)].any()
    assert not after[NAME].any()
    assert after[-100:].all()


@pytest.mark.parametrize("name", ["stage", "place"])
def test_a_worker_killed_at_a_step_leaves_each_recording_once(
    house: Any, killed_at: KilledAt, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard())
    monkeypatch.setattr("incognote.formats.audio.second.heard", lambda *_: made.heard())
    for number in range(3):
        house.put(f"{number}.wav", made.file(made.sound()[: -1 - number]))
    with killed_at(FolderDestination, name):
        house.run()
    house.run()
    lengths = sorted(len(samples(path)) for path in house.destination.rglob("*.wav"))
    assert lengths == [6 * made.RATE - 3 + number for number in range(3)]
    assert house.counts() == {"released": 3}
    assert house.whole()
