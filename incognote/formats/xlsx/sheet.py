"""The cells of a worksheet as texts and structured fields, and how a cell with new words is written."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from incognote.errors import MalformedRecord
from incognote.formats.base import Change, FieldAction, splice
from incognote.formats.office.package import XmlPart
from incognote.formats.rtf.stretch import outside
from incognote.formats.xlsx.closed import is_nobody, is_number
from incognote.formats.xlsx.dates import Styles
from incognote.formats.xlsx.labels import ColumnLabel, ShownCell, ShownRow, is_label, labeled
from incognote.formats.xlsx.shared import SharedStrings, rich_fixes, rich_text
from incognote.formats.xlsx.sheetdata import SheetCell
from incognote.formats.xlsx.strings import decoded, escaped, stretches_of
from incognote.nouns import Known, Text
from incognote.schemas.catalogue import catalogue

_NOTE = 120  # characters of a cell that is set off by blank lines, so that it reads like a note
_BETWEEN = " \t "
_NUMBER = re.compile(r"[+\-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-]?[0-9]{1,3})?")
_INTEGER = re.compile(r"0|[1-9][0-9]{0,14}")
_ERROR = re.compile(r"#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!|GETTING_DATA|FIELD!|BLOCKED!|CONNECT!)")
_LONGEST_DATE = 40
_SOUGHT = frozenset(("PERSON", "CONTACT", "ID"))
_SHORTEST = 3  # characters of a name that is searched for in the texts
_FEWEST = 5  # digits of a number that is searched for in the texts
_CODED = ColumnLabel("GUID", "hash", certain=False)
_AGAIN = "Save the workbook again"

Role = ColumnLabel | Literal["date", "text", "closed"]
"""What a cell is: a field with a label, a date without one, a part of the text, or a cell that no detector reads."""
Roles = dict[int, dict[int, Role]]
"""The roles of cells by row and column."""


class _Value(NamedTuple):
    """A cell and its characters. `is_date` says whether its style or type shows a date."""

    cell: SheetCell
    shown: str
    is_date: bool


class Cells:
    """The cells of one worksheet.

    Args:
        part: the worksheet. prefix: that of its elements.
        rows: its cells.
        strings: the shared strings. styles: the number formats.
        field: the name of its text, such as `sheet 1`.
        roles: the roles of cells that are known. Those of the others are added.

    Attributes:
        text: the cells that detectors read. fields: the structured fields, with their cells.
        known: the identifiers in structured fields. records: the record numbers in them.
        shared: the place of each cell that uses a shared string, and the index of the string.
        fixed: the changes that are made to every document.
    """

    def __init__(
        self, part: XmlPart, prefix: str, rows: Sequence[Sequence[SheetCell]], strings: SharedStrings, styles: Styles,
        field: str, roles: Roles,
    ) -> None:  # fmt: skip
        self.part, self.prefix, self._strings, self._styles, self._field = part, prefix, strings, styles, field
        self.text = CellText(self)
        self.fields: dict[FieldAction, partial[list[Change]]] = {}
        self.known: list[Known] = []
        self.fixed: list[Change] = []
        self.records: set[str] = set()
        self.shared: list[tuple[int, int]] = []
        self._rows = [[value for cell in row if (value := self._value(cell)).shown.strip()] for row in _gaps(rows)]
        self._read(self._rows, roles)

    def _read(self, rows: Sequence[Sequence[_Value]], roles: Roles) -> None:
        shown = [[ShownCell(v.cell.column, v.shown, v.cell.kind != "n" and not v.is_date) for v in row] for row in rows]
        for row, labels in zip(rows, labeled(shown), strict=True):
            self.text.begin_row()
            for value in row:
                own = roles.setdefault(value.cell.row, {})
                if (column := value.cell.column) not in own:
                    own[column] = self._role(value, labels)
                if (role := own[column]) == "text":
                    self.text.add(value, apart=labels.is_header)
                elif role != "closed":
                    self._act(value, None if role == "date" else role)

    def _role(self, value: _Value, labels: ShownRow) -> Role:
        """Return what a cell is, by the labels of its row."""
        column = value.cell.column
        label = labels.values.get(column)
        is_count = label is not None and value.cell.kind == "n" and catalogue()[label.type].group == "PERSON"
        if label is not None and not value.is_date and (is_count or not label.takes(value.shown)):
            label = None
        if label is None and self._styles.shows(value.cell.style) == "code" and _CODED.fits(value.shown):
            label = _CODED
        if label is not None and not is_nobody(value.shown):
            return label
        if value.is_date and len(value.shown) <= _LONGEST_DATE:
            return "date"
        if self._is_closed(value, is_amount=column in labels.amounts):
            return "closed"
        return "closed" if column in labels.heads and is_label(value.shown) else "text"

    def _act(self, value: _Value, label: ColumnLabel | None) -> None:
        """Make a cell a structured field."""
        if label is not None and value.is_date and catalogue()[label.type].group not in ("DATE", "PERSON"):
            label = label if label.certain and label.type != "AGE" else None
        kind, action = (label.type, label.action) if label is not None else ("DATE", "date")
        text = Text(value.shown, f"{self._field}!{value.cell.place}")
        end = len(value.shown) if label is None or value.is_date else label.end(value.shown)
        field = FieldAction(text, 0, end, action, kind)
        self.fields[field] = partial(self.written, value.cell, value.shown, end)
        words = value.shown[:end].strip()
        group = catalogue()[kind].group
        is_sought = group in _SOUGHT and len(words) >= _SHORTEST
        if group == "PERSON":
            is_sought = is_sought and any(map(str.isalpha, words))
        elif group == "ID":
            is_sought = sum(map(str.isdecimal, words)) >= _FEWEST
        if label is not None and is_sought:
            self.known.append(Known(kind, words))
        if kind == "MEDICAL_RECORD_NUMBER" and label is not None and label.certain:
            self.records.add(words)

    def _is_closed(self, value: _Value, *, is_amount: bool) -> bool:
        """Whether a cell is a short number, an amount, a logical value, or an error. No detector reads it."""
        kind = value.cell.kind
        return kind in ("b", "e") or (kind == "n" and (is_amount or is_number(value.shown.strip())))

    def _value(self, cell: SheetCell) -> _Value:
        """Return a cell with its characters.

        Raises:
            MalformedRecord: the value does not have the form of its type.
        """
        shows = self._styles.shows(cell.style) == "date"
        if cell.value is None:
            return _Value(cell, "", False)
        raw = self.part.source[slice(*cell.value)]
        if cell.kind == "inlineStr":
            self.fixed += rich_fixes(self.part.source, *cell.value)
            return _Value(cell, "".join(decoded(raw[a:b]) for a, b in stretches_of(raw)), shows)
        if cell.kind == "str":
            return _Value(cell, decoded(raw), shows)
        plain = decoded(raw).strip()
        if not plain:
            return _Value(cell, "", False)
        if cell.kind == "s":
            if not plain.isdecimal() or int(plain) >= len(self._strings.items):
                raise self._refused(cell, "refers to a shared string that does not exist")
            self.shared.append((cell.start, int(plain)))
            return _Value(cell, self._strings.shown(int(plain)), shows)
        if cell.kind == "n":
            if not _NUMBER.fullmatch(plain):
                raise self._refused(cell, "has a number that cannot be read")
            number = float(plain)
            if self._styles.is_date(cell.style, number):
                return _Value(cell, self._styles.date_of(number) or plain, True)
            return _Value(cell, f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else plain, False)
        form = {"b": r"0|1|true|false", "e": _ERROR.pattern, "d": r"[0-9T:.\-Z+]{4,40}"}[cell.kind]
        if not re.fullmatch(form, plain):
            raise self._refused(cell, "has a value of another type")
        return _Value(cell, plain, cell.kind == "d" and shows)

    def _refused(self, cell: SheetCell, why: str) -> MalformedRecord:
        return MalformedRecord(f"the cell {cell.place} {why}. {_AGAIN}", field=self._field)

    def places(self) -> Iterator[tuple[int, int, int]]:
        """Yield the place of each cell in the part, its row, and its column."""
        return ((each.cell.start, each.cell.row, each.cell.column) for row in self._rows for each in row)

    def at(self, row: int, column: int) -> tuple[int, str]:
        """Return the place and the characters of a cell, or -1 and "" if it is empty."""
        for each in self._rows:
            if each and each[0].cell.row == row:
                return next(((v.cell.start, v.shown) for v in each if v.cell.column == column), (-1, ""))
        return -1, ""

    def written(self, cell: SheetCell, old: str, end: int, new: str) -> list[Change]:
        """Return the change that gives a cell a new value in place of its first `end` characters."""
        new += old[end:]
        if new == old:
            return []
        number = None
        if cell.kind == "n":
            as_date = self._styles.shows(cell.style) in ("date", "time")
            number = self._styles.number_of(new) if as_date else new if _INTEGER.fullmatch(new) else None
        if number is not None:
            return [(cell.start, cell.end, self._tag(cell, f"<{self.prefix}v>{number}</{self.prefix}v>"))]
        return [(cell.start, cell.end, self._tag(cell, self._inline(escaped(new, self.part.codec)), "inlineStr"))]

    def edited(self, value: _Value, changes: Sequence[Change]) -> list[Change]:
        """Return the change of a cell that makes changes of its characters. Its runs of formatted words stay."""
        cell = value.cell
        if not splice(value.shown, changes):
            return [(cell.start, cell.end, f"<{self.prefix}c{cell.head}/>")]
        if cell.kind in ("s", "inlineStr") and cell.value is not None:
            if cell.kind == "inlineStr":
                source, span, fixes = self.part.source, cell.value, rich_fixes(self.part.source, *cell.value)
            else:
                strings = self._strings
                source, span = strings.source, strings.items[int(self.part.source[slice(*cell.value)])]
                fixes = rich_fixes(source, *span)
            own_form = (self._strings.prefix, self._strings.codec) == (self.prefix, self.part.codec)
            if cell.kind == "inlineStr" or own_form:
                own = rich_text(source, self.part.codec, *span).edits(changes)
                inner = splice(source[slice(*span)], [(a - span[0], b - span[0], new) for a, b, new in
                                                      [*own, *outside(fixes, own)]])  # fmt: skip
                if re.search(r"<(?:\w+:)?r[ >]", inner):
                    body = f"<{self.prefix}is>{inner}</{self.prefix}is>"
                    return [(cell.start, cell.end, self._tag(cell, body, "inlineStr"))]
        words = escaped(splice(value.shown, changes), self.part.codec)
        return [(cell.start, cell.end, self._tag(cell, self._inline(words), "inlineStr"))]

    def _tag(self, cell: SheetCell, body: str, kind: str = "") -> str:
        of = f' t="{kind}"' if kind else ""
        return f"<{self.prefix}c{cell.head}{of}>{body}</{self.prefix}c>"

    def _inline(self, words: str) -> str:
        p = self.prefix
        return f'<{p}is><{p}t xml:space="preserve">{words}</{p}t></{p}is>'


class CellText:
    """The characters of cells, as one text: a row is a line, and a tab with spaces around it is between two cells.

    With a plain tab, the detectors take words of neighboring cells for one name.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._parts: list[str] = []
        self._values: list[tuple[_Value, int]] = []  # the value, and how many blanks before its words are left out
        self._starts: list[int] = []
        self._size = 0
        self._between = ""
        self._note = False

    @property
    def text(self) -> str:
        """The characters so far."""
        return "".join(self._parts)

    @property
    def part(self) -> XmlPart:
        """The worksheet."""
        return self._cells.part

    def begin_row(self) -> None:
        """Begin a new line. A blank one shows that the row before has no cell in this text."""
        self._between = "\n\n" if self._between == "\n" else "\n"

    def add(self, value: _Value, *, apart: bool) -> None:
        """Add a cell. Blank lines set it off from the others if it is `apart` or long."""
        words = value.shown.strip()
        apart = apart or len(words) >= _NOTE
        if self._parts:
            between = "\n\n" if self._note or apart else self._between
            self._parts.append(between)
            self._size += len(between)
        self._between, self._note = _BETWEEN, apart
        self._starts.append(self._size)
        self._values.append((value, len(value.shown) - len(value.shown.lstrip())))
        self._parts.append(words)
        self._size += len(words)

    def edits(self, changes: Iterable[Change]) -> list[Change]:
        """Return changes of the text as changes of the worksheet: an edited cell is written anew.

        New words go into the first cell of a change. The rest of the old words is removed.
        """
        by_cell: dict[int, list[Change]] = {}
        splice(self.text, ordered := sorted(changes, key=lambda change: change[:2]))
        for start, end, new in ordered:
            for index, a, b in self._overlapped(start, end):
                by_cell.setdefault(index, []).append((a, b, new))
                new = ""
        found: list[Change] = []
        for index, own in by_cell.items():
            value, skipped = self._values[index]
            found += self._cells.edited(value, [(a + skipped, b + skipped, new) for a, b, new in own])
        return found

    def _overlapped(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the cells that a stretch covers, each with the stretch in its words."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        for index in range(first, len(self._values)):
            at = self._starts[index]
            size = len(self._values[index][0].shown.strip())
            if at > end or (at == end and end > start):
                return
            if at + size > start or (start == end and at + size == start):
                yield index, max(start - at, 0), min(end - at, size)
                if start == end:
                    return


def _gaps(rows: Sequence[Sequence[SheetCell]]) -> Iterator[Sequence[SheetCell]]:
    """Yield the rows, with up to three empty ones where the part leaves rows out."""
    before = 0
    for row in rows:
        number = row[0].row if row else before + 1
        yield from [()] * min(max(number - before - 1, 0), 3)
        before = number
        yield row
