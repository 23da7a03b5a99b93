"""Pages of Ogg files and their checksums."""

from __future__ import annotations

import pytest

from incognote.speech.ogg import FIRST, LAST, checksum, fixed, pages

from .sounds import filed, tones


@pytest.mark.parametrize("codec", ["VORBIS", "OPUS"])
def test_checksums_are_those_that_another_program_wrote(codec: str) -> None:
    data = filed(tones(1.0, 48_000), 48_000, "OGG", codec)
    found = list(pages(data))
    assert found[0][2] == FIRST
    assert found[-1][2] & LAST
    assert found[-1][1] == len(data)
    for start, end, _ in found:
        page = bytearray(data[start:end])
        page[22:26] = bytes(4)
        assert checksum(bytes(page)) == int.from_bytes(data[start + 22 : start + 26], "little")


def test_files_that_differ_in_their_serial_number_alone_become_the_same() -> None:
    sound = tones(1.0, 48_000)
    made = {fixed(filed(sound, 48_000, "OGG", "VORBIS")) for _ in range(2)}
    assert len(made) == 1


def test_a_page_that_is_cut_off_is_noticed() -> None:
    with pytest.raises(ValueError, match="cut off"):
        list(pages(filed(tones(1.0), container="OGG", codec="VORBIS")[:-1]))
