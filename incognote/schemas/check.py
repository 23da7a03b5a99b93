"""Check a record schema field by field: first its structure against our meta-schema, then its flags and types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from incognote.errors import BadSchema
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import child, item, tells
from incognote.schemas.record_schema import ENVELOPE, SPELLINGS, bare_type, decided
from incognote.schemas.shapes import compiled, loose

if TYPE_CHECKING:
    from jsonschema import Draft4Validator, ValidationError

_HASHABLE = {"string", "integer", "number", "null"}
_CONTAINERS = {"object", "array"}


@dataclass(frozen=True, slots=True, order=True)
class Defect:
    """One fault of a schema.

    Args:
        path: the field, as in `contact[].name`; "" for the schema itself.
        message: the problem and the remedy.
        undecided: the field only needs a decision; otherwise it is correct.
    """

    path: str
    message: str
    undecided: bool = False

    def __str__(self) -> str:
        return f"{self.path or 'the schema'}: {self.message}"


def read_definition(text: str) -> dict[str, Any]:
    """Parse the content of a schema file.

    Raises:
        BadSchema: the text is not JSON, has a duplicate key, or is not an object.
    """
    try:
        definition = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadSchema(f"not valid JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise BadSchema("nested too deeply") from None
    if not isinstance(definition, dict):
        raise BadSchema("a schema must be a JSON object")
    return definition


def problems(definition: Mapping[str, Any]) -> list[Defect]:
    """Return all problems of a schema. The list is empty if the schema can be approved."""
    try:
        shape = [_shape_problem(error) for error in _meta().iter_errors(definition)]
    except RecursionError:
        return [Defect("", "nested too deeply")]
    if shape:
        return sorted(set(shape))
    found = list(_fields(definition, ""))
    found += [
        Defect(name, "is an envelope field, which every record may have. Remove it from properties")
        for name in ENVELOPE if name in definition["properties"]
    ]
    leaves = dict(_scalars(definition, ""))
    for key in ("patientKey", "idKey"):
        path = definition.get(key)
        if path is not None and path not in leaves:
            found.append(Defect("", f"{key} names {path!r}, which is not a field with one string or number"))
    return sorted(found)


def advice(definition: Mapping[str, Any]) -> list[Defect]:
    """Return the parts of a valid schema that other tools read differently. Empty for a schema with problems.

    In Draft 4, a `pattern` is searched for, so an unanchored one allows any words around the match. Our own walker
    matches the whole value.
    """
    return [] if problems(definition) else sorted(_unanchored(definition, ""))


def refuse(found: Iterable[Defect], what: str) -> None:
    """Raise BadSchema with a list of all problems, if there are any."""
    listed = [str(problem) for problem in found]
    if listed:
        raise BadSchema(f"{what}: " + "; ".join(listed))


def _fields(written: Mapping[str, Any], path: str, name: str = "") -> Iterator[Defect]:
    properties, items = written.get("properties"), written.get("items")
    kinds = _kinds(written)
    if properties is not None and "object" not in kinds:
        yield Defect(path, "has properties, but its type is not object")
    if items is not None and "array" not in kinds:
        yield Defect(path, "has items, but its type is not array")
    if "pattern" in written:
        try:
            compiled(written["pattern"])
        except re.error:
            yield Defect(path, "its pattern is not a valid regular expression")
    unlisted = sorted(set(written.get("required", ())) - set(properties or ()))
    if unlisted:
        yield Defect(path, f"required lists fields that are not in properties: {', '.join(unlisted)}")
    if properties is None and items is None:
        yield from _flags(written, path, name, kinds)
        return
    if any(written.get(name) is True for name in SPELLINGS) or written.get("entity_type") or written.get("knownAs"):
        yield Defect(path, "has nested fields. Move its flags and types to them")
    for kind, keyword, inner in (("object", "properties", properties), ("array", "items", items)):
        if kind in kinds and inner is None:
            yield Defect(path, f"may be an {kind}, but has no {keyword}. Add {keyword}")
    if kinds - _CONTAINERS - {"null"}:
        yield Defect(path, "its type mixes a container (object or array) with other types. Choose one")
    for key, inner in (properties or {}).items():
        yield from _fields(inner, child(path, key), key)
    if items is not None:
        yield from _fields(items, item(path, None), name)


def _unanchored(written: Mapping[str, Any], path: str) -> Iterator[Defect]:
    if "pattern" in written and decided(written) == "pass" and not _is_anchored(written["pattern"]):
        yield Defect(path, "passes through, but its pattern is not anchored. Write ^(?:…)$ around it")
    for name, inner in written.get("properties", {}).items():
        yield from _unanchored(inner, child(path, name))
    if "items" in written:
        yield from _unanchored(written["items"], item(path, None))


def _is_anchored(pattern: str) -> bool:
    """Whether a pattern runs from ^ to $, with alternatives only in groups: `^a|b$` is not anchored at both ends."""
    left = re.sub(r"\\.|\[(?:\\.|[^]\\])+\]", "x", pattern)
    while (shorter := re.sub(r"\([^()]*\)", "x", left)) != left:
        left = shorter
    return re.fullmatch(r"\^[^|]*\$", left) is not None


def _flags(written: Mapping[str, Any], path: str, name: str, kinds: set[str]) -> Iterator[Defect]:
    raised = sorted(name for name in SPELLINGS if written.get(name) is True)
    if len({SPELLINGS[name] for name in raised}) > 1:
        yield Defect(path, f"{' and '.join(raised)} are both true. Set only one")
        return
    if "autoDeId" in written and "autoDeID" in written and written["autoDeId"] != written["autoDeID"]:
        yield Defect(path, "autoDeId and autoDeID are spellings of the same flag, but their values differ. Keep one")
        return
    flag = decided(written)
    types = catalogue()
    named = {key: bare_type(written.get(key)) for key in ("entity_type", "knownAs")}
    for key, kind in named.items():
        if kind is not None and kind not in types:
            yield Defect(path, f"{key} {kind!r} is not an entity type. `incognote policy explain` lists the types")
    if flag is None:
        yield Defect(path, "has no flag. Set exactly one of passThrough, autoDeId, shouldMask, or shouldHash to true, "
                            "or set autoDeId, shouldMask, and shouldHash to false", undecided=True)
    elif flag == "mask" and named["entity_type"] is None:
        yield Defect(path, "is masked, so it needs an entity_type")
    elif flag == "hash" and not kinds <= _HASHABLE:
        yield Defect(path, "is hashed, so it must be a string or a number")
    elif flag == "auto" and not kinds <= {"string", "null"}:
        yield Defect(path, "is de-identified as free text, so it must be a string")
    if flag not in ("mask", "hash", None) and named["knownAs"] is not None:
        yield Defect(path, "knownAs is only for masked and hashed fields. Remove it")
    if flag != "pass" and "passReason" in written:
        yield Defect(path, "passReason is only for fields that pass through. Remove it")
    if flag == "pass" and (why := _unread(written, name, kinds)):
        yield Defect(path, f"passes through without a scan, but {why}", undecided=True)


def _unread(written: Mapping[str, Any], name: str, kinds: set[str]) -> str:
    """Return why a field may not pass through, or "" if it may or has a `passReason`."""
    if kinds & _CONTAINERS:
        return "its contents are not defined. Add properties or items, or mask it"
    if written.get("passReason", "").strip() or "enum" in written or kinds <= {"boolean", "null"}:
        return ""
    if kind := tells(name):
        return f"its name suggests {kind}. Mask or hash it, or add an enum or a passReason"
    if "string" not in kinds:
        return ""
    why = "it has no enum or pattern"
    if "pattern" in written:
        try:
            why = loose(written["pattern"], written.get("maxLength"))
        except re.error:
            return ""  # reported as a separate problem
    return why and f"{why}. Scan it (autoDeId), or add an enum, a bounded ASCII pattern, or a passReason"


def _scalars(written: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the fields outside arrays that hold one string or number. A key may name these."""
    for name, inner in written.get("properties", {}).items():
        if "properties" in inner:
            yield from _scalars(inner, child(path, name))
        elif _kinds(inner) <= _HASHABLE:
            yield child(path, name), inner


