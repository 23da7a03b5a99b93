"""The FHIR rules as record schemas, for listings and manifests: every field of every resource type with its flag."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from incognote.schemas.approval import Approval
from incognote.schemas.fhir.rules import RESOURCES, ElementRule, Elements, Rule, Rules, rules
from incognote.schemas.record_schema import FieldRule, Flag, Schema
from incognote.schemas.registry import Row

_FLAGS: dict[Rule, Flag] = {
    "pass": "pass", "code": "auto", "uri": "hash", "type": "pass", "mask": "mask", "absent": "mask", "drop": "mask",
    "id": "hash", "reference": "hash", "date": "mask", "text": "auto", "display": "auto", "narrative": "auto",
    "attachment": "auto", "refuse": "mask", "resource": "auto", "extension": "auto",
}
_JSON_TYPES = {
    "boolean": "boolean", "integer": "integer", "unsignedInt": "integer", "positiveInt": "integer", "decimal": "number",
}


@cache
def fhir_schemas() -> tuple[Schema, ...]:
    """One schema per resource type, named `fhir.Patient` and so on; all bear the version of the whole rule set.

    Raises:
        UnapprovedSchema: a rules file changed after its approval.
    """
    known = rules()
    return tuple(
        Schema(data_type(resource), known.version, _object(known, known.resources[resource], (), False),
               id_key="id", about=known.about[resource])
        for resource in RESOURCES
    )


def data_type(resource: str) -> str:
    """The name of a resource type's schema."""
    return f"fhir.{resource}"


def fhir_rows() -> list[Row]:
    """The FHIR schemas as `schema list` shows record schemas."""
    approvals = rules().approvals
    files = {resource: f"fhir/{resource.lower()}.json" for resource in RESOURCES}
    return [
        Row(schema.data_type, files[resource], True, schema.version, "approved", *_signed(approvals, resource), 0)
        for resource, schema in zip(RESOURCES, fhir_schemas(), strict=True)
    ]


def _signed(approvals: Mapping[str, Approval], resource: str) -> tuple[str, str]:
    approval = approvals[f"{resource.lower()}.json"]
    return approval.by, approval.at


def _object(known: Rules, elements: Elements, above: tuple[Elements, ...], in_type: bool) -> FieldRule:
    """An object's fields. A data type inside a data type is named, not unfolded: that would never end."""
    inner = (*above, elements)
    return FieldRule(
        frozenset({"object"}), properties={name: _field(known, e, inner, in_type) for name, e in elements.items()})


def _field(known: Rules, element: ElementRule, above: tuple[Elements, ...], in_type: bool) -> FieldRule:
    elements = known.elements_of(element)
    own = element.elements is not None
    if element.rule is None and elements is not None and (own or not in_type) and not any(elements is e for e in above):
        rule = _object(known, elements, above, in_type or not own)
    else:
        rule = FieldRule(
            frozenset({_JSON_TYPES.get(element.type, "string" if elements is None else "object")}),
            flag=_FLAGS[element.rule] if element.rule else "auto", entity_type=element.entity,
            about=f"{element.type}: {element.rule}" if element.rule else f"{element.type}, by its own rules",
        )
    return FieldRule(frozenset({"array"}), items=rule) if element.many else rule
