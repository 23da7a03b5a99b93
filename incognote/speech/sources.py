"""What reads and writes sound files: each library is a SoundSource."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Native = npt.NDArray[Any]
    """Samples of shape (frames, channels) in the type that keeps them exactly: int16, int32, float32 or float64."""

BLOCK = 65_536
"""The number of samples of all channels that are read at a time."""


class SoundSource(ABC):
    """An opened sound file. Its samples are read from the start as often as needed.

    Attributes:
        container: the name of the container, such as `WAV`.
        codec: the name of the coding of samples, such as `PCM_16`.
        rate: in frames a second. channels: the number of samples in a frame.
        frames: the number of frames that the header gives, or None if it gives none.
        lossless: whether `write` keeps the values of samples.
        written_as: the container of what `write` writes.
    """

    container: str
    codec: str
    rate: int
    channels: int
    frames: int | None
    lossless: bool
    written_as: str

    @abstractmethod
    def read(self) -> Iterator[Native]:
        """Yield all samples in blocks.

        Raises:
            MalformedRecord: they cannot be decoded.
        """

    @abstractmethod
    def write(self, blocks: Iterable[Native], out: BinaryIO) -> None:
        """Write samples as a new file of the same kind, without tags.

        Args:
            blocks: in the type and shape that `read` yields.
            out: need not be seekable.
        """


def floats(block: Native) -> npt.NDArray[np.float32]:
    """Return samples from -1 to 1."""
    import numpy as np

    if block.dtype.kind == "i":
        scaled: npt.NDArray[np.float32] = block.astype(np.float32) / -np.float32(np.iinfo(block.dtype).min)
        return scaled
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is refused before
        return block.astype(np.float32, copy=False)


def native(sound: npt.NDArray[np.float32], kind: np.dtype[Any]) -> Native:
    """Return samples from -1 to 1 in a type of samples. Others are clipped."""
    import numpy as np

    clipped = np.clip(sound, -1, 1)
    if kind.kind == "i":
        return np.rint(clipped.astype(np.float64) * np.iinfo(kind).max).astype(kind)
    return clipped.astype(kind, copy=False)
