"""Read and write sound files with the program ffmpeg: M4A, AAC, WebM, AMR, and the sound tracks of videos.

Files are in anonymous memory that the program reads as a file, so it can seek, and nothing is on a disk. Its messages
are not read, because they may quote tags.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.speech.libsndfile import encode
from incognote.speech.sources import BLOCK, SoundSource

if TYPE_CHECKING:
    from incognote.speech.sources import Native

DEMUXERS: Mapping[str, str] = {
    "M4A audio": "mov", "MP4 video": "mov", "QuickTime video": "mov", "Matroska video": "matroska", "WebM": "matroska",
    "AAC audio": "aac", "AMR audio": "amr", "Windows Media": "asf", "AVI video": "avi",
}  # fmt: skip
"""The demuxer of ffmpeg for each name of a content. It may not choose one itself: a playlist names other files."""
SILENCE = 60
"""The program is ended if it neither gives nor takes sound for this many seconds."""

_WRITERS = {  # demuxer and codec: muxer, encoder, and name of the container
    ("mov", "aac"): ("ipod", "aac", "M4A"), ("aac", "aac"): ("ipod", "aac", "M4A"),
    ("mov", "alac"): ("ipod", "alac", "M4A"),
    ("matroska", "opus"): ("webm", "libopus", "WebM"),
}  # fmt: skip
_NAMES = {"mov": "M4A", "matroska": "WebM", "aac": "AAC", "amr": "AMR", "asf": "WMA", "avi": "AVI"}
_PLAIN = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact")
_EXACT = ("alac", "flac", "pcm_s16", "pcm_s24", "pcm_u8", "pcm_mulaw", "pcm_alaw")  # codecs that keep all values
_LIMITS = ("-protocol_whitelist", "file,pipe", "-max_alloc", str(2**28), "-threads", "1")
_STUCK = "the recording makes ffmpeg stop. Encode it again"
_UNWRITTEN = "ffmpeg cannot write the recording in its format. Convert it to FLAC"
_ASKED = (
    "stream=codec_type,codec_name,sample_rate,channels,bit_rate,bits_per_raw_sample:stream_disposition=attached_pic"
)


class FfmpegSource(SoundSource):
    """The only sound track of a file that ffmpeg reads.

    AAC, ALAC and Opus are encoded again, lossy ones with about the bit rate of the file. Other codecs are
    written as FLAC.

    Args:
        data: the file.
        name: the name of its content, one of `DEMUXERS`.
        pictured: whether a video is read, without its picture.

    Raises:
        UnsupportedFormat: it is a video, or its codec is not supported, or ffmpeg is not installed.
        MalformedRecord: it is damaged, or has no sound.
    """

    def __init__(self, data: bytes, name: str, *, pictured: bool = False) -> None:
        self._data, self._demuxer = data, DEMUXERS[name]
        tracks = self._tracks()
        pictures = [each for each in tracks if each.get("codec_type") == "video"]
        if any(not each.get("disposition", {}).get("attached_pic") for each in pictures) and not pictured:
            raise UnsupportedFormat(
                "a video: its picture is not de-identified. Allow the release of its sound track alone, or save the "
                "sound track as an audio file"
            )
        sounds = [each for each in tracks if each.get("codec_type") == "audio"]
        if len(sounds) != 1:
            raise UnsupportedFormat(
                f"a file with {len(sounds)} sound tracks. Save each sound track as a file of its own"
            )
        (sound,) = sounds
        self.container, self.codec = _NAMES[self._demuxer], str(sound.get("codec_name", "unknown"))
        self.rate, self.channels = int(sound.get("sample_rate") or 0), int(sound.get("channels") or 0)
        if self.codec in ("unknown", "none") or not self.rate or not self.channels:
            raise UnsupportedFormat("a sound track that is encrypted or has an unknown codec. Convert it to FLAC")
        self.frames = None
        self._muxer, self._encoder, self.written_as = _WRITERS.get((self._demuxer, self.codec), ("", "", "FLAC"))
        self.lossless = self.codec.startswith(_EXACT)
        self._bits = int(sound.get("bit_rate") or 0)
        deep = int(sound.get("bits_per_raw_sample") or 0) > 16
        self._type = "int32" if deep else "int16" if self.lossless or not self._muxer else "float32"

    def read(self) -> Iterator[Native]:
        import numpy as np

        kind, size = np.dtype(self._type), np.dtype(self._type).itemsize * self.channels
        whole = max(1, BLOCK // self.channels) * size
        with _memory(self._data) as source:
            command = (
                *_program("ffmpeg"), *_LIMITS, "-xerror", "-err_detect", "explode", "-f", self._demuxer,
                "-i", f"file:/proc/self/fd/{source}", "-map", "0:a:0", *self._raw(), "pipe:1",
            )  # fmt: skip
            with _started(command, (source,), stdout=subprocess.PIPE) as process:
                held = bytearray()
                while piece := _received(process):
                    held += piece
                    while len(held) >= whole:
                        yield np.frombuffer(bytes(held[:whole]), kind).reshape(-1, self.channels)
                        del held[:whole]
                if process.wait(SILENCE) or len(held) % size:
                    raise MalformedRecord("the sound of the recording cannot be decoded. Encode it again")
                if held:
                    yield np.frombuffer(bytes(held), kind).reshape(-1, self.channels)

    def write(self, blocks: Iterable[Native], out: BinaryIO) -> None:
        if not self._muxer:
            codec = "PCM_24" if self._type == "int32" else "PCM_16"
            encode(blocks, out, self.rate, self.channels, "FLAC", codec)
            return
        bits = ("-b:a", str(self._bits or self._average())) if not self.lossless else ()
        with _memory() as target:
            command = (
                *_program("ffmpeg"), *_LIMITS, *self._raw()[2:], "-i", "pipe:0", "-c:a", self._encoder, *bits, *_PLAIN,
                "-f", self._muxer, "-y", f"file:/proc/self/fd/{target}",
            )  # fmt: skip
            with _started(command, (target,), stdin=subprocess.PIPE) as process:
                for block in blocks:
                    _sent(process, block.astype(self._type, copy=False).tobytes())
                assert process.stdin is not None  # a pipe
                process.stdin.close()
                if process.wait(SILENCE):
                    raise UnsupportedFormat(_UNWRITTEN)
            with open(target, "rb", closefd=False) as made:
                made.seek(0)
                shutil.copyfileobj(made, out)

    def _raw(self) -> tuple[str, ...]:
        """Return the arguments for samples without a header."""
        form = {"int16": "s16le", "int32": "s32le", "float32": "f32le"}[self._type]
        return "-c:a", f"pcm_{form}", "-ac", str(self.channels), "-ar", str(self.rate), "-f", form

    def _average(self) -> int:
        """Return the bit rate of the file."""
        return int(8 * len(self._data) * self.rate / max(1, sum(map(len, self.read()))))

    def _tracks(self) -> list[dict[str, Any]]:
        with _memory(self._data) as source:
            command = (
                *_program("ffprobe"), *_LIMITS[:4], "-of", "json", "-show_entries", _ASKED, "-f", self._demuxer,
                f"file:/proc/self/fd/{source}",
            )  # fmt: skip
            with _started(command, (source,), stdout=subprocess.PIPE) as process:
                answer = b"".join(iter(lambda: _received(process), b""))
                failed = process.wait(SILENCE)
        try:
            found: list[dict[str, Any]] = json.loads(answer).get("streams", [])
        except ValueError:
            failed = 1
        if failed:
            raise MalformedRecord("the recording is not a valid sound file of its format, or is cut off")
        return found


def _program(name: str) -> tuple[str, ...]:
    """Return the start of a command.

    Raises:
        UnsupportedFormat: the program is not installed, or this is not Linux.
    """
    found = shutil.which(name)
    if found is None or not hasattr(os, "memfd_create"):
        raise UnsupportedFormat(
            "a sound file that needs ffmpeg on Linux. Install the program ffmpeg, or convert the file to FLAC"
        )
    return found, "-v", "quiet"


@contextmanager
def _memory(data: bytes = b"") -> Iterator[int]:
    """Return the descriptor of a file in memory. It has no name, and is gone when the block ends."""
    if not hasattr(os, "memfd_create"):
        _program("ffmpeg")
    descriptor = os.memfd_create("sound")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _started(
    command: Sequence[str], shared: Sequence[int], *, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program. It is killed if the block ends before it does."""
    process = subprocess.Popen(  # noqa: S603 -- a program of the system, without a shell, with our own arguments
        command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, pass_fds=shared, bufsize=0,
        env={name: value for name, value in os.environ.items() if not name.startswith("INCOGNOTE_")},
    )  # fmt: skip
    try:
        yield process
    except subprocess.TimeoutExpired:
        raise MalformedRecord(_STUCK) from None
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _received(process: subprocess.Popen[bytes]) -> bytes:
    """Return the next bytes of a program's output, or b"" at its end."""
    assert process.stdout is not None  # a pipe
    if not select.select([process.stdout], [], [], SILENCE)[0]:
        raise MalformedRecord(_STUCK)
    return os.read(process.stdout.fileno(), 2**18)


def _sent(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write bytes to a program's input."""
    assert process.stdin is not None  # a pipe
    os.set_blocking(process.stdin.fileno(), False)
    left = memoryview(data)
    while left:
        if not select.select([], [process.stdin], [], SILENCE)[1]:
            raise MalformedRecord(_STUCK)
        try:
            left = left[os.write(process.stdin.fileno(), left) :]
        except OSError:
            raise UnsupportedFormat(_UNWRITTEN) from None
