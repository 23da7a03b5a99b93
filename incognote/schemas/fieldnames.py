"""Field names: their paths, their words, and what they say about a value (`hints.toml`).

A path is `note`, `contact[0].name.family` or `["odd.name"]`. Two fields never have the same path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from incognote.schemas.catalogue import catalogue, shipped

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ODD = re.compile(r'[.\[\]"]')
_NAME_LIKE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,40}")
MOST_DIGITS = 3


def child(path: str, name: str) -> str:
    """Return the path of a member. An empty name, or one with a dot, bracket or quote, is written in `["…"]`."""
    if not name or _ODD.search(name):
        return f"{path}[{json.dumps(name)}]"
    return f"{path}.{name}" if path else name


def item(path: str, index: int | None) -> str:
    """Return the path of an item in an array. None means any item: `tags[]`."""
    return f"{path}[{'' if index is None else index}]"


def looks_like_name(key: str) -> bool:
    """Whether a key may be a field name rather than data: a short word with at most three digits."""
    return _NAME_LIKE.fullmatch(key) is not None and sum(c.isdigit() for c in key) <= MOST_DIGITS


def is_told(key: str, near: Iterable[str] = ()) -> bool:
    """Whether a message may quote a key that no schema has: it must look like a name and consist of field words.

    The look alone is not enough: a surname in a table without a header also looks like a name.

    Args:
        key: the key.
        near: names of fields in the current schema; their words count as field words.
    """
    if not looks_like_name(key):
        return False
    said = words(key).split()
    return bool(said) and known_words().union(*(words(name).split() for name in near)).issuperset(said)


def spoken(key: str, position: int, what: str = "member", near: Iterable[str] = ()) -> str:
    """Return how a message names a key that no schema has: the key if it may be quoted, else its position (from 1)."""
    return f"{what} {key!r}" if is_told(key, near) else f"{what} {position}"


@cache
def known_words() -> frozenset[str]:
    """Return the words of field names in lower case, from `fieldpath.toml`, hints, shipped schemas, FHIR elements."""
    package = files("incognote.schemas")
    listed = shipped("fieldpath.toml")
    found = set(listed["words"].split())
    for hint in shipped("hints.toml")["hint"]:
        found.update(re.findall("[a-z]{2,}", re.sub(r"\\b|\[[^]]*\]", " ", hint["pattern"])))
    fhir = json.loads(package.joinpath("fhir", "r4.json").read_text(encoding="utf-8"))
    types = {name: one for name, one in (fhir["types"] | fhir["resources"]).items() if name in listed["fhir"].split()}
    schemas = [file for file in package.joinpath("shipped").iterdir() if file.name.endswith(".json")]
    for written in (types, *(json.loads(file.read_text(encoding="utf-8")) for file in schemas)):
        for name in _named(written):
            found.update(words(name).split())
    return frozenset(found - set(listed["names"].split()))


def _named(written: Any) -> Iterator[str]:
    """Yield the names of the fields that a schema or a FHIR rules file defines."""
    if isinstance(written, dict):
        for key, inner in written.items():
            if key in ("properties", "elements") and isinstance(inner, dict):
                yield from inner
            yield from _named(inner)


@dataclass(frozen=True, slots=True)
class Hint:
    """One entry of the table; see the top of the data file."""

    pattern: re.Pattern[str]
    flag: Literal["pass", "mask", "hash", "auto"]
    type: str | None = None
    patient: bool = False


def words(name: str) -> str:
    """Return the words of a field name in lower case: `PatientId`, `patient_id2`, `PATIENT-ID` are "patient id"."""
    return " ".join(_WORDS.findall(name)).lower()


def hint(name: str) -> Hint | None:
    """Return what a field name says about its values, or None."""
    spelled = words(name)
    return next((h for h in _hints() if h.pattern.search(spelled)), None)


def known_type(name: str) -> str:
    """Return the type with which a hashed field's value is searched for in free text, by the field name."""
    found = hint(name)
    return found.type if found is not None and found.type is not None else "GUID"


@cache
def _hints() -> tuple[Hint, ...]:
    written = shipped("hints.toml")["hint"]
    return tuple(Hint(**{**fields, "pattern": re.compile(fields["pattern"])}) for fields in written)


def tells(name: str) -> str | None:
    """Return the entity type if a name or label marks its value as an identifier (`MRN`, `phone_no`), else None."""
    found = hint(name)
    if found is None or found.flag not in ("mask", "hash") or found.type is None:
        return None
    return found.type if catalogue()[found.type].group in ("ID", "CONTACT") else None
