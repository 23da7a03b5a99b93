"""What callers pass as known identifiers, and roster files, as `Known` values."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from incognote.errors import SettingError, UsageError
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue
from incognote.schemas.hints import known_type


def known_from(given: Mapping[str, Any] | Iterable[Any] | str) -> tuple[Known, ...]:
    """Known identifiers from a mapping of kind to value(s), a sequence of values, or one value.

    A kind is an entity type or a field's usual name ("name", "mrn", "dob"). A bare value is taken for a code if it
    holds a digit, else for a person's name.

    Raises:
        UsageError: something that is neither text, number nor Known; the message names the kind, never the value.
    """
    if isinstance(given, str):
        return _bare(given)
    if isinstance(given, Mapping):
        return tuple(k for kind, value in given.items() for k in _of_kind(str(kind), value))
    found: list[Known] = []
    for one in given:
        if isinstance(one, Known):
            catalogue()[one.type]  # refuses a type that does not exist
            found.append(one)
        elif isinstance(one, str):
            found += _bare(one)
        elif isinstance(one, Mapping):
            found += known_from(one)
        else:
            raise UsageError(f"known= takes texts, mappings and Known values, not {type(one).__name__}")
    return tuple(found)


def _bare(value: str) -> tuple[Known, ...]:
    if not value.strip():
        return ()
    kind = "EMAIL" if "@" in value else "GUID" if any(c.isdigit() for c in value) else "PERSON"
    return (Known(kind, value.strip()),)


def _of_kind(kind: str, value: Any) -> Iterator[Known]:
    if value is None or value == "":
        return
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _of_kind(kind, one)
        return
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError(f"known[{kind!r}] is a text, a number or a list of these, not {type(value).__name__}")
    name = kind.strip().upper().replace(" ", "_")
    yield Known(name if name in catalogue() else known_type(kind), str(value).strip())


def read_roster(path: Path) -> Iterator[Known]:
    """The identifiers of a roster: a CSV whose header names kinds, or JSONL with one mapping a line.

    Raises:
        SettingError: the file cannot be read or a line is malformed; the message names the line, never its content.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as source:
            if path.suffix in (".jsonl", ".ndjson"):
                for number, line in enumerate(source, 1):
                    if line.strip():
                        yield from _row(_parsed(line, number), number)
            else:
                for number, row in enumerate(csv.DictReader(source, strict=True), 2):
                    if None in row:
                        raise SettingError(f"roster line {number}: more cells than the header has columns")
                    yield from _row(row, number)
    except OSError:
        raise SettingError("the roster cannot be read; check `roster` (--roster, INCOGNOTE_ROSTER)") from None
    except UnicodeDecodeError:
        raise SettingError("the roster is not UTF-8 text") from None
    except csv.Error:
        raise SettingError("the roster is not well-formed CSV") from None


def _parsed(line: str, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        raise SettingError(f"roster line {number}: not JSON") from None
    if not isinstance(row, dict):
        raise SettingError(f"roster line {number}: not a mapping of kind to value")
    return row


def _row(row: Mapping[str, Any], number: int) -> tuple[Known, ...]:
    try:
        return known_from(row)
    except UsageError:
        raise SettingError(f"roster line {number}: a value is neither text nor number") from None
