"""Sound files whose first bytes vary are named alike."""

from __future__ import annotations

import pytest

from incognote.text.signatures import of_magic


@pytest.mark.parametrize("start", [b"RIFF\x24\x00\x00\x00WAVEfmt ", b"RF64\xff\xff\xff\xffWAVEds64"])
def test_a_wav_may_be_larger_than_4_gb(start: bytes) -> None:
    assert of_magic(start) == "WAV audio"


@pytest.mark.parametrize("start", [b"ID3\x03\x00\x00\x00", b"\xff\xfb\x90\x64", b"\xff\xf3\x40\xc0",
                                   b"\xff\xe3\x18\xc4", b"\xff\xfd\x80\x04"])  # fmt: skip
def test_mp3_of_every_version_and_layer_ii_are_named(start: bytes) -> None:
    assert of_magic(start) == "MP3 audio"


@pytest.mark.parametrize("start", [b"\xff\xfe\x41\x00", b"\xff\xff\xff\xff", b"\xff\xe3\xff\xff", b"\xff\xe0\x00\x10"])
def test_other_bytes_after_0xff_are_no_sound(start: bytes) -> None:
    assert of_magic(start) is None
