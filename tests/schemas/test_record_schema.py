"""Reading, checking, and compiling record schemas."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft4Validator

from incognote.errors import BadSchema
from incognote.schemas.check import problems, read_definition
from incognote.schemas.record_schema import bare_type, compile_schema, content_hash, decided

SHIPPED = [f for f in files("incognote.schemas").joinpath("shipped").iterdir() if f.name != "approvals.json"]


def schema(**properties: Any) -> dict[str, Any]:
    return {"dataType": "x", "type": "object", "properties": properties}


def complaints(definition: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in problems(definition)]


PASS = {"type": "string", "passThrough": True, "enum": ["x"]}


@pytest.mark.parametrize(("flags", "flag"), [
    ({"passThrough": True}, "pass"),
    ({"autoDeId": True}, "auto"),
    ({"autoDeID": True}, "auto"),
    ({"autoDeId": True, "autoDeID": True}, "auto"),
    ({"shouldMask": True, "autoDeId": False}, "mask"),
    ({"shouldHash": True}, "hash"),
    ({"autoDeId": False, "shouldMask": False, "shouldHash": False}, "pass"),
    ({"autoDeID": False, "shouldMask": False, "shouldHash": False, "passThrough": False}, "pass"),
    ({}, None),
    ({"shouldMask": False, "shouldHash": False}, None),
    ({"passThrough": False}, None),
    ({"shouldMask": True, "shouldHash": True}, None),
])
def test_flags_decide_only_where_they_say_one_thing(flags: dict[str, bool], flag: str | None) -> None:
    assert decided(flags) == flag


@pytest.mark.parametrize("written", ["AGE", "[AGE]", " [AGE] ", "[ AGE ]"])
def test_an_entity_type_is_read_with_and_without_brackets(written: str) -> None:
    assert bare_type(written) == "AGE"


@pytest.mark.parametrize("written", [None, "", "[]"])
def test_no_entity_type_is_none(written: str | None) -> None:
    assert bare_type(written) is None


@pytest.mark.parametrize("file", SHIPPED, ids=lambda f: f.name)
def test_shipped_schemas_are_draft_4_and_without_problems(file: Any) -> None:
    definition = read_definition(file.read_text(encoding="utf-8"))
    Draft4Validator.check_schema(definition)
    assert problems(definition) == []


def test_absent_flags_are_a_problem_that_awaits_a_decision() -> None:
    (problem,) = problems(schema(a={"type": "object", "properties": {"b": {"type": "string"}}}))
    assert (problem.path, problem.undecided) == ("a.b", True)


def test_two_flags_are_a_problem_that_names_both() -> None:
    (problem,) = problems(schema(a={"type": "string", "shouldMask": True, "autoDeID": True}))
    assert str(problem) == "a: autoDeID and shouldMask are both true. Set only one"
    assert not problem.undecided


@pytest.mark.parametrize(("field", "words"), [
    ({"type": "string", "autoDeId": True, "autoDeID": False}, "differ"),
    ({"type": "string", "shouldMask": True}, "needs an entity_type"),
    ({"type": "string", "shouldMask": True, "entity_type": "NAME"}, "is not an entity type"),
    ({"type": "string", "shouldHash": True, "knownAs": "NAME"}, "is not an entity type"),
    ({"type": "string", "passThrough": True, "knownAs": "PERSON"}, "knownAs is only for masked and hashed"),
    ({"type": "boolean", "shouldHash": True}, "must be a string or a number"),
    ({"type": "integer", "autoDeId": True}, "must be a string"),
    ({"type": ["string", "number"], "autoDeId": True}, "must be a string"),
    ({"type": "array", "autoDeId": True}, "must be a string"),
    ({"passThrough": True}, "has no type"),
    ({"type": "text", "passThrough": True}, "must be a JSON type"),
    ({"type": [], "passThrough": True}, "must be a JSON type"),
    ({"type": "string", "passThrough": "yes"}, "must be of type boolean"),
    ({"type": "string", "passThrough": True, "oneOf": []}, "unknown keywords: oneOf"),
    ({"type": "string", "passThrough": True, "$ref": "#"}, "unknown keywords: $ref"),
    ({"type": "string", "passThrough": True, "pattern": "("}, "not a valid regular expression"),
    ({"type": "string", "passThrough": True, "enum": []}, "must not be empty"),
    ({"type": "object", "passThrough": True, "properties": {"b": PASS}}, "has nested fields"),
    ({"type": "object", "properties": {}}, "must not be empty"),
    ({"type": "object", "properties": {"b": PASS}, "additionalProperties": True}, "must be one of [False]"),
    ({"type": "object", "properties": {"b": PASS}, "required": ["c"]}, "not in properties: c"),
    ({"type": "string", "properties": {"b": PASS}}, "its type is not object"),
    ({"type": "string", "items": PASS}, "its type is not array"),
    ({"type": ["object", "string"], "properties": {"b": PASS}}, "Choose one"),
    ({"type": ["object", "array"], "properties": {"b": PASS}}, "Add items"),
])
def test_a_faulty_field_is_named_with_its_fault(field: dict[str, Any], words: str) -> None:
    found = complaints(schema(outer={"type": "array", "items": {"type": "object", "properties": {"f": field}}}))
    assert any(words in line for line in found), found
    assert all(line.startswith("outer[].f") for line in found)


@pytest.mark.parametrize("field", [
    {"type": "string", "passThrough": True}, {"type": ["string", "null"], "passThrough": True, "maxLength": 9},
    {"type": "string", "autoDeId": False, "shouldMask": False, "shouldHash": False},
    {"type": ["string", "integer"], "passThrough": True, "pattern": "^[^0-9]*$", "maxLength": 60},
    {"type": "string", "passThrough": True, "pattern": ".*"},
    {"type": "string", "passThrough": True, "passReason": " "},
    {"type": "object", "passThrough": True}, {"type": "array", "passThrough": True, "passReason": "levels"},
])
@pytest.mark.parametrize("path", ["f", "tags[]", "who.f"])
def test_what_would_pass_unread_awaits_a_decision_and_the_remedy_is_named(field: dict[str, Any], path: str) -> None:
    at: dict[str, Any] = {"f": {"f": field}, "tags[]": {"tags": {"type": "array", "items": field}},
                          "who.f": {"who": {"type": "object", "properties": {"f": field}}}}
    (problem,) = problems(schema(**at[path]))
    assert (problem.path, problem.undecided) == (path, True)
    assert "passes through without a scan" in problem.message
    assert "dd " in problem.message


@pytest.mark.parametrize("field", [
    {"type": "string", "passThrough": True, "enum": ["inpatient", "outpatient"]},
    {"type": "string", "passThrough": True, "pattern": "^[A-Z]{1,3}-[0-9]{1,2}$"},
    {"type": "string", "passThrough": True, "pattern": "^[A-Z]+$", "maxLength": 4},
    {"type": "string", "passThrough": True, "passReason": "our ward names; the privacy board has the list"},
    {"type": "boolean", "passThrough": True}, {"type": ["number", "null"], "passThrough": True},
    {"type": "string", "autoDeId": True},
])
def test_an_enumeration_a_bounded_shape_or_a_named_reason_lets_a_string_pass(field: dict[str, Any]) -> None:
    assert problems(schema(f=field)) == []


@pytest.mark.parametrize(("name", "field"), [
    ("mrn", {"type": "integer"}), ("phone", {"type": "string", "pattern": "^[0-9]{7}$"}),
    ("ssn", {"type": ["number", "null"]}), ("email", {"type": "string"})])
def test_an_identifier_by_name_passes_for_a_reason_only(name: str, field: dict[str, Any]) -> None:
    (problem,) = problems(schema(**{name: {**field, "passThrough": True}}))
    assert "its name suggests" in problem.message
    assert problems(schema(**{name: {**field, "passThrough": True, "passReason": "made up"}})) == []


def test_a_reason_to_pass_is_for_what_passes() -> None:
    assert complaints(schema(f={"type": "string", "autoDeId": True, "passReason": "x"})) == [
        "f: passReason is only for fields that pass through. Remove it"]


@pytest.mark.parametrize(("definition", "words"), [
    ({}, "has no dataType, type, properties"),
    ({**schema(a=PASS), "dataType": "two words"}, "dataType must be at most 64 letters"),
    ({**schema(a=PASS), "dataType": 1}, "dataType must be of type string"),
    ({**schema(a=PASS), "$schema": "http://json-schema.org/draft-07/schema#"}, "$schema must be one of"),
    ({**schema(a=PASS), "type": "array"}, "type must be one of"),
    ({**schema(a=PASS), "patientKey": "b"}, "patientKey names 'b'"),
    ({**schema(a={"type": "array", "items": PASS}), "idKey": "a[]"}, "idKey names"),
    (schema(dataType=PASS), "is an envelope field"),
])
def test_a_faulty_head_is_told(definition: dict[str, Any], words: str) -> None:
    assert any(words in line for line in complaints(definition)), complaints(definition)


def test_a_key_may_name_an_inner_field() -> None:
    definition = {**schema(who={"type": "object", "properties": {"id": {"type": "integer", "shouldHash": True}}}),
                  "patientKey": "who.id"}
    assert problems(definition) == []


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', "{", "[]", '{"a":NaN}', '"x"', "[" * 100_000])
def test_what_is_no_json_object_is_no_schema(text: str) -> None:
    with pytest.raises(BadSchema):
        read_definition(text)


def test_a_schema_nested_without_end_is_a_problem_not_a_crash() -> None:
    field: dict[str, Any] = PASS
    for _ in range(3_000):
        field = {"type": "array", "items": field}
    assert [p.message for p in problems(schema(a=field))] == ["nested too deeply"]


def test_spacing_and_key_order_leave_the_hash_and_everything_else_changes_it() -> None:
    a = schema(a=PASS, b={"type": "string", "autoDeId": True})
    b = json.loads(json.dumps({key: a[key] for key in reversed(a)}, indent=3))
    assert content_hash(a) == content_hash(b)
    b["properties"]["a"]["description"] = "x"
    assert content_hash(a) != content_hash(b)


@pytest.mark.parametrize(("name", "field", "known_as"), [
    ("MRN", {"shouldHash": True, "entity_type": None}, "MEDICAL_RECORD_NUMBER"),
    ("PatientId", {"shouldHash": True}, "GUID"),
    ("memberId", {"shouldHash": True}, "HEALTH_PLAN_ID"),
    ("ref", {"shouldHash": True}, "GUID"),
    ("ref", {"shouldHash": True, "entity_type": "[FIN]"}, "FIN"),
    ("name", {"shouldMask": True, "entity_type": "PERSON"}, "PERSON"),
    ("born", {"shouldMask": True, "entity_type": "BIRTH_DATE_TIME"}, "BIRTH_DATE_TIME"),
    ("AGE", {"shouldMask": True, "entity_type": "AGE"}, None),
    ("state", {"shouldMask": True, "entity_type": "STATE"}, None),
    ("race", {"shouldMask": True, "entity_type": "RACE"}, None),
    ("AGE", {"shouldMask": True, "entity_type": "AGE", "knownAs": "AGE"}, "AGE"),
    ("id", {"shouldHash": True, "knownAs": None}, None),
    ("note", {"autoDeId": True}, None),
])
def test_what_a_field_makes_known_follows_its_type_and_name(name: str, field: dict[str, Any], known_as: str) -> None:
    compiled = compile_schema(schema(**{name: {"type": "string", **field}}))
    assert compiled.root.properties[name].known_as == known_as


def test_a_field_called_id_is_the_records_id_unless_another_is_named() -> None:
    assert compile_schema(schema(id=PASS)).id_key == "id"
    assert compile_schema({**schema(id=PASS, no=PASS), "idKey": "no"}).id_key == "no"
    assert compile_schema(schema(no=PASS)).id_key is None


def test_fields_are_listed_with_their_paths_in_the_order_of_the_file() -> None:
    compiled = compile_schema(schema(z=PASS, **{"a.b": PASS}, c={
        "type": "array", "items": {"type": "object", "properties": {"d": PASS}}}))
    assert [path for path, _ in compiled.fields()] == ["z", '["a.b"]', "c[].d"]
