"""Which written names may refer to the same person."""

from __future__ import annotations

import pytest

from incognote.relex.names.likeness import alike, compared, one_person, related


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Lim Wei Ming", "Wei Ming Lim"),
        ("Nguyen Thi Lan", "Lan Nguyen"),
        ("Kim-Ly Tran", "Kimly Tran"),
        ("Park Ji-yeon", "Jiyeon Park"),
        ("Wang Lei", "Lei Wang"),
        ("Samir Haddad", "Samir Hadad"),
        ("Pat Dunleavy", "Patrick Dunleavy"),
        ("Jill Mercer", "Jillian Mercer"),
        ("Bob Hargrove", "HARGROVE, ROBERT T."),
        ("Khalid Almansouri", "Khalid Al-Mansouri"),
        ("Anna Petrova", "Anna Sokolova-Petrova"),
        ("Diego Rivas", "Diego Rivas Fuentes"),
        ("Willem v.d. Meer", "Willem van der Meer"),
        ("H4rgrove, Robert", "Robert Hargrove"),
        ("Inés Vásquez", "Ines Vasquez"),
    ],
)
def test_variants_of_one_name_agree(a: str, b: str) -> None:
    assert one_person(compared(a), compared(b)) > 0
    assert one_person(compared(b), compared(a)) == one_person(compared(a), compared(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Adam Wilson", "Alice Wilson"),
        ("David Chang", "David Cheng"),
        ("Daniel Green", "Daniel Greenberg"),
        ("Daniel Costa", "Daniela Costa"),
        ("Carl Meyer", "Carla Meyer"),
        ("Julia Stone", "Julie Stone"),
        ("John Murphy", "Sean Murphy"),
        ("Robert T. Hargrove", "Robert J. Hargrove"),
        ("Robert Hargrove Jr.", "Robert Hargrove Sr."),
        ("Wang Lei", "Wang Li"),
        ("Pieter de Vries", "Anneke de Vries"),
        ("Amara Okafor", "Emeka Okafor"),
    ],
)
def test_two_people_stay_two(a: str, b: str) -> None:
    assert one_person(compared(a), compared(b)) == 0


def test_a_known_surname_is_believed_misspelt_only_within_one_patients_records() -> None:
    a, b = compared("Erik Porter"), compared("Erik Potter")
    assert one_person(a, b, "loose") > 0
    assert one_person(a, b, "strict") == 0


def test_short_names_are_never_misspelt() -> None:
    assert not alike("lee", "lea")
    assert alike("rosental", "rosenthal")
    assert not alike("mason", "jason")


def test_nicknames_share_a_root() -> None:
    assert related("bob", "robert")
    assert related("paco", "francisco")
    assert related("sasha", "aleksandr")
    assert related("bill", "will")
    assert not related("bob", "william")
