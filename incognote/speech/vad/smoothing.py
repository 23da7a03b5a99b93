"""Turn the decisions on short frames into intervals with a voice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incognote.speech.nouns import RATE, Interval

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples


@dataclass(frozen=True, slots=True)
class Smoothing:
    """How frames become intervals. Times are in seconds.

    Args:
        threshold: a voice begins with a frame of at least this score.
        release: it ends before the first frame below this score, if a pause follows.
        speech: a shorter voice is dropped. Pauses within it count.
        silence: a shorter pause belongs to the voice.
        padding: is added before and after each voice. Voices that then meet are one.
    """

    threshold: float
    release: float
    speech: float = 0.06
    silence: float = 0.1
    padding: float = 0.0

    def voices(self, scores: Iterable[float], frame: int) -> Iterator[Interval]:
        """Yield the intervals with a voice, in order, without overlaps. The last one may pass the end of the sound.

        Args:
            scores: from 0 to 1, one a frame.
            frame: its samples.
        """
        step = frame / RATE
        held: Interval | None = None
        for first, last in self._runs(scores, step):
            if (last - first) * step < self.speech - 1e-9:
                continue
            voice = Interval(max(0.0, first * step - self.padding), last * step + self.padding)
            if held is not None and voice.start <= held.end:
                held = Interval(held.start, voice.end)
                continue
            if held is not None:
                yield held
            held = voice
        if held is not None:
            yield held

    def _runs(self, scores: Iterable[float], step: float) -> Iterator[tuple[int, int]]:
        """Yield the first frame of each voice and the one after its last."""
        first: int | None = None
        last = 0
        for place, score in enumerate(scores):
            if score >= (self.threshold if first is None else self.release):
                first = place if first is None else first
                last = place + 1
            elif first is not None and (place + 1 - last) * step >= self.silence - 1e-9:
                yield first, last
                first = None
        if first is not None:
            yield first, last


def frames(blocks: Iterable[Samples], size: int) -> Iterator[Samples]:
    """Yield the sound in frames of `size` samples. The last one is filled with zeros."""
    import numpy as np

    rest = np.zeros(0, dtype=np.int16)
    for block in blocks:
        joined = np.concatenate((rest, block)) if len(rest) else block
        whole = len(joined) - len(joined) % size
        for start in range(0, whole, size):
            yield joined[start : start + size]
        rest = joined[whole:].copy()
    if len(rest):
        yield np.pad(rest, (0, size - len(rest)))
