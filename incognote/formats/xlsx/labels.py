"""Cells with a label: a value under the header of its column, or next to the label of a form.

A label is a cell whose whole content is in `labels.toml` or in the `rules/tables.toml` of a language, or whose words
name an identifier (`hints.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal, NamedTuple

from incognote.errors import IncognoteError
from incognote.formats.xlsx.closed import is_plain
from incognote.languages import language
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import tells

_LANGUAGES = ("en", "de", "fr", "es", "ar")
_LONGEST = 40  # characters of a label
_TRIMMED = " .:*#?\u00a0\t\n\"'"
_NAME = re.compile(r"[^\W\d_][^\W\d_]*(?:[ ,.'’\-]{1,2}[^\W\d_]+){0,6}\.?")
_CODE = re.compile(
    r"[^\W\d_]{0,4}[\W_]{0,2}[0-9][\w/.()+ \-]{0,30}|[0-9a-f\-]{12,36}|[+(]{1,2}[0-9][0-9/.() +\-]{4,24}"
)
_BLANK_ROWS = 2  # after which a header no longer applies
_BROAD = frozenset(("HOSPITAL", "ORGANIZATION", "LOCATION", "CITY", "OCCUPATION"))
_DIGITS = {"TELEPHONE_NUMBER": 7, "FAX_NUMBER": 7}


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """What a label says about its values.

    Args:
        type: their entity type. action: as in a FieldAction.
        certain: whether all values are identifiers. Otherwise only those with the form of the type are.
        person: whether it counts only if another label names an identifier.
    """

    type: str
    action: Literal["mask", "hash", "date"]
    certain: bool = True
    person: bool = False

    def fits(self, value: str) -> bool:
        """Whether a value has the form of the type, or is what replaced one."""
        value = value.strip()
        group = catalogue()[self.type].group
        if value == f"[{self.type}]":
            return True
        if self.type in ("EMAIL", "URL"):
            return "@" in value or "." in value
        if group == "PERSON":
            return _NAME.fullmatch(value) is not None
        digits = sum(map(str.isdecimal, value))
        if group in ("ID", "CONTACT"):
            return _CODE.fullmatch(value) is not None and digits >= _DIGITS.get(self.type, 4)
        if group == "AGE":
            return value[:1].isdecimal() and len(value) < 10
        return digits > 2 if group == "DATE" else digits > 0

    def takes(self, value: str) -> bool:
        """Whether a value under this label is an identifier."""
        return self.certain or self.fits(value)


class ShownCell(NamedTuple):
    """What a reader needs of a cell to find labels: its column, its characters, and whether they are words."""

    column: int
    value: str
    is_text: bool


@cache
def _known() -> Mapping[str, ColumnLabel]:
    found: dict[str, ColumnLabel] = {}
    table = tomllib.loads((files(__package__) / "labels.toml").read_text("utf-8"))["label"]
    for each in table:
        for label in " ".join(each["labels"].split()).split(", "):
            found.setdefault(label, ColumnLabel(each["type"], each["action"], True, each.get("person", False)))
    for code in _LANGUAGES:
        for label, one in _of_language(code):
            found.setdefault(label, one)
    return found


def _of_language(code: str) -> Iterator[tuple[str, ColumnLabel]]:
    try:
        columns = language(code).table("rules", "tables.toml").get("column", ())
    except (IncognoteError, FileNotFoundError):
        return
    for column in columns:
        kind, group = column["type"], catalogue()[column["type"]].group
        action: Literal["mask", "hash", "date"] = (
            "hash" if group == "ID" else "date" if group in ("DATE", "AGE") else "mask"
        )
        one = ColumnLabel(kind, action, False, column.get("needs_person", False))
        for header in column["headers"]:
            yield header.strip(_TRIMMED), one


def label_of(words: str) -> ColumnLabel | None:
    """Return what a cell says about the cells next to it, or None if it is no label."""
    if len(words) > _LONGEST or "[" in words:  # `[TELEPHONE_NUMBER]` is a replaced value
        return None
    plain = " ".join(words.lower().replace("_", " ").strip(_TRIMMED).split())
    found = _known().get(plain) or _known().get(plain.partition(" (")[0])
    if found is not None:
        return found
    if any(map(str.isdecimal, plain)) or not plain.isascii() or len(plain.split()) > 4:
        return None
    kind = tells(words)
    return None if kind is None else ColumnLabel(kind, "hash" if catalogue()[kind].group == "ID" else "mask", False)


def is_label(words: str) -> bool:
    """Whether a cell is a label as it is written in the lists. Such a cell cannot name a person."""
    plain = " ".join(words.lower().replace("_", " ").strip(_TRIMMED).split())
    return len(words) <= _LONGEST and plain in _known()


class ShownRow(NamedTuple):
    """What labels say about a row: the label of each value by column, and the columns of the labels themselves."""

    values: Mapping[int, ColumnLabel]
    heads: Collection[int]


def labeled(rows: Sequence[Sequence[ShownCell]]) -> Iterator[ShownRow]:
    """Yield what labels say about each row."""
    columns: dict[int, ColumnLabel] = {}
    blank = 0
    for at, row in enumerate(rows):
        if not row:
            blank += 1
            columns = columns if blank < _BLANK_ROWS else {}
            yield ShownRow({}, ())
            continue
        blank = 0
        own = {cell.column: label for cell in row if cell.is_text and (label := label_of(cell.value))}
        below = next((each for each in rows[at + 1 : at + 1 + _BLANK_ROWS] if each), ())
        under = {cell.column: columns[cell.column] for cell in row if cell.column in columns and cell.column not in own}
        sure = {column for column, label in under.items() if label.certain}
        beside = {column: label for column, label in _beside(row, own).items() if column not in sure}
        if own and not sure and _is_header(row, own, below):
            columns = _of_header(own)
            if not _is_doubtful(row, own, below) or own[row[0].column].person:
                beside = {}
            yield ShownRow(beside, {*columns, *_heads(row, beside)})
        else:
            yield ShownRow({**under, **beside}, _heads(row, beside))


def _heads(row: Sequence[ShownCell], beside: Mapping[int, ColumnLabel]) -> set[int]:
    """Return the columns of the labels of values in the same row."""
    return {before.column for before, cell in pairwise(row) if cell.column in beside}


def _is_header(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel], below: Sequence[ShownCell]) -> bool:
    """Whether a row with labels is the header of columns."""
    if any(not cell.is_text or len(cell.value) > _LONGEST for cell in row):
        return False
    if any(cell.value.rstrip().endswith(":") for cell in row if cell.column in own):
        return False
    for before, cell in pairwise(row):
        label = own.get(before.column)
        if label and cell.column not in own and catalogue()[label.type].group != "PERSON" and label.fits(cell.value):
            return False
    under = {cell.column: cell for cell in below}
    values = [under[column] for column in own if column in under]
    if not values or all(cell.is_text and label_of(cell.value) for cell in values):
        return False
    return not _fit_beside(row, own) or _is_doubtful(row, own, below)


def _is_doubtful(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel], below: Sequence[ShownCell]) -> bool:
    """Whether two cells, the first of them a label, may be a header and may be a line of a form."""
    under = {cell.column: cell.value for cell in below}
    return _fit_beside(row, own) and any(c in under and label.fits(under[c]) for c, label in own.items())


def _fit_beside(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel]) -> bool:
    if len(row) != 2 or row[1].column in own or row[0].column not in own:
        return False
    value = row[1].value
    return own[row[0].column].fits(value) and ("[" in value or not is_plain(value))


def _beside(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel]) -> dict[int, ColumnLabel]:
    """Return the labels of the values that follow a label in the same row."""
    found: dict[int, ColumnLabel] = {}
    for before, cell in pairwise(row):
        label = own.get(before.column)
        if label is None or cell.column in own:
            continue
        if catalogue()[label.type].group != "PERSON" or any(map(str.isalpha, cell.value)):
            found[cell.column] = label
    return found


def _of_header(own: Mapping[int, ColumnLabel]) -> dict[int, ColumnLabel]:
    """Return the labels that count in a table. A column `Name` of a list of drugs is none."""
    certain = any(not label.person and label.type not in _BROAD for label in own.values())
    return {column: label for column, label in own.items() if certain or not label.person}
