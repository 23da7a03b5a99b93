"""Dates and ages: one offset per patient, the original formats, and no age limit crossed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.operators.date_shift import offset
from incognote.relex.generate import Choices, KeyedDraw
from incognote.relex.nouns import Identity

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


def day(make: Make, words: str, date: dt.date | None = None, **more: str) -> Identity:
    normal = "" if date is None else f"day\0{date.year}\0{date.month}\0{date.day}"
    return make("DATE", "DATE", words, normal=normal or words, **more)


@given(
    first=st.dates(dt.date(1930, 1, 1), dt.date(2035, 1, 1)), second=st.dates(dt.date(1930, 1, 1), dt.date(2035, 1, 1))
)
def test_intervals_between_full_dates_stay_and_no_date_does(
    make: Make, become: Become, first: dt.date, second: dt.date
) -> None:
    one, two = become([day(make, first.isoformat(), first), day(make, second.isoformat(), second, domain="d")])
    assert dt.date.fromisoformat(two) - dt.date.fromisoformat(one) == second - first
    assert one != first.isoformat()


def test_the_offset_is_that_of_the_operator_for_the_same_patient(make: Make, become: Become, keyring: Keyring) -> None:
    (moved,) = become([day(make, "2024-03-05", dt.date(2024, 3, 5))])
    assert dt.date.fromisoformat(moved) - dt.date(2024, 3, 5) == dt.timedelta(offset(keyring, "d", "p"))


def test_each_format_is_kept_and_the_weekday_is_mended(make: Make, become: Become) -> None:
    date = dt.date(2025, 3, 4)
    written = ["Tuesday, March 4th, 2025", "3/4/25", "04.03.2025", "2025-03-04", "Mar 4"]
    normal = f"day\0{date.year}\0{date.month}\0{date.day}"
    moved = become([make("DATE", "DATE", *written, normal=normal)])
    new = dt.date.fromisoformat(moved[3])
    assert moved[0].startswith(f"{new:%A}, {new:%B} {new.day}")
    assert moved[1] == f"{new.month}/{new.day}/{new:%y}"
    assert moved[2] == f"{new:%d.%m.%Y}"
    assert moved[4] == f"{new:%b} {new.day}"


def test_an_ambiguous_date_is_read_as_its_identity_says(make: Make, become: Become) -> None:
    (iso, british) = become([make("DATE", "DATE", "2024-03-05", "05/03/2024", normal="day\x002024\x003\x005")])
    new = dt.date.fromisoformat(iso)
    assert british == f"{new:%d/%m/%Y}"


def test_a_year_in_two_digits_may_be_of_the_last_century(make: Make, become: Become) -> None:
    iso, short = become([make("DATE", "BIRTH_DATE_TIME", "1931-06-02", "6/2/31", normal="day\x001931\x006\x002")])
    new = dt.date.fromisoformat(iso)
    assert new.year < 1940
    assert short == f"{new.month}/{new.day}/{new:%y}"


def test_a_date_that_cannot_be_read_is_left_to_a_label(make: Make, become: Become) -> None:
    assert become([day(make, "some time ago")]) == ["[LABEL]"]


def test_other_patients_have_other_offsets(make: Make, become: Become) -> None:
    moved = become([day(make, "2024-03-05", dt.date(2024, 3, 5), scope=f"patient:{n}") for n in range(12)])
    assert len(set(moved)) > 9


@given(age=st.integers(1, 89), key=st.binary(min_size=32, max_size=32).map(Keyring))
def test_an_age_moves_by_two_at_most_and_crosses_no_line(make: Make, become: Become, age: int, key: Keyring) -> None:
    (moved,) = become([make("AGE", "AGE", f"{age}-year-old")], draw=KeyedDraw(key))
    number = int(moved.removesuffix("-year-old"))
    assert (number == age) == (age < 6)
    assert abs(number - age) <= 2
    assert all((age < line) == (number < line) for line in (18, 65, 75, 90))


@pytest.mark.parametrize("words", ["90 y/o", "104-year-old", "ninety-three"])
def test_the_very_old_are_ninety_and_over(make: Make, become: Become, words: str) -> None:
    assert "90+" in become([make("AGE", "AGE", words)])[0]


def test_field_and_note_tell_one_age(make: Make, become: Become) -> None:
    field, note, spoken, sexed = become([make("AGE", "AGE", "45 years", "45-year-old", "forty-five", "45M")])
    number = field.split()[0]
    assert note == f"{number}-year-old"
    assert spoken == {"43": "forty-three", "44": "forty-four", "46": "forty-six", "47": "forty-seven"}[number]
    assert sexed == f"{number}M"
    assert number != "45"


def test_an_age_may_be_told_by_decade(make: Make, become: Become) -> None:
    told = become(
        [make("AGE", "AGE", "45 years", "45-year-old"), make("AGE", "AGE", "61 y/o"), make("AGE", "AGE", "89")],
        Choices(ages="decade"),
    )
    assert told == ["mid-forties", "mid-forties", "early-sixties", "late-eighties"]


def test_the_article_before_an_age_stays_right_where_the_band_allows(make: Make, become: Become) -> None:
    for key in (Keyring(bytes([n]) * 32) for n in range(8)):
        (told,) = become([make("AGE", "AGE", "81-year-old")], draw=KeyedDraw(key))
        assert told.startswith("8")


def test_months_and_words_stay(make: Make, become: Become) -> None:
    ages = ["7 month old", "toddler", "5 weeks", "early eighties"]
    assert become([make("AGE", "AGE", words) for words in ages]) == ages
