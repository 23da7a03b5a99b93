"""Holidays by name: where they are dates, and where the same words name somebody or something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from incognote.detectors.agreement import named
from incognote.nouns import Span, Text
from incognote_en.rules import holidays


@pytest.mark.parametrize(
    "marked",
    [
        "Came back on ⟦Mardi Gras⟧ with beads.",
        "Rash since ⟦Tết⟧, worse by ⟦Ash Wednesday⟧.",
        "Sang at ⟦Día de los Muertos⟧ (⟦Seollal⟧ for her).",
        "Ate at the ⟦Mexican Independence Day⟧ fair.",
        "Fell on ⟦Holi⟧, not at the Easter Street clinic.",
        "Dr. Noel saw Lucia; Natal cleft normal.",
        "LMP ⟦Valentine's Day⟧. Guests thru ⟦Three Kings Day⟧.",
        "Seen the weekend after ⟦Reyes⟧. Seen after Reyes, on Reyes.",
        "Happy Diwali! Juneteenth School is closed.",
    ],
)
def test_a_holiday_is_found_by_its_name(check: Callable[..., None], marked: str) -> None:
    check(marked, "DATE", find=holidays.find)


def test_a_person_or_place_that_is_a_holiday_is_a_date() -> None:
    text = Text("Arrived on Mardi Gras with Gras Mardin.")
    gras = Span(text, 11, 21, "PATIENT", 0.9, ("encoder:full",))
    other = Span(text, 27, 38, "PERSON", 0.9, ("encoder:full",))
    assert list(named([], [gras, other])) == [replace(gras, type="DATE"), other]
