"""What names of fields say."""

from __future__ import annotations

import pytest

from incognote.schemas.catalogue import catalogue
from incognote.schemas.hints import _hints, hint, known_type, words


@pytest.mark.parametrize("name", ["PatientId", "patient_id", "PATIENT-ID", "patientID", "patient id 2", "Patient.Id"])
def test_a_name_is_read_whatever_its_spelling(name: str) -> None:
    assert words(name) == "patient id"


@pytest.mark.parametrize(("name", "flag", "type_"), [
    ("MRN", "hash", "MEDICAL_RECORD_NUMBER"), ("mrn_number", "hash", "MEDICAL_RECORD_NUMBER"),
    ("subjectKey", "hash", "GUID"),
    ("encounter_id", "hash", "FIN"), ("SSN", "mask", "SSN_OR_TAXPAYER"), ("member_id", "hash", "HEALTH_PLAN_ID"),
    ("birthDate", "mask", "BIRTH_DATE_TIME"), ("admit_date", "mask", "DATE"), ("last_name", "mask", "PERSON"),
    ("attending", "mask", "CLINICIAN"), ("home_phone", "mask", "TELEPHONE_NUMBER"), ("ZIP", "mask", "ZIP"),
    ("postalCode", "mask", "ZIP"), ("discharge_summary", "auto", None), ("noteText", "auto", None),
    ("row_id", "hash", "GUID"),
    ("emailAddress", "mask", "EMAIL"), ("ip_address", "mask", "IP_ADDRESS"), ("addressLine1", "mask", "STREET"),
])
def test_a_telling_name_proposes_a_flag_and_a_type(name: str, flag: str, type_: str | None) -> None:
    found = hint(name)
    assert found is not None
    assert (found.flag, found.type) == (flag, type_)


@pytest.mark.parametrize(
    "name", ["gender", "hr", "sodium", "dosage", "page", "zipper", "image", "estimate", "unit", ""])
def test_a_name_that_tells_nothing_proposes_nothing(name: str) -> None:
    assert hint(name) is None
    assert known_type(name) == "GUID"


def test_every_type_of_the_table_is_in_the_catalogue() -> None:
    assert {h.type for h in _hints() if h.type} <= set(catalogue())
    assert all(h.type for h in _hints() if h.flag in ("mask", "hash"))
