"""Sound files: their samples in bounded memory, and muted copies of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.speech.disguise import disguised
from incognote.speech.ffmpeg import DEMUXERS, FfmpegSource
from incognote.speech.headers import CUT, MORE
from incognote.speech.libsndfile import CONTENTS, LibsndfileSource
from incognote.speech.muting import muted
from incognote.speech.nouns import RATE, Interval
from incognote.speech.resampling import resampled
from incognote.speech.sources import floats
from incognote.text.container import of_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.muting import Fill
    from incognote.speech.nouns import Samples
    from incognote.speech.sources import Native, SoundSource

    Floats = npt.NDArray[np.float32]

HOURS = 12.0
"""The longest recording that is read by default, in hours."""
FADE = 0.005
"""The length of a fade before and after a muted interval, in seconds."""
MOST_CHANNELS = 16
RATES = range(4_000, 192_001)
SUFFIXES = {"WAV": ".wav", "WAVEX": ".wav", "RF64": ".wav", "FLAC": ".flac", "MP3": ".mp3", "OGG": ".ogg",
            "AIFF": ".aiff", "AU": ".au", "M4A": ".m4a", "WebM": ".webm"}  # fmt: skip
"""The suffix of file names by the container of an output."""

_DENSE = 200_000  # samples of all channels a second: the limit of samples is this many in the longest recording
_QUIET, _RAISED = 0.05, 0.5  # a recording with a lower peak is amplified to the higher one
_OPPOSED = -0.5  # the correlation of a channel with the loudest one from which on it is inverted before they are mixed


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is known of a recording after all of it was decoded once."""

    frames: int
    peaks: tuple[float, ...]  # of the channels
    signs: tuple[float, ...]  # with which the channels are mixed
    distinct: tuple[int, ...]


