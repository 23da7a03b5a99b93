"""The shared lexicon: weights, flags, and folding."""

from __future__ import annotations

import pytest

from incognote.text.lexicon import BRAND, EPONYM, MEDICAL, commonness, fold, given, lexicon, surname


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("O’Dówd", "odowd"),
        ("Wiśniewski", "wisniewski"),
        ("Søren", "soren"),
        ("Þórdís", "thordis"),
        ("NGUYỄN", "nguyen"),
        ("Yılmazoğlu", "yilmazoglu"),
        ("Ọmọ́wùnmí", "omowunmi"),
        ("Weiß", "weiss"),
    ],
)
def test_folding_drops_case_marks_and_apostrophes(word: str, folded: str) -> None:
    assert fold(word) == folded


@pytest.mark.parametrize(
    "name", "ngozi kwabena thandiwe xochitl aigerim siobhan wei priya yusuf agnieszka mereana itzel chidi".split()
)
def test_given_names_of_many_traditions_are_known(name: str) -> None:
    assert given(lexicon()[name]) >= 3


@pytest.mark.parametrize(
    "name", "okonkwo mensah kipchoge dlamini nguyen zhang kim banerjee khan kowalski papadopoulos begay tuilagi".split()
)
def test_surnames_of_many_traditions_are_known(name: str) -> None:
    assert surname(lexicon()[name]) >= 3


def test_a_word_that_is_also_a_name_bears_both_weights() -> None:
    rose = lexicon()["rose"]
    assert given(rose) >= 5
    assert surname(rose) >= 5
    assert commonness(rose) == 2


@pytest.mark.parametrize(("word", "flag"), [("metoprolol", MEDICAL), ("coumadin", BRAND), ("parkinson", EPONYM)])
def test_words_of_medicine_carry_their_flag(word: str, flag: int) -> None:
    assert lexicon()[word] & flag


def test_every_key_is_folded() -> None:
    assert all(fold(key) == key for key in list(lexicon())[::997])
