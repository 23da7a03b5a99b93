"""Record schemas: the fields of a record, and what happens to each.

The format is RedactOR's (section A.9.1), written as valid JSON Schema, Draft 4. Each field has the flags `passThrough`,
`autoDeId` (also `autoDeID`), `shouldMask`, `shouldHash`, and `entity_type`, with or without brackets. The root also has
`dataType`, `recordVersion`, `patientKey` and `idKey` (the paths of the fields that name the subject and the record).
A field may also have `knownAs` and `passReason`. `check.py` reports the problems of a schema. This module compiles a
valid one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import child, item, known_type
from incognote.schemas.shapes import compiled

Flag = Literal["pass", "mask", "hash", "auto"]
ENVELOPE = ("dataType", "recordVersion")
SPELLINGS: Mapping[str, Flag] = {
    "passThrough": "pass", "shouldMask": "mask", "shouldHash": "hash", "autoDeId": "auto", "autoDeID": "auto",
}
_STRICTNESS = {"pass": 0, None: 1, "auto": 1, "hash": 2, "mask": 3}
_SOUGHT_GROUPS = frozenset({"PERSON", "ID", "CONTACT", "DATE", "LOCATION"})
_TOO_COMMON = frozenset({"STATE", "COUNTRY", "DEPARTMENT", "ROOM"})  # a search for these words would mask half a note


@dataclass(frozen=True, slots=True)
class FieldRule:
    """The rule of a schema for one field.

    Args:
        types: the allowed JSON types (in Draft 4, an integer is also a number).
        flag: what happens to the value; None for a container, whose inner fields decide, or if undecided.
        entity_type: the type that a mask shows, without brackets.
        known_as: the type with which a masked or hashed value is searched for in the record's free text. None: it is
            not searched for.
        properties: the fields of an object, by name. items: the items of an array. required: names in `properties`.
        values: the only allowed values, as Python values; None for any.
        pattern, max_length: for strings, as in JSON Schema.
        reason: the schema author's reason why a value passes that neither `values` nor a pattern limits.
    """

    types: frozenset[str]
    flag: Flag | None = None
    entity_type: str | None = None
    known_as: str | None = None
    properties: Mapping[str, FieldRule] = field(default_factory=lambda: MappingProxyType({}))
    items: FieldRule | None = None
    required: frozenset[str] = frozenset()
    values: tuple[Any, ...] | None = None
    pattern: re.Pattern[str] | None = None
    max_length: int | None = None
    reason: str = ""
    about: str = ""

    @property
    def is_container(self) -> bool:
        return bool(self.properties) or self.items is not None


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of one type of record, and which of them hold identifiers or free text.

    Args:
        version: the first 16 digits of the content hash.
        patient_key, id_key: paths of the fields that name the subject and the record.
    """

    data_type: str
    version: str
    root: FieldRule = field(repr=False)
    patient_key: str | None = None
    id_key: str | None = None
    about: str = ""

    def fields(self) -> Iterator[tuple[str, FieldRule]]:
        """Return every field that is not a container, with its path (`tags[]` means any item), in the file's order."""
        return _leaves(self.root, "")


