"""Persons: gender, locale, relatives, and initials; staff are separate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.keys import Keyring
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.names import parse
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


@pytest.mark.parametrize("gender", ["female", "male"])
@pytest.mark.parametrize("locale", ["en", "es", "in", "ng", "zh", "ar"])
def test_gender_and_locale_are_kept(make: Make, keyring: Keyring, gender: str, locale: str) -> None:
    one = make("PERSON", "PATIENT", "Qx Wexlar", gender=gender, locale=locale)
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["given"] in pools().given(locale, gender)


def test_a_surname_tells_its_own_locale(make: Make, keyring: Keyring) -> None:
    one = make("PERSON", "PATIENT", "Amy Okonkwo", gender="female", locale="en")
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["surname"] in pools().surnames("ng")


def test_an_unknown_gender_gets_a_name_that_both_bear(make: Make, keyring: Keyring) -> None:
    one = make("PERSON", "PERSON", "Wilson")
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["given"] in pools().given("en", "unknown")


def test_a_lone_surname_is_called_as_the_whole_name_is(make: Make, become: Become) -> None:
    lone, whole = become([make("PERSON", "PERSON", "Wilson"), make("PERSON", "PATIENT", "Adam Wilson", gender="male")])
    assert parse(whole).surname == (lone,)


def test_one_identity_in_every_way_of_writing(make: Make, become: Become) -> None:
    full, inverted, capitals, initials, owned, nick, spelt = become(
        [
            make(
                "PERSON", "PATIENT", "Robert Allen Whitfield", "Whitfield, Robert A.", "WHITFIELD", "R.A.W.",
                "Whitfield's", "Bob", "Whitfeild", gender="male", locale="en",
            )
        ]
    )  # fmt: skip
    given, middle, surname = full.split()
    assert inverted == f"{surname}, {given} {middle[0]}."
    assert capitals == surname.upper()
    assert initials == f"{given[0]}.{middle[0]}.{surname[0]}."
    assert owned == f"{surname}'s"
    assert nick == given
    assert spelt == surname


def test_kin_share_the_surname_and_not_the_given_name(make: Make, become: Become) -> None:
    patient, wife, mother = become(
        [
            make("PERSON", "PATIENT", "Adam Wilson", gender="male"),
            make("PERSON", "RELATIVE", "Jane Wilson", gender="female"),
            make("PERSON", "RELATIVE", "Ruth Carver", gender="female"),
        ]
    )
    assert patient.split()[1] == wife.split()[1] != mother.split()[1]
    assert len({name.split()[0] for name in (patient, wife, mother)}) == 3


def test_a_name_of_birth_is_that_of_the_family_that_bears_it(make: Make, become: Become) -> None:
    now, before, mother = become(
        [
            make("PERSON", "PATIENT", "Jane Wilson", "Carver", gender="female"),
            make("PERSON", "RELATIVE", "Ruth Carver", gender="female"),
        ]
    )
    assert now.split()[1] != before == mother.split()[1]


def test_a_double_surname_stays_double(make: Make, become: Become) -> None:
    patient, double = become(
        [
            make("PERSON", "PATIENT", "Adam Wilson", gender="male"),
            make("PERSON", "RELATIVE", "Beth Wilson-Okafor", gender="female"),
        ]
    )
    first, second = double.split()[1].split("-")
    assert first == patient.split()[1] != second


def test_staff_and_patients_draw_from_surnames_that_never_meet(make: Make, keyring: Keyring) -> None:
    staff = [
        make("PERSON", "CLINICIAN", f"Amy Wexl{a}{b}r", scope="", gender="female") for a in "aeiou" for b in "bdfglm"
    ]
    patients = [
        make("PERSON", "PATIENT", f"Amy Wexl{a}{b}r", scope=f"patient:{a}{b}", gender="female")
        for a in "aeiou"
        for b in "bdfglm"
    ]
    drawn = Generators().generate_all([*staff, *patients], KeyedDraw(keyring), UsedSurrogates())
    assert not {drawn[s.id].parts["surname"] for s in staff} & {drawn[p.id].parts["surname"] for p in patients}


def test_two_of_one_name_in_a_scope_get_two_names(make: Make, keyring: Keyring) -> None:
    father = make("PERSON", "RELATIVE", "John Wilson", normal="john wilson", gender="male")
    son = make("PERSON", "PERSON", "John Wilson", normal="john wilson jr", gender="male")
    drawn = Generators().generate_all([father, son], KeyedDraw(keyring), UsedSurrogates())
    assert drawn[father.id].parts["surname"] == drawn[son.id].parts["surname"]
    assert drawn[father.id].parts["given"] != drawn[son.id].parts["given"]


def test_words_that_show_no_name_are_left_to_a_label(make: Make, become: Become) -> None:
    assert become([make("PERSON", "PERSON", "...")]) == ["[LABEL]"]


def test_a_word_is_called_the_same_whichever_way_round_the_name_is_written(make: Make, become: Become) -> None:
    ways = ("SUBRAMANIAN, MURUGESAN", "Subramanian Murugesan", "Murugesan", "Subramanian")
    inverted, whole, last, first = become([make("PERSON", "PATIENT", *ways, gender="male")])
    assert whole == f"{first} {last}"
    assert inverted == f"{first}, {last}".upper()


def test_the_initial_of_a_surname_is_of_the_one_that_begins_so(make: Make, become: Become) -> None:
    ways = ("Margaret Sullivan", "Margaret Donohue", "Peg D.", "Peg S.")
    married, born, d, s = become([make("PERSON", "PATIENT", *ways, gender="female")])
    assert (d[-2], s[-2]) == (born.split()[1][0], married.split()[1][0])


def test_a_surname_cut_short_is_that_surname(make: Make, become: Become) -> None:
    whole, short = become([make("PERSON", "PATIENT", "Guðrún Einarsdóttir", "Guðrún Einarsd.", gender="female")])
    assert short == f"{whole}."
