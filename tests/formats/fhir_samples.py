"""Helpers for the FHIR tests: open and rebuild resources as a pipeline does, and fill in every element."""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from incognote.formats.base import FieldAction
from incognote.formats.json import open_record
from incognote.formats.records.fhir import FhirRecord
from incognote.formats.records.record import OpenRecord
from incognote.schemas.fhir import Release, Rules, rules
from incognote.schemas.fhir.elements import ElementRule, Elements
from incognote.schemas.registry import Registry

REGISTRY = Registry()
MASKED = {"extension": [{"url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "masked"}]}
RACE = "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race"
XHTML = "http://www.w3.org/1999/xhtml"
_SAMPLES: dict[str, Any] = {
    "boolean": True, "integer": 3, "unsignedInt": 3, "positiveInt": 3, "integer64": "3", "decimal": 1.25,
    "date": "2001-02-03",
    "dateTime": "2001-02-03T04:05:06+01:00", "instant": "2001-02-03T04:05:06.789Z", "time": "04:05:06",
    "string": "some words", "markdown": "some *words*", "uri": "https://h.example/codes", "id": "abc-1",
    "oid": "urn:oid:1.2.3", "uuid": "urn:uuid:c757873d-ec9a-4326-a141-556f43239520",
    "canonical": "https://h.example/profile|2", "url": "Binary/b1", "code": "c1",
    "base64Binary": base64.b64encode(b"some words").decode(), "xhtml": f'<div xmlns="{XHTML}">some <b>words</b></div>',
}
_BY_PATTERN = ("en-US", "text/plain", "USD", "201 Created", "1 -2.5 E")
_DEEPEST = 4


def patient(**more: Any) -> dict[str, Any]:
    """The smallest valid Patient, with additions."""
    return {"resourceType": "Patient", "id": "pt-1", **more}


def observation(**more: Any) -> dict[str, Any]:
    """The smallest valid Observation, with additions."""
    return {"resourceType": "Observation", "status": "final", "code": {"text": "x"}, **more}


def bundle(*resources: dict[str, Any], base: str = "https://ehr.example/fhir") -> dict[str, Any]:
    """A collection Bundle with resources of one server."""
    return {"resourceType": "Bundle", "type": "collection", "entry": [
        {"fullUrl": f"{base}/{r['resourceType']}/{r['id']}", "resource": r} for r in resources]}


def opened(resource: Mapping[str, Any] | str) -> FhirRecord:
    """Open a resource, or its raw JSON, as a record."""
    raw = resource if isinstance(resource, str) else json.dumps(resource, ensure_ascii=False)
    record = open_record(raw, REGISTRY)
    assert isinstance(record, FhirRecord)
    return record


def answer(action: FieldAction, *, date: str | None = None, key: bytes = b"domain") -> str:
    """Return what a pipeline replaces a field with."""
    if action.action == "hash":
        return hmac.digest(key, action.text.content[action.start : action.end].encode(), "sha256").hex()[:16]
    return date if action.action == "date" and date is not None else f"[{action.entity_type}]"


def served(
    record: OpenRecord, words: Mapping[str, str] | None = None, *, date: str | None = None, key: bytes = b"domain"
) -> str:
    """Return the rebuilt raw record.

    Args:
        words: replaced wherever they occur in free text.
        date: replaces every date; a label by default.
    """
    sought = re.compile("|".join(map(re.escape, sorted(words or (), key=len, reverse=True))) or "(?!)")
    edits = {text.field: [(*match.span(), (words or {})[match[0]]) for match in sought.finditer(text.content)]
             for text in record.texts}
    return record.rewritten(edits, {action: answer(action, date=date, key=key) for action in record.actions})


def out(resource: Mapping[str, Any] | str, words: Mapping[str, str] | None = None, **how: Any) -> Any:
    """Return the rebuilt record as Python values."""
    return json.loads(served(opened(resource), words, **how))


def values(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return every scalar of a JSON value with its path."""
    if isinstance(node, dict):
        for name, inner in node.items():
            yield from values(inner, f"{path}.{name}" if path else name)
    elif isinstance(node, list):
        for i, inner in enumerate(node):
            yield from values(inner, f"{path}[{i}]")
    else:
        yield path, node


def dangling(bundle: Any) -> list[str]:
    """Return the paths of a Bundle's references whose target is neither an entry nor a contained resource."""
    full = {e["fullUrl"] for e in bundle["entry"]}
    full |= {f"{e['resource']['resourceType']}/{e['resource']['id']}" for e in bundle["entry"] if "id" in e["resource"]}
    lost = []
    for i, entry in enumerate(bundle["entry"]):
        inside = {f"#{c['id']}" for c in entry["resource"].get("contained", ())}
        lost += [f"entry[{i}].{path}" for path, value in values(entry["resource"])
                 if path.endswith(".reference") and value not in full | inside]
    return lost


def filled(resource: str, turn: int, release: Release = "r4") -> dict[str, Any]:
    """Return a resource with every element filled in. Of mutually exclusive elements, `turn` selects one."""
    known = rules(release)
    return {"resourceType": resource, **_elements(known, resource, known.resources[resource], turn, 0)}


def _elements(known: Rules, owner: str, elements: Elements, turn: int, depth: int) -> dict[str, Any]:
    chosen = _chosen(elements, turn)
    made = {}
    for name, rule in elements.items():
        if name not in chosen or rule.rule in ("refuse", "extension") or name in ("contained", "outcome"):
            continue
        value = _value(known, owner, name, rule, turn, depth)
        if value is not None:
            made[name] = [value] if rule.many else value
    return made


def _value(known: Rules, owner: str, name: str, rule: ElementRule, turn: int, depth: int) -> Any:
    if rule.rule == "resource":
        return {"resourceType": "Patient", "id": "p1", "active": True}
    if rule.values:
        return min(rule.values)
    if rule.rule == "reference":
        return "https://h.example/fhir/Patient/p1" if owner != "Reference" else "Patient/p1"
    if rule.rule == "type":
        return "Patient"
    if rule.pattern:
        return next(sample for sample in _BY_PATTERN if rule.pattern.fullmatch(sample))
    inner = known.elements_of(rule)
    if inner is None:
        return _SAMPLES[rule.type]
    return _elements(known, rule.type, inner, turn, depth + 1) if depth < _DEEPEST else None


def _chosen(elements: Elements, turn: int) -> set[str]:
    """Return the elements with one of each group such as `valueString` and `valueQuantity`."""
    chosen = set(elements)
    groups: dict[str, list[str]] = {}
    for name, rule in elements.items():
        type_ = "Range" if rule.type == "AgeRange" else rule.type
        if name.endswith(type_[0].upper() + type_[1:]):
            groups.setdefault(name.removesuffix(type_[0].upper() + type_[1:]), []).append(name)
    for group in groups.values():
        chosen -= set(group) - {group[turn % len(group)]}
    return chosen
