"""Read and write sound files with libsndfile: WAV, FLAC, MP3, Ogg, AIFF, AU, CAF and W64."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

from incognote.errors import MalformedRecord, MissingExtra, UnsupportedFormat
from incognote.speech import ogg
from incognote.speech.sources import BLOCK, Source

if TYPE_CHECKING:
    from types import ModuleType

    from incognote.speech.sources import Native

_TYPES = {
    "PCM_S8": "int16", "PCM_U8": "int16", "PCM_16": "int16", "ULAW": "int16", "ALAW": "int16", "ALAC_16": "int16",
    "PCM_24": "int32", "PCM_32": "int32", "ALAC_20": "int32", "ALAC_24": "int32", "ALAC_32": "int32",
    "FLOAT": "float32", "DOUBLE": "float64",
}  # fmt: skip
_LOSSY = {"IMA_ADPCM": "int16", "MS_ADPCM": "int16", "GSM610": "int16", "MPEG_LAYER_I": "float32",
          "MPEG_LAYER_II": "float32", "MPEG_LAYER_III": "float32", "VORBIS": "float32", "OPUS": "float32"}  # fmt: skip
_LEVELLED = ("MPEG_LAYER_III", "VORBIS", "OPUS")  # codecs with a choice of bit rates
_CONTAINERS = ("WAV", "WAVEX", "RF64", "W64", "FLAC", "MP3", "OGG", "AIFF", "AU", "CAF")
_ADD_PEAK_CHUNK = 0x1050  # SFC_SET_ADD_PEAK_CHUNK of sndfile.h
_TRIED = 20  # seconds of sound that are encoded to find the level of compression
_STEPS = 7


class LibsndfileSource(Source):
    """A file that libsndfile reads. Lossy files are written with about the same bit rate.

    Raises:
        MissingExtra: soundfile is not installed.
        MalformedRecord: the file cannot be opened. UnsupportedFormat: its codec is not supported.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        with self._opened() as file:
            if file.format not in _CONTAINERS or file.subtype not in (_TYPES | _LOSSY):
                raise UnsupportedFormat("a sound file with a codec that is not supported. Convert it to FLAC")
            self.container = self.written_as = file.format
            self.codec = file.subtype
            self.rate, self.channels = file.samplerate, file.channels
            self.frames = file.frames if 0 <= file.frames < 2**62 else None
        self.lossless = self.codec in _TYPES
        self._type = (_TYPES | _LOSSY)[self.codec]
        if self.codec == "MPEG_LAYER_I" or self.codec == "MPEG_LAYER_II":
            self._written_codec = "MPEG_LAYER_III"
        else:
            self._written_codec = self.codec

    def read(self) -> Iterator[Native]:
        frames = max(1, BLOCK // self.channels)
        with self._opened() as file:
            try:
                while len(block := file.read(frames, dtype=self._type, always_2d=True)):
                    yield block
            except _soundfile().SoundFileError:
                raise MalformedRecord("the sound of the recording cannot be decoded. Encode it again") from None

    def write(self, blocks: Iterable[Native], out: BinaryIO) -> None:
        if self._written_codec not in _LEVELLED:
            self._encode(blocks, _Shifted(out) if out.seekable() else (held := io.BytesIO()))
            if not out.seekable():
                out.write(held.getbuffer())
            return
        first: list[Native] = []
        rest = iter(blocks)
        while sum(map(len, first)) < _TRIED * self.rate and (block := next(rest, None)) is not None:
            first.append(block)
        level = self._level(first)
        encoded = io.BytesIO()
        self._encode(chain(first, rest), encoded, level)
        out.write(ogg.fixed(encoded.getvalue()) if self.container == "OGG" else encoded.getbuffer())

    def _opened(self) -> Any:
        soundfile = _soundfile()
        try:
            return soundfile.SoundFile(io.BytesIO(self._data))
        except (soundfile.SoundFileError, RuntimeError, ValueError, TypeError):
            raise MalformedRecord("the recording is not a valid sound file of its format, or is cut off") from None

    def _encode(self, blocks: Iterable[Native], out: Any, level: float | None = None) -> None:
        soundfile = _soundfile()
        options = {} if level is None else {"compression_level": level}
        if self._written_codec == "MPEG_LAYER_III":
            options["bitrate_mode"] = "CONSTANT"
        with soundfile.SoundFile(
            out, "w", self.rate, self.channels, self._written_codec, format=self.written_as, **options
        ) as file:
            # soundfile has no name for it; the chunk has the time of writing
            soundfile._snd.sf_command(file._file, _ADD_PEAK_CHUNK, soundfile._ffi.NULL, 0)
            for block in blocks:
                file.write(block)

    def _level(self, blocks: list[Native]) -> float:
        """Return the level of compression at which the sound has about the bit rate of the file."""
        seconds = sum(map(len, blocks)) / self.rate
        wanted = len(self._data) / max(1, self.frames or 1) * self.rate * seconds  # bytes
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            out = io.BytesIO()
            self._encode(blocks, out, middle)
            if len(out.getbuffer()) > wanted:
                low = middle
            else:
                high = middle
        return high


class _Shifted:
    """A stream that begins where another one is now."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._start = out, out.tell()

    def seek(self, at: int, whence: int = 0) -> int:
        return self._out.seek(at + self._start if whence == 0 else at, whence) - self._start

    def tell(self) -> int:
        return self._out.tell() - self._start

    def write(self, data: bytes) -> int:
        return self._out.write(data)

    def read(self, size: int = -1) -> bytes:
        return self._out.read(size)


def _soundfile() -> ModuleType:
    try:
        import soundfile
    except ImportError:
        raise MissingExtra("audio", "reading sound files") from None
    module: ModuleType = soundfile
    return module
