"""Identifiers in every string and number of FHIR R4 that can pass: each is scanned, replaced, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from incognote.errors import SchemaViolation
from incognote.formats.records.fhir_values import is_primitive
from incognote.schemas.fhir import is_snomed, rules
from incognote.schemas.fhir.elements import ElementRule, Elements

from .fhir_samples import MASKED, observation, opened, out, served

NAMES = ("Quillfeather", "IreneQuillfeather", "irene.quillfeather", "irene.q@example.org", "quillf")
NUMBERS = ("48213977", "MRN-48213977", "512-44-9821", "555-867-5309")
NEEDLES = ("uillf", "rene.q", "48213977", "512-44-9821", "555-867-5309")
SYSTEMS = (None, "http://terminology.hl7.org/CodeSystem/v3-ActCode", "http://hl7.org/fhir/v3/ActCode",
           "http://hl7.org/fhir/observation-status", "urn:oid:2.16.840.1.113883.5.4", "http://loinc.org",
           "http://snomed.info/sct", "http://www.nlm.nih.gov/research/umls/rxnorm", "http://hl7.org/fhir/sid/icd-10-cm",
           "http://www.cms.gov/Medicare/Coding/HCPCS", "urn:oid:2.16.840.1.113883.6.12", "http://www.genenames.org",
           "http://unitsofmeasure.org", "urn:ietf:bcp:47", "https://h.example/codes")
WITHIN = ("{}", "http://terminology.hl7.org/CodeSystem/{}", "http://loinc.org/{}", "http://hl7.org/fhir/{}|{}",
          "urn:ietf:bcp:47#{}", "http://snomed.info/sct/{}", "urn:oid:2.16.840.1.113883.6.{}")
UNREAD = ("refuse", "drop", "resource", "extension", "attachment", "narrative")
Way = list[tuple[str, bool]]
"""The names of the elements down to a primitive, each with whether it is a list."""
RESOURCES = ("Bundle", "Composition", "Condition", "DiagnosticReport", "DocumentReference", "Encounter",
             "MedicationRequest", "Observation", "Organization", "Patient", "Practitioner")
RXNORM, UCUM = "http://www.nlm.nih.gov/research/umls/rxnorm", "http://unitsofmeasure.org"


def leaves(elements: Elements, above: tuple[Elements, ...] = ()) -> Iterator[tuple[Way, ElementRule]]:
    """Return every primitive of a type with its path. A data type inside itself is not expanded again."""
    for name, rule in elements.items():
        step = (name, rule.many)
        if is_primitive(rule.type):
            if rule.rule not in UNREAD:
                yield [step], rule
            continue
        inner = rules().elements_of(rule)
        if rule.rule is None and inner is not None and not any(inner is e for e in (*above, elements)):
            yield from (([step, *way], leaf) for way, leaf in leaves(inner, (*above, elements)))


def planted(resource: str, way: Way, value: Any, system: str | None = None) -> dict[str, Any]:
    made = value
    for i, (name, many) in enumerate(reversed(way)):
        made = {name: [made] if many else made}
        if i == 0 and system is not None:
            made["system"] = system
    return {"resourceType": resource, **made}


def tries(rule: ElementRule) -> Iterator[tuple[Any, str | None]]:
    if rule.type in ("integer", "unsignedInt", "positiveInt", "decimal"):
        yield 48213977, None
    elif rule.type in ("uri", "url", "canonical"):
        for value in (*NAMES, *NUMBERS):
            yield from ((shape.replace("{}", value), None) for shape in WITHIN)
    elif rule.rule == "code":
        yield from ((value, system) for value in (*NAMES, *NUMBERS) for system in SYSTEMS)
    else:
        yield from ((value, None) for value in (*NAMES, *NUMBERS))


@pytest.mark.parametrize("resource", RESOURCES)
def test_no_element_that_passes_carries_an_identifier(resource: str) -> None:
    tried: set[tuple[str, int]] = set()
    told: list[str] = []
    count = 0
    for way, rule in leaves(rules().resources[resource]):
        if (way[-1][0], id(rule)) in tried:
            continue
        tried.add((way[-1][0], id(rule)))
        for value, system in tries(rule):
            count += 1
            try:
                record = opened(planted(resource, way, value, system))
            except SchemaViolation as refused:
                told.append(str(refused))
                continue
            scanned = {text.content for text in record.texts}
            if value in scanned:
                continue
            left = served(record)
            assert not [n for n in NEEDLES if n in left], (way, system, left)
    assert count > 100
    assert not [n for n in NEEDLES if any(n in line for line in told)]


@pytest.mark.parametrize("label", [
    "MRN", "Med rec #", "Phone", "E-mail", "Patient name", "Surname", "Home address", "Account", "Insurance member",
    "Passport"])
@pytest.mark.parametrize(("name", "value"), [
    ("valueInteger", 482139), ("valueString", "Quillfeather 482139"), ("valueQuantity", {"value": 482139, "unit": "1"}),
    ("valueRange", {"low": {"value": 482139}}), ("valueRatio", {"numerator": {"value": 482139}}),
    ("valueCodeableConcept", {"text": "482139"}),
    ("valueCodeableConcept", {"coding": [{"system": RXNORM, "code": "482139", "display": "Quillfeather"}]}),
    ("component", [{"code": {"text": "x"}, "valueInteger": 482139}]),
])
def test_under_the_label_of_an_identifier_no_kind_of_value_passes(label: str, name: str, value: Any) -> None:
    left = json.dumps(out(observation(**{"code": {"text": label}, name: value})))
    assert "482139" not in left
    assert "Quillfeather" not in left


@pytest.mark.parametrize("coding", [
    {"code": "MRN"}, {"system": "http://terminology.hl7.org/CodeSystem/v2-0203", "code": "MR"},
    {"system": "https://h.example", "code": "patientId"}])
def test_a_code_is_a_label_too(coding: dict[str, str]) -> None:
    made = out(observation(code={"coding": [coding]}, valueInteger=482139))
    assert made["_valueInteger"] == MASKED


def test_nitric_oxide_is_no_label() -> None:
    coding = {"system": "https://h.example/labs", "code": "NO"}
    assert out(observation(code={"coding": [coding]}, valueInteger=12))["valueInteger"] == 12


def test_a_number_is_withheld_beside_a_unit_and_a_code_beside_a_display_that_name_an_identifier() -> None:
    made = out(observation(valueQuantity={"value": 482139, "unit": "MRN", "system": UCUM, "code": "mg"}))
    assert made["valueQuantity"]["_value"] == MASKED
    made = out(observation(valueCodeableConcept={"coding": [{"system": RXNORM, "code": "482139", "display": "MRN"}]}))
    assert made["valueCodeableConcept"]["coding"][0]["_code"] == MASKED


@pytest.mark.parametrize("value", ["1e48213977", "1e-48213977", "-4.8213977e7"])
def test_the_exponent_of_a_number_is_no_way_out(value: str) -> None:
    raw = json.dumps(observation(valueQuantity={"value": 0, "system": UCUM, "code": "mL"})).replace(
        '"value": 0', f'"value": {value}')
    if "e7" in value:
        raw = raw.replace(UCUM, "https://h.example")
    assert "8213977" not in served(opened(raw))


def test_the_fraction_of_a_time_is_no_way_out() -> None:
    with pytest.raises(SchemaViolation, match="valueTime"):
        opened(observation(valueTime="12:00:00.48213977"))
    assert out(observation(valueTime="12:00:00.250"))["valueTime"] == "12:00:00.250"
    assert out(observation(valueTime="12:00:00.000000"))["valueTime"] == "12:00:00.000000"


@pytest.mark.parametrize(("system", "code"), [
    ("http://terminology.hl7.org/CodeSystem/v3-ActCode", "AMB"), ("http://hl7.org/fhir/v3/ActCode", "EMER"),
    ("urn:oid:2.16.840.1.113883.5.4", "IMP"), ("http://hl7.org/fhir/observation-category", "laboratory"),
    ("http://terminology.hl7.org/CodeSystem/v2-0203", "MR"),
    ("http://terminology.hl7.org/CodeSystem/v2-0360|2.7", "MD"),
    ("http://terminology.hl7.org/CodeSystem/v3-MaritalStatus", "M"), ("http://loinc.org", "8302-2"),
    ("http://loinc.org", "LP29684-5"), ("http://loinc.org", "104001-3"), ("http://snomed.info/sct", "38341003"),
    ("http://snomed.info/sct", "731000124108"), (RXNORM, "1049221"), ("http://www.ama-assn.org/go/cpt", "99213"),
    ("http://hl7.org/fhir/sid/icd-10-cm", "S72.001A"), ("http://hl7.org/fhir/sid/icd-9-cm", "250.00"),
    ("http://www.cms.gov/Medicare/Coding/ICD10", "0DTJ4ZZ"), ("http://www.cms.gov/Medicare/Coding/HCPCS", "J1100"),
    ("http://hl7.org/fhir/sid/cvx", "140"), ("http://hl7.org/fhir/sid/ndc", "0069-2587-10"),
    ("urn:oid:2.16.840.1.113883.6.238", "2106-3"), ("urn:ietf:bcp:47", "en-US"),
    ("http://nucc.org/provider-taxonomy", "208D00000X"), ("http://www.whocc.no/atc", "N02BE01"),
    ("http://ihe.net/fhir/ValueSet/IHE.FormatCode.codesystem", "urn:ihe:pcc:xphr:2007"),
    *((UCUM, unit) for unit in ("mm[Hg]", "10*3/uL", "10*-3", "kg/m2", "mmol/L", "/min", "[degF]", "mL/min/1.73.m2")),
])
def test_codes_of_ordinary_records_pass_unread(system: str, code: str) -> None:
    record = opened(observation(code={"coding": [{"system": system, "code": code}]}))
    assert "code.coding[0].code" not in {text.field for text in record.texts}
    assert json.loads(served(record))["code"]["coding"][0]["code"] == code


@pytest.mark.parametrize("unit", ["kg/m2", "mmHg", "umol/L", "Cel", "years", "10*3/uL"])
def test_units_of_ordinary_records_pass_unread(unit: str) -> None:
    record = opened(observation(valueQuantity={"value": 1, "unit": unit}))
    assert "valueQuantity.unit" not in {text.field for text in record.texts}


def test_a_unit_that_repeats_its_ucum_code_passes_and_any_other_of_known_words_is_scanned() -> None:
    def scanned(**more: str) -> bool:
        record = opened(observation(valueQuantity={"value": 1, **more}))
        return "valueQuantity.unit" in {text.field for text in record.texts}

    assert not scanned(unit="10*2/uL", code="10*2/uL", system=UCUM)
    assert scanned(unit="10*2/uL", code="10*2/uL", system="https://h.example")
    assert scanned(unit="count", code="count", system=UCUM)


@pytest.mark.parametrize("code", ["271649006", "38341003", "11000146104", "900000000000207008"])
def test_snomed_identifiers_have_a_partition_and_a_check_digit(code: str) -> None:
    assert is_snomed(code)
    assert not any(is_snomed(code[:-1] + str(digit)) for digit in range(10) if str(digit) != code[-1])
    assert not is_snomed(code[:-3] + "9" + code[-2:])


def test_in_a_bundle_a_label_holds_its_own_observation_only() -> None:
    coded = {"coding": [{"system": "http://loinc.org", "code": "8302-2"}], "text": "Body height"}
    mrn = {**observation(code={"text": "MRN"}, valueInteger=482139), "id": "a"}
    made = out({"resourceType": "Bundle", "type": "collection", "entry": [
        {"resource": mrn}, {"resource": {**observation(code=coded, valueInteger=182), "id": "b"}}]})
    first, second = (entry["resource"] for entry in made["entry"])
    assert "valueInteger" not in first
    assert (second["code"], second["valueInteger"]) == (coded, 182)
