"""Numbers, codes, and units in FHIR: clinical values pass, but identifiers in those fields do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .fhir_samples import MASKED, observation, opened, out, served

UCUM = "http://unitsofmeasure.org"


@pytest.mark.parametrize("label", [
    "SSN", "Social Security Number", "MRN", "ZIP code", "Age", "Age (years)", "Patient ID", "Account number", "Phone",
    "Date of birth", "DOB", "Year of birth", "Accession Number", "patientId"])
@pytest.mark.parametrize("where", ["text", "display"])
def test_a_number_whose_label_says_identifier_or_age_is_withheld(label: str, where: str) -> None:
    code: dict[str, Any] = {"text": label} if where == "text" else {"coding": [{"display": label}]}
    made = out(observation(code=code, valueInteger=93))
    assert "valueInteger" not in made
    assert made["_valueInteger"] == MASKED
    made = out(observation(code=code, valueQuantity={"value": 93}))
    assert made["valueQuantity"] == {"_value": MASKED}
    made = out(observation(component=[{"code": code, "valueInteger": 93}]))
    assert "valueInteger" not in made["component"][0]


def test_the_components_of_a_telling_observation_are_withheld_too() -> None:
    made = out(observation(code={"text": "SSN"}, component=[{"code": {"text": "first half"}, "valueInteger": 21909}]))
    assert made["component"][0]["_valueInteger"] == MASKED


@pytest.mark.parametrize("label", [
    "Birth weight", "Body weight at birth", "Gestational age", "Number of pregnancies", "White cell count",
    "Potassium"])
def test_clinical_labels_tell_nothing_of_a_person(label: str) -> None:
    assert out(observation(code={"text": label}, valueInteger=39))["valueInteger"] == 39


@pytest.mark.parametrize(("value", "code"), [
    ("250000", "/uL"), ("12", "mmol/L"), ("4500000", "/uL"), ("4500000", "{cells}/uL"), ("7.4", "[pH]"),
    ("120", "mm[Hg]")])
def test_clinical_quantities_pass(value: str, code: str) -> None:
    raw = json.dumps(observation(valueQuantity={"value": 0, "system": UCUM, "code": code})).replace(
        '"value": 0', f'"value": {value}')
    assert f'"value": {value}' in served(opened(raw))


@pytest.mark.parametrize("quantity", [
    {}, {"unit": "mg"}, {"code": "mg", "system": "https://ehr.example/units"}, {"system": UCUM},
    {"system": UCUM, "code": "1"}, {"system": UCUM, "code": "{ssn}"}])
def test_a_long_number_without_a_public_unit_is_withheld(quantity: dict[str, str]) -> None:
    left = served(opened(observation(valueQuantity={"value": 219099999, **quantity})))
    assert "219099999" not in left
    assert "219099999" not in served(opened(observation(valueInteger=219099999)))


def test_a_long_number_in_powers_of_ten_is_withheld() -> None:
    raw = json.dumps(observation(valueQuantity={"value": 0})).replace('"value": 0', '"value": 2.19099999e8')
    assert "2.19099999" not in served(opened(raw))


@pytest.mark.parametrize(("system", "code", "passes"), [
    ("http://snomed.info/sct", "271649006", True), ("http://snomed.info/sct", "Quillfeather", False),
    ("http://snomed.info/sct", "12345", False), ("http://loinc.org", "718-7", True),
    ("http://loinc.org", "LA6576-8", True), ("http://ncithesaurus-stage.nci.nih.gov", "C38288", True),
    ("urn:oid:2.16.840.1.113883.3.26.1.1", "Quill", False), ("http://hl7.org/fhir/sid/mvx", "MSD", True),
    ("http://loinc.org", "415-555-1234", False), ("http://loinc.org", "Quillfeather", False),
    ("http://hl7.org/fhir/sid/icd-10-cm", "E11.65", True), ("http://hl7.org/fhir/sid/icd-10-cm", "Quill", False),
    ("http://www.nlm.nih.gov/research/umls/rxnorm", "860975", True),
    ("http://www.nlm.nih.gov/research/umls/rxnorm", "Quill", False),
    ("http://terminology.hl7.org/CodeSystem/observation-category", "vital-signs", True),
    ("http://terminology.hl7.org/CodeSystem/v3-ActCode", "4155551234", False), (UCUM, "{Quill}", False)])
def test_a_code_passes_only_in_the_form_of_its_system(system: str, code: str, passes: bool) -> None:
    record = opened(observation(code={"coding": [{"system": system, "code": code}]}))
    served_on = {text.field for text in (*record.texts, *(action.text for action in record.actions))}
    assert ("code.coding[0].code" not in served_on) is passes


@pytest.mark.parametrize(("version", "passes"), [("2.68", True), ("415.555.1234", False), ("Quillfeather", False)])
def test_the_version_of_a_code_system_is_short_numbers_or_does_not_pass(version: str, passes: bool) -> None:
    record = opened(observation(code={"coding": [{"system": "http://loinc.org", "version": version, "code": "718-7"}]}))
    served_on = {text.field for text in (*record.texts, *(action.text for action in record.actions))}
    assert ("code.coding[0].version" not in served_on) is passes
