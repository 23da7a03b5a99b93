"""Kinship words, titles of staff and nicknames beside names that a detector typed."""

from __future__ import annotations

import pytest

from incognote.relex.cluster import cluster

from .test_evidence import mentions, together


@pytest.mark.parametrize(
    ("note", "kin"),
    [
        ("Widow of [PERSON Patrick Hale]", "husband"),
        ("Pt is the mother of our colleague. Pt is the mother of [PERSON Ana Ruiz], LCSW", "child"),
        ("Social worker [PERSON Marco Sosa], LICSW, is pt's cousin", "cousin"),
        ("She is Dr. [PERSON Anne Whit]'s younger sister", "sibling"),
        ("the two kids [PERSON Luis] and [PERSON Ana]", "kids"),
        ("her sons [PERSON Arjan Sethi] and [PERSON Jaspal]", "son"),
        ("RN at the bedside, wife of [PERSON Patrick Hale]", ""),
    ],
)
def test_the_kinship_word_of_a_name_is_read_around_it(note: str, kin: str) -> None:
    assert mentions(note)[-1].hints.kin == kin


def test_a_relative_who_is_a_doctor_stays_in_the_family_wherever_the_chart_names_her() -> None:
    assert together(
        "Patient: [PATIENT Sun Park]\nHis daughter, Dr. [CLINICIAN Hye-Jin Park], called.",
        "Daughter Dr. [CLINICIAN Hye-Jin Park] was here. Dr. [CLINICIAN Park] will look at the scan.",
    ) == [{"Hye-Jin Park", "Park"}, {"Sun Park"}]


def test_a_doctor_listed_after_a_relative_is_no_relative() -> None:
    (wife, doctor) = mentions("Discussed with wife, Dr. [CLINICIAN Chen], and Dr. [CLINICIAN Rao]")
    assert (wife.hints.role, doctor.hints.role) == ("staff", "staff")


def test_a_label_makes_a_doctor_the_patient() -> None:
    assert mentions("Patient: Dr. [CLINICIAN Hany Boutros]\nSigned by Dr. [CLINICIAN Katz]")[0].hints.role == "patient"


def test_a_name_that_the_patient_goes_by_is_the_patients_also_without_a_subject() -> None:
    assert together("Patient: [PATIENT Walter Lund]\n66M goes by [RELATIVE Trey]. [RELATIVE Trey] agrees.") == [
        {"Trey", "Walter Lund"}
    ]


def test_a_nickname_and_the_full_given_name_are_one_relative_without_a_surname() -> None:
    assert together("His wife [RELATIVE Concetta] called.", "[RELATIVE Connie] drove him.") == [{"Concetta", "Connie"}]


def test_a_lone_junior_is_not_the_father_of_that_name() -> None:
    assert together("Husband [RELATIVE Dale Moss]. Delivered a boy, [RELATIVE Dale Jr.], today.") == [
        {"Dale Jr."},
        {"Dale Moss"},
    ]


def test_a_record_that_begins_with_an_unnamed_newborn_is_the_patients() -> None:
    assert together(
        "NICU ADMISSION\n[PATIENT Baby Boy Xiong], mother [RELATIVE Mai Xiong].", "Patient: [PATIENT Leng Vang]"
    ) == [{"Baby Boy Xiong", "Leng Vang"}, {"Mai Xiong"}]


def test_a_mister_is_not_the_child_who_is_the_patient() -> None:
    assert together("Re: [PATIENT Mendy Rosen], 3 y. Mr. [PATIENT Rosen] works as a teacher.") == [
        {"Mendy Rosen"},
        {"Rosen"},
    ]


def test_a_lone_initial_is_of_the_given_name_and_after_a_title_of_the_surname() -> None:
    assert together("[CLINICIAN Farhad Rezai], MD. Dr. [CLINICIAN R.] says hi. [CLINICIAN F.]") == [
        {"F.", "Farhad Rezai", "R."}
    ]
    assert together("[CLINICIAN Dov Katz], PA-C. God bless. [CLINICIAN K.]") == [{"Dov Katz"}, {"K."}]


def test_an_alias_that_is_the_name_of_a_member_of_staff_is_in_one_identity_only() -> None:
    found = [*mentions("Patient: [PATIENT Ana Ruiz]. Spoke to [PERSON Joe] (\"[PERSON Sam Park]\") drove her.", "r1")]
    found += mentions("Seen by [CLINICIAN Sam Park], RN", "r2", "p2")
    assert sorted(v for one in cluster(found) for v in one.variants) == sorted(found)


def test_a_nickname_is_whose_it_is_and_not_of_a_namesake_with_another_nickname() -> None:
    assert together(
        "Patient: [PATIENT Margaret Hale]. Prefers to be called [RELATIVE Peggy].",
        "Granddaughter [RELATIVE Maggie Hale] came. [RELATIVE Peggy] walks, and [RELATIVE Maggie] helps.",
    ) == [{"Maggie", "Maggie Hale"}, {"Margaret Hale", "Peggy"}]


def test_words_for_a_newborn_before_a_surname_keep_it_apart_from_the_surname_alone() -> None:
    assert together("Baby Boy [PATIENT Xiong] is stable. Mom ([RELATIVE Xiong] in old notes) called.") == [
        {"Xiong"},
        {"Xiong"},
    ]


def test_a_patient_with_a_degree_who_is_typed_so_is_the_patient_and_not_a_nurse_of_that_name() -> None:
    label = "Patient: [PATIENT Yolanda Sosa]"
    assert together(f"{label}\nCandidate [PATIENT Yolanda Sosa], RN, agrees.") == [{"Yolanda Sosa"}]
    assert together(f"{label}\nSigned by [CLINICIAN Yolanda Sosa], RN") == [{"Yolanda Sosa"}, {"Yolanda Sosa"}]
