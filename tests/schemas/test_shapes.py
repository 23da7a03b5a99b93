"""Which patterns are bounded ASCII formats."""

from __future__ import annotations

import re

import pytest

from incognote.schemas.shapes import compiled, loose


@pytest.mark.parametrize("pattern", [
    "^[A-Z]{1,4}[0-9]{1,3}$", r"^\d{1,3}(\.\d{1,2})?$", "^[A-Z0-9-]{1,12}$", "^(Progress note|Discharge summary)$",
    "^(?:[0-9]{2})$", "^x?$", "^[A-Z] [0-9]$", "^(?=.*[A-Z])[A-Z0-9]{1,10}$", "^[a-z]{2,3}-[A-Z]{2}$", "^(ab){1,20}$"])
def test_codes_and_numbers_of_bounded_length_are_a_shape(pattern: str) -> None:
    assert loose(pattern) == ""


@pytest.mark.parametrize(("pattern", "words"), [
    ("^[^0-9]*$", "more than 40"), (".*", "more than 40"), ("^[A-Z]+$", "more than 40"),
    ("^[^0-9]{0,30}$", "does not list"), ("^.{0,30}$", "does not list"), (r"^\S{1,9}$", "does not list"),
    (r"^\W{1,9}$", "does not list"), ("^é$", "does not list"), ("^[Ā-ſ]$", "does not list"),
    ("^[A-é]$", "does not list"),
    (r"^\t$", "does not list"), (r"^a\s$", "does not list"), ("^(?:[^a]|b)$", "does not list"),
    ("^[A-Za-z ]{0,30}$", "free text"), ("^[A-Z ]{0,12}$", "free text"), ("^(?:[A-Z][a-z]{1,3} ){1,4}$", "free text"),
    ("^[ -~]{0,20}$", "free text"), ("^[A-Z][a-z]{0,30}$", "any word"), (r"^\w{1,20}$", "any word"),
    ("^[A-Z]{1,20}$", "any word"), ("^(?:[a-z]){4}$", "any word"), ("^(?:[a-z]b){4}$", "any word")])
def test_words_and_what_is_not_bounded_are_none(pattern: str, words: str) -> None:
    assert words in loose(pattern)


def test_the_longest_length_of_the_schema_bounds_a_pattern() -> None:
    assert loose("^[A-Z]+$", 4) == ""
    assert "more than 40" in loose("^[A-Z]+$", 41)


def test_a_pattern_knows_ascii_only() -> None:
    assert compiled(r"\d").fullmatch("٣") is None
    assert compiled("(?i)k").fullmatch("\u212a") is None


@pytest.mark.parametrize("pattern", ["(", "(?u)a", "a{99999999999}", "(" * 5000 + ")" * 5000])
def test_what_is_no_pattern_is_an_error_of_patterns(pattern: str) -> None:
    with pytest.raises(re.error):
        compiled(pattern)
