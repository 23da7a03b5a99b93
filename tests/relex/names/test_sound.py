"""Names that are spelled by ear or transcribed in several ways sound alike; other names do not."""

from __future__ import annotations

import pytest

from incognote.relex.names.sound import heard_alike, sounds


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("meyer", "maier"), ("meier", "meyer"), ("reid", "reed"), ("philips", "phillips"),
        ("tchaikovsky", "chaykovsky"),
        ("thompson", "thomson"), ("macdonald", "mcdonald"), ("stephen", "steven"), ("sean", "shawn"),
        ("mohammed", "muhamad"), ("schroeder", "shroder"), ("natalya", "nataliya"), ("kuznetsov", "kuznetsoff"),
    ],
)  # fmt: skip
def test_spellings_by_ear_and_transcriptions_sound_alike(a: str, b: str) -> None:
    assert heard_alike(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("julia", "julie"), ("eric", "erica"), ("moore", "meyer"), ("fine", "veen"), ("mary", "marie"),
        ("hart", "hurt"),
        ("lowe", "lau"), ("kane", "cohen"), ("pera", "pereira"), ("malik", "maluleke"), ("dean", "dion"),
    ],
)  # fmt: skip
def test_other_names_do_not(a: str, b: str) -> None:
    assert not heard_alike(a, b)


def test_short_words_have_no_sound() -> None:
    assert not sounds("lee")
    assert not sounds("li")
