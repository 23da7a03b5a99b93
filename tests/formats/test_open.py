"""Opening records with their schemas, and rebuilding them."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from incognote.errors import (
    AccountingError,
    BadSchema,
    IncognoteError,
    MalformedRecord,
    SchemaViolation,
    UnapprovedSchema,
    UnknownDataType,
)
from incognote.formats.base import FieldAction
from incognote.formats.json import open_record
from incognote.formats.records.rawjson import parse
from incognote.formats.records.record import OpenRecord, Walk
from incognote.nouns import Known
from incognote.schemas.record_schema import compile_schema
from incognote.schemas.registry import Registry, approve

EXAMPLES = Path(__file__).parents[2] / "examples"
SHIPPED = Registry()


def registry_of(folder: Path, properties: dict[str, Any], **head: Any) -> Registry:
    path = folder / "visit.json"
    path.write_text(json.dumps({"dataType": "visit", "type": "object", "properties": properties, **head}))
    approve(path, "Ada Privacy", datetime(2025, 3, 1, tzinfo=UTC))
    return Registry([folder])


VISIT = {
    "name": {"type": ["string", "null"], "shouldMask": True, "entity_type": "[PERSON]"},
    "who": {"type": "object", "required": ["mrn"], "properties": {
        "mrn": {"type": ["string", "integer"], "shouldHash": True},
        "born": {"type": "string", "shouldMask": True, "entity_type": "BIRTH_DATE_TIME"},
    }},
    "pain": {"type": "number", "passThrough": True},
    "visits": {"type": "integer", "shouldMask": True, "entity_type": "AGE"},
    "contact": {"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "object", "properties": {
            "family": {"type": "string", "shouldMask": True, "entity_type": "RELATIVE"}}},
        "notes": {"type": "array", "items": {"type": ["string", "null"], "autoDeID": True}},
    }}},
    "vitals": {"type": "object", "properties": {
        "hr": {"type": "array", "items": {"type": "number", "passThrough": True}}}},
    "odd.key": {"type": "string", "autoDeId": True},
}
RAW = """{"dataType" : "visit", "recordVersion":"1.0",
  "name": "Jane \\"JD\\" Doe", "who": {"mrn": 778210, "born":"1970-02-03"}, "visits": 12,
  "contact": [{"name":{"family":"Ro\\u00e9"},"notes":["Saw Ro\\u00e9 \\ud83d\\ude00 today", null, ""]}],
  "pain": 1.10, "vitals":{"hr":[72, 8.0e1]}, "odd.key":"Jane\\/Doe"}