def _kinds(written: Mapping[str, Any]) -> set[str]:
    kinds = written["type"]
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _shape_problem(error: ValidationError) -> Defect:
    """Convert an error of jsonschema to a Defect with our wording, at the field concerned."""
    steps = list(error.absolute_path)
    path, keyword, i = "", "", 0
    while i < len(steps):
        if steps[i] == "properties" and i + 1 < len(steps):
            path, i = child(path, str(steps[i + 1])), i + 2
        elif steps[i] == "items":
            path, i = item(path, None), i + 1
        else:
            keyword, i = ".".join(str(step) for step in steps[i:]), len(steps)
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        allowed = error.schema["properties"] if isinstance(error.schema, Mapping) else {}
        strangers = sorted(set(error.instance) - set(allowed))
        return Defect(path, f"unknown keywords: {', '.join(strangers)}")
    if error.validator == "required" and isinstance(error.schema, Mapping) and isinstance(error.instance, Mapping):
        absent = [name for name in error.schema["required"] if name not in error.instance]
        return Defect(path, f"has no {', '.join(absent)}")
    expected = {
        "type": f"must be of type {error.validator_value}", "enum": f"must be one of {error.validator_value}",
        "pattern": "must be at most 64 letters, digits, dots, hyphens, and underscores, beginning with a letter",
        "anyOf": "must be a JSON type or a list of JSON types", "uniqueItems": "has a duplicate entry",
    }.get(str(error.validator), "must not be empty")
    return Defect(path, f"{keyword} {expected}".strip())


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = next(key for key in made if sum(key == name for name, _ in pairs) > 1)
        raise BadSchema(f"the key {twice!r} occurs twice in one object")
    return made


def _no_constant(name: str) -> None:
    raise BadSchema(f"{name} is not JSON")


@cache
def _meta() -> Draft4Validator:
    from jsonschema import Draft4Validator

    written = files("incognote.schemas").joinpath("record.meta.json").read_text(encoding="utf-8")
    return Draft4Validator(json.loads(written))
