"""Compare a muted recording with its original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incognote.errors import MalformedRecord
from incognote.speech.files import FADE, SoundFile
from incognote.speech.muting import muted
from incognote.speech.nouns import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.sources import Native

    Levels = npt.NDArray[np.float64]

_HOP = 0.02  # seconds whose loudness is compared in a lossy file
_BLUR = 0.1  # seconds at the edge of a muted part into which a lossy codec spreads the sound
_SILENT = 0.004  # the loudest root mean square of a muted part of a lossy file, of 1: -48 dB
_OFF = 0.12  # the mean difference of loudness outside of muted parts, as a share of the mean loudness
_FLOOR = 0.002  # a loudness that counts as silence
_ROUNDED = 0.001  # by which a sample of a fade may be rounded, of full scale, besides an eighth of it (mu-law)
_PADDING = 2048  # frames that a lossy encoder may add at the end


def verify(original: SoundFile, output: SoundFile, mutes: Sequence[Interval], *, disguised: bool = False) -> None:
    """Check that an output is the original with muted parts.

    In a lossless file each sample is compared. A lossy codec changes samples, so there the loudness of each 20 ms is
    compared: it differs by at most 12 % on average outside of the muted parts, and the muted parts are silent. If the
    voices are disguised, only the muted parts are compared.

    Raises:
        MalformedRecord: it is not. Both files may raise what `SoundFile.blocks` raises.
    """
    longer = output.frames - original.frames
    if (original.rate, original.channels) != (output.rate, output.channels):
        raise MalformedRecord("the output has another rate or other channels")
    if not 0 <= longer <= (0 if original.lossless else _PADDING):
        raise MalformedRecord("the output has another length")
    if original.lossless and not disguised:
        if not _same(original, output, mutes):
            raise MalformedRecord("the output has other samples")
        return
    _compare(original, output, mutes, disguised=disguised)


def _same(original: SoundFile, output: SoundFile, mutes: Sequence[Interval]) -> bool:
    """Whether an output has exactly the samples that it must have. Only fades may be rounded, as its coding needs."""
    import numpy as np

    made = _Reader(output)
    expected = muted(original.samples(), original.rate, mutes, FADE)
    for before, after in zip(original.samples(), expected, strict=True):
        new = made.take(len(after))
        if new.dtype != after.dtype or new.shape != after.shape:
            return False
        faded = (after != before) & (after != 0)
        if not np.array_equal(new[~faded], after[~faded]):
            return False
        wanted = after[faded].astype(np.float64)
        finest = _ROUNDED * float(np.iinfo(after.dtype).max) if after.dtype.kind == "i" else _ROUNDED
        if (np.abs(new[faded] - wanted) > np.abs(wanted) / 8 + finest).any():
            return False
    return True


class _Reader:
    """Reads the samples of a file in parts of any length."""

    def __init__(self, file: SoundFile) -> None:
        self._blocks = file.samples()
        self._held: list[Native] = []

    def take(self, frames: int) -> Native:
        """Return so many frames, or fewer at the end."""
        import numpy as np

        while sum(map(len, self._held)) < frames and (block := next(self._blocks, None)) is not None:
            self._held.append(block)
        whole: Native = np.concatenate(self._held)
        self._held = [whole[frames:]]
        return whole[:frames]


def _compare(original: SoundFile, output: SoundFile, mutes: Sequence[Interval], *, disguised: bool) -> None:
    import numpy as np

    one = _levels(original)
    two = _levels(output)[: len(one)]
    inside, near = np.zeros(len(one), bool), np.zeros(len(one), bool)
    for each in mutes:
        inside[int(np.ceil((each.start + _BLUR) / _HOP)) : max(0, int((each.end - _BLUR) / _HOP))] = True
        near[max(0, int((each.start - _BLUR) / _HOP)) : int(np.ceil((each.end + _BLUR) / _HOP))] = True
    if inside.any() and two[inside].max() > _SILENT:
        raise MalformedRecord("a muted part of the output is not silent")
    if disguised:
        return
    off = np.abs(one - two)[~near].sum()
    if off > _OFF * np.maximum(one, _FLOOR)[~near].sum():
        raise MalformedRecord("the output has other sound")


def _levels(file: SoundFile) -> Levels:
    """Return the root mean square of each 20 ms over all channels, from 0 to 1."""
    import numpy as np

    hop = round(_HOP * file.rate)
    found: list[Levels] = []
    rest: npt.NDArray[np.float64] = np.zeros((0, file.channels))
    for block in file.samples():
        scale = -float(np.iinfo(block.dtype).min) if block.dtype.kind == "i" else 1.0
        rest = np.concatenate((rest, block / scale))
        whole = len(rest) // hop * hop
        found.append(np.sqrt((rest[:whole].reshape(-1, hop * file.channels) ** 2).mean(axis=1)))
        rest = rest[whole:]
    return np.concatenate((*found, np.sqrt((rest**2).mean(keepdims=True))[0] if len(rest) else np.zeros(0)))
