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
from typing import Any, Literal, NamedTuple

from incognote.errors import IncognoteError
from incognote.formats.xlsx.closed import is_plain
from incognote.languages import language
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import tells

_LANGUAGES = ("en", "de", "fr", "es", "ar")
_LONGEST = 40  # characters of a label
_TRIMMED = " .:*#?\u00a0\t\n\"'"
_TEST = re.compile(r"[^\W\d_]+[0-9]+")
_NAME = re.compile(r"[^\W\d_][^\W\d_]*(?:[ ,.'’\-]{1,2}[^\W\d_]+){0,6}\.?")
_CODE = re.compile(
    r"[^\W\d_]{0,4}[\W_]{0,2}[0-9][\w/.()+ \-]{0,30}|[0-9a-f\-]{12,36}|[+(]{1,2}[0-9][0-9/.() +\-]{4,24}"
)
_BLANK_ROWS = 3  # after which a header no longer applies
_AHEAD = 10  # rows in which a header looks for its first value
_REPLACED = re.compile(r"\[(?P<type>[A-Z_]+?)(?:_[0-9]+)?\]|[0-9a-f]{16}")
_AMOUNT = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{1,6})?")
_ENDING = re.compile(r"\s*\([^()]*\)\Z|[ .:]+(?:intern|extern)\Z")
_BORN = re.compile(r"(?<![^\W\d_])(?:dob|d\.o\.b|geb|gebdat|born|birth ?date|née?|né\(e\)|nac|fnac)(?![^\W\d_])")
_FULL_NAME = re.compile(r"[^\W\d_]{2,}[^\d]*[, ][^\W\d_].*")
_UNNAMED = re.compile(r"[A-Za-z]{0,4}[ \-/.]?[0-9]{6,10}|[A-Za-z]{1,4}[ \-/.]?[0-9]{4,10}")
_WORDS = re.compile(r"[^\W\d_]+|[€$£]")
_BODY = 200  # rows below a header that show what its columns are
_BROAD = frozenset(("HOSPITAL", "ORGANIZATION", "LOCATION", "CITY", "OCCUPATION"))
_DIGITS = {"TELEPHONE_NUMBER": 7, "FAX_NUMBER": 7}


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """What a label says about its values.

    Args:
        type: their entity type. action: as in a FieldAction.
        certain: whether all values are identifiers. Otherwise only those with the form of the type are.
        person: whether it counts only if another label names an identifier.
        short: whether it may be a drug or a test. It is uncertain, and counts only next to another label.
    """

    type: str
    action: Literal["mask", "hash", "date"]
    certain: bool = True
    person: bool = False
    short: bool = False

    def fits(self, value: str) -> bool:
        """Whether a value has the form of the type, or is what replaced one."""
        value = value.strip()
        group = catalogue()[self.type].group
        if replaced := _REPLACED.fullmatch(value):
            kind = replaced["type"] or "MEDICAL_RECORD_NUMBER"  # a hash
            return kind not in catalogue() or _family(kind) == _family(self.type)
        if self.type in ("EMAIL", "URL"):
            return "@" in value or "." in value
        if group == "PERSON":
            return _NAME.fullmatch(value) is not None
        digits = sum(map(str.isdecimal, value))
        if group in ("ID", "CONTACT"):
            return _CODE.fullmatch(value) is not None and digits >= _DIGITS.get(self.type, 5 if self.short else 4)
        if group == "AGE":
            return value[:1].isdecimal() and len(value) < 10
        return digits > 2 and not _TEST.fullmatch(value) if group == "DATE" else digits > 0

    def takes(self, value: str) -> bool:
        """Whether a value under this label is an identifier. A date has a digit."""
        if self.action == "date" and not any(map(str.isdecimal, value)) and not _REPLACED.fullmatch(value.strip()):
            return False
        if catalogue()[self.type].group == "PERSON" and (
            _REPLACED.fullmatch(value.strip()) or not any(map(str.isalpha, value))
        ):
            return self.fits(value)
        return self.certain or self.fits(value)


_UNNAMED_LABEL = ColumnLabel("MEDICAL_RECORD_NUMBER", "hash", False)


def _family(kind: str) -> str:
    group = catalogue()[kind].group
    return "DATE" if group == "AGE" else group


class ShownCell(NamedTuple):
    """What a reader needs of a cell to find labels: its column, its characters, and whether they are words."""

    column: int
    value: str
    is_text: bool


@cache
def _amounts() -> frozenset[str]:
    return frozenset(_file()["amounts"]["words"].split())


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "labels.toml").read_text("utf-8"))


