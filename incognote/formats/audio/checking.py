"""Compare a muted recording with its original."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from incognote.errors import MalformedRecord
from incognote.speech.files import FADE, SoundFile
from incognote.speech.intervals import widened
from incognote.speech.muting import muted
from incognote.speech.nouns import RATE, Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.sources import Native

    Levels = npt.NDArray[np.float64]

_HOP = 0.02  # seconds whose loudness is compared in a lossy file
_BLUR = 0.1  # seconds at the edge of a muted part into which a lossy codec spreads the sound
_SILENT = 0.004  # the loudest root mean square of a muted part of a lossy file, of 1: -48 dB
_OFF = 0.05  # the mean difference of loudness outside of muted parts, as a share of the mean loudness
_FLOOR = 0.002  # a loudness that counts as silence


def verify(original: SoundFile, output: SoundFile, mutes: Sequence[Interval]) -> None:
    """Check that an output is the original with muted parts.

    In a lossless file each sample is compared. A lossy codec changes samples, so there the loudness of each 20 ms is
    compared: it differs by at most 5 % on average outside of the muted parts, and the muted parts are silent.

    Raises:
        MalformedRecord: it is not. Both files may raise what `SoundFile.blocks` raises.
    """
    for fact in ("rate", "channels", "frames"):
        if getattr(original, fact) != getattr(output, fact):
            raise MalformedRecord(f"the output has another number of {fact}" if fact != "rate" else "another rate")
    if original.lossless:
        expected = muted(original.samples(), original.rate, mutes, FADE)
        if not _same(expected, output.samples()):
            raise MalformedRecord("the output has other samples")
        return
    _compare(original, output, mutes)


def _same(expected: Iterable[Native], made: Iterable[Native]) -> bool:
    """Whether two streams have the same samples. Their blocks may have other lengths."""
    import numpy as np

    one, two = iter(expected), iter(made)
    left, right = next(one, None), next(two, None)
    while left is not None and right is not None:
        size = min(len(left), len(right))
        if left.dtype != right.dtype or not np.array_equal(left[:size], right[:size]):
            return False
        left = left[size:] if size < len(left) else next(one, None)
        right = right[size:] if size < len(right) else next(two, None)
    return left is None and right is None


def _compare(original: SoundFile, output: SoundFile, mutes: Sequence[Interval]) -> None:
    import numpy as np

    hops = round(original.seconds / _HOP) + 1
    inside = np.zeros(hops, bool)
    near = np.zeros(hops, bool)
    for each in mutes:
        inside[int(np.ceil((each.start + _BLUR) / _HOP)) : max(0, int((each.end - _BLUR) / _HOP))] = True
    for each in widened(mutes, _BLUR, _BLUR, original.seconds):
        near[int(each.start / _HOP) : int(np.ceil(each.end / _HOP))] = True
    total = off = 0.0
    at = 0
    for one, two in zip(_levels(original), _levels(output), strict=True):
        mine = slice(at, at + len(one))
        if len(two[inside[mine]]) and two[inside[mine]].max() > _SILENT:
            raise MalformedRecord("a muted part of the output is not silent")
        outside = ~near[mine]
        off += float(np.abs(one[outside] - two[outside]).sum())
        total += float(np.maximum(one[outside], _FLOOR).sum())
        at += len(one)
    if off > _OFF * total:
        raise MalformedRecord("the output has other sound")


def _levels(file: SoundFile) -> Iterator[Levels]:
    """Yield the root mean square of each 20 ms, from 0 to 1, a block at a time."""
    import numpy as np

    hop = round(_HOP * RATE)
    for block in file.blocks(10.0):
        whole = np.concatenate((block, np.zeros(-len(block) % hop, block.dtype)))
        parts = whole.reshape(-1, hop).astype(np.float64) / 32768
        yield np.sqrt((parts**2).mean(axis=1))
