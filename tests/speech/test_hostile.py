"""Hostile, damaged, and unsupported sound files end in words."""

from __future__ import annotations

import io
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.speech.files import SoundFile
from incognote.speech.nouns import Interval

from .sounds import converted, filed, tones

KINDS = {
    "wav": ("WAV", "PCM_16"), "wavex": ("WAVEX", "PCM_24"), "rf64": ("RF64", "PCM_16"), "flac": ("FLAC", "PCM_16"),
    "mp3": ("MP3", "MPEG_LAYER_III"), "vorbis": ("OGG", "VORBIS"), "opus": ("OGG", "OPUS"), "aiff": ("AIFF", "PCM_16"),
    "au": ("AU", "ULAW"), "adpcm": ("WAV", "MS_ADPCM"),
}  # fmt: skip
FILES = {name: filed(tones(1.0), 16_000, *kind) for name, kind in KINDS.items()}


def _all(data: bytes, **given: float) -> bytes:
    out = io.BytesIO()
    file = SoundFile(data, **given)
    assert file.seconds == file.frames / file.rate
    for block in file.blocks():
        assert block.dtype == np.int16
    file.written([Interval(0.1, 0.2)], out)
    return out.getvalue()


def _refused(data: bytes) -> str | None:
    """Return why a file is refused, or None."""
    try:
        _all(data)
    except RecordProblem as problem:
        return str(problem)
    return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.0, 0.001, 0.01, 0.3, 0.6, 0.8])
def test_a_file_that_is_cut_off_is_refused(kind: str, part: float) -> None:
    data = FILES[kind]
    with pytest.raises(RecordProblem):
        _all(data[: int(len(data) * part)])


@pytest.mark.parametrize("kind", [".m4a", ".webm", ".aac"])
@pytest.mark.parametrize("part", [0.01, 0.6])
def test_a_file_of_ffmpeg_that_is_cut_off_ends_in_words(kind: str, part: float, tmp_path: Path) -> None:
    data = converted(FILES["wav"], kind, [], tmp_path)
    if _refused(data[: int(len(data) * part)]) is None:
        assert kind in (".webm", ".aac")  # streams, which have no length


