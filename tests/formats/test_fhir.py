"""FHIR resources and Bundles: opened, processed, and rebuilt."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.patient import Patient

from incognote.errors import AccountingError, SchemaViolation
from incognote.nouns import Known

from .fhir_samples import (
    MASKED,
    RACE,
    REGISTRY,
    answer,
    bundle,
    dangling,
    observation,
    opened,
    out,
    patient,
    served,
    values,
)

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bundle.json"


def test_names_contacts_and_addresses_are_masked_by_kind() -> None:
    made = out(patient(
        name=[{"family": "Byron", "given": ["Ada", "K."], "prefix": ["Mrs."]}],
        telecom=[{"system": "phone", "value": "617-555-0100"}, {"system": "email", "value": "a@b.example"},
                 {"system": "fax", "value": "617-555-0101"}],
        address=[{"line": ["1 Main St"], "city": "Troy", "state": "NY", "postalCode": "12180", "country": "US"}]))
    assert made["name"] == [{"family": "[PERSON]", "given": ["[PERSON]", "[PERSON]"], "prefix": ["[PERSON]"]}]
    assert [t["value"] for t in made["telecom"]] == ["[TELEPHONE_NUMBER]", "[EMAIL]", "[FAX_NUMBER]"]
    assert made["address"] == [{"line": ["[STREET]"], "city": "[CITY]", "state": "[STATE]", "postalCode": "[ZIP]",
                                "country": "[COUNTRY]"}]


def test_a_masked_value_that_is_no_string_gives_way_to_data_absent_reason() -> None:
    made = out(patient(birthDate="1980-02-03", deceasedBoolean=False, multipleBirthInteger=2))
    assert made == {"resourceType": "Patient", "id": made["id"], "_birthDate": MASKED, "_deceasedBoolean": MASKED,
                    "_multipleBirthInteger": MASKED}
    Patient.model_validate(made)


def test_a_sibling_that_is_there_already_is_replaced() -> None:
    unknown = {"id": "x1", "extension": [{"url": MASKED["extension"][0]["url"], "valueCode": "unknown"}]}
    day = "1980-02-03"
    for members in ({"birthDate": day, "_birthDate": unknown}, {"_birthDate": unknown, "birthDate": day}):
        made = out(patient(**members, gender="female"))
        assert made == {"resourceType": "Patient", "id": made["id"], "_birthDate": MASKED, "gender": "female"}


def test_a_date_that_the_policy_keeps_a_date_is_spliced() -> None:
    assert out(patient(birthDate="1980-02-03"), date="1980-01-05")["birthDate"] == "1980-01-05"
    assert out(patient(birthDate="1980-02-03"), date="1980")["birthDate"] == "1980"


@pytest.mark.parametrize("no_date", ["[DATE]", "1980-02-30", "80", "", "February", "1980-02-03T10:00"])
def test_a_date_that_becomes_no_date_is_withheld(no_date: str) -> None:
    assert out(patient(birthDate="1980-02-03"), date=no_date)["_birthDate"] == MASKED


def test_an_instant_is_not_shortened_to_a_year() -> None:
    made = out(observation(issued="2024-05-06T07:08:09Z", effectiveDateTime="2024-05-06T07:08:09Z"), date="2024")
    assert made["_issued"] == MASKED
    assert made["effectiveDateTime"] == "2024"


def test_a_withheld_item_of_a_list_leaves_null_and_a_list_beside_it() -> None:
    timing = {"event": ["2024-05-06", "2024-05-07"]}
    made = out(observation(effectiveTiming=timing))["effectiveTiming"]
    assert made == {"event": [None, None], "_event": [MASKED, MASKED]}
    said = {"event": ["2024-05-06", None], "_event": [None, {"extension": MASKED["extension"]}]}
    assert out(observation(effectiveTiming=said))["effectiveTiming"] == made


def test_photographs_are_dropped_and_the_commas_around_them_with_them() -> None:
    photo = [{"contentType": "image/jpeg", "data": base64.b64encode(b"face").decode()}]
    for members in ({"photo": photo, "active": True}, {"active": True, "photo": photo},
                    {"active": True, "photo": photo, "gender": "male"}):
        made = out(patient(**members))
        assert made == {**patient(**{k: v for k, v in members.items() if k != "photo"}), "id": made["id"]}
    assert set(out({"resourceType": "Patient", "photo": photo})) == {"resourceType"}
    assert set(out({"photo": photo, "resourceType": "Patient"})) == {"resourceType"}


def test_what_is_not_acted_on_keeps_its_bytes() -> None:
    raw = ('{ "resourceType":"Observation",\t"status" : "final","code":{"text":"K\\u002b"},\n'
           '"valueQuantity":{"value":1.10,"unit":"mmol\\/L"} ,"note":[{"text":"Ada \\ud83d\\ude00 Byron\\n"}]}')
    assert served(opened(raw)) == raw
    assert served(opened(raw), {"Byron": "[X]"}) == raw.replace("Byron", "[X]")


def test_an_age_is_withheld_wherever_a_condition_or_an_observation_tells_it() -> None:
    age = {"value": 91, "unit": "a", "system": "http://unitsofmeasure.org", "code": "a"}
    condition = out({"resourceType": "Condition", "subject": {"reference": "Patient/p"}, "onsetAge": age,
                     "abatementRange": {"low": age}})
    assert condition["onsetAge"]["_value"] == MASKED == condition["abatementRange"]["low"]["_value"]
    told = {"coding": [{"system": "http://loinc.org", "code": "30525-0"}]}
    made = out(observation(code=told, valueQuantity=age, component=[{"code": told, "valueString": "91 years"}]))
    assert made["valueQuantity"]["_value"] == MASKED
    assert made["component"][0]["valueString"] == "[AGE]"
    assert out(observation(valueQuantity=age))["valueQuantity"]["value"] == 91


def test_codes_of_public_systems_pass_and_others_are_scanned_or_hashed() -> None:
    codings = [{"system": "http://loinc.org", "code": "718-7"},
               {"system": "https://ehr.example/codes", "code": "Byron-1"}, {"code": "Byr-2"},
               {"system": "http://hl7.org/fhir/sid/us-ssn", "code": "219-09-9999"}]
    record = opened(observation(code={"coding": codings}))
    assert [t.content for t in record.texts] == ["Byr-2", "219-09-9999"]
    assert [(a.text.content, a.action) for a in record.actions if a.text.content == "Byron-1"] == [("Byron-1", "hash")]


def test_systems_and_profiles_of_a_site_are_hashed_alike() -> None:
    made = out(patient(meta={"profile": ["https://ehr.example/p", "http://hl7.org/fhir/StructureDefinition/Patient"]},
                       identifier=[{"system": "https://ehr.example/p", "value": "1"}]))
    assert made["meta"]["profile"][0] == made["identifier"][0]["system"]
    assert made["meta"]["profile"][0].startswith("https://deid.invalid/fhir/uri/")
    assert made["meta"]["profile"][1] == "http://hl7.org/fhir/StructureDefinition/Patient"


def test_us_core_race_is_coded_and_its_words_scanned() -> None:
    race = {"url": RACE, "extension": [
        {"url": "ombCategory", "valueCoding": {"system": "urn:oid:2.16.840.1.113883.6.238", "code": "2106-3"}},
        {"url": "text", "valueString": "White, she says"}]}
    found = [text.field for text in opened(patient(extension=[race])).texts]
    assert found == ["extension[0].extension[1].valueString"]
    assert out(patient(extension=[race]))["extension"] == [race]


VENDOR = {"url": "https://vendor.example/Byron", "valueString": "Byron"}
BIRTH_PLACE = {"url": "http://hl7.org/fhir/StructureDefinition/patient-birthPlace", "valueAddress": {"city": "Troy"}}


@pytest.mark.parametrize(("members", "left"), [
    ({"extension": [VENDOR]}, {}),
    ({"extension": [VENDOR, BIRTH_PLACE, VENDOR]},
     {"extension": [{**BIRTH_PLACE, "valueAddress": {"city": "[CITY]"}}]}),
    ({"active": True, "_active": {"extension": [VENDOR]}}, {"active": True, "_active": MASKED}),
    ({"birthDate": "1980-02-03", "_birthDate": {"id": "x1", "extension": [VENDOR]}}, {"_birthDate": MASKED}),
    ({"contact": [{"extension": [VENDOR]}]}, {"contact": [MASKED]}),
    ({"extension": [{"url": RACE, "extension": [VENDOR]}]},
     {"extension": [{"url": RACE, "extension": MASKED["extension"]}]}),
    ({"name": [{"given": ["Ada"], "_given": [{"extension": [VENDOR]}]}]},
     {"name": [{"given": ["[PERSON]"], "_given": [MASKED]}]}),
])
def test_an_unknown_extension_is_removed_and_an_element_that_it_empties_is_marked_as_masked(
    members: dict[str, Any], left: dict[str, Any]
) -> None:
    made = out(patient(**members))
    assert made == {"resourceType": "Patient", "id": made["id"], **left}
    Patient.model_validate(made)


def test_a_parameter_and_an_answer_are_withheld_by_their_labels() -> None:
    made = out({"resourceType": "Parameters", "parameter": [
        {"name": "ssn", "valueString": "219099999"}, {"name": "dose", "valueString": "5 mg"}]})
    assert [each["valueString"] for each in made["parameter"]] == ["[SSN_OR_TAXPAYER]", "5 mg"]
    item = {"linkId": "1", "text": "Date of birth", "answer": [{"valueString": "the third of May"}]}
    made = out({"resourceType": "QuestionnaireResponse", "status": "completed", "item": [item]})
    assert made["item"][0]["answer"] == [{"valueString": "[BIRTH_DATE_TIME]"}]


def test_a_resource_of_r5_is_opened_by_the_rules_of_r5() -> None:
    made = out({"resourceType": "MedicationRequest", "status": "active", "intent": "order",
                "medication": {"concept": {"text": "aspirin"}}, "subject": {"reference": "Patient/p1"},
                "reason": [{"reference": {"reference": "Condition/c1", "display": "Byron's cough"}}]}, {"Byron": "[X]"})
    assert made["reason"][0]["reference"]["display"] == "[X]'s cough"
    assert made["medication"] == {"concept": {"text": "aspirin"}}
    with pytest.raises(SchemaViolation, match="R5"):
        opened({"resourceType": "MedicationRequest", "medication": {"concept": {"text": "x"}}, "nickname": "y"})


@pytest.mark.parametrize("display_of", [
    ({"reference": "Practitioner/1"}, "PERSON"), ({"reference": "Organization/1"}, "ORGANIZATION"),
    ({"reference": "https://ehr.example/fhir/PractitionerRole/1"}, "PERSON"),
    ({"type": "Organization"}, "ORGANIZATION"),
    ({}, "PERSON"), ({"reference": "urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"}, "PERSON"),
    ({"reference": "CareTeam/1"}, None),
])
def test_a_display_is_masked_by_what_it_names(display_of: tuple[dict[str, str], str | None]) -> None:
    reference, entity = display_of
    record = opened(observation(performer=[{**reference, "display": "Ada Byron"}]))
    masked = [a.entity_type for a in record.actions if a.text.field == "performer[0].display"]
    assert masked == ([entity] if entity else [])
    assert [t.field for t in record.texts if "performer" in t.field] == ([] if entity else ["performer[0].display"])


def test_a_display_in_a_bundle_is_what_its_entry_is() -> None:
    urn = "urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"
    whole = bundle({"resourceType": "Observation", "id": "o1", "status": "final", "code": {"text": "x"},
                    "performer": [{"reference": urn, "display": "Elm Clinic"}, {"reference": "#c", "display": "Ada"}],
                    "contained": [{"resourceType": "Practitioner", "id": "c"}]})
    whole["entry"].append({"fullUrl": urn, "resource": {"resourceType": "Organization", "name": "Elm Clinic"}})
    made = out(whole)["entry"][0]["resource"]["performer"]
    assert [p["display"] for p in made] == ["[ORGANIZATION]", "[PERSON]"]


def test_references_resolve_inside_a_bundle_and_across_two_of_one_domain() -> None:
    subject = {"reference": "Patient/pt-1"}
    first = out(bundle(patient(), {"id": "o1", **observation(subject=subject)}))
    second = out(bundle({"id": "o2", **observation(subject={"reference": "https://ehr.example/fhir/Patient/pt-1"})}))
    other = out(bundle(patient()), key=b"another domain")
    assert dangling(first) == []
    assert second["entry"][0]["resource"]["subject"]["reference"] == first["entry"][0]["fullUrl"]
    assert other["entry"][0]["fullUrl"] != first["entry"][0]["fullUrl"]
    assert "pt-1" not in json.dumps([first, second, other])


def test_contained_resources_stay_attached_to_what_contains_them() -> None:
    made = out(observation(performer=[{"reference": "#doc"}], contained=[
        {"resourceType": "Practitioner", "id": "doc", "name": [{"text": "Ada Byron"}]}]))
    assert made["performer"][0]["reference"] == f"#{made['contained'][0]['id']}"
    assert made["contained"][0]["name"] == [{"text": "[PERSON]"}]


def test_a_uuid_stays_one_as_an_id_and_in_an_urn() -> None:
    own = "0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"
    whole = {"resourceType": "Bundle", "type": "transaction", "entry": [
        {"fullUrl": f"urn:uuid:{own}", "resource": patient(id=own), "request": {"method": "POST", "url": "Patient"}},
        {"resource": observation(subject={"reference": f"urn:uuid:{own}"}),
         "request": {"method": "PUT", "url": "Observation?identifier=byron-77", "ifNoneExist": "identifier=byron-77"}}]}
    made = out(whole)
    first, second = made["entry"]
    assert first["fullUrl"] == f"urn:uuid:{first['resource']['id']}" == second["resource"]["subject"]["reference"]
    assert second["request"]["url"].startswith("Observation?")
    assert "byron" not in json.dumps(made)
    Bundle.model_validate(made)


def test_one_id_on_two_servers_is_refused() -> None:
    whole = bundle(patient())
    whole["entry"] += bundle(patient(), base="https://other.example/fhir")["entry"]
    with pytest.raises(SchemaViolation, match="two servers"):
        opened(whole)


def test_what_structured_fields_reveal_is_known() -> None:
    record = opened(bundle(
        patient(id="pt-4711", birthDate="1980-02-03", name=[{"family": "Byron", "given": ["Ada", "K."]}],
                telecom=[{"system": "phone", "value": "617-555-0100"}],
                address=[{"line": ["1 Main Street"], "city": "Troy", "state": "NY", "postalCode": "12180"}],
                contact=[{"name": {"text": "Ralph Byron"}}],
                identifier=[{"type": {"coding": [{"code": "MR"}]}, "value": "MRN-81"},
                            {"system": "http://hl7.org/fhir/sid/us-ssn", "value": "219-09-9999"}]),
        {"resourceType": "Encounter", "id": "e1", "status": "finished", "class": {"code": "AMB"},
         "identifier": [{"value": "V-90210"}], "participant": [{"individual": {"display": "Dr. Tom Cole, MD"}}]},
        {"resourceType": "Organization", "id": "org1", "name": "Elm Clinic"}))
    assert {
        Known("PATIENT", "Ada K. Byron"), Known("RELATIVE", "Ralph Byron"), Known("PERSON", "Tom Cole"),
        Known("MEDICAL_RECORD_NUMBER", "MRN-81"), Known("SSN_OR_TAXPAYER", "219-09-9999"), Known("GUID", "V-90210"),
        Known("BIRTH_DATE_TIME", "1980-02-03"), Known("TELEPHONE_NUMBER", "617-555-0100"), Known("GUID", "pt-4711"),
        Known("STREET", "1 Main Street"), Known("CITY", "Troy"), Known("ZIP", "12180"),
        Known("ORGANIZATION", "Elm Clinic"),
    } == set(record.known)


def test_a_contained_patient_is_known_too() -> None:
    record = opened(observation(contained=[patient(name=[{"text": "Ada Byron"}])], subject={"reference": "#pt-1"}))
    assert Known("PATIENT", "Ada Byron") in record.known


@pytest.mark.parametrize(("resource", "expected"), [
    (patient(), "pt-1"),
    ({"resourceType": "Patient"}, None),
    (observation(subject={"reference": "Patient/pt-1"}), "pt-1"),
    (observation(subject={"reference": "https://ehr.example/fhir/Patient/pt-1"}), "pt-1"),
    (observation(subject={"reference": "Location/l1"}), None),
    (observation(subject={"identifier": {"value": "MRN-81"}}), "MRN-81"),
    (observation(), None),
    (observation(subject={"reference": "#p"}, contained=[
        {"resourceType": "Patient", "id": "p", "identifier": [{"value": "MRN-81"}]}]), "MRN-81"),
    (bundle(patient(), {"id": "o1", **observation(subject={"reference": "Patient/pt-1"})}), "pt-1"),
    (bundle(patient(), patient(id="pt-2")), None),
    (bundle({"id": "o1", **observation(subject={"reference": "Patient/pt-1"})}), "pt-1"),
    (bundle({"resourceType": "Organization", "id": "x"}), None),
])
def test_the_patient_is_the_subject_where_there_is_one(resource: dict[str, Any], expected: str | None) -> None:
    assert opened(resource).patient == expected


def test_every_action_must_be_served() -> None:
    record = opened(patient())
    with pytest.raises(AccountingError):
        record.rewritten({}, {})
    with pytest.raises(AccountingError):
        record.rewritten({"name": [(0, 1, "x")]}, {a: answer(a) for a in record.actions})


def test_ids_that_become_one_are_refused() -> None:
    record = opened(bundle(patient(), patient(id="pt-2")))
    with pytest.raises(AccountingError, match="one-to-one"):
        record.rewritten({}, {action: f"[{action.entity_type}]" for action in record.actions})


def test_a_text_of_which_nothing_is_left_gives_way_to_data_absent_reason() -> None:
    made = out(observation(valueString="Ada Byron", note=[{"text": "Ada Byron"}]), {"Ada Byron": ""})
    assert made["_valueString"] == MASKED
    assert made["note"] == [{"_text": MASKED}]


def test_no_repr_holds_a_value() -> None:
    record = opened(EXAMPLE.read_text(encoding="utf-8"))
    shown = repr(record) + repr(record.fields) + repr(record.actions) + repr(record.texts) + repr(record.known)
    for word in ("Oyelaran", "Lindqvist", "0482913", "1951", "fairhollow-discharge"):
        assert word not in shown


def test_the_example_is_valid_and_comes_out_valid_with_every_reference_resolved() -> None:
    raw = EXAMPLE.read_text(encoding="utf-8")
    Bundle.model_validate_json(raw)
    assert dangling(json.loads(raw)) == []
    for date in (None, "2023-11-05"):
        made = served(opened(raw), date=date)
        Bundle.model_validate_json(made)
        assert dangling(json.loads(made)) == []
        assert '"value": 88.50' in made


def test_of_the_example_no_structured_identifier_is_left() -> None:
    made = json.loads(served(opened(EXAMPLE.read_text(encoding="utf-8"))))
    texts = ("text", "div", "title", "conclusion", "description", "patientInstruction", "data", "display")
    structured = " ".join(str(value) for path, value in values(made) if path.rsplit(".", 1)[-1] not in texts)
    for word in ("Oyelaran", "Marguerite", "Adaeze", "Lindqvist", "Fairhollow", "fairhollow", "0482913", "219-09",
                 "555-01", "Quarry", "1951", "2024", "01999", "55810"):
        assert word not in structured


def test_of_the_example_every_name_in_free_text_can_be_replaced_between_its_tags() -> None:
    raw = EXAMPLE.read_text(encoding="utf-8")
    made = json.loads(served(opened(raw), {"Marguerite Oyelaran": "[PERSON]", "Oyelaran": "[PERSON]"}))
    section = made["entry"][0]["resource"]["section"][0]["text"]["div"]
    before = json.loads(raw)["entry"][0]["resource"]["section"][0]["text"]["div"]
    assert section == before.replace("Oyel<i>aran</i>", "[PERSON]<i></i>")
    data = made["entry"][-1]["resource"]["content"][0]["attachment"]["data"]
    assert "Patient: [PERSON]\n" in base64.b64decode(data).decode()
    assert "size" not in made["entry"][-1]["resource"]["content"][0]["attachment"]


def test_the_record_says_its_schema_and_ids() -> None:
    record = opened(EXAMPLE.read_text(encoding="utf-8"))
    assert (record.data_type, record.schema.data_type) == ("fhir.Bundle", "fhir.Bundle")
    assert (record.patient, record.id) == ("pt-0482913", "fairhollow-discharge-2024-0306")
    assert len({t.field for t in record.texts}) == len(record.texts)
    assert "fhir.Bundle" not in REGISTRY
