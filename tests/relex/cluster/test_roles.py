"""Evidence besides names: roles, specialties, whose relative is meant, sites, and the order of dates."""

from __future__ import annotations

from collections.abc import Callable

Together = Callable[..., list[set[str]]]


def test_mrs_with_the_patients_surname_is_the_wife_and_not_the_daughter(together: Together) -> None:
    assert together(
        "[PATIENT Aldo Ruiz], wife [RELATIVE Carmen Ruiz], daughter [RELATIVE Ines Ruiz]", "Mrs [RELATIVE Ruiz] agrees"
    ) == [{"Aldo Ruiz"}, {"Carmen Ruiz", "Ruiz"}, {"Ines Ruiz"}]


def test_a_patient_has_one_wife_under_two_given_names_but_not_with_the_former_one(together: Together) -> None:
    assert together("[PATIENT Aldo Ruiz], wife [RELATIVE Marisa Ruiz]", "his wife [RELATIVE Tuca] called") == [
        {"Aldo Ruiz"},
        {"Marisa Ruiz", "Tuca"},
    ]
    assert together("[PATIENT Aldo Ruiz], wife [RELATIVE Marisa Ruiz]", "his former wife [RELATIVE Tuca] called") == [
        {"Aldo Ruiz"},
        {"Marisa Ruiz"},
        {"Tuca"},
    ]


def test_the_field_of_work_tells_two_of_one_surname_apart(together: Together) -> None:
    assert together(
        "Dr. [CLINICIAN Ada Moss] of cardiology and Dr. [CLINICIAN Ben Moss] (neurology)",
        "seen by Dr. [CLINICIAN Moss], cardiology",
    ) == [{"Ada Moss", "Moss"}, {"Ben Moss"}]


def test_the_sister_of_somebody_is_not_that_somebody(together: Together) -> None:
    assert together(
        "Dr. [CLINICIAN Lupe Rojo], who is the sister of Dr. [CLINICIAN Rojo]; cath with Dr. [CLINICIAN Hugo Rojo]"
    ) == [{"Hugo Rojo", "Rojo"}, {"Lupe Rojo"}]


def test_initials_of_a_double_surname_sign_for_it(together: Together) -> None:
    assert together("[CLINICIAN Sunita Rao-Mitchell]. typed [CLINICIAN SRM]") == [{"SRM", "Sunita Rao-Mitchell"}]


def test_a_site_alone_or_behind_initials_is_that_site_and_not_the_main_house(together: Together) -> None:
    assert together(
        "[HOSPITAL Harbor Lake Medical Center], [HOSPITAL HLMC Eastgate]",
        "[HOSPITAL Eastgate], [HOSPITAL Harbor Lake Eastgate]",
    ) == [{"Eastgate", "HLMC Eastgate", "Harbor Lake Eastgate"}, {"Harbor Lake Medical Center"}]


def test_a_numeric_date_is_read_as_the_same_day_in_words(together: Together) -> None:
    assert together("[DATE 5/1/2021], admitted [DATE 5 January 2021]") == [{"5 January 2021", "5/1/2021"}]


def test_a_flat_before_the_street_and_a_bed_before_the_bay_are_the_same(together: Together) -> None:
    assert together("[ADDRESS Flat 4, 88 Elm Mews, Leeds LS8 7DA]; [ADDRESS Flat 4, 88 Elm Mews]") == [
        {"Flat 4, 88 Elm Mews", "Flat 4, 88 Elm Mews, Leeds LS8 7DA"}
    ]
    assert together("[ROOM Bay 3 Bed 2], [ROOM Bed 2, Bay 3]") == [{"Bay 3 Bed 2", "Bed 2, Bay 3"}]
