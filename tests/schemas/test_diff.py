"""Changes between schemas, and which of them release more."""

from __future__ import annotations

from typing import Any

from incognote.schemas.record_schema import Schema, compile_schema, diff
from incognote.schemas.registry import Registry


def schema(required: tuple[str, ...] = (), **properties: Any) -> Schema:
    head = {"dataType": "x", "type": "object", "properties": properties}
    return compile_schema({**head, "required": list(required)} if required else head)


NAME = {"type": "string", "shouldMask": True, "entity_type": "PERSON"}


def lines(a: Schema, b: Schema) -> list[str]:
    return [str(change) for change in diff(a, b)]


def test_a_schema_does_not_differ_from_itself() -> None:
    assert Registry().all()
    for one in Registry().all():
        assert diff(one, one) == []


def test_a_field_that_passes_now_is_marked() -> None:
    assert lines(schema(a=NAME), schema(a={"type": "string", "passThrough": True})) == [
        "a: mask as PERSON -> pass [loosens]", "a: searched for as PERSON -> nothing [loosens]",
    ]


def test_a_stricter_field_is_not_marked() -> None:
    before = schema(a={"type": "string", "autoDeId": True})
    assert lines(before, schema(a=NAME)) == ["a: auto -> mask as PERSON", "a: searched for as nothing -> PERSON"]


def test_added_and_removed_fields_are_told_with_their_flags() -> None:
    a = schema(old=NAME)
    b = schema(new={"type": "array", "items": {"type": "object", "properties": {
        "x": {"type": "string", "passThrough": True}}}})
    assert lines(a, b) == [
        "new: added: by its nested fields", "new[]: added: by its nested fields", "new[].x: added: pass [loosens]",
        "old: removed: mask as PERSON",
    ]


def test_limits_types_and_requirements_are_told() -> None:
    a = schema(a={"type": "string", "passThrough": True, "maxLength": 9, "pattern": "x", "enum": ["x"]})
    b = schema(("a",), a={"type": ["string", "null"], "passThrough": True, "maxLength": 12, "description": "d"})
    assert lines(a, b) == [
        "a: required", "a: type string -> null or string",
        "a: enum removed [loosens]", "a: maxLength changed [loosens]",
        "a: pattern removed [loosens]", "a: description changed",
    ]


def test_heads_are_compared() -> None:
    a, b = Registry().get("clinicalRecord"), Registry().get("workflow")
    assert lines(a, b)[:3] == [
        "the schema: dataType clinicalRecord -> workflow", "the schema: patientKey PatientId -> patient_id",
        "the schema: description Schema for a free text record -> "
        "The record of RedactOR's example workflow (section A.4.1)",
    ]
