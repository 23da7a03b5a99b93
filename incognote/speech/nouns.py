"""What is heard in a recording. All times are in seconds from its start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Samples = npt.NDArray[np.int16]
    """One channel at `RATE` samples a second, of shape (samples,)."""

RATE = 16_000
"""The rate of the sound that recognizers and detectors get, in samples a second."""


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A part of a recording, from `start` up to `end`.

    Raises:
        ValueError: it ends before it starts, or starts before the recording.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError("an interval ends before it starts, or starts before the recording")


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word that a recognizer heard.

    Args:
        text: the word as the recognizer writes it, without spaces around it.
        start, end: in seconds.
        confidence: the posterior of the word, from 0 to 1.
        alternatives: other words that may be in this place, with their posteriors, the likeliest first.
        phones: what a recognizer of phones heard in this time, in ARPAbet without stress, such as `HH AA R P ER`.
    """

    text: str = field(repr=False)
    start: float
    end: float
    confidence: float = 1.0
    alternatives: tuple[tuple[str, float], ...] = field(default=(), repr=False)
    phones: tuple[str, ...] = field(default=(), repr=False)

    @property
    def interval(self) -> Interval:
        """Its time."""
        return Interval(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard in a recording.

    Args:
        words: in order. They do not overlap.
        voiced: the parts with a human voice, in order.
        gaps: the voiced parts without a word, in order (RedactOR, A.5.1).
        seconds: the length of the recording.
    """

    words: tuple[HeardWord, ...] = field(repr=False)
    voiced: tuple[Interval, ...]
    gaps: tuple[Interval, ...]
    seconds: float
