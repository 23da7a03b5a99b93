"""Mute parts of a stream of samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from incognote.speech.intervals import union
from incognote.speech.nouns import Interval
from incognote.speech.sources import native

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.sources import Native

    Fill = Literal["silence"] | Callable[[Interval, int], npt.NDArray[np.float32]]
    """What is heard in a muted interval: a function gets the interval and its number of frames, and returns at most
    that many samples from -1 to 1 at the rate of the file. They are in all channels, and silence follows."""

_EXACT = 1e-6  # frames: a time that is nearer than this to a frame is on it


def muted(
    blocks: Iterable[Native], rate: int, mutes: Sequence[Interval], fade: float, fill: Fill = "silence"
) -> Iterator[Native]:
    """Yield the blocks with all channels of the mutes replaced. No sample of a muted interval is in the output.

    The sound fades out before an interval and fades in after it, so the fades are outside of it.

    Args:
        blocks: consecutive blocks of shape (frames, channels). Other samples are yielded as they are.
        rate: in frames a second.
        mutes: in any order. What is after the end has no effect.
        fade: in seconds.
        fill: the sound in the intervals.

    Raises:
        ValueError: `fill` returned more samples than there is room for.
    """
    import numpy as np

    edge = round(fade * rate)
    holes = [
        (math.floor(each.start * rate + _EXACT), math.ceil(each.end * rate - _EXACT), each) for each in union(mutes)
    ]
    heard: dict[Interval, npt.NDArray[np.float32]] = {}
    at = 0
    for block in blocks:
        end = at + len(block)
        holes = [hole for hole in holes if hole[1] + edge > at]
        near = [hole for hole in holes if hole[0] - edge < end]
        out = block.copy() if near else block
        for start, stop, _ in near:
            _scale(out, at, start - edge, start, np.arange(edge, 0, -1) / (edge + 1))
            _scale(out, at, stop, stop + edge, np.arange(1, edge + 1) / (edge + 1))
        for start, stop, interval in near:
            inside = slice(max(start - at, 0), max(stop - at, 0))
            out[inside] = 0
            if fill != "silence" and start < end and stop > at:
                if interval not in heard:
                    heard = {interval: _checked(fill(interval, stop - start), stop - start)}
                _place(out[inside], heard[interval][max(at - start, 0) :])
        yield out
        at = end


def _scale(block: Native, at: int, start: int, end: int, gains: npt.NDArray[np.float64]) -> None:
    """Multiply the frames `start:end` of the recording that are in a block that begins at frame `at`."""
    first, last = max(start - at, 0), min(end - at, len(block))
    if first < last:
        part = block[first:last]
        part[:] = part * gains[first + at - start : last + at - start, None]


def _checked(samples: npt.NDArray[np.float32], room: int) -> npt.NDArray[np.float32]:
    if samples.ndim != 1 or len(samples) > room:
        raise ValueError("a replacement has another shape, or is longer than the interval that it replaces")
    return samples


def _place(room: Native, samples: npt.NDArray[np.float32]) -> None:
    given = native(samples[: len(room)], room.dtype)
    room[: len(given)] = given[:, None]
