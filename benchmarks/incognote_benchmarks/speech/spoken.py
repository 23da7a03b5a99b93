"""Speech of a synthesizer, with the time of each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incognote.speech.nouns import RATE
from incognote.speech.resampling import resampled

Sound = NDArray[np.float64]
"""Samples of one channel at `RATE` samples a second, from -1 to 1."""
_LEVEL = 0.07  # root mean square of the samples of speech


@dataclass(frozen=True, slots=True)
class Spoken:
    """An utterance as sound.

    Args:
        sound: the samples.
        times: start and end of each word in seconds, in order.
    """

    sound: Sound = field(repr=False)
    times: tuple[tuple[float, float], ...]


def spoken(samples: NDArray[np.int16], rate: int, times: Sequence[tuple[float, float]]) -> Spoken:
    """Return an utterance at our rate and level, without the silence around it.

    Args:
        samples: as the synthesizer made them, at `rate`.
        times: of the words, within the samples.

    Raises:
        ValueError: a word has no time, or the times are not in order.
    """
    times = [(round(start, 5), round(end, 5)) for start, end in times]
    flat = [at for pair in times for at in pair]
    if flat != sorted(flat) or any(start >= end for start, end in times):
        raise ValueError("the synthesizer gave a word without a time")
    blocks = resampled([(samples / 32768).astype(np.float32)], rate, RATE)
    sound = np.concatenate(list(blocks)).astype(np.float64)
    begin, end = max(0.0, flat[0] - 0.05), flat[-1] + 0.05
    sound = sound[round(begin * RATE) : round(end * RATE)]
    voiced = np.concatenate([sound[round((a - begin) * RATE) : round((b - begin) * RATE)] for a, b in times])
    sound = sound * (_LEVEL / max(1e-6, float(np.sqrt(np.mean(voiced**2)))))
    return Spoken(np.clip(sound, -1, 1), tuple((a - begin, b - begin) for a, b in times))