"""


@pytest.fixture
def visits(tmp_path: Path) -> Registry:
    return registry_of(tmp_path, VISIT, patientKey="who.mrn", required=["who"])


def served(record: OpenRecord, value: str = "[X]") -> dict[FieldAction, str]:
    return dict.fromkeys(record.actions, value)


def test_texts_and_actions_bear_their_paths(visits: Registry) -> None:
    record = open_record(RAW, visits)
    assert {t.field: t.content for t in record.texts} == {
        "contact[0].notes[0]": "Saw Roé 😀 today", '["odd.key"]': "Jane/Doe"}
    assert [(a.text.field, a.text.content, a.start, a.end, a.action, a.entity_type) for a in record.actions] == [
        ("name", 'Jane "JD" Doe', 0, 13, "mask", "PERSON"),
        ("who.mrn", "778210", 0, 6, "hash", "MEDICAL_RECORD_NUMBER"),
        ("who.born", "1970-02-03", 0, 10, "mask", "BIRTH_DATE_TIME"),
        ("visits", "12", 0, 2, "mask", "AGE"),
        ("contact[0].name.family", "Roé", 0, 3, "mask", "RELATIVE"),
    ]


def test_the_subject_and_what_is_known_come_from_the_fields(visits: Registry) -> None:
    record = open_record(RAW, visits)
    assert record.patient == "778210"
    assert record.known == (
        Known("PERSON", 'Jane "JD" Doe'), Known("MEDICAL_RECORD_NUMBER", "778210"),
        Known("BIRTH_DATE_TIME", "1970-02-03"), Known("RELATIVE", "Roé"),
    )


def test_only_edits_and_actions_change_the_raw_record(visits: Registry) -> None:
    record = open_record(RAW, visits)
    changes = {"contact[0].notes[0]": [(4, 7, "[RELATIVE]")], '["odd.key"]': [(5, 8, '"')]}
    new = record.rewritten(changes, served(record))
    assert new == """{"dataType" : "visit", "recordVersion":"1.0",
  "name": "[X]", "who": {"mrn": "[X]", "born":"[X]"}, "visits": "[X]",
  "contact": [{"name":{"family":"[X]"},"notes":["Saw [RELATIVE] \\ud83d\\ude00 today", null, ""]}],
  "pain": 1.10, "vitals":{"hr":[72, 8.0e1]}, "odd.key":"Jane\\/\\""}
"""


def test_a_record_is_not_put_together_unless_every_action_was_served(visits: Registry) -> None:
    record = open_record(RAW, visits)
    for actions in ({}, dict(list(served(record).items())[1:])):
        with pytest.raises(AccountingError):
            record.rewritten({}, actions)
    with pytest.raises(AccountingError):
        record.rewritten({"pain": [(0, 1, "x")]}, served(record))


def test_null_and_empty_values_are_left_as_they_are(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, VISIT)
    raw = '{"dataType":"visit","name":null,"who":{"mrn":""},"odd.key":"","contact":[]}'
    record = open_record(raw, registry)
    assert (record.texts, record.actions, record.known, record.patient) == ((), (), (), None)
    assert record.rewritten({}, {}) == raw


def test_a_masked_value_of_any_type_becomes_a_string(tmp_path: Path) -> None:
    anything = {"type": ["object", "array", "boolean", "number"], "shouldMask": True, "entity_type": "PERSON"}
    registry = registry_of(tmp_path, {"a": anything})
    for value in ('{"x": ["Doe"]}', "[1, 2]", "true", "-1.50", "{}"):
        record = open_record(f'{{"a": {value} }}', registry, data_type="visit")
        assert record.actions[0].text.content == value
        assert record.rewritten({}, {record.actions[0]: "[PERSON]"}) == '{"a": "[PERSON]" }'


def test_an_array_of_masked_values_makes_each_known(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, {"names": {"type": "array", "items": {
        "type": "string", "shouldMask": True, "entity_type": "PERSON"}}})
    record = open_record('{"names":["Jane Doe","Bo Li","Jane Doe"]}', registry, data_type="visit")
    assert [a.text.field for a in record.actions] == ["names[0]", "names[1]", "names[2]"]
    assert record.known == (Known("PERSON", "Jane Doe"), Known("PERSON", "Bo Li"))


def test_the_papers_record_opens_under_its_schema_by_name() -> None:
    raw = (EXAMPLES / "redactor_record.json").read_text(encoding="utf-8")
    record = open_record(raw, SHIPPED, data_type="clinicalRecord")
    assert [(a.text.field, a.action, a.entity_type) for a in record.actions] == [
        ("PatientId", "hash", "GUID"), ("MRN", "hash", "MEDICAL_RECORD_NUMBER"), ("AGE", "mask", "AGE")]
    assert record.known == (Known("GUID", "123456789"), Known("MEDICAL_RECORD_NUMBER", "A987654321"))
    assert record.patient == "123456789"
    assert record.texts[0].content.startswith("John Doe, a 45-year-old male, presented to Stanford Medical Center")


def test_the_workflow_record_opens_by_its_data_type() -> None:
    record = open_record((EXAMPLES / "workflow_record.json").read_text(encoding="utf-8"), SHIPPED)
    assert record.data_type == "workflow"
    assert record.known == (Known("PERSON", "Robert Johnson"), Known("GUID", "A12345"))
    assert [t.field for t in record.texts] == ["medical_history"]


def test_a_records_own_data_type_counts_before_the_callers() -> None:
    raw = '{"dataType":"note","id":"n1","text":"x"}'
    record = open_record(raw, SHIPPED, data_type="workflow")
    assert (record.data_type, record.id) == ("note", "n1")


@pytest.mark.parametrize("raw", ['{"note":"Doe"}', '{"dataType":"Doe","note":"x"}', '{"dataType":"","note":"Doe"}'])
def test_without_a_known_data_type_nothing_is_opened_and_nothing_quoted(raw: str) -> None:
    with pytest.raises(UnknownDataType) as caught:
        open_record(raw, SHIPPED)
    assert "Doe" not in str(caught.value)


def test_a_data_type_the_caller_misspells_is_quoted_with_those_there_are() -> None:
    with pytest.raises(UnknownDataType, match=r"'clinicalrecord'\. Known: clinicalRecord"):
        open_record('{"note":"Doe"}', SHIPPED, data_type="clinicalrecord")


@pytest.mark.parametrize("raw", ["", "[1]x", "\x00\x01", '{"note":"Doe"', '{"note":1,"note":"Doe"}'])
def test_what_is_no_json_is_malformed(raw: str) -> None:
    with pytest.raises(MalformedRecord) as caught:
        open_record(raw, SHIPPED, data_type="note")
    assert "Doe" not in str(caught.value)


@pytest.mark.parametrize("raw", ["[]", '"Doe"', "1", "null"])
def test_a_record_is_an_object(raw: str) -> None:
    with pytest.raises(SchemaViolation, match="a record must be a JSON object"):
        open_record(raw, SHIPPED, data_type="note")


@pytest.mark.parametrize(("raw", "field", "words"), [
    ('{"who":{"mrn":"1"},"extra":"Doe"}', "extra", "not in the schema visit"),
    ('{"who":{"mrn":"1","extra":"Doe"}}', "who.extra", "not in the schema"),
    ('{"who":{"mrn":"1"},"contact":[{},{"name":{"given":"Doe"}}]}', "contact[1].name.given", "not in the schema"),
    ('{"who":{"mrn":"1"},"Jane Doe":1}', "", "member 2 is not in the schema"),
    ('{"who":{"mrn":"1","555-12-1234":1}}', "who", "who: member 2 is not in the schema"),
    ('{"who":{}}', "who.mrn", "required, but missing"),
    ("{}", "who", "required, but missing"),
    ('{"who":{"mrn":"1"},"name":["Doe"]}', "name", "is of type array, but must be null or string"),
    ('{"who":{"mrn":1.0}}', "who.mrn", "is of type number, but must be integer or string"),
    ('{"who":{"mrn":true}}', "who.mrn", "is of type boolean"),
    ('{"who":{"mrn":"1"},"contact":{"Doe":1}}', "contact", "is of type object, but must be array"),
    ('{"who":{"mrn":"1"},"contact":[{"notes":[7]}]}', "contact[0].notes[0]", "is of type integer"),
    ('{"who":{"mrn":"1"},"pain":"Doe"}', "pain", "is of type string, but must be number"),
    ('{"who":null}', "who", "is of type null"),
    ('{"who":{"mrn":"1"},"recordVersion":"Doe"}', "recordVersion", "version number"),
    ('{"who":{"mrn":"1"},"recordVersion":"555-1234"}', "recordVersion", "version number"),
    ('{"who":{"mrn":"1"},"recordVersion":["Doe"]}', "recordVersion", "version number"),
    ('{"who":{"mrn":"1","dataType":"Doe"}}', "who.dataType", "not in the schema"),
    ('{"who":{"mrn":"1"},"dataType":1}', "dataType", "dataType: must be a string, not of type integer"),
])
def test_a_violation_names_the_field_and_never_the_value(visits: Registry, raw: str, field: str, words: str) -> None:
    with pytest.raises(SchemaViolation, match=re.escape(words)) as caught:
        open_record(raw, visits, data_type="visit")
    assert caught.value.field == field
    assert not re.search(r"Doe|555|1234", str(caught.value))


def test_many_violations_are_told_up_to_five() -> None:
    raw = json.dumps({"text": "x", **{f"f{c}": "Doe" for c in "abcdefgh"}})
    with pytest.raises(SchemaViolation, match="and 3 more") as caught:
        open_record(raw, SHIPPED, data_type="note")
    assert str(caught.value).count("not in the schema") == 5


@pytest.mark.parametrize("version", ['"1.0"', '"v2.3.1"', "1", "1.0", "null"])
def test_a_version_number_passes_in_the_envelope(version: str) -> None:
    raw = f'{{"dataType":"note","recordVersion":{version},"text":""}}'
    assert open_record(raw, SHIPPED).rewritten({}, {}) == raw


@pytest.mark.parametrize(("raw", "is_fhir"), [
    ('{"resourceType":"Patient"}', True), ('{"resourceType":1}', True),
    ('{"dataType":"note","text":"","resourceType":"Patient"}', False),
])
def test_a_resource_without_a_data_type_goes_to_fhir_whatever_the_caller_names(
    raw: str, is_fhir: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    fhir = ModuleType("incognote.formats.records.fhir")
    fhir.open_fhir = lambda raw, root, registry: given.append(raw)  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, fhir.__name__, fhir)
    if is_fhir:
        open_record(raw, SHIPPED, data_type="note")
    else:
        with pytest.raises(SchemaViolation, match="resourceType: is not in the schema"):
            open_record(raw, SHIPPED)
    assert given == [raw] * is_fhir


def test_the_manifest_of_a_bulk_export_is_refused_by_name() -> None:
    with pytest.raises(UnknownDataType, match="manifest of a FHIR bulk export"):
        open_record('{"transactionTime": "2024-03-05T10:00:00Z", "output": [], "error": []}', SHIPPED)


def test_limits_of_passing_fields_hold(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, {
        "sex": {"type": ["string", "null"], "passThrough": True, "enum": ["m", "f", None]},
        "code": {"type": "string", "passThrough": True, "maxLength": 4, "pattern": "^[A-Z]+$"},
        "n": {"type": "number", "passThrough": True, "enum": [1, 2.5]},
        "b": {"type": "boolean", "passThrough": True, "enum": [True]},
    })
    fine = '{"sex":null,"code":"ABCD","n":1.0,"b":true}'
    assert open_record(fine, registry, data_type="visit").texts == ()
    for raw, words in (
        ('{"sex":"Doe"}', "sex: is not one of the values"),
        ('{"code":"A Doe"}', "code: is longer than 4"),
        ('{"code":"doe"}', "code: does not match"), ('{"n":true}', "n: is of type boolean"),
        ('{"n":3}', "n: is not one"), ('{"b":false}', "b: is not one"),
    ):
        with pytest.raises(SchemaViolation, match=words) as caught:
            open_record(raw, registry, data_type="visit")
        assert "oe" not in str(caught.value).replace("does", "")


MEASURED = {"type": ["number", "null"], "passThrough": True}
LABELLED = {"label": {"type": "string", "autoDeId": True}, "value": MEASURED, "platelets": MEASURED, "member": MEASURED,
            "list": {"type": "array", "items": MEASURED}}


@pytest.mark.parametrize(("raw", "words"), [
    ('{"label":"MRN","value":48213977}', "value: .*MEDICAL_RECORD_NUMBER"),
    ('{"label":"Phone","value":5550199}', "value: .*TELEPHONE_NUMBER"),
    ('{"label":"Account no","value":4.8213977e7}', "value: .*ACCOUNT_NUMBER"),
    ('{"label":"SSN","value":-512449821}', "value: .*SSN_OR_TAXPAYER"),
])
def test_a_passing_number_as_long_as_an_identifier_is_held_under_the_label_of_one(
    tmp_path: Path, raw: str, words: str
) -> None:
    registry = registry_of(tmp_path, {name: LABELLED[name] for name in ("label", "value")})
    with pytest.raises(SchemaViolation, match=words) as caught:
        open_record(raw, registry, data_type="visit")
    assert not re.search("482|5550|512", str(caught.value))


@pytest.mark.parametrize("raw", [
    '{"label":"MRN","value":4821}', '{"label":"Platelets","value":250000}', '{"label":"Phone call","platelets":250000}',
    '{"label":"MRN","value":null}',
])
def test_a_passing_number_that_no_label_makes_an_identifier_passes(tmp_path: Path, raw: str) -> None:
    registry = registry_of(tmp_path, {name: LABELLED[name] for name in ("label", "value", "platelets")})
    assert [text.field for text in open_record(raw, registry, data_type="visit").texts] == ["label"]


def test_a_number_called_as_an_identifier_passes_for_a_reason_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadSchema, match="member: passes through without a scan, but its name suggests HEALTH_PLAN_ID"):
        registry_of(tmp_path, {"member": MEASURED})
    registry = registry_of(tmp_path, {"member": {**MEASURED, "passReason": "how many members the ward has"}})
    assert open_record('{"member":48213977}', registry, data_type="visit").texts == ()


@pytest.mark.parametrize("record", [
    {"dataType": "note", "note_type": "Phone call with Karen Oyelowo, karen.o@example.org", "text": "Stable."},
    {"dataType": "note", "note_type": "Oyelowo", "text": "Stable."},
    {"dataType": "csvNotes", "note_id": "1", "patient_id": "2", "note_type": "Karen Oyelowo", "text": "Stable."},
])
def test_the_type_of_a_shipped_note_is_scanned(record: dict[str, Any]) -> None:
    assert "note_type" in {text.field for text in open_record(json.dumps(record), SHIPPED).texts}


@pytest.mark.parametrize("gender", ["Karen Oyelowo", "Oyelowo", "female Oyelowo", "MRN 48213977"])
def test_a_gender_that_is_none_is_refused(gender: str) -> None:
    record = {"dataType": "workflow", "patient_name": "x", "patient_id": "1", "gender": gender, "medical_history": ""}
    with pytest.raises(SchemaViolation, match="gender: is not one of the values") as caught:
        open_record(json.dumps(record), SHIPPED)
    assert "Oyelowo" not in str(caught.value)


def test_a_pattern_that_is_not_anchored_must_match_the_whole_value(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, {"code": {"type": "string", "passThrough": True, "pattern": "[A-Z][0-9]{1,3}"}})
    assert open_record('{"code":"A12"}', registry, data_type="visit").texts == ()
    with pytest.raises(SchemaViolation, match="code: does not match"):
        open_record('{"code":"A12 Jane Doe"}', registry, data_type="visit")


def test_an_unknown_member_named_like_a_person_is_told_by_its_position() -> None:
    with pytest.raises(SchemaViolation, match="member 2 is not in the schema") as caught:
        open_record('{"text":"x","Smithson":1}', SHIPPED, data_type="note")
    assert caught.value.field == ""
    with pytest.raises(SchemaViolation, match="noteComment: is not in the schema"):
        open_record('{"text":"x","noteComment":1}', SHIPPED, data_type="note")


@pytest.mark.parametrize("version", ["415.555.1234", "4155551234", "123.45.6789", "219-09-9999", "1.2.3.4", "1234"])
def test_a_version_has_no_room_for_a_telephone_number(version: str) -> None:
    with pytest.raises(SchemaViolation, match="recordVersion"):
        open_record(f'{{"dataType":"note","recordVersion":"{version}","text":""}}', SHIPPED)


def test_an_unapproved_schema_opens_nothing(tmp_path: Path) -> None:
    registry_of(tmp_path, VISIT)
    (tmp_path / "approvals.json").unlink()
    with pytest.raises(UnapprovedSchema, match="visit"):
        open_record(RAW, Registry([tmp_path]))


def test_reprs_show_no_value(visits: Registry) -> None:
    record = open_record(RAW, visits)
    assert not re.search("Doe|778210|1970|Ro", repr(record) + repr(record.actions) + repr(record.known))


PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2).map(lambda x: round(x, 1)) | st.sampled_from(
    ["", "a", "bb", "Jane Doe-Sentinel"])
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
                      max_leaves=5)
TYPES = st.lists(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]), min_size=1, max_size=3, unique=True)
LEAVES = st.builds(
    lambda kinds, more: {"type": kinds if len(kinds) > 1 else kinds[0], "passThrough": True, **more}, TYPES,
    st.fixed_dictionaries({}, optional={"enum": st.lists(PLAIN, min_size=1, max_size=3), "maxLength": st.integers(0, 3),
                                        "pattern": st.just("^a$")}),
)
FIELDS = st.recursive(
    LEAVES,
    lambda inner: st.builds(lambda i: {"type": "array", "items": i}, inner) | st.builds(
        lambda p, r: {"type": "object", "properties": p, "additionalProperties": False,
                      **({"required": r} if r else {})},
        st.dictionaries(st.sampled_from("ab"), inner, min_size=1), st.lists(st.sampled_from("ab"), max_size=1)),
    max_leaves=4,
)


@given(FIELDS, VALUES)
def test_the_walker_accepts_what_jsonschema_accepts_and_never_quotes(field: dict[str, Any], value: Any) -> None:
    definition = {"dataType": "x", "type": "object", "additionalProperties": False, "properties": {"f": field}}
    record = {"f": value}
    raw = json.dumps(record)
    schema = compile_schema(definition)
    if Draft4Validator(definition).is_valid(record):
        Walk(raw, parse(raw), schema)
    else:
        with pytest.raises(SchemaViolation) as caught:
            Walk(raw, parse(raw), schema)
        assert "Sentinel" not in str(caught.value)


@given(st.text(min_size=1, max_size=60), st.sampled_from([
    '{"dataType":%s}', '{"dataType":"note",%s:1,"text":"x"}', '{"dataType":"note","text":"x","recordVersion":%s}',
    '{"dataType":"note","text":[%s]}', '{"dataType":"note","text":"x","note_type":%s}',
    '{"dataType":"note","id":{%s:1}}', '{"dataType":"note"}%s', '{"dataType":"note","text":%s',
]))
def test_no_error_holds_a_value(value: str, shape: str) -> None:
    value = f"Zq7{value}"  # no message of ours contains this
    raw = shape % json.dumps(value)
    caught: IncognoteError | None = None
    try:
        open_record(raw, SHIPPED)
    except IncognoteError as error:
        caught = error
    assert "Zq7" not in str(caught)
    assert caught is None or caught.__suppress_context__ or caught.__context__ is None


def test_a_hundred_thousand_tiny_records_open(tmp_path: Path) -> None:
    registry = registry_of(tmp_path, {"note": {"type": "string", "autoDeId": True}})
    opened = sum(len(open_record(f'{{"note":"n{i}"}}', registry, data_type="visit").texts) for i in range(100_000))
    assert opened == 100_000


def test_the_example_records_fit_their_schemas_and_come_back_unedited() -> None:
    lines = (EXAMPLES / "records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [open_record(line, SHIPPED) for line in lines]
    assert len(records) == 50
    assert {record.data_type for record in records} == {"note", "clinicalRecord"}
    assert len({record.texts[0].content for record in records}) == 50
    for line, record in zip(lines, records, strict=True):
        assert json.loads(record.rewritten({}, {a: a.text.content for a in record.actions})) == {
            key: str(value) for key, value in json.loads(line).items()}
