"""Fields for codes and units: words that are not listed are hashed or withheld, whether detected or not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.schemas.fhir import rules
from incognote.schemas.shapes import loose

from .fhir_samples import MASKED, observation, opened, out

UCUM, LOINC, LOCAL = "http://unitsofmeasure.org", "http://loinc.org", "https://h.example/codes"
SURNAMES = ("SMITHERS^JOHN", "Zainab-Farouqi-2024", "{Delacroix}", "mmol/L Thistlewood", "Thistlewood", "mmolDelacroix",
            "Dela&#99;roix", "Del\u00adacroix", "Øvergård", "image/thistlewood", "SmiThErs", "SMITHERSXX", "Ruiz")


def coded(**coding: str) -> dict[str, Any]:
    return observation(code={"coding": [coding]})


def measured(**quantity: str) -> dict[str, Any]:
    return observation(valueQuantity={"value": 7.1, **quantity})


@pytest.mark.parametrize("words", SURNAMES)
def test_a_word_that_is_no_code_stays_in_no_field_for_codes(words: str) -> None:
    holders = [coded(code=words), measured(code=words), measured(unit=words)]
    holders += [coded(system=LOINC, code="1", version=words), measured(system=UCUM, code=words, unit=words)]
    holders += [coded(system=system, code=words) for system in (LOCAL, *rules().vocabulary["code_shapes"])]
    for record in map(opened, holders):
        assert words not in {text.content for text in record.texts}
        assert words in {action.text.content for action in record.actions}


def test_a_site_s_own_code_keeps_a_hash_and_a_wrong_public_one_is_withheld() -> None:
    def left(**coding: str) -> Any:
        return out(coded(**coding))["code"]["coding"][0]

    assert left(system=LOCAL, code="CREATBLD")["code"] == left(code="CREATBLD")["code"] != "CREATBLD"
    assert left(system=LOCAL, code="CREATBLD")["code"] != left(system=LOCAL, code="FERRITN")["code"]
    assert left(system=LOINC, code="CREATBLD") == {"system": LOINC, "_code": MASKED}
    assert left(code="AMB", version="Quillfeather") == {"code": "AMB", "_version": MASKED}
    assert out(measured(unit="mg Quillfeather"))["valueQuantity"] == {"value": 7.1, "_unit": MASKED}


@pytest.mark.parametrize("code", [
    "GLU", "10023", "HB-A1C", "vital-signs", "blood_pressure", "bodyHeight", "LAB.42", "K+"])
def test_plain_codes_of_a_site_are_read_as_before(code: str) -> None:
    assert code in {text.content for text in opened(coded(system=LOCAL, code=code)).texts}


@pytest.mark.parametrize("unit", [
    "beats per minute", "breaths/min", "milligrams per deciliter", "mcg/mL FEU", "mmHg", "mOsm/kg H2O", "µmol/L", "°C",
    "×10⁹/L", "Million/uL", "thou/mcL", "mL/min/1.73 m²", "percent", "degrees Fahrenheit", "kilograms", "cells/mcL",
    "mcIU/mL", "tablet(s)", "pack years", "{Ehrlich'U}/100mL", "log copies/mL", "mm Hg", "nmol BCE/mmol creat",
    "international units", "mEq/L", "ng/mL D-DU", "ratio", "titer", "seconds", "mg/g creatinine", "inches",
    "cigarettes/day",
])
def test_units_that_people_write_stay(unit: str) -> None:
    made = out(measured(unit=unit))
    assert made["valueQuantity"]["unit"] == unit


@pytest.mark.parametrize("version", [
    "2.68", "20230901", "2024-03", "http://snomed.info/sct/731000124108/version/20230901", "FY2024", "R4"])
def test_versions_of_code_systems_stay(version: str) -> None:
    made = out(coded(system="http://snomed.info/sct", version=version, code="38341003"))
    assert made["code"]["coding"][0]["version"] == version


@pytest.mark.parametrize("code", [
    "mmol/L", "umol/L", "kcal/d", "mosm/kg", "mOsm/kg", "nkat/L", "mbar", "[degF]", "[TCID_50]", "[todd'U]", "10*3/uL"])
def test_units_of_ucum_pass_unread(code: str) -> None:
    assert not {"valueQuantity.code"} & {text.field for text in opened(measured(system=UCUM, code=code)).texts}


def test_no_shape_of_a_code_but_that_of_units_holds_a_word() -> None:
    assert {system for system, shape in rules().vocabulary["code_shapes"].items() if loose(shape)} == {
        UCUM, "urn:oid:2.16.840.1.113883.6.8"}


@pytest.mark.parametrize("system", ["http://nucc.org/provider-taxonomy", "urn:oid:2.16.840.1.113883.6.101"])
def test_codes_of_professions_pass(system: str) -> None:
    for code in ("207Q00000X", "1041C0700X", "163WA0400X", "3336C0002X", "2471C1101X"):
        assert rules().is_code(system, code)


def test_the_rules_alone_release_no_surname_in_a_field_for_codes() -> None:
    record = measured(code="{Delacroix}", unit="mmol/L Thistlewood")
    record["code"] = {"coding": [{"system": LOCAL, "version": "Farouqi", "code": "SMITHERS^JOHN"}]}
    with Deidentifier(detectors=("rules",)) as deid:
        result = deid.deidentify(record)
    assert result.verdict.released
    for name in ("Delacroix", "Thistlewood", "Farouqi", "SMITHERS"):
        assert name not in json.dumps(result.record)


def test_a_uid_of_the_dicom_standard_stays_and_that_of_an_image_does_not() -> None:
    assert rules().is_code("urn:ietf:rfc:3986", "urn:oid:1.2.840.10008.5.1.4.1.1.1.1")
    assert not rules().is_code("urn:ietf:rfc:3986", "urn:oid:1.2.840.10008.48213977")
    assert not rules().is_code("urn:ietf:rfc:3986", "urn:oid:1.2.840.113619.2.55.3.48213977")
