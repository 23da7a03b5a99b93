"""Tokens of speech without words: detectors see a sign instead of the times in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.text.gaps import TOKEN, UNWORDED, clock, folded, token
from incognote.text.lexicon import LEXICON
from incognote.text.reading import read


def test_the_token_is_that_of_the_paper() -> None:
    assert token(2.85, 2.95) == "<human_timestamp_(00:02.85 - 00:02.95)>"


@pytest.mark.parametrize(("seconds", "written"), [(0, "00:00.00"), (59.999, "01:00.00"), (7384.5, "123:04.50")])
def test_a_time_has_minutes_and_seconds(seconds: float, written: str) -> None:
    assert clock(seconds) == written


@given(st.floats(0, 40_000), st.floats(0, 100))
def test_each_token_is_recognized(start: float, length: float) -> None:
    assert TOKEN.fullmatch(token(start, start + length))


def test_a_reader_sees_a_sign_and_its_stretch_is_the_whole_token() -> None:
    gap = token(2.85, 2.95)
    reading = read(f"My name is {gap} and I am here", LEXICON)
    assert reading.seen == f"My name is {UNWORDED} and I am here"
    at = reading.seen.index(UNWORDED)
    assert reading.back(at, at + 1) == (11, 11 + len(gap))


def test_other_text_between_angle_brackets_is_no_token() -> None:
    assert not list(folded("<human_timestamp_(02.85)> <human_timestamp_(00:72.85 - 00:02.95)>"))
