"""Race, ethnicity, marital status, and parenthood, only when they describe a person."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote_en.rules.demographics import find

FOUND = [
    ("A 45-year-old ⟦white⟧ female.", "RACE"),
    ("58 yo ⟦African-American⟧ man", "RACE"),
    ("Race: ⟦Black⟧", "RACE"),
    ("a ⟦Hispanic⟧ woman", "ETHNICITY"),
    ("Ethnicity: ⟦Vietnamese⟧", "ETHNICITY"),
    ("a ⟦Korean American⟧ gentleman", "ETHNICITY"),
    ("of ⟦Nigerian⟧ descent", "ETHNICITY"),
    ("Tribe: ⟦Yoruba⟧", "ETHNICITY"),
    ("His ⟦wife⟧ is at bedside.", "MARITAL_STATUS"),
    ("Marital status: ⟦single⟧", "MARITAL_STATUS"),
    ("He is ⟦divorced⟧ and lives alone.", "MARITAL_STATUS"),
    ("She is ⟦separated⟧, two cats.", "MARITAL_STATUS"),
    ("⟦mother of two⟧, works nights", "PARENTHOOD"),
    ("She ⟦has 3 children⟧.", "PARENTHOOD"),
    ("⟦father of 4⟧", "PARENTHOOD"),
    ("No prior pregnancies, ⟦no children⟧.", "PARENTHOOD"),
]
NOT_FOUND = [
    "WBC 11, white count up. White matter changes.",
    "black stool, brown urine",
    "single dose, single lumen",
    "The bladder neck was separated from the prostate.",
    "Japanese encephalitis vaccine; German measles; French 16 Foley",
    "1 in 5 children are affected",
    "American Heart Association diet",
    "Chinese food, Italian dressing, Greek yogurt",
    "partner notification letter",
]


@pytest.mark.parametrize(("marked", "type_"), FOUND)
def test_the_word_is_found_and_typed(marked: str, type_: str, check: Callable[..., None]) -> None:
    check(marked, type_, find=find)


@pytest.mark.parametrize("text", NOT_FOUND)
def test_the_same_words_about_things_are_left(text: str, check: Callable[..., None]) -> None:
    check(text, find=find)
