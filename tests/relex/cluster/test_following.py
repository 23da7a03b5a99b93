"""A short name that only a detector calls staff, the patient, or a relative belongs to whom its chart knows by it."""

from __future__ import annotations

import pytest

from incognote.relex.cluster import cluster

from .test_evidence import mentions, together


def test_a_lone_name_typed_clinician_is_the_relative_that_the_chart_knows_by_it() -> None:
    groups = together(
        "Patient: [PATIENT Bela Orsik]. Brother [RELATIVE Tibor], 12, well. Screen [CLINICIAN Tibor].",
        "Sister [CLINICIAN Ilka Orsik] was here.",
        "His sister [RELATIVE Ilka Orsik] called. [CLINICIAN Ilka] agrees.",
        "Her friend [RELATIVE Zuz] and [CLINICIAN Zuz]",
    )
    assert groups == [{"Bela Orsik"}, {"Ilka", "Ilka Orsik"}, {"Tibor"}, {"Zuz"}]


def test_a_lone_name_typed_clinician_is_the_patient_of_the_chart() -> None:
    groups = together("Patient: [PATIENT Bela Orsik].", "[CLINICIAN Bela] slept. Mr. [CLINICIAN Orsik] ate.")
    assert groups == [{"Bela", "Bela Orsik", "Orsik"}]


@pytest.mark.parametrize("type", ["CLINICIAN", "PERSON", "RELATIVE", "PATIENT"])
def test_a_lone_name_that_only_staff_of_the_chart_have_is_theirs(type: str) -> None:
    groups = together("Patient: [PATIENT Bela Orsik].", f"Hi [{type} Ingrid], thanks.", "[CLINICIAN Ingrid Moss], RN")
    assert groups == [{"Bela Orsik"}, {"Ingrid", "Ingrid Moss"}]


def test_a_lone_surname_typed_clinician_is_the_only_staff_of_the_domain_with_it() -> None:
    seen = [*mentions("F/u [CLINICIAN Fenwick] 1/18."), *mentions("[CLINICIAN Ada Fenwick], MD", "r2", "p2")]
    assert len(cluster(seen)) == 1


def test_a_lone_name_that_two_of_the_staff_have_stays_alone() -> None:
    staff = "[CLINICIAN Ingrid Moss], RN, and [CLINICIAN Ingrid Vale], RN"
    assert {"Ingrid"} in together(f"Hi [PERSON Ingrid], thanks. {staff}")


def test_a_lone_name_of_staff_in_another_chart_stays_with_its_own() -> None:
    seen = [*mentions("Hi [PERSON Ingrid]."), *mentions("[CLINICIAN Ingrid Moss], RN", "r2", "p2")]
    assert len(cluster(seen)) == 2


def test_a_relative_with_a_kinship_word_does_not_become_staff() -> None:
    groups = together("His aunt [RELATIVE Ingrid] drove. [CLINICIAN Ingrid Moss], RN")
    assert groups == [{"Ingrid"}, {"Ingrid Moss"}]


def test_short_names_change_nothing_about_who_is_staff() -> None:
    staff = [*mentions("Dr. [CLINICIAN Ada Fenwick]", "r2", "p2"), *mentions("Dr. [CLINICIAN A. Fenwick]", "r3", "p3")]
    short = mentions("[CLINICIAN Fenwick] and Mr. [CLINICIAN Fenwick], [PERSON Ada]")
    alone = {frozenset(one.variants) for one in cluster(staff)}
    assert {frozenset(one.variants) - set(short) for one in cluster([*staff, *short])} - {frozenset()} == alone


@pytest.mark.parametrize("name", ["Ilka Orsik", "I. Orsik"])
def test_a_fuller_name_typed_clinician_is_the_relatives_whom_the_chart_gives_it_to(name: str) -> None:
    groups = together("His sister [RELATIVE Ilka Orsik] called.", f"Copy to [CLINICIAN {name}].")
    assert groups == [{"Ilka Orsik", name}]
    scopes = {one.scope for one in cluster(mentions(f"His sister [RELATIVE Ilka Orsik]. Copy to [CLINICIAN {name}]."))}
    assert scopes == {"patient:p1"}


def test_a_fuller_name_of_staff_whom_the_chart_names_stays_theirs() -> None:
    found = mentions("His sister [RELATIVE Ilka Orsik]. Copy to [CLINICIAN Ilka Orsik]. [CLINICIAN Ilka Orsik], MD")
    assert sorted(one.scope for one in cluster(found)) == ["", "patient:p1"]


def test_a_nurse_with_the_patients_name_stays_another_person_in_the_patients_scope_and_staff_elsewhere() -> None:
    alert = "Patient: [PATIENT Ana Orsik]. Nurse [CLINICIAN Ana Orsik], RN, is not the patient."
    found = [*mentions(f"{alert} Nurse [CLINICIAN Orsik] left."), *mentions("[CLINICIAN Ana Orsik], RN", "r2", "p2")]
    people = sorted((one.scope, len(one.variants)) for one in cluster(found))
    assert people == [("", 1), ("patient:p1", 1), ("patient:p1", 2)]


def test_a_surname_that_other_staff_of_the_chart_have_too_is_not_the_namesakes() -> None:
    staff = "[CLINICIAN Ana Orsik], RN, and [CLINICIAN Ida Orsik], RN. Nurse [CLINICIAN Orsik]"
    found = mentions(f"Patient: [PATIENT Ana Orsik]. {staff}")
    assert sorted(one.scope for one in cluster(found)) == ["", "patient:p1", "patient:p1"]
