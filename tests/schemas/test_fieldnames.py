"""Field paths, and what field names indicate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import _hints, child, hint, item, known_type, looks_like_name, spoken, words

STEPS = st.lists(st.text(max_size=4) | st.sampled_from([".", "[0]", "a.b", '["a"]']) | st.integers(0, 99), max_size=4)


def path_of(steps: list[str | int]) -> str:
    path = ""
    for step in steps:
        path = item(path, step) if isinstance(step, int) else child(path, step)
    return path


@given(STEPS, STEPS)
def test_two_fields_never_share_a_path(a: list[str | int], b: list[str | int]) -> None:
    assert (path_of(a) == path_of(b)) == (a == b)


def test_paths_read_as_in_the_documentation() -> None:
    assert path_of(["contact", 0, "name", "family"]) == "contact[0].name.family"
    assert item("tags", None) == "tags[]"
    assert child("a", "b.c") == 'a["b.c"]'


@pytest.mark.parametrize("key", ["_x", "a.b-c_d", "x" * 41, "Smithson", "Zyxqwert", "note_Smithson", "May", "_1"])
def test_a_key_of_words_that_no_field_has_looks_like_a_name_and_is_told_by_its_position(key: str) -> None:
    assert looks_like_name(key)
    assert spoken(key, 3, "column") == "column 3"


def test_the_names_of_the_schemas_own_fields_are_known() -> None:
    assert spoken("ward_zone", 2) == "member 2"
    assert spoken("zone_2", 2, near=["zoneId"]) == "member 'zone_2'"


@pytest.mark.parametrize("key", ["note", "PatientId", "line3", "birthDate", "managingOrganization", "note.text"])
def test_a_key_of_known_field_words_is_quoted(key: str) -> None:
    assert spoken(key, 3) == f"member '{key}'"


@pytest.mark.parametrize("key", ["", "Jane Doe", "555-1234", "mrn2291", "x" * 42, "1a", "Doé", "a\n", "jane@doe.org"])
def test_anything_else_is_told_by_its_position(key: str) -> None:
    assert spoken(key, 3, "column") == "column 3"


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
