"""Names of fields: their addresses, the words they are made of, and what they say of a value (`hints.toml`).

An address is `note`, `contact[0].name.family` or `["odd.name"]`; two fields never share one.
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
    """The path of a member; a name that holds a dot, bracket or quote, or is empty, is written in `["…"]`."""
    if not name or _ODD.search(name):
        return f"{path}[{json.dumps(name)}]"
    return f"{path}.{name}" if path else name


def item(path: str, index: int | None) -> str:
    """The path of an item of an array; None stands for any of them: `tags[]`."""
    return f"{path}[{'' if index is None else index}]"


def looks_like_name(key: str) -> bool:
    """Whether a key may be a field's name rather than data: a short word with at most three digits."""
    return _NAME_LIKE.fullmatch(key) is not None and sum(c.isdigit() for c in key) <= MOST_DIGITS


def is_told(key: str, near: Iterable[str] = ()) -> bool:
    """Whether a message may quote a key that no schema knows: it looks like a name, and all its words are field words.

    A surname in a headless table looks like a name too, so looks do not do.

    Args:
        near: names of fields that the schema at hand knows; their words count as known.
    """
    if not looks_like_name(key):
        return False
    said = words(key).split()
    return bool(said) and known_words().union(*(words(name).split() for name in near)).issuperset(said)


def spoken(key: str, position: int, what: str = "member", near: Iterable[str] = ()) -> str:
    """How a message names a key that no schema knows: itself if it may be told, else by its position (from 1)."""
    return f"{what} {key!r}" if is_told(key, near) else f"{what} {position}"


@cache
def known_words() -> frozenset[str]:
    """The words field names are made of, in lower case: `fieldpath.toml`, the hints, shipped schemas, FHIR elements."""
    package = files("incognote.schemas")
    listed = shipped("fieldpath.toml")
    found = set(listed["words"].split())
    for hint in shipped("hints.toml")["hint"]:
        found.update(re.findall("[a-z]{2,}", re.sub(r"\\b|\[[^]]*\]", " ", hint["pattern"])))
    for folder in ("shipped", "fhir"):
        for file in package.joinpath(folder).iterdir():
            if file.name.endswith(".json"):
                for name in _named(json.loads(file.read_text(encoding="utf-8"))):
                    found.update(words(name).split())
    return frozenset(found - set(listed["names"].split()))


def _named(written: Any) -> Iterator[str]:
    """The names of the fields that a schema or a FHIR rules file defines."""
    if isinstance(written, dict):
        for key, inner in written.items():
            if key in ("properties", "elements") and isinstance(inner, dict):
                yield from inner
            yield from _named(inner)


@dataclass(frozen=True, slots=True)
class Hint:
    """One line of the table: see the head of the data file."""

    pattern: re.Pattern[str]
    flag: Literal["pass", "mask", "hash", "auto"]
    type: str | None = None
    patient: bool = False


def words(name: str) -> str:
    """The words of a field's name in lower case: `PatientId`, `patient_id2`, `PATIENT-ID` are "patient id"."""
    return " ".join(_WORDS.findall(name)).lower()


def hint(name: str) -> Hint | None:
    """What a field's name says about its values; None where it says nothing."""
    spelled = words(name)
    return next((h for h in _hints() if h.pattern.search(spelled)), None)


def known_type(name: str) -> str:
    """The type under which a hashed field's value is sought in free text, by the field's name."""
    found = hint(name)
    return found.type if found is not None and found.type is not None else "GUID"


@cache
def _hints() -> tuple[Hint, ...]:
    written = shipped("hints.toml")["hint"]
    return tuple(Hint(**{**fields, "pattern": re.compile(fields["pattern"])}) for fields in written)


def tells(name: str) -> str | None:
    """The entity type of an identifier that a name or a label says its value is: `MRN`, `phone_no`; else None."""
    found = hint(name)
    if found is None or found.flag not in ("mask", "hash") or found.type is None:
        return None
    return found.type if catalogue()[found.type].group in ("ID", "CONTACT") else None
