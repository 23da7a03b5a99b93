"""Contextual coherence: the paper's good and bad examples, and each criterion separately."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.evaluation.relex.coherence import coherent
from incognote.evaluation.relex.pairs import NotePair

GOOD = "[PATIENT John|Harry] met his lawyer, [PERSON Mr. Anderson|Mr. Bennett], at the firm."
BAD = "[PATIENT John|Harry] met his lawyer, [PERSON Mr. Anderson|Pizza Hut], at the firm."


def respects(note: NotePair) -> list[dict[str, bool]]:
    return [dict(told) for _, _, told in coherent([note])]


def test_the_papers_good_example_reads_well_and_its_bad_one_does_not(pair: Callable[..., NotePair]) -> None:
    assert all(respects(pair(GOOD))[1].values())
    assert respects(pair(BAD))[1]["reader"] is False


@pytest.mark.parametrize(
    ("respect", "good", "bad"),
    [
        ("article", "an [AGE 81-year-old|80-year-old] man", "an [AGE 81-year-old|79-year-old] man"),
        ("article", "a [OCCUPATION teacher|welder]", "a [OCCUPATION teacher|engineer]"),
        ("gender", "Mrs. [PERSON Anna Reed|Paula Stone]", "Mrs. [PERSON Anna Reed|Peter Stone]"),
        ("gender", "his wife [RELATIVE Anna Reed|Paula Stone]", "his wife [RELATIVE Anna Reed|Peter Stone]"),
        ("weekday", "Tuesday, [DATE March 4, 2025|April 15, 2025]", "Tuesday, [DATE March 4, 2025|April 16, 2025]"),
        ("whole", "at [HOSPITAL Mercy|Grace] Hospital", "at [HOSPITAL Mercy|Grace Hospital] Hospital"),
        ("whole", "Dr. [CLINICIAN Reed|Stone]", "Dr. [CLINICIAN Reed|Dr. Stone]"),
        ("whole", "at [HOSPITAL Mercy (West)|Grace (West)]", "at [HOSPITAL Mercy (West)|Grace West)]"),
        ("whole", "by [CLINICIAN Reed|Stone]", "by [CLINICIAN Reed|XXXXX]"),
        ("whole", "[PATIENT Reed|Stone] came", "[PATIENT Reed|stone] came"),
    ],
)
def test_each_respect_tells_good_from_bad(pair: Callable[..., NotePair], respect: str, good: str, bad: str) -> None:
    assert respects(pair(good))[0][respect] is True
    assert respects(pair(bad))[0][respect] is False


def test_what_was_odd_before_is_not_held_against_the_surrogate(pair: Callable[..., NotePair]) -> None:
    assert "article" not in respects(pair("a [AGE 81-year-old|79-year-old] man"))[0]
    assert "weekday" not in respects(pair("Monday, [DATE March 4, 2025|April 16, 2025]"))[0]


def test_a_name_at_the_head_of_a_sentence_is_not_doubled(pair: Callable[..., NotePair]) -> None:
    assert all(told["whole"] for told in respects(pair("with [RELATIVE Sofia|Jana]. [RELATIVE Sofi|Jana] has a note")))
