"""The columns of a table: which labels of its header count, and which columns without a label have record numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from incognote.formats.xlsx.vocabulary import REPLACED, ColumnLabel, is_amount, label_of
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import fold, given, lexicon, surname

BROAD = frozenset(("HOSPITAL", "ORGANIZATION", "LOCATION", "CITY", "OCCUPATION"))
"""The types of labels that also head lists without persons."""
_LETTERS = re.compile(r"[^\W\d_]+")
_FULL_NAME = re.compile(r"[^\W\d_]{2,}[^\d]*[, ][^\W\d_].*")
_UNNAMED = re.compile(r"[A-Za-z]{0,4}[ \-/.]?[0-9]{6,10}|[A-Za-z]{1,4}[ \-/.]?[0-9]{4,10}")
PERSON = ColumnLabel("PERSON", "mask")
"""The label of a name."""
_OWN = ("[MEDICAL_RECORD_NUMBER", *"0123456789abcdef")  # beginnings of what replaces a record number
_NUMBER = ColumnLabel("MEDICAL_RECORD_NUMBER", "hash", certain=False)


class ShownCell(NamedTuple):
    """What a reader needs of a cell to find labels: its column, its characters, and whether they are words."""

    column: int
    value: str
    is_text: bool


def of_header(
    row: Sequence[ShownCell], own: Mapping[int, ColumnLabel], body: Sequence[Sequence[ShownCell]]
) -> dict[int, ColumnLabel]:  # fmt: skip
    """Return the labels that count in a table. A column `Name` of a list of drugs is none.

    Next to names, a column of different long numbers or codes has record numbers, whatever its header.
    """
    certain = any(not label.person and label.type not in BROAD for label in own.values())
    values: dict[int, list[str]] = {}
    for cell in (cell for each in body for cell in each):
        values.setdefault(cell.column, []).append(cell.value.strip())
    found: dict[int, ColumnLabel] = {}
    for column, label in own.items():
        below = values.get(column, [])
        if certain or not label.person or _are_names(below, label):
            found[column] = label
    said = (label_of(cell.value) for cell in row if cell.is_text)
    people = [label for label in (*found.values(), *said) if label and catalogue()[label.type].group == "PERSON"]
    if any(not label.person or label in found.values() for label in people):
        others = (cell for cell in row if cell.column not in own and not is_amount(cell.value))
        found |= {each.column: _NUMBER for each in others if _are_codes(values.get(each.column, ()))}
    return found


def _are_names(values: Sequence[str], label: ColumnLabel) -> bool:
    """Whether most values are names of two words, or replaced ones.

    Under `Name`, a known given name or a comma shows that a value is no drug or test.
    """
    if label.type not in ("PATIENT", "PERSON"):
        return False
    names = [each for each in values if _FULL_NAME.fullmatch(each) and PERSON.fits(each)]
    names = [each for each in names if each.istitle() or each.isupper()]
    if label.type == "PERSON":
        names = [each for each in names if _is_known(each) or ("," in each and PERSON.end(each.lower()))]
    return 2 * (len(names) + sum(each.startswith(f"[{label.type}") for each in values)) > len(values)


def _is_known(name: str) -> bool:
    """Whether one of the words is a known given name, and none is a word of another kind."""
    entries = [lexicon().get(fold(each), 0) for each in _LETTERS.findall(name)]
    return any(map(given, entries)) and all(given(each) or surname(each) or not each for each in entries)


def _are_codes(values: Sequence[str]) -> bool:
    """Whether values are record numbers: long, each of them different, and not rounded. Replaced ones count."""
    open_ = [each for each in values if not (REPLACED.fullmatch(each) and each.startswith(_OWN))]
    rounded = sum(1 for each in open_ if each.endswith("00"))
    return (
        len(values) > 1
        and len(set(open_)) == len(open_)
        and 4 * rounded <= len(open_)
        and all(map(_UNNAMED.fullmatch, open_))
    )


def beside_amounts(row: Sequence[ShownCell], named: Collection[int]) -> Iterator[int]:
    """Yield the columns of the numbers that follow the name or unit of an amount, and of the one before it.

    Args:
        named: the columns of the names and units.
    """
    is_amount = False
    for before, cell in pairwise([ShownCell(0, "", False), *row]):
        if cell.column in named:
            is_amount = True
            yield before.column
        elif any(map(str.isalpha, cell.value)):
            is_amount = False
        elif is_amount:
            yield cell.column
