"""The primitive types of FHIR R4: what their values look like (R4, Data Types, section 2.24.0.1)."""

from __future__ import annotations

import re
from datetime import date

from incognote.records.rawjson import Node

_YEAR = r"(?:[0-9](?:[0-9](?:[0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)"
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?"
_ZONE = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_INTEGER = r"(?:0|[1-9][0-9]{0,9})"

_FORMS = {
    name: re.compile(form)
    for name, form in {
        "date": rf"{_YEAR}(?:-{_MONTH}(?:-{_DAY})?)?",
        "dateTime": rf"{_YEAR}(?:-{_MONTH}(?:-{_DAY}(?:T{_CLOCK}{_ZONE})?)?)?",
        "instant": rf"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}",
        "time": _CLOCK,
        "code": r"\S+(?: \S+)*",
        "id": r"[A-Za-z0-9\-.]{1,64}",
        "uri": r"\S+", "url": r"\S+", "canonical": r"\S+",
        "string": r"(?s:.+)", "markdown": r"(?s:.+)", "xhtml": r"(?s:.+)",
        "base64Binary": r"[0-9A-Za-z+/=\s]+",
        "integer": rf"-?{_INTEGER}", "unsignedInt": _INTEGER, "positiveInt": r"[1-9][0-9]{0,9}",
        "decimal": r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    }.items()
}
_KINDS = {
    "boolean": ("boolean",), "integer": ("integer",), "unsignedInt": ("integer",), "positiveInt": ("integer",),
    "decimal": ("integer", "number"),
}
_ON_A_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def is_primitive(type_: str) -> bool:
    """Whether a type's JSON value is a string, number or boolean."""
    return type_ in _FORMS or type_ == "boolean"


def fits(type_: str, node: Node, raw: str) -> bool:
    """Whether a JSON value is one of a primitive type."""
    if node.kind not in _KINDS.get(type_, ("string",)):
        return False
    return type_ == "boolean" or is_valid(type_, node.value if node.kind == "string" else raw[node.start : node.end])


def is_valid(type_: str, written: str) -> bool:
    """Whether a string is in the lexical space of a primitive type; a day must be one of the calendar."""
    if _FORMS[type_].fullmatch(written) is None:
        return False
    if type_ in ("date", "dateTime", "instant") and (day := _ON_A_DAY.match(written)):
        try:
            date(*map(int, day.groups()))
        except ValueError:
            return False
    return True
