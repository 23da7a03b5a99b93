"""A person's other names: nicknames, Junior, a newborn's first name, a former name, and a relative's lone name."""

from __future__ import annotations

import pytest

from incognote.relex.cluster import cluster

from .test_evidence import mentions, together


@pytest.mark.parametrize("word", ["Junior", "Jr."])
def test_a_lone_junior_is_the_only_one_called_that_even_without_a_surname(word: str) -> None:
    groups = together(
        "Patient: [PATIENT Dora Prell]. Her son [RELATIVE Egon Jr.] is well.", f"[RELATIVE {word}] drove her home."
    )
    assert groups == sorted([{"Dora Prell"}, {"Egon Jr.", word}], key=sorted)


def test_a_lone_junior_stays_alone_if_two_people_are_called_that() -> None:
    found = mentions("Patient: [PATIENT Dora Prell]. Son [RELATIVE Egon Jr.]; [RELATIVE Udo Jr.]; [PERSON Junior]")
    joins = {join.reason for identity in cluster(found) for join in identity.joins}
    assert "suffix" not in joins


def test_a_nickname_in_quotation_marks_before_the_name_in_parentheses_is_the_same_person() -> None:
    groups = together(
        'His grandson "[RELATIVE Zolko]" ([RELATIVE Zoltan Imre], 8) waved.', "He lives with [RELATIVE Zolko]."
    )
    assert groups == [{"Zolko", "Zoltan Imre"}]


def test_a_newborn_is_the_patient_who_was_admitted_under_the_mothers_name() -> None:
    groups = together("Patient: [PATIENT Vera Kohl] (admitted as BB [PATIENT Prell])", "Mother: [RELATIVE Ida Prell]")
    assert groups == sorted([{"Vera Kohl", "Prell"}, {"Ida Prell"}], key=sorted)


@pytest.mark.parametrize("said", ["name changed 10/30 from", "name changed from", "previous name"])
def test_a_name_before_a_change_is_the_same_persons(said: str) -> None:
    assert together(f"Patient: [PATIENT Vera Kohl] ({said} [RELATIVE Prell])") == [{"Vera Kohl", "Prell"}]


def test_a_lone_name_is_the_relative_called_that_rather_than_another_persons_second_name() -> None:
    groups = together(
        "His grandson [RELATIVE Zoltan Imre] waved. Son [RELATIVE Imre] called.", "Met with [RELATIVE Imre]."
    )
    assert groups == [{"Imre"}, {"Zoltan Imre"}]


def test_a_second_name_in_parentheses_after_a_relatives_lone_name_is_the_same_person() -> None:
    groups = together("Her son [RELATIVE Ji-Ho] ([RELATIVE Peter]) drove.", "Son [RELATIVE Peter] called.")
    assert groups == [{"Ji-Ho", "Peter"}]


def test_a_full_name_in_parentheses_is_the_person_with_the_short_one() -> None:
    assert together("Patient: [PATIENT Juno Prado] ([PATIENT Juana Luz Prado Reyes])") == [
        {"Juno Prado", "Juana Luz Prado Reyes"}
    ]
