"""Dates without a year that the full dates of a note show, and the scores, ratios, and fractions that are none."""

from __future__ import annotations

import pytest

from incognote.detectors.rules.view import View
from incognote.nouns import Text
from incognote_en.rules import neighbors

HEAD = "Ward note 05/20/2024. "
DATES = [
    "Two apneas overnight, last ⟦5/8⟧.",
    "Polio dose #2 ⟦5/6⟧.",
    "Steroids complete (⟦5/11⟧, ⟦5/12⟧).",
    "Lead level confirmed by neuro ⟦5/10⟧.",
    "Heparin off ⟦5/9⟧, lines out ⟦5/18⟧.",
    "Drain removal ⟦6/5⟧",
    "On the night of ⟦the 14th⟧ a pump alarmed.",
    "Rehab starts ⟦the 27th⟧.",
    "Fluoro ⟦6/3⟧: no leak",
]
NUMBERS = [
    "Deltoid strength 4/5 on the left, wrist 5/5.",
    "Last pain 4/6, now 5/10.",
    "Systolic murmur 5/6.",
    "Apgars 6/8, cried at once.",
    "Recall 5/10 words, then 4/10.",
    "Swallowed 5/5 sips, 4/6 trials from cup.",
    "Half a tablet: 1/2 tab, then 5/8 inch needle.",
    "37 6/7 weeks; 5 1/2 feet.",
    "Amoxicillin for 5/7, review in 6/12.",
    "BiPAP 12/5, weaned to BiPAP 10/5.",
    "Glasses R 6/5, L 6/6.",
    "Up on the 2nd floor, on the 5th percentile, from the 6th rib.",
    "Isolates: 5/20 resistant, 4/20 not.",
]


def found(plain: str) -> list[str]:
    return [plain[c.start : c.end] for c in neighbors.find(View(Text(plain)))]


@pytest.mark.parametrize("marked", DATES)
def test_a_date_near_the_date_of_the_note_is_found(marked: str) -> None:
    plain = marked.replace("⟦", "").replace("⟧", "")
    assert found(HEAD + plain) == [piece.partition("⟧")[0] for piece in marked.split("⟦")[1:]]
    assert found(plain) == []


@pytest.mark.parametrize("text", NUMBERS)
def test_scores_ratios_and_fractions_are_no_dates(text: str) -> None:
    assert found(HEAD + text) == []


def test_numbers_far_from_every_date_of_the_note_are_no_dates() -> None:
    assert found(HEAD + "Bradycardia, last 11/8.") == []
    assert found("Seen 05/20/2024, stent 11/2/2014. Lines out 11/18.") == []


def test_a_note_that_writes_the_day_first_reads_all_its_dates_so() -> None:
    assert found("Clinic 20/05/2024. Scan missed 3/6.") == ["3/6"]
    assert found("Clinic 20 May 2024. Scan missed 8/6.") == ["8/6"]
    assert found("Clinic May 20, 2024. Scan missed 11/6.") == []


def test_a_date_of_birth_is_near_only_in_the_chart_of_a_newborn() -> None:
    assert found("Baby girl, born 05/20/2024. Steroids complete (5/18, 5/19).") == ["5/18", "5/19"]
    assert found("DOB 05/20/1961. Steroids complete (5/18, 5/19).") == []


def test_a_season_is_a_date_only_beside_a_month() -> None:
    assert found("Croup last winter, five nights in hospital, home by Feb 3.") == ["winter"]
    assert found("Croup last winter. Seen Feb 3. A fall last fall.") == []
