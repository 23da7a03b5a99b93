"""Time: distances between dates of all forms, and ages that agree with the dates around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from incognote.evaluation.relex.chronology import chronology
from incognote.evaluation.relex.pairs import NotePair

Pair = Callable[..., NotePair]


def figures(*notes: NotePair) -> dict[str, float | None]:
    return {name: figure.value for name, figure in chronology(notes, 20, 0).items()}


@pytest.mark.parametrize(("last", "kept"), [("April 10, 2024", 1), ("April 11, 2024", 0)])
def test_full_dates_keep_their_distance(pair: Pair, last: str, kept: int) -> None:
    assert figures(pair(f"[DATE 03/14/2024|04/04/2024] then [DATE March 20, 2024|{last}]"))["intervals, full"] == kept


def test_numbers_that_can_be_read_either_way_break_no_interval(pair: Pair) -> None:
    dates = "On [DATE 5 Dec 2022|5 Apr 2023], [DATE 04/09/2023|{}], [DATE May 16, 2023|September 14, 2023]."
    assert figures(pair(dates.format("03/01/2024")))["intervals, full"] == 1
    assert figures(pair(dates.format("05/01/2024")))["intervals, full"] == 0


@pytest.mark.parametrize(("second", "kept"), [("2/29", 1), ("3/1", 0), ("2/28", 0)])
def test_a_date_without_a_year_is_read_in_the_year_of_its_note(pair: Pair, second: str, kept: int) -> None:
    """The note moves by 351 days, to a leap year."""
    dated = pair(
        f"Seen [DATE 03/10/2023|02/24/2024], back [DATE 3/15|{second}].", gold=("d-2023-03-10", "d-2023-03-15")
    )
    assert figures(dated)["intervals, without year"] == kept


def test_two_nights_that_become_one_day_are_a_broken_interval(pair: Pair) -> None:
    nights = "Seen 03/10/2023. Night of [DATE 3/14|5/20], then of [DATE 3/15|{}]."
    gold = ("d-2023-03-14", "d-2023-03-15")
    assert figures(pair(nights.format("5/21"), gold=gold))["intervals, without year"] == 1
    assert figures(pair(nights.format("5/20"), gold=gold))["intervals, without year"] == 0


def test_distances_to_a_birth_date_are_counted_apart(pair: Pair) -> None:
    dates = "[DATE 03/14/2023|04/04/2024] to [DATE 03/16/2023|04/06/2024]"
    found = figures(pair(f"DOB [BIRTH_DATE_TIME 06/12/1948|07/03/1950]. {dates}"))
    assert (found["intervals, birth date"], found["intervals, full"]) == (0, 1)


def test_one_surrogate_can_hold_several_dates(pair: Pair) -> None:
    note = pair("On [DATE 03/01/2024|03/11/2024], [DATE 3/5|3/15 and 3/17], [DATE 3/7|3/15 and 3/17].")
    first, *rest = note.mentions
    found = figures(replace(note, mentions=(first, *(replace(one, how="partial") for one in rest))))
    assert found["intervals, without year"] == 1


@pytest.mark.parametrize(("month", "kept"), [("May 2024", 1), ("June 2024", 1), ("July 2024", 0)])
def test_a_month_holds_if_some_day_of_it_does(pair: Pair, month: str, kept: int) -> None:
    note = pair(f"On [DATE 03/14/2024|04/28/2024], since [DATE April 2024|{month}].")
    assert figures(note)["intervals, partial"] == kept


@pytest.mark.parametrize(("age", "agrees"), [("74-year-old", 1), ("76-year-old", 0), ("70s", 1), ("80s", 0)])
def test_an_age_agrees_with_the_birth_date_and_the_date_of_the_note(pair: Pair, age: str, agrees: int) -> None:
    note = pair(
        f"DOB [BIRTH_DATE_TIME 06/12/1948|07/03/1949]. [DATE 03/14/2023|04/04/2024]: [AGE 74-year-old|{age}], "
        "brother [AGE 60|58]."
    )
    found = chronology([note], 20, 0)["ages"]
    assert (found.value, found.of) == (agrees, 1)


@pytest.mark.parametrize(("age", "agrees"), [("90", 1), ("over 89", 1), ("80", 0)])
def test_ages_over_89_may_be_one_class(pair: Pair, age: str, agrees: int) -> None:
    note = pair(f"DOB [BIRTH_DATE_TIME 06/12/1928|07/03/1929]. [DATE 03/14/2023|04/04/2024]: [AGE 94|{age}]")
    assert figures(note)["ages"] == agrees


def test_labels_are_counted_and_break_nothing(pair: Pair) -> None:
    found = figures(pair("[DATE 03/14/2024|04/04/2024], [DATE Easter|[DATE]], [DATE 03/20/2024|04/10/2024]"))
    assert (found["dates labeled"], found["intervals, full"]) == (pytest.approx(1 / 3), 1)
