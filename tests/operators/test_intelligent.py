"""Guan's intelligent redaction (section 3.4)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from incognote.schemas.policy import Choice, Policy, load_policy

GUAN = load_policy("intelligent")


@pytest.mark.parametrize("person", ["PERSON", "PATIENT"])
def test_the_first_printed_example_comes_out_verbatim(play: Callable[..., Any], person: str) -> None:
    note = "⟦John Smith⟧, ⟦45-year-old⟧ male, admitted on ⟦03/15/2024⟧"
    told = play(note, GUAN, person, "AGE", "DATE").out
    assert told == "[PATIENT], 45-year-old male, admitted on [DATE-Spring-202X]"


@pytest.mark.parametrize(
    "note",
    [
        "Consulted Dr. ⟦Sarah Johnson⟧ from ⟦Mass General Cardiology⟧",
        "Consulted ⟦Dr. Sarah Johnson⟧ from ⟦Mass General⟧ Cardiology",
    ],
)
@pytest.mark.parametrize("person", ["PERSON", "CLINICIAN"])
@pytest.mark.parametrize("place", ["HOSPITAL", "ORGANIZATION", "LOCATION"])
def test_the_second_printed_example_comes_out_verbatim(
    play: Callable[..., Any], note: str, person: str, place: str
) -> None:
    stage = play(note, GUAN, person, place)
    assert stage.out == "Consulted [CARDIOLOGY PHYSICIAN] from [LOCATION-Massachusetts]"
    assert [r.span.text for r in stage.replacements] == ["Dr. Sarah Johnson", "Mass General Cardiology"]


@pytest.mark.parametrize(
    ("note", "kind", "told"),
    [
        ("seen by Dr. ⟦Vance⟧.", "CLINICIAN", "seen by [PHYSICIAN]."),
        ("Neurology: ⟦Noor Vance⟧, MD", "CLINICIAN", "Neurology: [NEUROLOGY PHYSICIAN], MD"),
        ("⟦Noor Vance⟧, RN", "CLINICIAN", "[NURSE], RN"),
        ("nurse ⟦Vance⟧", "PERSON", "nurse [NURSE]"),
        ("social worker ⟦Vance⟧", "PERSON", "social worker [SOCIAL WORKER]"),
        ("signed ⟦N. Vance⟧", "CLINICIAN", "signed [CLINICIAN]"),
        ("his wife, ⟦Jane Doe⟧, 45 years old", "PERSON", "his wife, [RELATIVE], 45 years old"),
        ("⟦Jane Doe⟧ was there", "PERSON", "[PERSON] was there"),
        ("Patient: ⟦DOE, JANE⟧", "PERSON", "Patient: [PATIENT]"),
        ("Mr. ⟦Doe⟧ is a 45-year-old", "PERSON", "Mr. [PATIENT] is a 45-year-old"),
        ("Cardiology seen. Dr. ⟦Vance⟧ of surgery", "CLINICIAN", "Cardiology seen. [SURGERY PHYSICIAN] of surgery"),
    ],
)
def test_a_name_becomes_its_role(play: Callable[..., Any], note: str, kind: str, told: str) -> None:
    assert play(note, GUAN, kind).out == told


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("03/15/2024", "[DATE-Spring-202X]"),
        ("12/31/1999", "[DATE-Winter-199X]"),
        ("Jan 2020", "[DATE-Winter-202X]"),
        ("July 4, 1976", "[DATE-Summer-197X]"),
        ("11/2021", "[DATE-Fall-202X]"),
        ("3/15", "[DATE-Spring]"),
        ("2014", "[DATE-201X]"),
        ("Tuesday", "[DATE]"),
        ("Christmas", "[DATE]"),
        ("3/1-3/3", "[DATE]"),
    ],
)
def test_a_date_becomes_season_and_decade(serve: Callable[..., str], written: str, told: str) -> None:
    assert serve(written, "DATE", "intelligent") == told


@pytest.mark.parametrize(
    ("note", "kind", "told"),
    [
        ("Discharged on ⟦03/20/2024⟧", "DATE", "Discharged on [DATE+5 days]"),
        ("Biopsy ⟦March 3, 2024⟧", "DATE", "Biopsy [DATE-12 days]"),
        ("admitted ⟦2024-03-15⟧", "DATE", "admitted [DATE+0 days]"),
        ("bought a car ⟦03/20/2024⟧", "DATE", "bought a car [DATE-Spring-202X]"),
        ("follow-up in ⟦June 2024⟧", "DATE", "follow-up in [DATE-Summer-202X]"),
        ("diagnosed; DOB ⟦03/20/1960⟧ seen", "BIRTH_DATE_TIME", "diagnosed; DOB [DATE-Spring-196X] seen"),
    ],
)
def test_near_a_clinical_event_a_date_becomes_days_from_the_anchor(
    play: Callable[..., Any], note: str, kind: str, told: str
) -> None:
    assert play(note, GUAN, kind, anchor=dt.date(2024, 3, 15)).out == told


def test_the_relevance_of_dates_can_be_set(serve: Callable[..., str]) -> None:
    anchor = dt.date(2024, 3, 15)
    assert serve("03/20/2024", "DATE", "intelligent", anchor=anchor, relevance="always") == "[DATE+5 days]"
    assert serve("03/20/2024", "DATE", "intelligent", anchor=anchor, relevance="never") == "[DATE-Spring-202X]"


@pytest.mark.parametrize(
    ("words", "kind", "geography", "told"),
    [
        ("Boston", "CITY", "state", "[LOCATION-Massachusetts]"),
        ("Boston", "CITY", "region", "[LOCATION-Northeast]"),
        ("Texas", "STATE", "region", "[LOCATION-South]"),
        ("Lake Orrin", "LOCATION", "state", "[LOCATION]"),
        ("12 Fern Lane, Oldbrook, MA 02139", "ADDRESS", "state", "[LOCATION-Massachusetts]"),
        ("02139", "ZIP", "state", "[LOCATION-Massachusetts]"),
    ],
)
def test_a_place_becomes_its_state_or_region(
    serve: Callable[..., str], words: str, kind: str, geography: str, told: str
) -> None:
    assert serve(words, kind, "intelligent", geography=geography) == told


@pytest.mark.parametrize(
    ("note", "kind", "told"),
    [
        ("MRN ⟦00412873⟧", "MEDICAL_RECORD_NUMBER", "MRN [MRN-REDACTED]"),
        ("no. ⟦00412873⟧", "GUID", "no. [ID-REDACTED]"),
        ("accession ⟦S24-1⟧", "GUID", "accession [ACCESSION-REDACTED]"),
        ("MRN 1, case ⟦77⟧", "FIN", "MRN 1, case [CASE-REDACTED]"),
        ("call ⟦617-555-0142⟧", "TELEPHONE_NUMBER", "call [PHONE-REDACTED]"),
    ],
)
def test_a_number_becomes_its_kind(play: Callable[..., Any], note: str, kind: str, told: str) -> None:
    assert play(note, GUAN, kind).out == told


def test_a_type_without_a_case_becomes_the_label(serve: Callable[..., str]) -> None:
    assert serve("glazier", "OCCUPATION", "intelligent") == "[OCCUPATION]"


def test_a_title_is_not_taken_from_a_neighbouring_span(play: Callable[..., Any]) -> None:
    stage = play("⟦Fern Dr.⟧ ⟦Vance⟧ here", GUAN, "STREET", "CLINICIAN")
    assert stage.out == "[LOCATION] [PHYSICIAN] here"


def test_a_department_that_is_a_span_of_its_own_is_left_to_its_operator(play: Callable[..., Any]) -> None:
    policy = Policy(
        "test", "", None, 0.4, 0.5, "hold", {"HOSPITAL": Choice("intelligent"), "DEPARTMENT": Choice("keep")}
    )
    stage = play("at ⟦Mass General⟧ ⟦Cardiology⟧", policy, "HOSPITAL", "DEPARTMENT")
    assert stage.out == "at [LOCATION-Massachusetts] Cardiology"


def test_without_a_given_anchor_the_documents_admission_is_one(play: Callable[..., Any]) -> None:
    note = "born ⟦04/05/1979⟧, admitted on ⟦03/15/2024⟧, surgery on ⟦03/17/2024⟧, discharged ⟦03/22/2024⟧"
    told = play(note, GUAN, "BIRTH_DATE_TIME", "DATE", "DATE", "DATE").out
    assert told == (
        "born [DATE-Spring-197X], admitted on [DATE-Spring-202X], surgery on [DATE+2 days], discharged [DATE+7 days]"
    )