@cache
def _known() -> Mapping[str, ColumnLabel]:
    found: dict[str, ColumnLabel] = {}
    for each in _file()["label"]:
        short = each.get("short", False)
        one = ColumnLabel(each["type"], each["action"], not short, each.get("person", False), short)
        for label in " ".join(each["labels"].split()).split(", "):
            found.setdefault(label, one)
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
    plain = _plain(words)
    found = _known().get(plain) or _known().get(_ENDING.sub("", plain).strip(_TRIMMED))
    if found is not None:
        return found
    if len(plain.split()) < 4 and _BORN.search(plain) and not any(map(str.isdecimal, plain)):
        return ColumnLabel("BIRTH_DATE_TIME", "date", False)
    if any(map(str.isdecimal, plain)) or not plain.isascii() or len(plain.split()) > 4:
        return None
    kind = tells(words)
    return None if kind is None else ColumnLabel(kind, "hash" if catalogue()[kind].group == "ID" else "mask", False)


def is_label(words: str) -> bool:
    """Whether a cell is a label as it is written in the lists. Such a cell cannot name a person."""
    return len(words) <= _LONGEST and _plain(words) in _known()


def _plain(words: str) -> str:
    return " ".join(words.lower().replace("_", " ").strip(_TRIMMED).split())


class ShownRow(NamedTuple):
    """What labels say about a row.

    Args:
        values: the label of each value by column. heads: the columns of the labels themselves.
        is_header: whether the row names columns, so that its cells have nothing to do with each other.
        amounts: the columns whose numbers are amounts, such as costs or a viral load.
    """

    values: Mapping[int, ColumnLabel]
    heads: Collection[int]
    is_header: bool = False
    amounts: Collection[int] = ()


def labeled(rows: Sequence[Sequence[ShownCell]]) -> Iterator[ShownRow]:
    """Yield what labels say about each row."""
    columns: dict[int, ColumnLabel] = {}
    amounts: set[int] = set()
    blank = 0
    for at, row in enumerate(rows):
        if not row:
            blank += 1
            columns = columns if blank < _BLANK_ROWS else {}
            yield ShownRow({}, ())
            continue
        blank = 0
        own = _own(row)
        ahead = rows[at + 1 : at + 1 + _AHEAD]
        below = {cell.column: cell for each in reversed(ahead) for cell in each if cell.column in own or len(row) == 2}
        under = {cell.column: columns[cell.column] for cell in row if cell.column in columns and cell.column not in own}
        if len(row) == 1 and len(columns) > 1 and _is_remark(row[0].value):
            under = {}
        sure = {column for column, label in under.items() if label.certain}
        beside = {column: label for column, label in _beside(row, own).items() if column not in sure}
        several = len(own) > 1
        here = {cell.column for cell in row if cell.is_text and _is_amount_of(cell.value)}
        amounts = (amounts - {cell.column for cell in row if cell.is_text}) | here
        counts = amounts | {b.column if a.column in here else a.column for a, b in pairwise(row)
                            if (a.column in here) != (b.column in here)}  # fmt: skip
        if own and (several or not sure) and _is_header(row, own, below):
            columns = _of_header(row, own, rows[at + 1 : at + 1 + _BODY])
            if several or not _is_doubtful(row, own, below) or own[row[0].column].person or _is_amount(row, below):
                beside = {}
            yield ShownRow(beside, {*columns, *_heads(row, beside)}, not beside, counts)
        else:
            is_header = not under and not beside and _is_above_numbers(row, ahead)
            yield ShownRow({**under, **beside}, _heads(row, beside), is_header, counts)


def _is_remark(words: str) -> bool:
    """Whether a cell that is alone in its row is a remark below a table: at least three words begin in lower case."""
    return words.lstrip()[:1] == "*" or sum(each[0].islower() for each in _WORDS.findall(words)) > 2


def _is_amount_of(words: str) -> bool:
    """Whether a cell names what is counted or measured, or a unit of it."""
    found = frozenset(_WORDS.findall(words.lower()))
    return len(words) <= _LONGEST and not found.isdisjoint(_amounts()) and label_of(words) is None


def _is_above_numbers(row: Sequence[ShownCell], ahead: Sequence[Sequence[ShownCell]]) -> bool:
    """Whether a row of words has numbers below most of them."""
    if len(row) < 3 or not all(cell.is_text and len(cell.value) <= _LONGEST for cell in row):
        return False
    numbers = {cell.column for cell in next(filter(None, ahead), ()) if not cell.is_text}
    return 2 * len(numbers & {cell.column for cell in row}) >= len(row) - 1


def _own(row: Sequence[ShownCell]) -> dict[int, ColumnLabel]:
    """Return the labels in a row. One that may be a drug or a test needs another one that names an identifier."""
    found = {cell.column: label for cell in row if cell.is_text and (label := label_of(cell.value))}
    if any(not label.short and label.type not in _BROAD and catalogue()[label.type].group not in ("DATE", "AGE")
           for label in found.values()):  # fmt: skip
        return found
    return {column: label for column, label in found.items() if not label.short}


