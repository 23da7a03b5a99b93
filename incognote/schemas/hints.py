"""What a field's name says: a proposal for drafts, and the type a hashed value is sought as. Data: `hints.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from incognote.schemas.catalogue import catalogue

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


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
    written = tomllib.loads(files("incognote.schemas").joinpath("hints.toml").read_text(encoding="utf-8"))
    return tuple(Hint(**{**fields, "pattern": re.compile(fields["pattern"])}) for fields in written["hint"])


def tells(name: str) -> str | None:
    """The entity type of an identifier that a name or a label says its value is: `MRN`, `phone_no`; else None."""
    found = hint(name)
    if found is None or found.flag not in ("mask", "hash") or found.type is None:
        return None
    return found.type if catalogue()[found.type].group in ("ID", "CONTACT") else None