@pytest.mark.parametrize("kind", KINDS)
@given(changes=st.lists(st.tuples(st.integers(0, 10**9), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4),
       near=st.booleans())  # fmt: skip
@settings(max_examples=15)
def test_damaged_bytes_never_crash_the_reader(kind: str, changes: list[tuple[int, bytes]], near: bool) -> None:
    data = bytearray(FILES[kind])
    for at, new in changes:
        start = at % (64 if near else len(data))
        data[start : start + len(new)] = new
    assert _refused(bytes(data)) != ""


@pytest.mark.parametrize(
    "words",
    [b"", b"Patient seen today.", b"RIFF", b"RIFF\0\0\0\0WAVE", b"fLaC", b"OggS", b"ID3\3\0\0\0\0\0\0",
     b"ID3\4\0\0\x7f" * 9,
     b"\xff\xfb\x90\x00" * 40, b"FORM\0\0\0\0AIFF", b".snd" + bytes(30), b"\0\0\0\x1cftypM4A " + bytes(100),
     b"\x1aE\xdf\xa3" + bytes(200), b"#!AMR\n" + bytes(100)],
)  # fmt: skip
def test_what_only_looks_like_sound_is_refused(words: bytes) -> None:
    with pytest.raises(RecordProblem):
        _all(words)


def _header(rate: int = 16_000, channels: int = 1, bits: int = 16, size: int = 3_200) -> bytes:
    step = channels * bits // 8
    form = struct.pack("<HHIIHH", 1, channels & 0xFFFF, rate, rate * step & 0xFFFFFFFF, step & 0xFFFF, bits)
    return b"RIFF" + struct.pack("<I", 36 + 3_200) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack(
        "<I", size
    )  # fmt: skip


@pytest.mark.parametrize(
    "header",
    [_header(rate=0), _header(rate=1), _header(rate=2**31 - 1), _header(rate=2**32 - 1), _header(channels=0),
     _header(channels=500), _header(channels=65_535), _header(bits=0), _header(bits=13_000), _header(size=2**30)],
)  # fmt: skip
def test_lying_headers_are_refused(header: bytes) -> None:
    with pytest.raises(RecordProblem):
        _all(header + bytes(range(128)) * 25)


def test_a_length_that_the_writer_did_not_know_is_no_lie() -> None:
    assert SoundFile(_header(size=2**32 - 1) + bytes(range(128)) * 25).frames == 1_600


@pytest.mark.parametrize("total", [1, 100, 15_999, 16_001, 2**36 - 1])
def test_a_flac_with_another_length_than_its_header_says_is_refused(total: int) -> None:
    data = bytearray(FILES["flac"])
    data[21:26] = ((data[21] & 0xF0) << 32 | total).to_bytes(5, "big")
    with pytest.raises(RecordProblem):
        _all(bytes(data))


def test_a_flac_of_unknown_length_is_read_to_its_end() -> None:
    data = bytearray(FILES["flac"])
    data[21:26] = bytes((data[21] & 0xF0, 0, 0, 0, 0))
    assert SoundFile(bytes(data)).frames == 16_000


@pytest.mark.parametrize("kind", ["mp3", "vorbis", "opus"])
def test_a_second_recording_behind_the_first_is_not_lost_unseen(kind: str) -> None:
    with pytest.raises(MalformedRecord):
        _all(FILES[kind] * 2)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_samples_that_are_no_numbers_are_refused(value: float) -> None:
    sound = tones(1.0)
    sound[500, 1] = value
    with pytest.raises(MalformedRecord, match="no numbers"):
        _all(filed(sound, codec="DOUBLE"))


def test_a_recording_without_samples_is_refused() -> None:
    with pytest.raises(MalformedRecord, match="no sound"):
        _all(filed(np.zeros((0, 1))))


def test_a_recording_over_the_limit_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(UnsupportedFormat, match=r"0\.01 hours"):
        SoundFile(filed(np.zeros((16_000 * 40, 1))), hours=0.01)


def test_hours_of_silence_in_a_small_file_meet_the_limit() -> None:
    hours = filed(np.zeros((8 * 3600 * 8_000, 1), np.int16), 8_000, "FLAC")
    assert len(hours) < 2**20
    start = time.monotonic()
    with pytest.raises(UnsupportedFormat, match="4 hours"):
        SoundFile(hours, hours=4)
    unknown = bytearray(hours)
    unknown[21:26] = bytes((unknown[21] & 0xF0, 0, 0, 0, 0))
    with pytest.raises(UnsupportedFormat, match="1 hours"):
        next(SoundFile(bytes(unknown), hours=1).blocks())
    assert time.monotonic() - start < 60


def test_a_video_is_refused_unless_its_sound_track_alone_is_wanted(tmp_path: Path) -> None:
    picture = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-map", "0:a", "-map", "1:v", "-c:v", "mpeg4", "-c:a", "aac"]
    data = converted(FILES["wav"], ".mp4", picture, tmp_path)
    with pytest.raises(UnsupportedFormat, match="sound track"):
        SoundFile(data)
    file = SoundFile(data, pictured=True)
    out = io.BytesIO()
    file.written([Interval(0.25, 0.5)], out)
    assert file.suffix == ".m4a"
    assert b"vide" in data
    assert b"vide" not in out.getvalue()
    assert SoundFile(out.getvalue()).frames == file.frames


def test_a_cover_picture_does_not_make_a_recording_a_video(tmp_path: Path) -> None:
    cover = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-map", "0:a", "-map", "1:v", "-frames:v", "1", "-c:v",
             "mjpeg", "-disposition:v", "attached_pic", "-c:a", "aac"]  # fmt: skip
    data = converted(FILES["wav"], ".m4a", cover, tmp_path)
    assert b"\xff\xd8\xff" in data
    assert b"\xff\xd8\xff" not in _all(data)


def test_two_sound_tracks_are_refused(tmp_path: Path) -> None:
    data = converted(FILES["wav"], ".m4a", ["-map", "0:a", "-map", "0:a", "-c:a", "aac"], tmp_path)
    with pytest.raises(UnsupportedFormat, match="2 sound tracks"):
        SoundFile(data)


def test_a_playlist_with_the_name_of_a_sound_file_opens_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other.wav"
    other.write_bytes(FILES["wav"])
    for words in (f"#EXTM3U\n#EXTINF:1,\n{other}\n", f"ffconcat version 1.0\nfile '{other}'\n"):
        with pytest.raises(UnsupportedFormat):
            SoundFile(words.encode())


def test_without_ffmpeg_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = converted(FILES["wav"], ".m4a", [], tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnsupportedFormat, match="Install the program ffmpeg"):
        SoundFile(data)
    assert SoundFile(FILES["mp3"]).seconds == 1


def test_an_error_has_no_bytes_of_the_file() -> None:
    with pytest.raises(RecordProblem) as caught:
        _all(FILES["wav"][:3_000] + b"Emily Carter")
    assert "Emily" not in str(caught.value)
    assert caught.value.__cause__ is None
