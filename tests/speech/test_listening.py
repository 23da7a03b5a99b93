"""Listening to a recording: stretches, times in the recording, and gaps, the voiced time without words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.speech.intervals import seconds
from incognote.speech.listening import EARLIEST, LONGEST, gaps_of, listen
from incognote.speech.nouns import RATE, HeardWord, Interval
from incognote.speech.vad.registry import detector_of
from incognote.testing.speech import KnownTranscript

from .spoken import blocks, noise, silence

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

TIMES = st.lists(st.integers(0, 600), max_size=12, unique=True).map(sorted)


class Stretches(KnownTranscript):
    """Also keeps the lengths of the stretches, in seconds."""

    def __init__(self, words: list[HeardWord]) -> None:
        super().__init__(words)
        self.lengths: list[float] = []

    def hear(self, sound: Samples, language: str) -> list[HeardWord]:
        self.lengths.append(len(sound) / RATE)
        return super().hear(sound, language)


def pieces(times: list[int]) -> list[Interval]:
    return [Interval(start / 100, end / 100) for start, end in zip(times[::2], times[1::2], strict=False)]


def test_gaps_of_the_papers_example() -> None:
    """A.5.1: three parts without words, of which two have a voice."""
    words = [
        HeardWord(text, start, end)
        for text, start, end in [("the", 2.95, 4.23), ("smith", 4.23, 7.42), ("a", 7.57, 15.10), ("they", 15.30, 20.0)]
    ]
    voiced = [Interval(2.85, 15.10), Interval(15.30, 20.0)]

    assert gaps_of(voiced, words) == (Interval(2.85, 2.95), Interval(7.42, 7.57))


@given(TIMES, TIMES, st.sampled_from([0.0, 0.1, 0.5]))
def test_gaps_are_voiced_without_words_and_not_short(voices: list[int], spoken: list[int], shortest: float) -> None:
    voiced, words = pieces(voices), [HeardWord("w", each.start, each.end) for each in pieces(spoken)]

    gaps = gaps_of(voiced, words, shortest)

    for gap in gaps:
        assert gap.end - gap.start > shortest - 1e-5
        assert any(each.start <= gap.start and gap.end <= each.end for each in voiced)
        assert all(word.end <= gap.start or gap.end <= word.start for word in words)
    if not shortest:
        covered = [max(0.0, min(v.end, w.end) - max(v.start, w.start)) for v in voiced for w in words]
        assert seconds(gaps) == pytest.approx(seconds(voiced) - sum(covered))


def test_words_of_all_stretches_have_their_times_in_the_recording() -> None:
    sound = np.concatenate([part for _ in range(10) for part in (noise(8.7, 3000), silence(0.6))])
    words = [HeardWord(f"w{at}", at * 9.3 + 1, at * 9.3 + 1.5) for at in range(10)]
    recognizer = Stretches(words)

    heard = listen(blocks(sound), recognizer, detector_of("webrtc"), "en")

    assert [(w.text, round(w.start, 3), round(w.end, 3)) for w in heard.words] == [
        (w.text, round(w.start, 3), round(w.end, 3)) for w in words
    ]
    assert heard.seconds == pytest.approx(93.0)
    assert sum(recognizer.lengths) == pytest.approx(93.0)
    assert all(EARLIEST < length <= LONGEST for length in recognizer.lengths[:-1])


def test_stretches_are_cut_in_pauses() -> None:
    sound = np.concatenate([noise(20, 3000), silence(0.4), noise(20, 3000, seed=1)])
    recognizer = Stretches([])

    listen(blocks(sound), recognizer, detector_of("webrtc"), "en")

    assert 20 <= recognizer.lengths[0] <= 20.4


@pytest.mark.parametrize("size", [160, 4096, 100 * RATE])
def test_the_size_of_the_blocks_changes_nothing(size: int) -> None:
    sound = np.concatenate([noise(12, 3000), silence(0.4), noise(25, 3000, seed=1), silence(1)])
    whole, cut = Stretches([]), Stretches([])

    expected = listen([sound], whole, detector_of("webrtc"), "en")

    assert listen(blocks(sound, size), cut, detector_of("webrtc"), "en") == expected
    assert cut.lengths == whole.lengths


def test_an_empty_recording_has_nothing_and_no_stretch() -> None:
    recognizer = Stretches([])

    heard = listen([], recognizer, detector_of("webrtc"), "en")

    assert (heard.words, heard.voiced, heard.gaps, heard.seconds) == ((), (), (), 0.0)
    assert recognizer.lengths == []


def test_the_recording_is_read_block_by_block_while_it_is_heard() -> None:
    heard_at: list[int] = []
    given_out = 0

    class Noting(KnownTranscript):
        def hear(self, sound: Samples, language: str) -> list[HeardWord]:
            heard_at.append(given_out)
            return super().hear(sound, language)

    def recording() -> Iterator[Samples]:
        nonlocal given_out
        for _ in range(120):
            given_out += 1
            yield noise(1, 3000)

    listen(recording(), Noting([]), detector_of("webrtc"), "en")

    assert heard_at[0] <= LONGEST
    assert all(later - earlier <= LONGEST for earlier, later in pairwise(heard_at[:-1]))


def test_words_are_in_no_representation() -> None:
    heard = listen([silence(3)], KnownTranscript([HeardWord("harper", 1, 2)]), detector_of("webrtc"), "en")

    assert heard.words[0].text == "harper"
    assert "harper" not in repr(heard)