def _is_amount(row: Sequence[ShownCell], below: Mapping[int, ShownCell]) -> bool:
    """Whether a number is below the second of two cells."""
    return row[1].column in below and _AMOUNT.fullmatch(below[row[1].column].value.strip()) is not None


def _heads(row: Sequence[ShownCell], beside: Mapping[int, ColumnLabel]) -> set[int]:
    """Return the columns of the labels of values in the same row."""
    return {before.column for before, cell in pairwise(row) if cell.column in beside}


def _is_header(
    row: Sequence[ShownCell], own: Mapping[int, ColumnLabel], below: Mapping[int, ShownCell]
) -> bool:  # fmt: skip
    """Whether a row with labels is the header of columns."""
    follows = {before.column: cell for before, cell in pairwise(row) if cell.column not in own}
    if any(cell.value.rstrip().endswith(":") and cell.column in follows
           and own[cell.column].fits(follows[cell.column].value) for cell in row if cell.column in own):  # fmt: skip
        return False
    values = [below[column] for column in own if column in below]
    if not values or all(cell.is_text and label_of(cell.value) for cell in values):
        return False
    if len(own) > 1:
        return not (own.keys() <= follows.keys() and _are_values(own, follows))
    for cell in row:
        if cell.column not in own and (not cell.is_text or len(cell.value) > _LONGEST):
            return False
        if _REPLACED.fullmatch(cell.value.strip()) and not any(label.fits(cell.value) for label in own.values()):
            return False
    for column, label in own.items():
        if column in follows and catalogue()[label.type].group != "PERSON" and label.fits(follows[column].value):
            return False
    return not _fit_beside(row, own) or _is_doubtful(row, own, below)


def _are_values(own: Mapping[int, ColumnLabel], follows: Mapping[int, ShownCell]) -> bool:
    """Whether the cells that follow labels are their values: all fit, and one of them is no name."""
    people = [catalogue()[label.type].group == "PERSON" for label in own.values()]
    return not all(people) and all(label.fits(follows[column].value) for column, label in own.items())


def _is_doubtful(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel], below: Mapping[int, ShownCell]) -> bool:
    """Whether two cells, the first of them a label, may be a header and may be a line of a form."""
    return _fit_beside(row, own) and any(c in below and label.fits(below[c].value) for c, label in own.items())


def _fit_beside(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel]) -> bool:
    if len(row) != 2 or row[1].column in own or row[0].column not in own:
        return False
    value = row[1].value
    return own[row[0].column].fits(value) and not _is_word(value)


def _is_word(value: str) -> bool:
    """Whether a value consists of words of layout, and did not replace another one."""
    return "[" not in value and is_plain(value)


def _beside(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel]) -> dict[int, ColumnLabel]:
    """Return the labels of the values that follow a label in the same row."""
    found: dict[int, ColumnLabel] = {}
    for before, cell in pairwise(row):
        label = own.get(before.column)
        if label is None or cell.column in own:
            continue
        is_name = catalogue()[label.type].group == "PERSON"
        if not is_name or (label.takes(cell.value) and not _is_word(cell.value)):
            found[cell.column] = label
    return found


def _of_header(
    row: Sequence[ShownCell], own: Mapping[int, ColumnLabel], body: Sequence[Sequence[ShownCell]]
) -> dict[int, ColumnLabel]:  # fmt: skip
    """Return the labels that count in a table. A column `Name` of a list of drugs is none.

    Next to names, a column of different long numbers or codes has record numbers, whatever its header.
    """
    certain = any(not label.person and label.type not in _BROAD for label in own.values())
    values: dict[int, list[str]] = {}
    for cell in (cell for each in body for cell in each):
        values.setdefault(cell.column, []).append(cell.value.strip())
    found: dict[int, ColumnLabel] = {}
    for column, label in own.items():
        if certain or not label.person or (label.type == "PATIENT" and _are_names(values.get(column, ()))):
            found[column] = label
    if any(catalogue()[label.type].group == "PERSON" for label in found.values()):
        others = (cell for cell in row if cell.column not in own and not _is_amount_of(cell.value))
        found |= {each.column: _UNNAMED_LABEL for each in others if _are_codes(values.get(each.column, ()))}
    return found


def _are_names(values: Sequence[str]) -> bool:
    """Whether most values are names of two words, or replaced."""
    names = sum(1 for each in values if _REPLACED.fullmatch(each) or (_FULL_NAME.fullmatch(each) and each.istitle()))
    return 2 * names > len(values)


def _are_codes(values: Sequence[str]) -> bool:
    """Whether values are record numbers: long, each of them different, and not rounded. Replaced ones count."""
    open_ = [each for each in values if not _REPLACED.fullmatch(each)]
    rounded = sum(1 for each in open_ if each.endswith("00"))
    return (
        len(values) > 1
        and len(set(open_)) == len(open_)
        and 4 * rounded <= len(open_)
        and all(map(_UNNAMED.fullmatch, open_))
    )
