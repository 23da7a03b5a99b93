"""The rules files against the models of the fhir.resources package (R4B, whose types here are the same as R4's)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from fhir.resources.R4B import get_fhir_model_class

from incognote.errors import UnapprovedSchema
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fhir import Release, check_approvals, fhir_rows, fhir_schema, rules
from incognote.schemas.fhir.elements import ElementRule, Elements, Rule
from incognote.schemas.registry import Approval

from .fhir_samples import filled, opened, served

PRIMITIVES = {
    "Id": "id", "Uri": "uri", "Code": "code", "Integer": "integer", "Date": "date", "DateTime": "dateTime",
    "Instant": "instant", "String": "string", "Markdown": "markdown", "EncodedBytes": "base64Binary",
    "Decimal": "decimal", "Time": "time", "UnsignedInt": "unsignedInt", "PositiveInt": "positiveInt",
    "Canonical": "canonical", "Url": "url", "Oid": "oid", "UuidVersion": "uuid",
}
RESOURCES = sorted(rules().resources)
# R4B changed these types or removed them. Their rules come from the same script.
OTHER_IN_R4B = {
    "ActivityDefinition", "EffectEvidenceSynthesis", "Evidence", "EvidenceVariable", "PlanDefinition",
    "RiskEvidenceSynthesis", "StructureDefinition",
    *(name for name in RESOURCES if name.startswith(("MedicinalProduct", "Substance")) and name != "Substance"),
}
COMMON = (
    "AllergyIntolerance", "Appointment", "Bundle", "CarePlan", "CareTeam", "Claim", "Communication", "Composition",
    "Condition", "Coverage", "Device", "DiagnosticReport", "DocumentReference", "Encounter", "FamilyMemberHistory",
    "Goal", "Group", "ImagingStudy", "Location", "Medication", "MedicationRequest", "Observation", "Organization",
    "Patient", "Person", "Practitioner", "PractitionerRole", "Procedure", "Provenance", "QuestionnaireResponse",
    "RelatedPerson", "ServiceRequest", "Specimen",
)
CANARY = "Quillfeather"
TURNS = {"Observation": 11, "Condition": 5}  # of `onset[x]`, `value[x]`, one element at a time; two of others


def model_elements(model: Any) -> Iterator[tuple[str, str, bool, Any]]:
    """Return the name, type, whether it is a list, and the inner model of each element of a model."""
    for python_name, info in model.model_fields.items():
        name = info.alias or python_name
        if name.startswith("_") or name == "fhir_comments" or python_name == "resource_type":
            continue
        written = str(info.annotation)
        many = "List[" in written
        if found := re.search(r"abc\.(\w+)Type\b", written):
            yield name, found[1], many, get_fhir_model_class(found[1]) if found[1] != "Resource" else None
        elif "Xhtml" in written:
            yield name, "xhtml", many, None
        else:
            named = [word for word in re.findall(r"\b[A-Z]\w+(?=\()", written) if word in PRIMITIVES]
            yield name, PRIMITIVES[named[-1]] if named else "boolean", many, None


def compare(elements: Elements, model: Any, where: str, seen: set[str]) -> None:
    theirs = {name: rest for name, *rest in model_elements(model)}
    assert set(elements) == set(theirs), where
    for name, (kind, many, inner) in theirs.items():
        rule = elements[name]
        here = f"{where}.{name}"
        assert rule.many == many, here
        if rule.type in ("Element", "BackboneElement"):
            assert rule.elements is not None, here
            compare_once(rule.elements, inner, kind, seen)
        elif rule.type == "AgeRange":
            assert kind == "Range", here
        else:
            assert rule.type == kind, here
            if inner is not None and rule.rule is None:
                compare_once(rules().types[rule.type], inner, kind, seen)


def compare_once(elements: Elements, model: Any, kind: str, seen: set[str]) -> None:
    if kind not in seen:
        seen.add(kind)
        compare(elements, model, kind, seen)


def all_rules() -> Iterator[tuple[str, ElementRule]]:
    def walk(where: str, elements: Elements, seen: set[int]) -> Iterator[tuple[str, ElementRule]]:
        if id(elements) in seen:
            return
        seen.add(id(elements))
        for name, rule in elements.items():
            yield f"{where}.{name}", rule
            if rule.elements is not None:
                yield from walk(f"{where}.{name}", rule.elements, seen)

    for name, elements in {**rules().resources, **rules().types}.items():
        yield from walk(name, elements, set())


@pytest.mark.parametrize("resource", [name for name in RESOURCES if name not in OTHER_IN_R4B])
def test_every_element_of_r4_has_a_rule_of_its_type(resource: str) -> None:
    compare(rules().resources[resource], get_fhir_model_class(resource), resource, set())


def test_every_primitive_has_an_explicit_rule_and_every_other_element_a_type_with_rules() -> None:
    assert any(True for _ in all_rules())
    for where, rule in all_rules():
        if rules().elements_of(rule) is None:
            assert rule.rule in get_args(Rule), where
        assert rule.rule not in ("mask", "absent") or rule.entity in catalogue(), where


def test_no_rule_lets_free_words_pass() -> None:
    wordy = ("string", "markdown", "code", "uri", "url", "canonical", "id")
    passed = [(where, rule) for where, rule in all_rules() if rule.rule == "pass" and rule.type in wordy]
    assert passed
    for where, rule in passed:
        assert rule.values or rule.pattern, where


def test_no_rules_file_names_an_entity_type_the_catalogue_lacks() -> None:
    known = rules().vocabulary
    named = {*known["display_of"].values(), *known["identifier_types"].values(), *known["telling_codes"].values(),
             *known["identifier_systems"].values()}
    assert named <= set(catalogue())


@pytest.mark.parametrize("resource", COMMON)
def test_a_resource_with_every_element_filled_comes_out_valid(resource: str) -> None:
    model = get_fhir_model_class(resource)
    for turn in range(TURNS.get(resource, 2)):
        whole = filled(resource, turn)
        model.model_validate(whole)
        record = opened(whole)
        model.model_validate_json(served(record))
        model.model_validate_json(served(record, date="2001-03-09"))


@pytest.mark.parametrize(("release", "resource"), [
    *(("r4", name) for name in RESOURCES), *(("r5", name) for name in sorted(rules("r5").resources))])
def test_of_a_filled_resource_no_date_no_id_and_no_planted_name_is_left(release: Release, resource: str) -> None:
    turns = range(TURNS.get(resource, 2) if resource in COMMON and release == "r4" else 1)
    assert turns
    for turn in turns:
        raw = json.dumps(filled(resource, turn, release)).replace("some ", f"{CANARY} ").replace('"c1"', f'"{CANARY}"')
        left = served(opened(raw.replace(encoded("some words"), encoded(f"{CANARY} words"))), {CANARY: "[X]"})
        assert CANARY not in left
        assert encoded(CANARY)[:12] not in left
        assert "2001-02-03" not in left
        assert "h.example" not in left
        assert "abc-1" not in left


def encoded(words: str) -> str:
    return base64.b64encode(words.encode()).decode()


def test_a_changed_rules_file_is_refused_by_name() -> None:
    content = {"patient.json": {"resource": "Patient", "elements": {}}}
    with pytest.raises(UnapprovedSchema, match=r"patient\.json"):
        check_approvals(content, {"patient.json": Approval("incognote project", "2026-01-01T00:00:00+00:00", "0" * 64)})
    with pytest.raises(UnapprovedSchema, match=r"patient\.json"):
        check_approvals(content, {})


def test_the_listing_shows_an_approved_schema_of_one_version_for_each_resource_type() -> None:
    rows = fhir_rows()
    assert [row.data_type for row in rows] == [f"fhir.{resource}" for resource in RESOURCES]
    assert {(row.state, row.by, row.shipped) for row in rows} == {("approved", "incognote project", True)}
    assert {row.version for row in rows} == {rules().version}


def test_the_listing_names_the_flag_of_every_field() -> None:
    patient = fhir_schema("Patient")
    shown = {path: (rule.flag, rule.entity_type) for path, rule in patient.fields()}
    assert shown["birthDate"] == ("mask", "BIRTH_DATE_TIME")
    assert shown["name[].family"] == ("mask", "PERSON")
    assert shown["id"] == ("hash", None)
    assert shown["text.div"] == ("auto", None)
    assert shown["gender"] == ("pass", None)
    assert all(rule.flag for _, rule in patient.fields())


@pytest.mark.parametrize(("uri", "public"), [
    ("http://loinc.org", True), ("http://snomed.info/sct/731000124108", True), ("http://loinc.org.evil.example", False),
    ("http://hl7.org/fhir/us/core/StructureDefinition/us-core-patient|3.1.1", True), ("https://ehr.example/mrn", False),
    ("http://hl7.org/fhir/x?patient=Smith", False), ("http://hl7.org/fhir/John-Smithson", False),
    ("http://terminology.hl7.org/CodeSystem/observation-category", True), ("http://hl7.org/fhir/4155551234", False),
    ("http://terminology.hl7.org/CodeSystem/v3-ActCode", True), ("http://loinc.org/vs/Quillfeather", False),
    ("http://terminology.hl7.org/CodeSystem/condition-ver-status", True), ("http://hl7.org/fhir/sid/icd-10-cm", True),
    ("http://hl7.org/fhir/StructureDefinition/vitalsigns", True), ("http://snomed.info/sct/4155551234x", False),
    ("http://terminology.hl7.org/CodeSystem/v3-NullFlavor", True),
    ("http://snomed.info/sct/731000124108/version/20230901", True), ("http://hl7.org/fhir/ValueSet/Patient", True),
    ("urn:oid:2.16.840.1.113883.6.238", True),
    ("urn:oid:2.16.840.1.113883.3.117", False),
])
def test_only_uris_everybody_uses_are_public(uri: str, public: bool) -> None:
    assert rules().is_public(uri) is public


def test_codes_of_identifying_systems_are_no_codes() -> None:
    assert rules().is_code_system("http://loinc.org")
    assert not rules().is_code_system("http://hl7.org/fhir/sid/us-ssn")


@pytest.mark.parametrize(
    ("link", "kept"),
    [("1.2.3", True), ("phq9-q1", True), ("family-history", True), ("nok.hovhannisyan", False), ("q8185550119", False)],
)
def test_the_id_of_a_question_is_kept_only_without_a_name_or_a_long_number(link: str, kept: bool) -> None:
    item = {"linkId": link, "item": [{"linkId": "1"}]}
    record = opened({"resourceType": "QuestionnaireResponse", "status": "completed", "item": [item, item]})
    first, second = (each["linkId"] for each in json.loads(served(record))["item"])
    assert first == second
    assert (first == link) == kept