class SoundFile:
    """A sound file. Its bytes are in memory, and its samples are decoded in blocks.

    Listeners get the sound of speech as a person with a volume control may hear it: a recording or channel with a peak
    below 0.05 of full scale, or above it, is scaled, and a channel that is another one upside down does not cancel it.
    They do not get what lies above 8 kHz, or more than 90 dB below the peak.

    Args:
        data: the bytes of the file.
        hours: the longest recording that is read.
        pictured: whether a video is read, without its picture.

    Raises:
        UnsupportedFormat: it is no sound file, a video without `pictured`, too long, or its codec has no reader. The
            message names the remedy.
        MalformedRecord: its header is damaged, or it is cut off.
        MissingExtra: the extra `audio` is not installed.
    """

    def __init__(self, data: bytes, hours: float = HOURS, *, pictured: bool = False) -> None:
        self._source = _opened(data, pictured=pictured)
        self._most = hours * 3600
        if self.channels not in range(1, MOST_CHANNELS + 1) or self.rate not in RATES:
            raise UnsupportedFormat(
                f"a recording with more than {MOST_CHANNELS} channels, or a rate below {RATES[0]} or above {RATES[-1]} "
                "Hz. Convert it"
            )
        if self._source.frames is not None:
            self._limit(self._source.frames)

    @property
    def container(self) -> str:
        """The name of its container, such as `WAV`."""
        return self._source.container

    @property
    def codec(self) -> str:
        """The name of the coding of its samples, such as `PCM_16`."""
        return self._source.codec

    @property
    def rate(self) -> int:
        """Its rate, in frames a second."""
        return self._source.rate

    @property
    def channels(self) -> int:
        """The number of channels."""
        return self._source.channels

    @property
    def lossless(self) -> bool:
        """Whether samples outside of mutes have the same values in the output. Others are encoded again."""
        return self._source.lossless

    @property
    def suffix(self) -> str:
        """The suffix of file names of the output. It is another one if the container cannot be written."""
        return SUFFIXES[self._source.written_as]

    @property
    def frames(self) -> int:
        """The number of frames. It may raise what `blocks` raises."""
        return self._survey.frames

    @property
    def seconds(self) -> float:
        """The length, in seconds. It may raise what `blocks` raises."""
        return self.frames / self.rate

    @property
    def distinct(self) -> tuple[int, ...]:
        """The numbers of the channels that are not silent, and not the same as a channel before them.

        It may raise what `blocks` raises.
        """
        return self._survey.distinct

    def blocks(self, seconds: float = 30.0) -> Iterator[Samples]:
        """Yield the mean of all channels at `RATE`. All of the file is decoded before the first block.

        Args:
            seconds: the length of a block. The last one is shorter.

        Raises:
            MalformedRecord: the samples cannot be decoded, are no numbers, or are fewer or more than the header says.
            UnsupportedFormat: the recording is too long.
        """
        import numpy as np

        gain = _gain(max(self._survey.peaks))
        weights = np.array(self._survey.signs, np.float32) * np.float32(gain / self.channels)
        mixed = (floats(block) @ weights for block in self._source.read())
        yield from _blocks(resampled(mixed, self.rate, RATE), max(1, round(seconds * RATE)))

    def samples(self) -> Iterator[Native]:
        """Yield all samples in blocks of shape (frames, channels), in the type that keeps them exactly.

        Raises:
            MalformedRecord: they cannot be decoded.
        """
        yield from self._source.read()

    def channel_blocks(self, channel: int, seconds: float = 30.0) -> Iterator[Samples]:
        """Yield one channel, as `blocks`. The first channel is 0."""
        gain = _gain(self._survey.peaks[channel])
        one = (floats(block[:, channel]) * gain for block in self._source.read())
        yield from _blocks(resampled(one, self.rate, RATE), max(1, round(seconds * RATE)))

    def written(
        self,
        mutes: Sequence[Interval],
        out: BinaryIO,
        fade: float = FADE,
        fill: Fill = "silence",
        *,
        disguise: bytes | None = None,
    ) -> None:
        """Write the recording with all channels muted in the intervals, as a new file.

        Length, rate, depth, channels, and container are kept. Tags, pictures, cue points, and all other chunks are not.
        If the codec is lossless, samples outside of the intervals and their fades keep their values. Other codecs are
        encoded again with about the same bit rate, and the encoder may spread sound of a few milliseconds around an
        interval into it, but none from within it. AAC and ADPCM may become longer by less than a block. The same
        arguments give the same bytes, with the same versions of the encoders.

        Args:
            mutes: in any order. They may overlap.
            out: need not be seekable. Nothing is written to it if the recording cannot be decoded.
            fade: the length of a fade before and after an interval, outside of it, in seconds.
            fill: what is heard in an interval.
            disguise: the secret seed with which the voices are disguised (`disguise.disguised`). None keeps them.

        Raises:
            MalformedRecord, UnsupportedFormat: as `blocks`.
            ValueError: `fill` returned more samples than there is room for.
        """
        _ = self._survey
        blocks = self._source.read()
        if disguise is not None:  # muted before, too: a disguise spreads sound by some milliseconds
            blocks = disguised(muted(blocks, self.rate, mutes, fade), self.rate, disguise)
        self._source.write(muted(blocks, self.rate, mutes, fade, fill), out)

    def _limit(self, frames: int) -> None:
        if frames > self._most * self.rate or frames * self.channels > self._most * _DENSE:
            raise UnsupportedFormat(
                f"a recording of more than {self._most / 3600:g} hours, or with too many samples. Split it, or raise "
                "the limit"
            )

    @cached_property
    def _survey(self) -> _Survey:
        import numpy as np

        frames = 0
        peaks = np.zeros(self.channels, np.float32)
        products = np.zeros((self.channels, self.channels))
        same = np.ones((self.channels, self.channels), bool)
        for block in self._source.read():
            frames += len(block)
            self._limit(frames)
            sound = floats(block)
            if not np.isfinite(sound).all():
                raise MalformedRecord("the recording has samples that are no numbers. Encode it again")
            peaks = np.maximum(peaks, np.abs(sound).max(axis=0))
            if self.channels > 1:
                products += sound.T @ sound
                same &= [[np.array_equal(sound[:, i], sound[:, j]) for j in range(self.channels)]
                         for i in range(self.channels)]  # fmt: skip
        if not frames:
            raise MalformedRecord("the recording has no sound")
        if self._source.frames not in (None, frames):
            raise MalformedRecord(CUT if frames < (self._source.frames or 0) else MORE)
        loudest = int(products.diagonal().argmax())
        scale = np.sqrt(products.diagonal() * products[loudest, loudest])
        opposed = products[loudest] < _OPPOSED * scale
        distinct = (at for at in range(self.channels) if peaks[at] > 0 and not same[at, :at].any())
        return _Survey(frames, tuple(map(float, peaks)), tuple(np.where(opposed, -1.0, 1.0)), tuple(distinct))


def _opened(data: bytes, *, pictured: bool) -> SoundSource:
    name = of_bytes(data)
    if name is None:
        raise UnsupportedFormat("no sound file of a known format. Convert it to FLAC")
    if name in CONTENTS:
        return LibsndfileSource(data)
    if name in DEMUXERS:
        return FfmpegSource(data, name, pictured=pictured)
    raise UnsupportedFormat(f"{name}, and no sound file")


def _gain(peak: float) -> float:
    return 1 / peak if peak > 1 else _RAISED / peak if 0 < peak < _QUIET else 1.0


def _blocks(samples: Iterable[Floats], size: int) -> Iterator[Samples]:
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
