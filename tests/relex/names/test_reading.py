"""Parsing written names into their parts."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incognote.relex.names import parse, readings
from incognote.relex.names.parsed import NAMED

CASES = [
    # written, given, middle, surname, order
    ("Bob Hargrove", ("Bob",), (), ("Hargrove",), "given first"),
    ("HARGROVE, ROBERT T.", ("ROBERT",), ("T",), ("HARGROVE",), "inverted"),
    ("Okafor, Chidi N.", ("Chidi",), ("N",), ("Okafor",), "inverted"),
    ("hargrove, robert", ("robert",), (), ("hargrove",), "inverted"),
    ("E. Okafor", ("E",), (), ("Okafor",), "given first"),
    ("A. R. Siddiqui", ("A",), ("R",), ("Siddiqui",), "given first"),
    ("Willem van der Meer", ("Willem",), (), ("van der Meer",), "given first"),
    ("VAN DER MEER, W.", ("W",), (), ("VAN DER MEER",), "inverted"),
    ("v.d. Meer", (), (), ("v.d. Meer",), "single"),
    ("van der Meer-Bakker", (), (), ("van der Meer", "Bakker"), "single"),
    ("Marijke van den Berg-van der Velde", ("Marijke",), (), ("van den Berg", "van der Velde"), "given first"),
    ("vd Velde-de Wit, J.M.", ("J",), ("M",), ("vd Velde", "de Wit"), "inverted"),
    ("Ana de la Cruz", ("Ana",), (), ("de la Cruz",), "given first"),
    ("Siobhán O'Donnell", ("Siobhán",), (), ("O'Donnell",), "given first"),
    ("Ahmed bin Khalid Al-Mansouri", ("Ahmed",), ("bin Khalid",), ("Al-Mansouri",), "given first"),
    ("AL MANSOURI, AHMED", ("AHMED",), (), ("AL MANSOURI",), "inverted"),
    ("Katarina Lindqvist-Moreau", ("Katarina",), (), ("Lindqvist", "Moreau"), "given first"),
    ("María del Carmen Fuentes Ortega", ("María",), ("del Carmen",), ("Fuentes", "Ortega"), "given first"),
    ("Diego Rivas Fuentes", ("Diego",), (), ("Rivas", "Fuentes"), "given first"),
    ("Robert James Hernandez", ("Robert",), ("James",), ("Hernandez",), "given first"),
    ("Wang Xiuying", ("Xiuying",), (), ("Wang",), "surname first"),
    ("Lim Wei Ming", ("Wei Ming",), (), ("Lim",), "surname first"),
    ("Kim Min-jun", ("Min-jun",), (), ("Kim",), "surname first"),
    ("Min-jun Kim", ("Min-jun",), (), ("Kim",), "given first"),
    ("Kim Smith", ("Kim",), (), ("Smith",), "given first"),
    ("Nguyen Thi Lan", ("Lan",), ("Thi",), ("Nguyen",), "surname first"),
    ("Van Nguyen", ("Van",), (), ("Nguyen",), "given first"),
    ("Al Smith", ("Al",), (), ("Smith",), "given first"),
    ("Nagy István", ("István",), (), ("Nagy",), "surname first"),
    ("Aleksandr Ivanovich Sokolov", ("Aleksandr",), ("Ivanovich",), ("Sokolov",), "given first"),
    ("Sokolov Aleksandr Ivanovich", ("Aleksandr",), ("Ivanovich",), ("Sokolov",), "surname first"),
    ("R. Meenakshi", ("Meenakshi",), (), ("R",), "surname first"),
    ("Meenakshi R.", ("Meenakshi",), (), ("R",), "given first"),
    ("Hargrove R", ("R",), (), ("Hargrove",), "surname first"),
    ("Suharti", ("Suharti",), (), (), "single"),
    ("Umm Khalid", ("Umm Khalid",), (), (), "single"),
    ("JRK", ("J",), ("R",), ("K",), "initials"),
    ("J.K.", ("J",), (), ("K",), "initials"),
    ("H-A-R-G-R-O-V-E", ("H-A-R-G-R-O-V-E",), (), (), "single"),
    ("王小明", ("王小明",), (), (), "single"),
]


@pytest.mark.parametrize(("written", "given_", "middle", "surname", "order"), CASES)
def test_a_name_is_taken_apart(
    written: str, given_: tuple[str, ...], middle: tuple[str, ...], surname: tuple[str, ...], order: str
) -> None:
    name = parse(written)
    assert (name.given, name.middle, name.surname, name.order) == (given_, middle, surname, order)


def test_title_degrees_suffix_and_possessive_are_no_name() -> None:
    name = parse("Dr. John Paul Jones III, MD's")
    assert (name.title, name.suffix, name.degrees, name.possessive) == ("Dr", "III", ("md",), "'s")
    assert (name.given, name.middle, name.surname) == (("John",), ("Paul",), ("Jones",))


def test_a_surname_of_capitals_is_no_degree() -> None:
    assert parse("DO, ANNA").surname == ("DO",)
    assert parse("ANNA DO").surname == ("DO",)


def test_a_nickname_in_quotes_or_brackets_stands_beside() -> None:
    assert parse('Margaret "Peggy" Doyle').nick == ("Peggy",)
    assert parse("Margaret (Peggy) Doyle").surname == ("Doyle",)


def test_a_lone_word_behind_a_title_is_a_surname() -> None:
    assert parse("Robert", title="mr").surname == ("Robert",)
    assert parse("Robert").given == ("Robert",)


def test_case_and_initials_are_told() -> None:
    assert (parse("SMITH, JOHN Q").case, parse("john smith").case, parse("John Smith").case) == (
        "upper",
        "lower",
        "title",
    )
    assert parse("SMITH, JOHN Q").initials == ("q",)
    assert parse("John Smith").full
    assert not parse("J. Smith").full


@given(st.text(min_size=1, max_size=40))
@example("\N{WAVING HAND SIGN} Lee")
def test_no_character_is_lost_in_any_reading_and_each_part_has_letters(written: str) -> None:
    assert all(name.words == written for name in readings(written))
    assert all(piece.key for name in readings(written) for piece in name.of(*NAMED))


@pytest.mark.parametrize(
    ("written", "surname", "given"),
    [
        ("Anne-Marie Le Goff", ("Le Goff",), ("Anne-Marie",)),
        ("Le Goff", ("Le Goff",), ()),
        ("LE BIHAN Yann", ("LE BIHAN",), ("Yann",)),
        ("DUPONT Marie", ("DUPONT",), ("Marie",)),
        ("GARCÍA LÓPEZ María", ("GARCÍA", "LÓPEZ"), ("María",)),
        ("Thuy Le", ("Le",), ("Thuy",)),
        ("Le Nguyen", ("Nguyen",), ("Le",)),
        ("JOHN SMITH", ("SMITH",), ("JOHN",)),
        ("JOHN Whitfield", ("Whitfield",), ("JOHN",)),
        ("Hoa Le Whitcomb", ("Whitcomb",), ("Hoa",)),
    ],
)
def test_breton_surnames_and_surnames_in_capitals_are_told(
    written: str, surname: tuple[str, ...], given: tuple[str, ...]
) -> None:
    name = parse(written)
    assert (name.surname, name.given) == (surname, given)
