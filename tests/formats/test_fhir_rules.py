"""The rules files against the models of the fhir.resources package (R4B, whose types here are the same as R4's)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from fhir.resources.R4B import get_fhir_model_class

from incognote.errors import UnapprovedSchema
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fhir import (
    RESOURCES,
    ElementRule,
    Elements,
    Rule,
    check_approvals,
    fhir_rows,
    fhir_schemas,
    rules,
)
from incognote.schemas.registry import Approval

from .fhir_samples import filled, opened, served

PRIMITIVES = {
    "Id": "id", "Uri": "uri", "Code": "code", "Integer": "integer", "Date": "date", "DateTime": "dateTime",
    "Instant": "instant", "String": "string", "Markdown": "markdown", "EncodedBytes": "base64Binary",
    "Decimal": "decimal", "Time": "time", "UnsignedInt": "unsignedInt", "PositiveInt": "positiveInt",
    "Canonical": "canonical", "Url": "url",
}
OURS = {"onsetRange": ("AgeRange", "Range"), "abatementRange": ("AgeRange", "Range")}
TURNS = 12  # the largest group of mutually exclusive elements, Observation.value[x], has eleven


def model_elements(model: Any) -> Iterator[tuple[str, str, bool, Any]]:
    """Return the name, type, whether it is a list, and the inner model of each element of a model."""
    for python_name, info in model.model_fields.items():
        name = info.alias or python_name
        if name.startswith("_") or name in ("fhir_comments", "resourceType"):
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
        elif name in OURS:
            assert (rule.type, kind) == OURS[name], here
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


@pytest.mark.parametrize("resource", RESOURCES)
def test_every_element_of_r4_has_a_rule_of_its_type(resource: str) -> None:
    compare(rules().resources[resource], get_fhir_model_class(resource), resource, set())


def test_every_primitive_has_an_explicit_rule_and_every_other_element_a_type_with_rules() -> None:
    assert any(True for _ in all_rules())
    for where, rule in all_rules():
        if rules().elements_of(rule) is None:
            assert rule.rule in get_args(Rule), where
        assert rule.rule not in ("mask", "absent") or rule.entity in catalogue(), where
        assert all(kind in catalogue() for kind in rule.by_sibling.values()), where


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


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_resource_with_every_element_filled_comes_out_valid(resource: str) -> None:
    model = get_fhir_model_class(resource)
    for turn in range(TURNS):
        whole = filled(resource, turn)
        model.model_validate(whole)
        record = opened(whole)
        model.model_validate_json(served(record))
        model.model_validate_json(served(record, date="2001-03-09"))


@pytest.mark.parametrize("resource", RESOURCES)
def test_of_a_filled_resource_no_date_and_no_id_is_left(resource: str) -> None:
    assert TURNS > 0
    for turn in range(TURNS):
        left = served(opened(filled(resource, turn)))
        assert "2001-02-03" not in left
        assert "h.example" not in left
        assert "abc-1" not in left


def test_a_changed_rules_file_is_refused_by_name() -> None:
    content = {"patient.json": {"resource": "Patient", "elements": {}}}
    with pytest.raises(UnapprovedSchema, match=r"patient\.json"):
        check_approvals(content, {"patient.json": Approval("incognote project", "2026-01-01T00:00:00+00:00", "0" * 64)})
    with pytest.raises(UnapprovedSchema, match=r"patient\.json"):
        check_approvals(content, {})


def test_the_listing_shows_eleven_approved_schemas_of_one_version() -> None:
    rows = fhir_rows()
    assert [row.data_type for row in rows] == [f"fhir.{resource}" for resource in RESOURCES]
    assert {(row.state, row.by, row.shipped) for row in rows} == {("approved", "incognote project", True)}
    assert {row.version for row in rows} == {rules().version}


def test_the_listing_names_the_flag_of_every_field() -> None:
    patient = next(schema for schema in fhir_schemas() if schema.data_type == "fhir.Patient")
    shown = {path: (rule.flag, rule.entity_type) for path, rule in patient.fields()}
    assert shown["birthDate"] == ("mask", "BIRTH_DATE_TIME")
    assert shown["name[].family"] == ("mask", "PERSON")
    assert shown["id"] == ("hash", None)
    assert shown["text.div"] == ("auto", None)
    assert shown["gender"] == ("pass", None)
    assert all(rule.flag for schema in fhir_schemas() for _, rule in schema.fields())


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
