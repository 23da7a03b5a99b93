"""Formats whose documents are JSON objects, a line or a list item each: what they have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.document import Document, Mark, Problem, Unit
from incognote.evaluation.formats.source import WHOLE, files, row, rows

Object = Mapping[str, Any]
_SUFFIXES = (".json", ".jsonl", ".ndjson")


def read(
    path: Path,
    marks: Callable[[Object], tuple[Mark, ...] | None],
    *,
    id_: Callable[[Object], object],
    text: Callable[[Object], object] = lambda one: one.get("text"),
    unit: Unit = "code point",
    alone: Callable[[Any], Object] | None = None,
    suffixes: tuple[str, ...] = _SUFFIXES,
) -> Iterator[Document | Problem]:
    """The documents of a file, or of every file of a folder.

    Args:
        marks: of one object; None where it says nothing of what is in the text. May raise MalformedRecord.
        id_: its name; None where it has none: then the file's, if the document is all of it, else its number.
        text: None where it has none.
        alone: makes an object of whatever else a row may be.
    """
    for file in files(path, suffixes):
        prefix = f"{file.name} " if path.is_dir() else ""
        for number, (place, value) in enumerate(rows(file), 1):
            try:
                one = row(alone(value) if alone and not isinstance(value, MalformedRecord) else value)
            except MalformedRecord as error:
                yield Problem(prefix + place, str(error))
                continue
            name = id_(one)
            named = isinstance(name, str | int) and not isinstance(name, bool) and name != ""
            made = file.name if place == WHOLE else f"{prefix}{number}"
            said = text(one)
            found, fault = None, None
            try:
                found = marks(one)
            except MalformedRecord as error:
                fault = str(error)
            yield Document(
                str(name) if named else made,
                prefix + place,
                said if isinstance(said, str) else None,
                found,
                fault,
                unit,
                numbered=not named and place != WHOLE,
            )


def line(value: Object) -> str:
    """An object as a line of a file."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
