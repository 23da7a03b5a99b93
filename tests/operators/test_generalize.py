"""Years, three-digit ZIP codes, and states."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from incognote.schemas.policy import Choice, Policy, load_policy
from incognote_en.places import state_named, state_of, zip3


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("03/16/2025", "2025"),
        ("Aug '19", "2019"),
        ("1/14/24", "2024"),
        ("2024-04-22T09:41:18", "2024"),
        ("2018", "2018"),
        ("spring of\n1987", "1987"),
        ("Christmas Eve 2015", "2015"),
        ("winter of 2017", "2017"),
        ("nineteen eighty eight", "1988"),
        ("3/4/2019 - 5/6/2020", "2019-2020"),
        ("2019-2020", "2019-2020"),
        ("Jan 2020 to Mar 2020", "2020"),
        ("2024-W07", "2024"),
        ("3/4", "[DATE]"),
        ("Tuesday", "[DATE]"),
        ("July", "[DATE]"),
        ("Christmas", "[DATE]"),
        ("the 8th", "[DATE]"),
        ("3/4 1930", "[DATE]"),
        ("2l/O3/1947", "1947"),
    ],
)
def test_a_date_becomes_its_year_or_the_label(serve: Callable[..., str], written: str, told: str) -> None:
    assert serve(written, "DATE", "generalize") == told


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("born ⟦03/04/1950⟧, seen ⟦2024-05-01⟧", "born 1950, seen 2024"),
        ("born ⟦03/04/1934⟧, seen ⟦2024-05-01⟧", "born [DATE], seen 2024"),
        ("born ⟦03/04/1935⟧, seen ⟦2024-05-01⟧", "born 1935, seen 2024"),
        ("born ⟦3/4/31⟧, seen ⟦5/1/24⟧", "born [DATE], seen 2024"),
        ("born ⟦03/04/1950⟧, seen ⟦Tuesday⟧", "born [DATE], seen [DATE]"),
    ],
)
def test_a_birth_year_that_tells_an_age_above_89_becomes_the_label(
    play: Callable[..., Any], note: str, told: str
) -> None:
    assert play(note, load_policy("safe-harbor"), "BIRTH_DATE_TIME", "DATE").out == told


def test_the_anchor_tells_the_year_of_the_document(serve: Callable[..., str]) -> None:
    assert serve("1950", "BIRTH_DATE_TIME", "generalize", anchor=dt.date(2024, 1, 1)) == "1950"
    assert serve("1933", "BIRTH_DATE_TIME", "generalize", anchor=dt.date(2024, 1, 1)) == "[BIRTH_DATE_TIME]"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("02139", "021"),
        ("02139-4307", "021"),
        ("021394307", "021"),
        (" 94301 ", "943"),
        ("OT4 9QZ", None),
        ("9430", None),
        ("943011", None),
        ("٩٤٣٠١", None),
    ],
)
def test_a_zip_code_keeps_three_digits(code: str, told: str | None) -> None:
    assert zip3(code) == told


RESTRICTED = "036 059 063 102 203 205 369 556 692 790 821 823 830 831 878 879 884 890 893"


@pytest.mark.parametrize("area", RESTRICTED.split())
def test_a_zip_area_of_few_people_becomes_000(area: str) -> None:
    assert zip3(area + "01") == "000"


def test_a_postal_code_of_another_country_becomes_the_label(serve: Callable[..., str]) -> None:
    assert serve("OT4 9QZ", "ZIP", "generalize") == "[ZIP]"


@pytest.mark.parametrize(
    ("place", "state"),
    [
        ("Boston", "Massachusetts"),
        ("123 Main St, Palo Alto, CA 94301", "California"),
        ("PO Box 18, Chilchin Wash, AZ 86099", "Arizona"),
        ("Massachusetts General Hospital", "Massachusetts"),
        ("Brigham and Women’s", "Massachusetts"),
        ("Cleveland Clinic", "Ohio"),
        ("University of Kansas", "Kansas"),
        ("Charleston, West Virginia", "West Virginia"),
        ("Virginia Mason", "Washington"),
        ("Haskell Harbor 04699", "Maine"),
        ("Kansas City", None),
        ("Da Nang", None),
        ("Washington", None),
        ("George Washington", None),
        ("OK", "Oklahoma"),
        ("ok", None),
        ("\ud800", None),
    ],
)
def test_a_place_tells_its_state_where_its_name_is_its_own(place: str, state: str | None) -> None:
    found = state_of(place)
    assert (found.name if found else None) == state


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("MA", "Massachusetts"),
        ("ma", "Massachusetts"),
        ("Mass.", "Massachusetts"),
        ("N.Y.", "New York"),
        ("Washington", "Washington"),
        ("texas", "Texas"),
        ("Ghor", None),
    ],
)
def test_a_word_known_to_be_a_state_is_read_in_any_form(word: str, state: str | None) -> None:
    found = state_named(word)
    assert (found.name if found else None) == state


def test_a_city_becomes_the_state_written_next_to_it(play: Callable[..., Any]) -> None:
    policy = Policy("test", "", None, 0.4, 0.5, "hold", {"CITY": Choice("generalize")})
    assert play("of ⟦Kittering⟧, ⟦PA⟧", policy, "CITY", "STATE").out == "of Pennsylvania, PA"
    assert play("of ⟦Kittering⟧. Later ⟦PA⟧", policy, "CITY", "STATE").out == "of [CITY]. Later PA"


@pytest.mark.parametrize(
    ("words", "kind"), [("John Doe", "PERSON"), ("Lake Orrin", "LOCATION"), ("00412873", "MEDICAL_RECORD_NUMBER")]
)
def test_what_has_no_coarser_form_becomes_the_label(serve: Callable[..., str], words: str, kind: str) -> None:
    assert serve(words, kind, "generalize") == f"[{kind}]"
