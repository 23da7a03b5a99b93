"""Frames become intervals: hysteresis, the shortest voice, the shortest pause, and padding."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.speech.nouns import RATE, Interval
from incognote.speech.vad.smoothing import Smoothing, frames

FRAME = RATE // 10  # 0.1 s
PLAIN = Smoothing(threshold=0.5, release=0.5, speech=0.1, silence=0.1)


def heard(smoothing: Smoothing, scores: list[float]) -> list[tuple[float, float]]:
    return [(round(each.start, 3), round(each.end, 3)) for each in smoothing.voices(scores, FRAME)]


def test_a_voice_begins_at_the_threshold_and_ends_below_the_release() -> None:
    smoothing = Smoothing(threshold=0.6, release=0.3, speech=0.1, silence=0.1)

    assert heard(smoothing, [0.5, 0.6, 0.4, 0.3, 0.2, 0.5, 0.1]) == [(0.1, 0.4)]


def test_a_shorter_voice_is_dropped_and_a_shorter_pause_belongs_to_the_voice() -> None:
    smoothing = Smoothing(threshold=0.5, release=0.5, speech=0.3, silence=0.2)

    assert heard(smoothing, [1, 0, 1, 0, 0, 1, 1, 0, 0]) == [(0.0, 0.3)]


def test_padding_is_added_on_both_sides_from_the_start_on_and_joins_what_meets() -> None:
    smoothing = Smoothing(threshold=0.5, release=0.5, speech=0.1, silence=0.1, padding=0.15)

    assert heard(smoothing, [1, 0, 0, 1, 0, 0, 0, 0, 1]) == [(0.0, 0.55), (0.65, 1.05)]


def test_a_voice_up_to_the_end_ends_with_the_last_frame() -> None:
    assert heard(PLAIN, [0, 1, 1]) == [(0.1, 0.3)]


@given(st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 1.0]), max_size=60), st.sampled_from([0.0, 0.05, 0.25]))
def test_every_voice_of_frames_is_covered_and_voices_are_apart(scores: list[float], padding: float) -> None:
    voices = list(Smoothing(0.5, 0.3, speech=0.1, silence=0.2, padding=padding).voices(scores, FRAME))

    assert all(first.end < second.start for first, second in pairwise(voices))
    for place, score in enumerate(scores):
        if score >= 0.5:
            inside = Interval(place * 0.1 + 0.001, place * 0.1 + 0.099)
            assert any(each.start <= inside.start and inside.end <= each.end for each in voices)


@pytest.mark.parametrize("sizes", [[0], [5], [1, 1, 1], [7, 0, 3], [4, 4]])
def test_frames_hold_the_sound_and_then_zeros(sizes: list[int]) -> None:
    sound = np.arange(1, sum(sizes) + 1, dtype=np.int16)
    parts = np.split(sound, np.cumsum(sizes)[:-1])

    cut = list(frames(parts, 4))

    joined = np.concatenate(cut) if cut else np.zeros(0, dtype=np.int16)
    assert all(len(frame) == 4 for frame in cut)
    assert np.array_equal(joined[: len(sound)], sound)
    assert not joined[len(sound) :].any()
    assert len(joined) - len(sound) < 4
