"""Cells with a label: a value under the header of its column, or next to the label of a form.

A label is a cell whose whole content is in `labels.toml` or in the `rules/tables.toml` of a language, or whose words
name an identifier (`hints.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import NamedTuple

from incognote.formats.xlsx.closed import is_plain
from incognote.formats.xlsx.columns import BROAD, PERSON, ShownCell, beside_amounts, of_header
from incognote.formats.xlsx.vocabulary import (
    LONGEST,
    REPLACED,
    ColumnLabel,
    family,
    is_amount,
    is_codebook,
    is_label,
    label_of,
)
from incognote.schemas.catalogue import catalogue

__all__ = ["ColumnLabel", "ShownCell", "ShownRow", "is_box", "is_label", "label_of", "labeled"]
_BLANK_ROWS = 3  # after which a header no longer applies
_AHEAD = 10  # rows in which a header looks for its first value
_AMOUNT = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{1,6})?")
_WORDY = frozenset(("PERSON", "DATE"))  # groups of identifiers that have no sentences as values
_BODY = 200  # rows below a header that show what its columns are
_BOXES = 5  # cells with one character each that hold a value together


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
    blank = width = 0
    in_codebook = False
    for at, row in enumerate(rows):
        if not row:
            blank += 1
            columns = columns if blank < _BLANK_ROWS else {}
            in_codebook = in_codebook and blank < _BLANK_ROWS
            yield ShownRow({}, ())
            continue
        is_apart, blank = blank > 0, 0
        if in_codebook := in_codebook or is_codebook([cell.value for cell in row]):
            yield ShownRow({}, (), is_header=True)
            continue
        own = _own(row)
        ahead = rows[at + 1 : at + 1 + _AHEAD]
        below = {cell.column: cell for each in reversed(ahead) for cell in each if cell.column in own or len(row) == 2}
        under = {cell.column: columns[cell.column] for cell in row if cell.column in columns and cell.column not in own}
        if len(row) == 1 and width > 1 and (
            _is_remark(row[0].value)
            or (is_apart and _is_sentence(row[0].value) and {family(each.type) for each in under.values()} <= _WORDY)
        ):
            under = {}
        sure = {column for column, label in under.items() if label.certain}
        beside = {column: label for column, label in _beside(row, own).items() if column not in sure}
        several = len(own) > 1
        if own and (several or not sure) and _is_header(row, own, below):
            width, columns = len(row), of_header(row, own, rows[at + 1 : at + 1 + _BODY])
            if several or not _is_doubtful(row, own, below) or own[row[0].column].person or _is_amount(row, below):
                beside = {}
            values, heads, is_header = beside, {*columns, *_heads(row, beside)}, not beside
        else:
            values, heads = {**under, **beside}, _heads(row, beside)
            is_header = not under and not beside and _is_above_numbers(row, ahead)
            is_first = not columns and not own and (at == 0 or len(rows[at - 1]) < 2)
            if is_first and len(row) > 1 and all(cell.is_text for cell in row):
                width, columns = len(row), of_header(row, own, rows[at + 1 : at + 1 + _BODY])
        said = [cell for cell in row if cell.is_text and cell.column not in values]
        here = {cell.column for cell in said if is_amount(cell.value)}
        amounts = (amounts - {cell.column for cell in said if not REPLACED.fullmatch(cell.value.strip())}) | here
        counts = amounts | set(beside_amounts(row, here))
        yield ShownRow(values, heads, is_header, counts)


def _is_remark(words: str) -> bool:
    """Whether a cell that is alone in its row is a remark below a table: at least three words begin in lower case."""
    return words.lstrip()[:1] == "*" or sum(each[0].islower() for each in words.split()) > 2


def _is_sentence(words: str) -> bool:
    """Whether words are more than a name or a date: at least four have letters, and a name has no such signs."""
    return sum(any(map(str.isalpha, each)) for each in words.split()) > 3 and not PERSON.fits(words)


def _is_above_numbers(row: Sequence[ShownCell], ahead: Sequence[Sequence[ShownCell]]) -> bool:
    """Whether a row of words has numbers below most of them."""
    if len(row) < 3 or not all(cell.is_text and len(cell.value) <= LONGEST for cell in row):
        return False
    numbers = {cell.column for cell in next(filter(None, ahead), ()) if not cell.is_text}
    return 2 * len(numbers & {cell.column for cell in row}) >= len(row) - 1


def _own(row: Sequence[ShownCell]) -> dict[int, ColumnLabel]:
    """Return the labels in a row. One that may be a drug or a test needs another one that names an identifier."""
    found = {cell.column: label for cell in row if cell.is_text and (label := label_of(cell.value))}
    if any(not label.short and label.type not in BROAD and catalogue()[label.type].group not in ("DATE", "AGE")
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
    if not values or _boxed(row, own) or all(cell.is_text and label_of(cell.value) for cell in values):
        return False
    if len(own) > 1:
        return not (own.keys() <= follows.keys() and _are_values(own, follows))
    for cell in row:
        if cell.column not in own and (not cell.is_text or len(cell.value) > LONGEST or _is_number(cell.value)):
            return False
    for column, label in own.items():
        if column in follows and catalogue()[label.type].group != "PERSON" and label.fits(follows[column].value):
            return False
    return not _fit_beside(row, own) or _is_doubtful(row, own, below)


def _is_number(value: str) -> bool:
    """Whether words are a number or a date, or replaced one."""
    if replaced := REPLACED.fullmatch(value.strip()):
        kind = replaced["type"]
        return kind is None or (kind in catalogue() and family(kind) not in ("PERSON", "LOCATION"))
    digits = sum(map(str.isdecimal, value))
    return digits > 3 or (digits > 1 and not any(map(str.isalpha, value)))


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
    """Return the labels of the values that follow a label in the same row.

    A label is that of the next value. That of numbers is also that of further values of its form.
    """
    found: dict[int, ColumnLabel] = {}
    further: ColumnLabel | None = None
    for before, cell in pairwise(row):
        label = own.get(before.column)
        if label is None or cell.column in own:
            further = None if cell.column in own or not (further and further.fits(cell.value)) else further
            found |= {cell.column: further} if further else {}
            continue
        is_name = catalogue()[label.type].group == "PERSON"
        if not is_name or (label.takes(cell.value) and not _is_word(cell.value)):
            found[cell.column] = label
            further = None if is_name else label
    return found | _boxed(row, own)


def is_box(value: str) -> bool:
    """Whether a cell has a single letter or digit, as in a form with a box for each."""
    return len(value.strip()) == 1 and value.strip().isalnum()


def _boxed(row: Sequence[ShownCell], own: Mapping[int, ColumnLabel]) -> dict[int, ColumnLabel]:
    """Return the labels of values with a cell for each character. Lists such as 1 to 5 or A to E are none."""
    found: dict[int, ColumnLabel] = {}
    for at, cell in enumerate(row):
        boxes = list(takewhile(lambda each: is_box(each.value), row[at + 1 :])) if cell.column in own else []
        value = "".join(each.value.strip() for each in boxes)
        if len(boxes) >= _BOXES and own[cell.column].fits(value) and "".join(sorted(set(value))) != value:
            found |= {each.column: replace(own[cell.column], action="mask", certain=True) for each in boxes}
    return found
