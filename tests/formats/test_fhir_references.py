"""References and URLs: ids are hashed, servers are dropped, and the form is kept."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import AccountingError, SchemaViolation
from incognote.formats.base import splice
from incognote.formats.records.fhir_values import check_one_to_one, id_form, shaped, take_apart

UUID = "0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"
IDS = st.from_regex(r"[A-Za-z0-9\-.]{1,64}", fullmatch=True)


def remapped(written: str, hashes: dict[str, str] | None = None) -> str:
    """Return a reference with every id replaced by H or by its mapped value."""
    link = take_apart(written, "reference")
    edits = [(s.start, s.end, (hashes or {}).get(written[s.start : s.end], "H")) for s in link.segments]
    return splice(written, [*link.fixed, *edits])


@pytest.mark.parametrize(("written", "expected"), [
    ("Patient/123", "Patient/H"),
    ("Patient/123/_history/7", "Patient/H/_history/H"),
    ("Patient/123#name", "Patient/H#H"),
    ("https://ehr.example:8080/r4/Patient/123", "https://deid.invalid/fhir/Patient/H"),
    ("http://ehr.example/Patient/Smith", "https://deid.invalid/fhir/Patient/H"),
    ("http://10.0.0.7/fhir/Binary/b-1", "https://deid.invalid/fhir/Binary/H"),
    (f"urn:uuid:{UUID}", "urn:uuid:H"),
    ("urn:oid:1.2.840.99.1", "urn:oid:H"),
    ("#p1", "#H"),
    ("#", "#"),
    ("Patient", "Patient"),
    ("Patient?identifier=http://ehr.example/mrn|123", "Patient?H"),
    ("https://ehr.example/fhir/Patient?name=Smith", "https://deid.invalid/fhir/Patient?H"),
    ("https://ehr.example/fhir?_getpages=af31", "https://deid.invalid/fhir/url/H"),
    ("https://ehr.example/Smith/123", "https://deid.invalid/fhir/url/H"),
    ("mailto:smith@ehr.example", "https://deid.invalid/fhir/url/H"),
    ("urn:trillian:Smith", "https://deid.invalid/fhir/url/H"),
    ("urn:uuid:Smith", "https://deid.invalid/fhir/url/H"),
])
def test_each_form_of_reference_keeps_its_form(written: str, expected: str) -> None:
    assert remapped(written) == expected


@pytest.mark.parametrize("bad", [
    "Dr. Smith", "Smith", "Smith/123", "Patient/john_smith", "Patient/1/2", "", "Patient/" + "9" * 65,
    "https://ehr.example/a b",
])
def test_what_is_no_reference_is_refused_without_being_quoted(bad: str) -> None:
    with pytest.raises(SchemaViolation, match="not a FHIR R4 reference") as raised:
        take_apart(bad, "subject.reference")
    assert raised.value.field == "subject.reference"
    assert "mith" not in str(raised.value)


@given(IDS)
def test_a_relative_and_an_absolute_reference_to_one_resource_stay_so(own_id: str) -> None:
    hashes = {own_id: shaped("f00d", id_form(own_id))}
    relative = remapped(f"Patient/{own_id}", hashes)
    absolute = remapped(f"https://h.example/fhir/Patient/{own_id}", hashes)
    assert absolute == f"https://deid.invalid/fhir/{relative}"


@given(st.text(max_size=80))
def test_what_comes_of_an_id_is_an_id(value: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9\-.]{1,64}", shaped(value, "id"))
    assert str(uuid.UUID(shaped(value, "uuid"))) == shaped(value, "uuid")
    assert re.fullmatch(r"2\.25\.[1-9][0-9]{0,38}", shaped(value, "oid"))


def test_a_uuid_is_shaped_alike_as_an_id_and_in_an_urn() -> None:
    urn, literal = take_apart(f"urn:uuid:{UUID}", "reference"), take_apart(f"Patient/{UUID}", "reference")
    assert urn.segments[0].form == literal.segments[0].form == id_form(UUID) == "uuid"


def test_replacements_of_ids_must_be_one_to_one() -> None:
    check_one_to_one([("a", "x"), ("a", "x"), ("b", "y"), ("no id", "x")])
    for pairs in ([("a", "x"), ("b", "x")], [("a", "x"), ("a", "y")]):
        with pytest.raises(AccountingError):
            check_one_to_one(pairs)


def test_the_repr_of_a_reference_holds_no_id() -> None:
    assert "Smith" not in repr(take_apart("https://smith.example/Patient/Smith", "reference"))
    assert "smith" not in repr(take_apart("https://smith.example/Patient/Smith", "reference"))
