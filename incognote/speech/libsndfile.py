"""Read and write sound files with libsndfile: WAV, FLAC, MP3, Ogg, AIFF and AU."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

from incognote.errors import MalformedRecord, MissingExtra, UnsupportedFormat
from incognote.speech import headers, ogg
from incognote.speech.sources import BLOCK, SoundSource
from incognote.text.signatures import of_magic

if TYPE_CHECKING:
    from types import ModuleType

    from incognote.speech.sources import Native

CONTENTS = ("WAV audio", "FLAC audio", "MP3 audio", "Ogg audio", "AIFF audio", "AU audio")
"""The names of contents that libsndfile reads."""

_LOSSLESS = {
    "PCM_S8": "int16", "PCM_U8": "int16", "PCM_16": "int16", "ULAW": "int16", "ALAW": "int16",
    "PCM_24": "int32", "PCM_32": "int32", "FLOAT": "float32", "DOUBLE": "float64",
}  # fmt: skip
_LOSSY = {"IMA_ADPCM": "int16", "MS_ADPCM": "int16", "GSM610": "int16", "MPEG_LAYER_I": "float32",
          "MPEG_LAYER_II": "float32", "MPEG_LAYER_III": "float32", "VORBIS": "float32", "OPUS": "float32"}  # fmt: skip
_WRITTEN = {"MPEG_LAYER_I": "MPEG_LAYER_III", "MPEG_LAYER_II": "MPEG_LAYER_III"}  # codecs that only decode
_LEVELS = ("MPEG_LAYER_III", "VORBIS", "OPUS")  # codecs with a choice of bit rates
_CONTAINERS = ("WAV", "WAVEX", "RF64", "FLAC", "MP3", "OGG", "AIFF", "AU")
_ADD_PEAK_CHUNK = 0x1050  # SFC_SET_ADD_PEAK_CHUNK of sndfile.h
_PIECES = 8  # of the recording, of 2 seconds each, encoded to find the level of compression
_STEPS = 7


class LibsndfileSource(SoundSource):
    """A file that libsndfile reads. A lossy codec is encoded again, with about the bit rate of the file.

    Raises:
        MissingExtra: soundfile is not installed.
        MalformedRecord: the file cannot be opened, or its header does not agree with it.
        UnsupportedFormat: its codec is not supported.
    """

    def __init__(self, data: bytes) -> None:
        start = headers.after_id3(data)
        is_mpeg = of_magic(data) == "MP3 audio" and data[start : start + 4] != b"fLaC"
        # no more than the frames: mpg123 writes bytes of what is no frame on standard error
        frames, self._data = headers.mpeg(data) if is_mpeg else (0, data)
        file = self._opened()
        self.container, self.codec = file.format, file.subtype
        self.rate, self.channels = file.samplerate, file.channels
        self.frames = file.frames if 0 < file.frames < 2**62 else None
        file.close()
        if self.container == "FLAC":
            self._data, self.frames = headers.flac(data)
        self._written = _WRITTEN.get(self.codec, self.codec)
        known = self.container in _CONTAINERS and self.codec in _LOSSLESS | _LOSSY
        if not known or not _soundfile().check_format(self.container, self._written):
            raise UnsupportedFormat("a sound file with a codec that is not supported. Convert it to FLAC")
        headers.check(data, self.container)
        if is_mpeg:
            if headers.counted(self._data):
                headers.compare(self.frames or 0, frames)
            self.frames = None  # it is an estimate
        self.written_as = self.container
        self.lossless = self.codec in _LOSSLESS
        self._type = (_LOSSLESS | _LOSSY)[self.codec]

    def read(self) -> Iterator[Native]:
        size = max(1, BLOCK // self.channels)
        left = self.frames if self.container == "FLAC" else None  # its decoder does not stop by itself
        with self._opened() as file:
            while left != 0 and len(block := self._decoded(file, size if left is None else min(size, left))):
                left = None if left is None else left - len(block)
                yield block
            if left == 0:
                with suppress(MalformedRecord):  # what follows is no sound
                    block = self._decoded(file, 1)
                    if len(block):
                        yield block  # more than the header says, so the caller refuses the file

    def write(self, blocks: Iterable[Native], out: BinaryIO) -> None:
        level = self._level() if self._written in _LEVELS else None
        encode(blocks, out, self.rate, self.channels, self.container, self._written, level)

    def _opened(self) -> Any:
        try:
            return _forward()(_Readable(self._data))
        except (_soundfile().SoundFileError, RuntimeError, ValueError, TypeError):
            raise MalformedRecord("the recording is not a valid sound file of its format, or is cut off") from None

    def _decoded(self, file: Any, frames: int) -> Native:
        try:
            block: Native = file.read(frames, dtype=self._type, always_2d=True)
        except (_soundfile().SoundFileError, RuntimeError, ValueError):
            raise MalformedRecord("the sound of the recording cannot be decoded. Encode it again") from None
        return block

    def _level(self) -> float:
        """Return the level of compression, from 0 to 1, at which the sound has about the bit rate of the file."""
        frames = self.frames or sum(map(len, self.read()))
        length = min(2 * self.rate, max(1, frames // _PIECES))
        pieces = []
        with _soundfile().SoundFile(_Readable(self._data)) as file:
            for piece in range(_PIECES):
                file.seek(frames // _PIECES * piece)
                pieces.append(self._decoded(file, length))
        wanted = headers.sound_bytes(self._data) / max(1, frames) * sum(map(len, pieces))
        low, high = 0.0, 1.0
        tried: dict[float, float] = {}
        for _ in range(_STEPS):
            level = (low + high) / 2
            out = io.BytesIO()
            encode(pieces, out, self.rate, self.channels, self.container, self._written, level)
            # without the count of samples, which has no room at low bit rates, the sound would be moved and longer
            whole = self._written != "MPEG_LAYER_III" or headers.counted(out.getvalue())
            if whole:
                tried[level] = abs(len(out.getbuffer()) - wanted)
            low, high = (level, high) if whole and len(out.getbuffer()) > wanted else (low, level)
        return min(tried, key=tried.__getitem__, default=0.0)


def encode(
    blocks: Iterable[Native],
    out: BinaryIO,
    rate: int,
    channels: int,
    container: str,
    codec: str,
    level: float | None = None,
) -> None:
    """Write a new file without tags. The same samples always give the same bytes.

    Args:
        blocks: samples of shape (frames, channels).
        out: need not be seekable. If it is not, or for Ogg, the encoded file is in memory first.
        rate: in frames a second. channels: their number.
        container, codec: as soundfile names them.
        level: of compression, from 0 to 1. None for codecs without a choice of bit rates.
    """
    soundfile = _soundfile()
    options: dict[str, Any] = {} if level is None else {"compression_level": level}
    if codec == "MPEG_LAYER_III":
        options["bitrate_mode"] = "CONSTANT"
    direct = out.seekable() and container != "OGG"
    held = io.BytesIO()
    target = _Shifted(out) if direct else held
    with soundfile.SoundFile(target, "w", rate, channels, codec, format=container, **options) as file:
        # soundfile has no function for it. The chunk has the time of writing.
        soundfile._snd.sf_command(file._file, _ADD_PEAK_CHUNK, soundfile._ffi.NULL, 0)
        for block in blocks:
            file.write(block)
    if not direct:
        out.write(ogg.fixed(held.getvalue()) if container == "OGG" else held.getbuffer())


class _Readable(io.BytesIO):
    """The bytes of a file. A position before its start, which damaged files lead to, is not taken."""

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        try:
            return super().seek(at, whence)
        except ValueError:
            return self.tell()


class _Shifted:
    """A stream that begins where another one is now."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._start = out, out.tell()
        self.write, self.read = out.write, out.read

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        return self._out.seek(at + self._start if whence == io.SEEK_SET else at, whence) - self._start

    def tell(self) -> int:
        return self._out.tell() - self._start


def _soundfile() -> ModuleType:
    try:
        import soundfile
    except ImportError:
        raise MissingExtra("audio", "reading sound files") from None
    module: ModuleType = soundfile
    return module


@cache
def _forward() -> type[Any]:
    """Return soundfile's class, but without seeking: it fails in a FLAC file of unknown length."""
    return type("Forward", (_soundfile().SoundFile,), {"seekable": lambda _: False})
