"""RedactOR's examples run through our machine (§A.4.1, §A.9), and the examples that we ship."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier

EXAMPLES = Path(__file__).parents[1] / "examples"
SAMPLE = (EXAMPLES / "redactor_record.json").read_text(encoding="utf-8")


def test_the_papers_sample_comes_out_in_the_papers_shape() -> None:
    result = Deidentifier("paper").deidentify(SAMPLE, data_type="clinicalRecord")
    assert result.verdict.released
    record = result.record
    assert re.fullmatch("[0-9a-f]{16,64}", record["PatientId"])
    assert re.fullmatch("[0-9a-f]{16,64}", record["MRN"])
    assert record["PatientId"] != record["MRN"]
    assert record["AGE"] == "[AGE]"
    # §A.9.4, except two labels: the insurance id and the SSN have the names of their own types
    assert record["note"] == (
        "[PERSON], a [AGE] male, presented to [ORGANIZATION] on 03/16/2025 complaining of severe abdominal pain. He "
        "was referred by Dr. [PERSON] from [ORGANIZATION]. His address is [ADDRESS]. Contact number: "
        "[TELEPHONE_NUMBER]. Past medical history includes hypertension and Type 2 diabetes. His insurance ID is "
        "[HEALTH_PLAN_ID]. The patients [MARITAL_STATUS], [PERSON], can be reached at [TELEPHONE_NUMBER]. "
        "A CT scan was performed and results were discussed with the patient at 2:00 PM. Follow-up scheduled on "
        "03/22/2025 at 9:00 AM. Patient is employed as a [OCCUPATION] at [ORGANIZATION]. Social Security Number: "
        "[SSN_OR_TAXPAYER]."
    )


def test_strict_leaves_no_age_date_name_or_number_of_the_sample() -> None:
    result = Deidentifier().deidentify(SAMPLE, data_type="clinicalRecord")
    note = result.record["note"]
    for left in (
        "45",
        "/2025",
        "John",
        "Jane",
        "Doe",
        "Emily",
        "Smith",
        "Stanford",
        "Valley",
        "TechNova",
        "Main",
        "Palo",
        "94301",
        "650",
        "555",
        "INS-",
        "789",
        "987",
        "software engineer",
    ):
        assert left not in note, left
    for kept in ("severe abdominal pain", "hypertension and Type 2 diabetes", "2:00 PM", "Social Security Number:"):
        assert kept in note


def test_the_sample_alone_carries_no_data_type_and_is_refused_with_the_remedy() -> None:
    result = Deidentifier().deidentify(json.loads(SAMPLE))
    assert result.verdict.outcome == "quarantine"
    assert "data_type" in str(result.verdict.reasons[0])


def test_the_workflow_of_a_4_1() -> None:
    result = Deidentifier("paper").deidentify(
        (EXAMPLES / "workflow_record.json").read_text(encoding="utf-8"), data_type="workflow"
    )
    record = result.record
    assert record["patient_name"] == "[PERSON]"
    assert record["gender"] == "male"
    assert record["patient_id"] not in ("A12345", "")
    assert record["medical_history"] == (
        "[PERSON], a patient aged [AGE] was admitted to [ORGANIZATION] for chest pain. Dr. [PERSON] prescribed "
        "medication."
    )


def test_an_age_is_not_a_dose() -> None:
    """§A.4: of the two 76s, only the age is removed."""
    text = "The patient is 76 years old and takes 76 mg of aspirin daily."
    assert Deidentifier().deidentify(text).text == "The patient is [AGE] and takes 76 mg of aspirin daily."


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (
            "John Smith, 45-year-old male, admitted on 03/15/2024",
            "[PATIENT], 45-year-old male, admitted on [DATE-Spring-202X]",
        ),
        (
            "Consulted Dr. Sarah Johnson from Mass General Cardiology",
            "Consulted [CARDIOLOGY PHYSICIAN] from [LOCATION-Massachusetts]",
        ),
    ],
)
def test_guans_printed_examples_come_out_verbatim(text: str, redacted: str) -> None:
    """Guan §3.4, detected and replaced end to end."""
    assert Deidentifier("intelligent").deidentify(text).output(even_if_unreleased=True) == redacted


def test_a_structured_field_is_sought_in_the_free_text() -> None:
    record = {
        "dataType": "workflow",
        "patient_name": "Zorr Quillby",
        "patient_id": "QX-7741-Z",
        "gender": "male",
        "medical_history": "quillby doing well, file qx7741z closed.",
    }
    history = Deidentifier().deidentify(record).record["medical_history"]
    assert "quillby" not in history
    assert "7741" not in history
    assert history.startswith("[PERSON] doing well, file [")


def test_numbers_spacing_and_key_order_of_a_record_survive() -> None:
    raw = (
        '{ "dataType":"clinicalRecord","recordVersion" : "1.10",\n\t'
        '"note": "caf\\u00e9 \\/ seen by Dr. Abara, BP 1.10\\ttoday" ,"PatientId":""}'
    )
    result = Deidentifier().deidentify(raw, data_type="clinicalRecord")
    assert result.text == raw.replace("Abara", "[PERSON]")


def every_string(value: Any) -> list[str]:
    """Yield all strings in a JSON value."""
    if isinstance(value, dict):
        return [s for v in value.values() for s in every_string(v)]
    if isinstance(value, list):
        return [s for v in value for s in every_string(v)]
    return [value] if isinstance(value, str) else []


def test_the_example_bundle_keeps_nothing_of_its_patient() -> None:
    bundle = json.loads((EXAMPLES / "bundle.json").read_text(encoding="utf-8"))
    patient = next(e["resource"] for e in bundle["entry"] if e["resource"]["resourceType"] == "Patient")
    result = Deidentifier().deidentify(bundle)
    text = result.output(even_if_unreleased=True)
    for name in patient["name"]:
        for word in (name["family"], *name["given"]):
            assert word not in text
    assert patient["id"] not in text
    assert patient["birthDate"] not in text
    references = {s for s in every_string(json.loads(text)) if s.startswith("Patient/")}
    kept = next(e["resource"] for e in json.loads(text)["entry"] if e["resource"]["resourceType"] == "Patient")
    assert references == {f"Patient/{kept['id']}"}
