"""What changed between two record schemas, field by field, and which changes let more through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from incognote.schemas.fieldpath import child, item
from incognote.schemas.record_schema import FieldRule, Schema

_STRICTNESS = {"pass": 0, None: 1, "auto": 1, "hash": 2, "mask": 3}


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Args:
        path: the field; "" for the schema itself.
        loosens: more of a record may stand in the output, or be missed in its texts, than before.
    """

    path: str
    message: str
    loosens: bool = False

    def __str__(self) -> str:
        return f"{self.path or 'the schema'}: {self.message}{' [loosens]' if self.loosens else ''}"


def diff(a: Schema, b: Schema) -> list[Change]:
    """The changes that lead from `a` to `b`, in the order of the fields of `b`, then those that are gone."""
    changes = [
        Change("", f"{what} {before or 'none'} -> {after or 'none'}")
        for what, before, after in (
            ("dataType", a.data_type, b.data_type), ("patientKey", a.patient_key, b.patient_key),
            ("idKey", a.id_key, b.id_key), ("description", a.about, b.about),
        ) if before != after
    ]
    old, new = dict(_rules(a.root, "")), dict(_rules(b.root, ""))
    for path, rule in new.items():
        if path in old:
            changes += _between(path, old[path], rule)
        else:
            changes.append(Change(path, f"added: {_says(rule)}", loosens=rule.flag == "pass"))
    changes += [Change(path, f"removed: {_says(rule)}") for path, rule in old.items() if path not in new]
    return changes


def _between(path: str, a: FieldRule, b: FieldRule) -> Iterator[Change]:
    if a.types != b.types:
        yield Change(path, f"type {_types(a)} -> {_types(b)}")
    if _says(a) != _says(b):
        yield Change(path, f"{_says(a)} -> {_says(b)}", loosens=_STRICTNESS[b.flag] < _STRICTNESS[a.flag])
    if a.known_as != b.known_as:
        moved = f"sought as {a.known_as or 'nothing'} -> {b.known_as or 'nothing'}"
        yield Change(path, moved, loosens=b.known_as is None)
    for name in sorted(a.required ^ b.required):
        yield Change(child(path, name), "required" if name in b.required else "no longer required")
    for what, before, after in (
        ("enum", a.values, b.values), ("maxLength", a.max_length, b.max_length),
        ("pattern", a.pattern and a.pattern.pattern, b.pattern and b.pattern.pattern),
    ):
        if before != after:
            verb = "gone" if after is None else "new" if before is None else "changed"
            yield Change(path, f"{what} {verb}", loosens=b.flag == "pass" and before is not None)
    if a.reason != b.reason:
        yield Change(path, "passReason changed", loosens=b.flag == "pass" and not a.reason)
    if a.about != b.about:
        yield Change(path, "description changed")


def _says(rule: FieldRule) -> str:
    if rule.is_container:
        return "by its inner fields"
    return (rule.flag or "undecided") + (f" as {rule.entity_type}" if rule.entity_type else "")


def _types(rule: FieldRule) -> str:
    return " or ".join(sorted(rule.types))


def _rules(rule: FieldRule, path: str) -> Iterator[tuple[str, FieldRule]]:
    """Every rule with its path, containers too."""
    yield path, rule
    for name, inner in rule.properties.items():
        yield from _rules(inner, child(path, name))
    if rule.items is not None:
        yield from _rules(rule.items, item(path, None))
