"""Persons: patients, relatives, and staff."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from incognote.relex.cluster import cluster
from incognote.relex.nouns import MentionVariant

Together = Callable[..., list[set[str]]]


def test_every_mention_of_the_patient_is_the_patient(together: Together) -> None:
    assert together(
        "[PATIENT HARGROVE, ROBERT] is here. [PATIENT Bob] says", "[PATIENT R.T.H.] and [PATIENT Mr Nobody]"
    ) == [{"HARGROVE, ROBERT", "Bob", "R.T.H.", "Mr Nobody"}]


def test_two_patients_of_one_surname_are_two(together: Together) -> None:
    assert len(together(("p1", "[PATIENT Chidi Okafor]"), ("p2", "[PATIENT Ngozi Okafor]"))) == 2


def test_a_surname_is_the_only_clinicians_who_bears_it(together: Together) -> None:
    assert together("Seen by [CLINICIAN Adam Wilson], MD. Dr. [CLINICIAN Wilson] agrees.") == [
        {"Adam Wilson", "Wilson"}
    ]


def test_clinicians_of_one_surname_are_told_apart_by_their_own_record(together: Together) -> None:
    found = together(
        ("p1", "By [CLINICIAN Rajesh Patel]. Thanks, Dr. [CLINICIAN Patel]"),
        ("p2", "By [CLINICIAN Rina Patel]. [CLINICIAN R. Patel], MD"),
    )
    assert found == [{"Patel", "Rajesh Patel"}, {"R. Patel", "Rina Patel"}]


def test_what_may_mean_two_clinicians_stands_alone(together: Together) -> None:
    found = together("[CLINICIAN Adam Wilson] and [CLINICIAN Alice Wilson]", "[CLINICIAN Wilson] called")
    assert {"Wilson"} in found
    assert len(found) == 3


def test_degrees_tell_the_doctor_from_the_nurse(together: Together) -> None:
    found = together(
        "[CLINICIAN Adam Wilson], MD; [CLINICIAN Alice Wilson], NP. "
        "Dr. [CLINICIAN Wilson] and [CLINICIAN A. Wilson], NP"
    )
    assert found == [{"A. Wilson", "Alice Wilson"}, {"Adam Wilson", "Wilson"}]


def test_a_name_without_middle_initial_that_fits_two_is_neithers(together: Together) -> None:
    found = together(
        ("p1", "[CLINICIAN Robert T. Lane]"), ("p2", "[CLINICIAN Robert J. Lane]"), ("p3", "[CLINICIAN Robert Lane]")
    )
    assert len(found) == 3


def test_kin_who_share_a_surname_stay_apart(together: Together) -> None:
    found = together(
        "wife [RELATIVE Amara Okafor], brother [RELATIVE Emeka Okafor]. "
        "Mr. [RELATIVE E. Okafor] and Mrs. [RELATIVE Okafor]"
    )
    assert found == [{"Amara Okafor", "Okafor"}, {"E. Okafor", "Emeka Okafor"}]


def test_a_relative_is_no_patient_of_the_same_name(together: Together) -> None:
    assert len(together("[PATIENT Robert Hargrove] and his son [RELATIVE Robert Hargrove]")) == 2
    assert together("[PATIENT Robert Hargrove]; son [RELATIVE Robert Hargrove Jr.], [RELATIVE Hargrove]") == [
        {"Hargrove", "Robert Hargrove Jr."},
        {"Robert Hargrove"},
    ]


@pytest.mark.parametrize(
    "note",
    [
        "Mrs. [RELATIVE Anna Petrova], née [RELATIVE Sokolova], came",
        "[RELATIVE Eleanor Hargrove] (formerly [RELATIVE Eleanor Whitcomb])",
        "[RELATIVE Eleanor Whitcomb], before she married, worked here. Now [RELATIVE Eleanor Hargrove] does",
        "[RELATIVE Kim-Ly Tran] (born [RELATIVE Nguyen Kim Ly])",
    ],
)
def test_a_name_of_birth_is_the_same_persons(together: Together, note: str) -> None:
    assert len(together(note)) == 1


def test_a_surname_alone_prefers_whoever_bears_that_and_no_other(together: Together) -> None:
    found = together(
        "wife [RELATIVE Natalia Sokolova]", "[RELATIVE Anna Sokolova-Petrova] asked. Mrs. [RELATIVE Sokolova] too"
    )
    assert {"Natalia Sokolova", "Sokolova"} in found


def test_a_title_tells_husband_from_wife(together: Together) -> None:
    found = together("[RELATIVE Ann Moreau] and [RELATIVE Julien Moreau]. Mr. [RELATIVE Moreau] left")
    assert {"Julien Moreau", "Moreau"} in found


def test_nicknames_and_short_forms_join(together: Together) -> None:
    assert together("[RELATIVE Francisco Rivas] ([RELATIVE Paco])") == [{"Francisco Rivas", "Paco"}]
    assert together('[RELATIVE Margaret "Peggy" Doyle], then [RELATIVE Peggy]') == [{'Margaret "Peggy" Doyle', "Peggy"}]


def test_a_person_with_a_clinicians_whole_name_is_the_clinician(together: Together) -> None:
    assert together("[CLINICIAN Adam Wilson]", "[PERSON Wilson, Adam] wrote") == [{"Adam Wilson", "Wilson, Adam"}]
    assert len(together("[CLINICIAN Adam Wilson]", "[PERSON Alma Wilson] wrote")) == 2


def test_a_person_with_the_patients_whole_name_is_the_patient(together: Together) -> None:
    assert len(together("[PATIENT Chidi Okafor]", "[PERSON OKAFOR, CHIDI]")) == 1


def test_a_misspelt_surname_joins_where_nothing_fits_to_the_letter(together: Together) -> None:
    assert together("[CLINICIAN Naomi Rosenthal]; Dr. [CLINICIAN Rosental]") == [{"Naomi Rosenthal", "Rosental"}]
    assert len(together("[CLINICIAN Naomi Rosenthal]; Dr. [CLINICIAN Rosental]; [CLINICIAN Eva Rosental]")) == 2


def test_initials_alone_join_their_only_bearer(together: Together) -> None:
    assert together("[CLINICIAN Joanna R. Kline], MD. Dictated [CLINICIAN JRK]") == [{"JRK", "Joanna R. Kline"}]


def test_staff_are_one_across_patients_and_kin_are_not(together: Together) -> None:
    found = together(
        ("p1", "[CLINICIAN Inés Vásquez]; [RELATIVE Amara Okafor]"),
        ("p2", "[CLINICIAN Ines Vasquez]; [RELATIVE Amara Okafor]"),
    )
    assert found == [{"Amara Okafor"}, {"Amara Okafor"}, {"Inés Vásquez", "Ines Vasquez"}]


def test_a_person_addressed_as_a_doctor_is_no_patient(together: Together) -> None:
    assert len(together("[PATIENT John Smith] was seen by Dr. [PERSON Smith]")) == 2
    assert together("[PATIENT John Smith]. [PERSON Smith] came") == [{"John Smith", "Smith"}]


def test_two_surnames_alone_are_surnames(together: Together) -> None:
    assert len(together("[CLINICIAN Ana García López], MD. Dr. [CLINICIAN García López]")) == 1


def test_a_misspelt_given_name_is_believed_of_staff_in_one_patients_records_and_never_of_kin(
    together: Together,
) -> None:
    assert len(together("[CLINICIAN Bernard Meyer]", "[CLINICIAN Bertard Meyer]")) == 1
    assert len(together("[CLINICIAN Jordan Meyer]", "[CLINICIAN Gordan Meyer]")) == 2
    assert len(together("[CLINICIAN Daniel Costa]", "[CLINICIAN Daniela Costa]")) == 2
    assert len(together("[RELATIVE Julia Stone] and [RELATIVE Julie Stone]")) == 2


def test_nothing_of_a_note_shows_in_a_repr(marked: Callable[..., list[MentionVariant]]) -> None:
    clusters = cluster(marked("[PATIENT Chidi Okafor], wife [RELATIVE Amara Okafor], [ADDRESS 31 Fern Street]"))
    assert len(clusters) == 3
    for one in clusters:
        assert not {"Chidi", "Okafor", "Amara", "Fern", "okafor", "p1"} & set(
            re.findall(r"\w+", repr(one) + repr(one.variants))
        )


def test_a_newborn_is_not_the_parent_whose_surname_it_bears(together: Together) -> None:
    found = together("[RELATIVE Robert Hargrove] holds [RELATIVE Baby Boy Hargrove], later [RELATIVE BB Hargrove]")
    assert found == [{"BB Hargrove", "Baby Boy Hargrove"}, {"Robert Hargrove"}]
    assert len(together("[RELATIVE Baby A Hargrove] and [RELATIVE Baby B Hargrove]")) == 2
