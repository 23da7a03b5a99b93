"""Listen to a recording: its words, its voices, and the gaps, where a voice was heard but no word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.speech.intervals import subtraction
from incognote.speech.nouns import RATE, Heard, HeardWord, Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.asr.base import SpeechRecognizer
    from incognote.speech.nouns import Samples
    from incognote.speech.vad.base import VoiceDetector

LONGEST = 30.0
"""The longest stretch that a recognizer gets, in seconds."""
EARLIEST = 10.0
"""A stretch is cut at its quietest moment after this many seconds."""
GAP = 0.1
"""The shortest gap, in seconds: as the shortest one in RedactOR, A.5.1."""

_HOP = RATE // 50
_PAUSE = 10  # hops: 0.2 s


def listen(
    blocks: Iterable[Samples], recognizer: SpeechRecognizer, detector: VoiceDetector, language: str, gap: float = GAP
) -> Heard:
    """Return what is heard in a recording. Memory holds one stretch of at most `LONGEST` seconds.

    The recognizer hears the whole recording, also where the detector hears no voice.

    Args:
        blocks: consecutive blocks of any length, each read once.
        recognizer, detector: what listens.
        language: ISO 639-1.
        gap: voiced time without a word that is shorter than this is no gap, in seconds.

    Raises:
        MissingExtra, SettingError, RecordProblem: as the recognizer and the detector.
    """
    words: list[HeardWord] = []
    length = 0

    def passing() -> Iterator[Samples]:
        """Pass the blocks on to the detector. The recognizer hears each stretch as soon as it is complete."""
        nonlocal length
        for block in _bounded(blocks):
            length += len(block)
            cutter.add(block)
            for start, stretch in cutter.complete():
                words.extend(_within(recognizer.hear(stretch, language), start, len(stretch)))
            yield block

    cutter, sound = _Cutter(), passing()
    voices = list(detector.voiced(sound))
    for _ in sound:  # what the detector left unread
        pass
    for start, stretch in cutter.rest():
        words.extend(_within(recognizer.hear(stretch, language), start, len(stretch)))
    seconds = length / RATE
    voiced = tuple(Interval(min(each.start, seconds), min(each.end, seconds)) for each in voices)
    return Heard(tuple(words), voiced, gaps_of(voiced, words, gap), seconds)


def gaps_of(voiced: Iterable[Interval], words: Iterable[HeardWord], shortest: float = GAP) -> tuple[Interval, ...]:
    """Return the voiced time without words (RedactOR, A.5.1: set subtraction and VAD filtering).

    Args:
        voiced: the parts with a human voice.
        words: the words of the same recording.
        shortest: shorter gaps are dropped, in seconds.
    """
    wordless = subtraction(voiced, (word.interval for word in words))
    return tuple(each for each in wordless if each.end - each.start > shortest - 1e-6)


class _Cutter:
    """Cuts sound into stretches at its quietest moments."""

    def __init__(self) -> None:
        self._start = 0
        self._blocks: list[Samples] = []
        self._held = 0

    def add(self, block: Samples) -> None:
        self._blocks.append(block)
        self._held += len(block)

    def complete(self) -> Iterator[tuple[int, Samples]]:
        """Yield the stretches that are complete, and their first samples."""
        longest = int(LONGEST * RATE)
        while self._held >= longest:
            sound = self._joined()
            end = _quietest(sound[:longest])
            yield self._start, sound[:end]
            self._start += end
            self._blocks, self._held = [sound[end:].copy()], len(sound) - end

    def rest(self) -> Iterator[tuple[int, Samples]]:
        """Yield the last stretch, unless it is empty."""
        if self._held:
            yield self._start, self._joined()

    def _joined(self) -> Samples:
        import numpy as np

        return np.concatenate(self._blocks)


def _bounded(blocks: Iterable[Samples]) -> Iterator[Samples]:
    """Yield the blocks in parts of at most a second."""
    for block in blocks:
        for start in range(0, len(block), RATE):
            yield block[start : start + RATE]


def _quietest(sound: Samples) -> int:
    """Return the sample in the middle of the quietest 0.2 s after `EARLIEST`."""
    import numpy as np

    first = int(EARLIEST * RATE)
    hops = (len(sound) - first) // _HOP
    squares: npt.NDArray[np.float64] = sound[first : first + hops * _HOP].astype(np.float64) ** 2
    energies = squares.reshape(hops, _HOP).sum(axis=1)
    pauses = np.convolve(energies, np.ones(_PAUSE), "valid")
    return first + (int(pauses.argmin()) + _PAUSE // 2) * _HOP


def _within(words: Iterable[HeardWord], start: int, length: int) -> Iterator[HeardWord]:
    """Yield the words of a stretch with times in the recording."""
    shift, last = start / RATE, (start + length) / RATE
    for word in words:
        yield replace(word, start=min(shift + word.start, last), end=min(shift + word.end, last))
