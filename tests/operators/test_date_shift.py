"""A patient's dates move together, by a secret number of weeks that is never zero."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.operators.date_shift import offset
from incognote.schemas.policy import Choice, Policy
from incognote_en.dates import parse

SHIFT = Policy("test", "", None, 0.4, 0.5, "hold", {"DATE": Choice("date-shift", {"day_first": False})})
FULL = Keyring(bytes(32))


@given(st.text(min_size=1), st.text(), st.integers(2190, 3650), st.dates(dt.date(1990, 1, 1), dt.date(2035, 1, 1)))
def test_dates_move_later_by_whole_weeks_and_never_to_the_same_day_of_the_year(
    patient: str, domain: str, farthest: int, start: dt.date
) -> None:
    days = offset(FULL, domain, patient, farthest)
    moved = start + dt.timedelta(days)
    assert 0 < days <= farthest
    assert moved.weekday() == start.weekday()
    assert (moved.month, moved.day) != (start.month, start.day)


def test_there_are_more_than_300_possible_shifts() -> None:
    assert len({offset(FULL, "clinic", str(n)) for n in range(4000)}) == 307


def test_the_same_patient_moves_by_the_same_days_and_another_one_by_others() -> None:
    days = {patient: offset(FULL, "clinic", patient) for patient in ("a", "b", "c", "d", "e", "f")}
    assert days["a"] == offset(Keyring(bytes(32)), "clinic", "a")
    assert len(set(days.values())) == len(days)


def test_another_domain_or_key_moves_by_other_days() -> None:
    here = [offset(FULL, "clinic", str(n)) for n in range(20)]
    assert here != [offset(FULL, "study", str(n)) for n in range(20)]
    assert here != [offset(Keyring(bytes([1]) * 32), "clinic", str(n)) for n in range(20)]


@given(
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.text(min_size=1),
)
def test_intervals_between_full_dates_survive(
    serve: Callable[..., str], one: dt.date, other: dt.date, patient: str
) -> None:
    moved = []
    for day in (one, other):
        read = parse(serve(day.isoformat(), "DATE", "date-shift", patient=patient))
        assert read is not None
        moved.append(read.date)
    assert moved[0] is not None
    assert moved[1] is not None
    assert moved[1] - moved[0] == other - one
    assert moved[0] != one


@pytest.mark.parametrize(
    "written",
    [
        "03/16/2025",
        "July",
        "3/4",
        "the second of May",
        "Aug '22",
        "20240117093412-0600",
        "3/1-3/3",
    ],
)
def test_a_date_that_tells_more_than_a_year_comes_out_different(serve: Callable[..., str], written: str) -> None:
    for patient in map(str, range(60)):
        assert serve(written, "DATE", "date-shift", patient=patient) != written


@pytest.mark.parametrize("written", ["H29.4.7", "yesterday", "some time ago", "2024.072"])
def test_what_cannot_be_read_becomes_the_label(serve: Callable[..., str], written: str) -> None:
    assert serve(written, "DATE", "date-shift") == "[DATE]"


@pytest.mark.parametrize("patient", [None, ""])
def test_without_a_patient_dates_become_labels(serve: Callable[..., str], patient: str | None) -> None:
    assert serve("03/16/2025", "DATE", "date-shift", patient=patient) == "[DATE]"


def test_the_document_tells_how_its_dates_are_ordered(play: Callable[..., Any]) -> None:
    alone = play("seen ⟦03/04/2024⟧", SHIFT, "DATE")
    beside = play("seen ⟦03/04/2024⟧, born ⟦26/12/1960⟧", SHIFT, "DATE", "DATE")
    days = offset(Keyring(bytes(range(32))), "clinic", "patient-1")
    assert alone.out == f"seen {dt.date(2024, 3, 4) + dt.timedelta(days):%m/%d/%Y}"
    assert f"seen {dt.date(2024, 4, 3) + dt.timedelta(days):%d/%m/%Y}" in beside.out


def test_a_birth_year_of_two_digits_lies_in_the_past(serve: Callable[..., str]) -> None:
    read = parse(serve("12/25/35", "BIRTH_DATE_TIME", "date-shift"), latest=2000)
    days = offset(Keyring(bytes(range(32))), "clinic", "patient-1")
    assert read is not None
    assert read.date == dt.date(1935, 12, 25) + dt.timedelta(days)
