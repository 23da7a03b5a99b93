"""What people say and a transcript writes: ages, days, and words that were spelled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

AGES = [
    "How old are you.\n⟦6⟧.",
    "How old is she.\nShe's ⟦11 weeks⟧ and growing.",
    "He is old.\n⟦6 and a half⟧ he says.",
    "One time when he was ⟦2⟧ at home.",
]
NO_AGES = ["an old scar.\nThe 6 stitches", "wait 6 and a half hours", "when he was 2 weeks post op"]
DAYS = ["The drain was pulled on ⟦the 22nd⟧ post void", "since ⟦the 30th⟧ he feels well"]
NO_DAYS = ["on the 25th percentile", "on the 22nd week", "until the 20th visit"]


@pytest.mark.parametrize("marked", AGES)
def test_ages_are_found(check: Callable[..., None], marked: str) -> None:
    check(marked, "AGE")


@pytest.mark.parametrize("text", NO_AGES)
def test_amounts_are_no_ages(check: Callable[..., None], text: str) -> None:
    check(text)


@pytest.mark.parametrize("marked", DAYS)
def test_days_are_found(check: Callable[..., None], marked: str) -> None:
    check(marked, "DATE")


@pytest.mark.parametrize("text", NO_DAYS)
def test_other_ordinals_are_no_days(check: Callable[..., None], text: str) -> None:
    check(text)


def test_a_spelled_answer_is_a_name(check: Callable[..., None]) -> None:
    check("How do you spell that.\nYes it's ⟦XIO⟧ sorry", "PERSON")


def test_capitals_after_another_question_are_no_name(check: Callable[..., None]) -> None:
    check("What did it show.\nCOPD as before")


def test_the_end_of_a_telephone_number_is_found(check: Callable[..., None]) -> None:
    check("Is this number still right.\nIt's ⟦059⟧ at the end.", "TELEPHONE_NUMBER")


def test_a_number_without_a_telephone_near_is_none(check: Callable[..., None]) -> None:
    check("The dose is 050.")
