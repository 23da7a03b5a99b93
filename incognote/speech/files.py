"""Sound files: their samples in bounded memory, and muted copies of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.speech.libsndfile import LibsndfileSource
from incognote.speech.muting import muted
from incognote.speech.nouns import RATE, Interval
from incognote.speech.resampling import resampled
from incognote.text.signatures import of_magic

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.muting import Fill
    from incognote.speech.nouns import Samples
    from incognote.speech.sources import Native, Source

HOURS = 12.0
"""The longest recording that is read by default, in hours."""
FADE = 0.005
"""The length of a fade before and after a muted interval, in seconds."""


class SoundFile:
    """A sound file. Its bytes are in memory, and its samples are decoded in blocks.

    Args:
        data: the bytes of the file.
        hours: the longest recording that is read.

    Attributes:
        container: the name of its container, such as `WAV`. codec: the name of its coding, such as `PCM_16`.
        rate: in frames a second. channels: the number of channels.

    Raises:
        UnsupportedFormat: it is no sound file, its codec has no reader, or it is too long.
        MalformedRecord: its header is damaged, or it is cut off.
        MissingExtra: the extra `audio` is not installed.
    """

    def __init__(self, data: bytes, hours: float = HOURS) -> None:
        self._source = _opened(data)
        self._most = hours * 3600

    @property
    def container(self) -> str:
        return self._source.container

    @property
    def codec(self) -> str:
        return self._source.codec

    @property
    def rate(self) -> int:
        return self._source.rate

    @property
    def channels(self) -> int:
        return self._source.channels

    @cached_property
    def frames(self) -> int:
        """The number of frames.

        Raises:
            MalformedRecord, UnsupportedFormat: as `blocks`.
        """
        return sum(map(len, self._source.read()))

    @property
    def seconds(self) -> float:
        """The length, in seconds. It may raise what `frames` raises."""
        return self.frames / self.rate

    def blocks(self, seconds: float = 30.0) -> Iterator[Samples]:
        """Yield the mean of all channels at `RATE`.

        Args:
            seconds: the length of a block. The last one is shorter.

        Raises:
            MalformedRecord: samples cannot be decoded. UnsupportedFormat: the recording is too long.
        """
        mixed = (_floats(block).mean(axis=1) for block in self._source.read())
        yield from _blocks(resampled(mixed, self.rate, RATE), round(seconds * RATE))

    def channel_blocks(self, channel: int, seconds: float = 30.0) -> Iterator[Samples]:
        """Yield one channel at `RATE`, as `blocks`. The first channel is 0."""
        one = (_floats(block[:, channel]) for block in self._source.read())
        yield from _blocks(resampled(one, self.rate, RATE), round(seconds * RATE))

    def written(self, mutes: Sequence[Interval], out: BinaryIO, fade: float = FADE, fill: Fill = "silence") -> None:
        """Write the recording with muted intervals as a new file, without tags."""
        self._source.write(muted(self._source.read(), self.rate, mutes, fade, fill), out)


def _opened(data: bytes) -> Source:
    name = of_magic(data)
    if name is None:
        raise UnsupportedFormat("no sound file")
    return LibsndfileSource(data)


def _floats(block: Native) -> npt.NDArray[np.float32]:
    """Return samples from -1 to 1."""
    import numpy as np

    if block.dtype.kind == "i":
        scaled: npt.NDArray[np.float32] = block.astype(np.float32) / -np.float32(np.iinfo(block.dtype).min)
        return scaled
    return block.astype(np.float32, copy=False)


def _blocks(samples: Iterable[npt.NDArray[np.float32]], size: int) -> Iterator[Samples]:
    """Yield samples as int16, `size` at a time."""
    import numpy as np

    held: list[Samples] = []
    length = 0
    for block in samples:
        held.append(np.clip(np.rint(block * 32768), -32768, 32767).astype(np.int16))
        length += len(block)
        while length >= size:
            whole = np.concatenate(held)
            yield whole[:size]
            held, length = [whole[size:]], length - size
    if length:
        yield np.concatenate(held)