def content_hash(definition: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON, 64 hexadecimal digits. Only spacing and key order do not count."""
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def decided(written: Mapping[str, Any]) -> Flag | None:
    """Return the flag of a field: the one that is true, or `pass` if mask, hash and auto are all explicitly false.

    RedactOR's own listing omits `passThrough` if the three other flags are false, so those three decide.
    """
    raised = {SPELLINGS[name] for name in SPELLINGS if written.get(name) is True}
    if raised:
        return next(iter(raised)) if len(raised) == 1 else None
    denied = {SPELLINGS[name] for name in SPELLINGS if written.get(name) is False}
    return "pass" if denied >= {"mask", "hash", "auto"} else None


def bare_type(written: str | None) -> str | None:
    """Return an entity type without brackets: `AGE` for `[AGE]`. None for null and the empty string."""
    if written is None:
        return None
    name = written.strip()
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1].strip()
    return name or None


def compile_schema(definition: Mapping[str, Any]) -> Schema:
    """Compile a schema from its file's content, which must have no problems except undecided flags."""
    data_type: str = definition["dataType"]
    patient_key: str | None = definition.get("patientKey")
    id_key: str | None = definition.get("idKey") or ("id" if "id" in definition["properties"] else None)
    return Schema(
        data_type, content_hash(definition)[:16], _rule(definition, data_type), patient_key, id_key,
        definition.get("description", ""),
    )


def _rule(written: Mapping[str, Any], name: str) -> FieldRule:
    kinds = written["type"]
    properties = {key: _rule(inner, key) for key, inner in written.get("properties", {}).items()}
    items = _rule(written["items"], name) if "items" in written else None
    flag = None if properties or items else decided(written)
    entity_type = bare_type(written.get("entity_type"))
    return FieldRule(
        types=frozenset([kinds] if isinstance(kinds, str) else kinds),
        flag=flag,
        entity_type=entity_type,
        known_as=_known_as(written, flag, entity_type, name),
        properties=MappingProxyType(properties),
        items=items,
        required=frozenset(written.get("required", ())),
        values=tuple(written["enum"]) if "enum" in written else None,
        pattern=compiled(written["pattern"]) if "pattern" in written else None,
        max_length=written.get("maxLength"),
        reason=written.get("passReason", ""),
        about=written.get("description", ""),
    )


def _known_as(written: Mapping[str, Any], flag: Flag | None, entity_type: str | None, name: str) -> str | None:
    """Return the search type of a field: names, ids, dates, contacts and addresses, but not ages, races or states."""
    if flag not in ("mask", "hash"):
        return None
    if "knownAs" in written:
        return bare_type(written["knownAs"])
    kind = entity_type or known_type(name)
    return kind if catalogue()[kind].group in _SOUGHT_GROUPS and kind not in _TOO_COMMON else None


def _leaves(rule: FieldRule, path: str) -> Iterator[tuple[str, FieldRule]]:
    if not rule.is_container:
        yield path, rule
    for name, inner in rule.properties.items():
        yield from _leaves(inner, child(path, name))
    if rule.items is not None:
        yield from _leaves(rule.items, item(path, None))


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change between two schemas.

    Args:
        path: the field; "" for the schema itself.
        loosens: more of a record than before may be in the output, or be missed in its texts.
    """

    path: str
    message: str
    loosens: bool = False

    def __str__(self) -> str:
        return f"{self.path or 'the schema'}: {self.message}{' [loosens]' if self.loosens else ''}"


def diff(a: Schema, b: Schema) -> list[SchemaChange]:
    """Return the changes from `a` to `b`, in the order of the fields of `b`, then the removed fields."""
    changes = [
        SchemaChange("", f"{what} {before or 'none'} -> {after or 'none'}")
        for what, before, after in (
            ("dataType", a.data_type, b.data_type), ("patientKey", a.patient_key, b.patient_key),
            ("idKey", a.id_key, b.id_key), ("description", a.about, b.about),
        ) if before != after
    ]
    old, new = dict(_every_rule(a.root, "")), dict(_every_rule(b.root, ""))
    for path, rule in new.items():
        if path in old:
            changes += _between(path, old[path], rule)
        else:
            changes.append(SchemaChange(path, f"added: {_says(rule)}", loosens=rule.flag == "pass"))
    changes += [SchemaChange(path, f"removed: {_says(rule)}") for path, rule in old.items() if path not in new]
    return changes


def _between(path: str, a: FieldRule, b: FieldRule) -> Iterator[SchemaChange]:
    if a.types != b.types:
        yield SchemaChange(path, f"type {_type_names(a)} -> {_type_names(b)}")
    if _says(a) != _says(b):
        yield SchemaChange(path, f"{_says(a)} -> {_says(b)}", loosens=_STRICTNESS[b.flag] < _STRICTNESS[a.flag])
    if a.known_as != b.known_as:
        moved = f"searched for as {a.known_as or 'nothing'} -> {b.known_as or 'nothing'}"
        yield SchemaChange(path, moved, loosens=b.known_as is None)
    for name in sorted(a.required ^ b.required):
        yield SchemaChange(child(path, name), "required" if name in b.required else "no longer required")
    for what, before, after in (
        ("enum", a.values, b.values), ("maxLength", a.max_length, b.max_length),
        ("pattern", a.pattern and a.pattern.pattern, b.pattern and b.pattern.pattern),
    ):
        if before != after:
            verb = "removed" if after is None else "added" if before is None else "changed"
            yield SchemaChange(path, f"{what} {verb}", loosens=b.flag == "pass" and before is not None)
    if a.reason != b.reason:
        yield SchemaChange(path, "passReason changed", loosens=b.flag == "pass" and not a.reason)
    if a.about != b.about:
        yield SchemaChange(path, "description changed")


def _says(rule: FieldRule) -> str:
    if rule.is_container:
        return "by its nested fields"
    return (rule.flag or "undecided") + (f" as {rule.entity_type}" if rule.entity_type else "")


def _type_names(rule: FieldRule) -> str:
    return " or ".join(sorted(rule.types))


def _every_rule(rule: FieldRule, path: str) -> Iterator[tuple[str, FieldRule]]:
    """Yield every rule with its path, including containers."""
    yield path, rule
    for name, inner in rule.properties.items():
        yield from _every_rule(inner, child(path, name))
    if rule.items is not None:
        yield from _every_rule(rule.items, item(path, None))
