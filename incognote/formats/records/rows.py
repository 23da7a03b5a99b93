"""Tables: each row is a flat record with a schema. Rows that are pieces of one note are joined before detection."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from io import StringIO
from itertools import accumulate
from typing import Any, NamedTuple

from incognote.errors import AccountingError, MalformedRecord, RecordProblem, SchemaViolation, UsageError
from incognote.formats.base import Change, FieldAction, account, splice
from incognote.formats.records.csvtext import RawRow, Rows, columns, read_table
from incognote.formats.records.rawjson import Kind, Node
from incognote.formats.records.record import OpenRecord, Walk
from incognote.nouns import Known, Text
from incognote.schemas.fieldnames import child, item, spoken
from incognote.schemas.record_schema import FieldRule, Schema

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?")


class CellStretch(NamedTuple):
    """The stretch `start:end` of a cell in a joined text. `row` is the index within the record."""

    row: int
    column: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class OpenRows(OpenRecord):
    """One row, or the rows of one note, opened as a record.

    The path of a text is its column. The path of an action is its column too, with the row's index if there are several
    rows: `author[1]`.

    Args:
        rows: the row numbers in the table, from 1.
        table: the table of the rows, if it is known.
    """

    rows: tuple[int, ...]
    _rows: tuple[RawRow, ...] = field(repr=False)
    _pieces: Mapping[str, tuple[CellStretch, ...]] = field(repr=False)
    _cells: Mapping[str, tuple[int, int]] = field(repr=False)
    _delimiter: str
    _dropped: frozenset[int]
    table: OpenTable | None = field(default=None, kw_only=True, repr=False)

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """Return the new text of the rows, in the order of the table. Cells without edits and actions keep their bytes.

        An edit over several pieces is split: its new text goes into the first row, and the rest is removed.

        Raises:
            AccountingError: as in OpenRecord.
        """
        account(self, changes, values)
        changed: list[dict[int, str]] = [{} for _ in self._rows]
        for path, edits in changes.items():
            pieces = self._pieces[path]
            for piece, mine in zip(pieces, _cut(edits, pieces), strict=True):
                if mine:
                    changed[piece.row][piece.column] = splice(self._rows[piece.row].values[piece.column], mine)
        for action, value in values.items():
            row, column = self._cells[action.text.field]
            changed[row][column] = splice(self._rows[row].values[column], [(action.start, action.end, value)])
        written = zip(self._rows, changed, strict=True)
        return "".join(row.rewritten(cells, self._delimiter, self._dropped)
                       for row, cells in sorted(written, key=lambda pair: pair[0].number))

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]]:
        begins = list(accumulate((len(row.raw) for row in self._rows), initial=0))
        places = []
        for piece in self._pieces[field]:
            first, last = max(start, piece.start), min(end, piece.end)
            if first < last:
                row = self._rows[piece.row]
                inside = (row.offset(piece.column, at - piece.start) + begins[piece.row] for at in (first, last))
                places.append((next(inside), next(inside)))
        return places


@dataclass(frozen=True, eq=False, slots=True)
class OpenTable:
    """A table that is being read.

    Args:
        table: the records of the table.
        header: the original header line.
        words: the layout as JSON data (`Layout.words`).
    """

    table: Table = field(repr=False)
    header: str = field(repr=False)
    words: Mapping[str, Any]

    @property
    def grouped(self) -> bool:
        """Whether the rows of a note may be separated, so that no row is written before all are processed."""
        return self.words["group"] is not None


@dataclass(frozen=True)
class BadRows:
    """Rows that cannot be opened. They go to quarantine unchanged, and the other rows are still processed."""

    rows: tuple[int, ...]
    content: str = field(repr=False)
    problem: RecordProblem


class Table:
    """A delimited table with a schema, created by `read_rows`. Its records can be read only once.

    Attributes:
        head: the header line of the output.
        columns: the column names.
    """

    def __init__(
        self, header: RawRow, rows: Rows, delimiter: str, schema: Schema, dropped: Iterable[str],
        group: str | None, order: str | None,
    ) -> None:
        self.columns = columns(header)
        self._rows, self._delimiter, self._schema = rows, delimiter, schema
        self._paths = {child("", name): i for i, name in enumerate(self.columns)}
        self._dropped = frozenset(self.columns.index(name) for name in dropped)
        self._group = self.columns.index(group) if group else None
        self._order = self.columns.index(order) if order else None
        self.head = header.rewritten({}, delimiter, self._dropped)

    def records(self) -> Iterator[OpenRows | BadRows]:
        """Yield every row, opened or with its problem. Without a group column, one row at a time is in memory."""
        if self._group is None:
            for row in self._rows:
                yield self._opened([row])
            return
        notes: dict[object, list[RawRow]] = {}
        for row in self._rows:
            bad = self._fault(row)
            key = row.values[self._group] if bad is None else ""
            notes.setdefault(key or row.number, []).append(row)  # a row without a group is a separate note
        for rows in notes.values():
            yield self._opened(rows)

    def rebuild(self, parts: Iterable[tuple[OpenRows, str]]) -> Iterator[str]:
        """Yield the lines of the table: the header, then the rebuilt rows in the order of the table.

        Raises:
            AccountingError: a part has another number of rows than its record.
        """
        yield self.head
        placed: dict[int, str] = {}
        for record, text in parts:
            rows = [text]
            if len(record.rows) > 1:
                rows = [row.raw for row in Rows(StringIO(text, newline=""), self._delimiter)]
            if len(rows) != len(record.rows):
                raise AccountingError(f"a note of {len(record.rows)} rows came back as {len(rows)}")
            placed.update(zip(sorted(record.rows), rows, strict=True))
        for number in sorted(placed):
            yield placed[number]
        yield self.tail

    @property
    def tail(self) -> str:
        """The blank lines after the last row, available after all records have been read."""
        return self._rows.tail

    def _fault(self, row: RawRow) -> RecordProblem | None:
        if row.fault:
            return MalformedRecord(f"row {row.number} cannot be read: {row.fault}")
        if len(row.values) != len(self.columns):
            return SchemaViolation(
                f"row {row.number} has {len(row.values)} cells, but the header has {len(self.columns)}"
            )
        return None

    def _opened(self, rows: list[RawRow]) -> OpenRows | BadRows:
        try:
            for row in rows:
                fault = self._fault(row)
                if fault is not None:
                    raise fault
            return self._open(self._in_order(rows))
        except RecordProblem as problem:
            return BadRows(tuple(row.number for row in rows), "".join(row.raw for row in rows), problem)

    def _in_order(self, rows: list[RawRow]) -> list[RawRow]:
        if self._order is None or len(rows) == 1:
            return rows
        marks = [row.values[self._order].strip() for row in rows]
        numbers = [bool(_INTEGER.fullmatch(mark)) for mark in marks]
        if all(numbers):
            return [row for _, row in sorted(zip(marks, rows, strict=True), key=lambda pair: Decimal(pair[0]))]
        if any(numbers) or not all(marks):
            raise SchemaViolation(
                "the rows of a note must be ordered by numbers or by sortable text (ISO dates), not by both",
                                  field=self.columns[self._order])
        return [row for _, row in sorted(zip(marks, rows, strict=True), key=lambda pair: pair[0])]

    def _open(self, rows: list[RawRow]) -> OpenRows:
        texts: dict[str, list[tuple[int, str]]] = {}
        actions: list[FieldAction] = []
        cells: dict[str, tuple[int, int]] = {}
        known: list[Known] = []
        patients: set[str] = set()
        ids: list[str] = []
        for i, row in enumerate(rows):
            walk = self._walk(row)
            for text in walk.texts:
                texts.setdefault(text.field, []).append((i, text.content))
            for action in walk.actions:
                path = action.text.field if len(rows) == 1 else item(action.text.field, i)
                cells[path] = (i, self._paths[action.text.field])
                actions.append(FieldAction(Text(action.text.content, path), action.start, action.end, action.action,
                                           action.entity_type))
            known += walk.known
            patients.update(filter(None, [walk.scalar_at(self._schema.patient_key)]))
            ids += filter(None, [walk.scalar_at(self._schema.id_key)])
        if len(patients) > 1:
            raise SchemaViolation("the rows of one note have different patients", field=self._schema.patient_key or "")
        joined = {path: _joined(pieces, self._paths[path]) for path, pieces in texts.items()}
        return OpenRows(
            data_type=self._schema.data_type, schema=self._schema,
            texts=tuple(Text(content, path) for path, (content, _) in joined.items()),
            actions=tuple(actions), known=tuple(dict.fromkeys(known)), patient=next(iter(patients), None),
            id=ids[0] if ids else None, content="".join(row.raw for row in rows), nodes={},
            rows=tuple(row.number for row in rows), _rows=tuple(rows),
            _pieces={path: pieces for path, (_, pieces) in joined.items()}, _cells=cells,
            _delimiter=self._delimiter, _dropped=self._dropped,
        )

    def _walk(self, row: RawRow) -> Walk:
        """Walk a row as a flat object. An empty cell in a column without strings counts as absent."""
        members: dict[str, Node] = {}
        for i, (name, value) in enumerate(zip(self.columns, row.values, strict=True)):
            if i in self._dropped:
                continue
            start, end = row.cells[i]
            quoted = row.raw.startswith('"', start)
            kind = _kind(value, self._schema.root.properties[name])
            if kind is not None:
                members[name] = Node(kind, start + quoted, end - quoted, value)
        try:
            return Walk(row.raw, Node("object", 0, len(row.raw), members), self._schema, what="column")
        except SchemaViolation as fault:
            raise SchemaViolation(f"row {row.number}: {fault}", field=fault.field) from None


def read_rows(
    stream: Iterable[str], schema: Schema, *, group: str | None = None, order: str | None = None,
    delimiter: str | None = None, dropped: Collection[str] = (),
    check: Callable[[Sequence[str], set[str]], None] | None = None,
) -> Table:
    """Open a table.

    Args:
        stream: a text stream opened with `newline=""`, so that line ends inside cells and between rows are kept.
        schema: the schema of the columns.
        group: the column whose equal values make rows one note. Their text cells are joined with newlines.
        order: the column that orders the rows of a note; by default the order of the table.
        delimiter: by default, the one of comma, semicolon, tab and bar that fits the header.
        dropped: columns that the schema does not name, to leave out.
        check: rejects a header, given the expected names. By default, the schema must fit the header.

    Raises:
        UsageError: a column is missing; the schema has nested fields; or `check` raised it.
        MalformedRecord: there is no readable header.
        SchemaViolation: the header has a column that the schema does not name, or lacks a required one.
    """
    expected = {*schema.root.properties, *dropped}
    sign, header, rows = read_table(stream, expected, delimiter)
    names = columns(header)
    if check is not None:
        check(names, expected)
    else:
        refuse_unfit(names, schema)
    for name in (group, order):
        if name and name not in names:
            raise UsageError(f"The table has no column {name!r}. Check the column options.")
    return Table(header, rows, sign, schema, dropped, group, order)


def refuse_unfit(names: Sequence[str], schema: Schema) -> None:
    if any(rule.is_container for rule in schema.root.properties.values()):
        raise UsageError(
            f"The schema {schema.data_type} has nested fields, so it does not fit a table. Choose another "
            "--data-type."
        )
    fields = schema.root.properties
    unknown = [spoken(name, i, "column", fields) for i, name in enumerate(names, 1) if name not in fields]
    if unknown:
        raise SchemaViolation(
            f"{', '.join(unknown)}: not in the schema {schema.data_type}. Add it to the schema, or remove it from "
            "the table. Is the first row the header?"
        )
    absent = sorted(schema.root.required - set(names))
    if absent:
        raise SchemaViolation(f"the table lacks columns of the schema {schema.data_type}: {', '.join(absent)}")


def _kind(value: str, rule: FieldRule) -> Kind | None:
    """Return the JSON type of a cell, by the types of its column, or None for an empty cell that is not a string."""
    if "string" in rule.types:
        return "string"
    if not value:
        return None
    if rule.types & {"integer", "number"} and _INTEGER.fullmatch(value):
        return "integer"
    if "number" in rule.types and _NUMBER.fullmatch(value):
        return "number"
    if "boolean" in rule.types and value.lower() in ("true", "false"):
        return "boolean"
    return "string"  # the walker rejects it


def _joined(cells: Sequence[tuple[int, str]], column: int) -> tuple[str, tuple[CellStretch, ...]]:
    pieces, at = [], 0
    for row, content in cells:
        pieces.append(CellStretch(row, column, at, at + len(content)))
        at += len(content) + 1
    return "\n".join(content for _, content in cells), tuple(pieces)


def _cut(edits: Sequence[Change], pieces: Sequence[CellStretch]) -> list[list[Change]]:
    """Convert edits of the joined text to edits of its pieces."""
    cut: list[list[Change]] = [[] for _ in pieces]
    starts = [piece.start for piece in pieces]
    for start, end, text in edits:
        first = max(bisect_right(starts, start) - 1, 0)
        if start == pieces[first].end < end - 1:
            first += 1  # it begins with the line break before a piece, so its words are in that piece
        for i in range(first, len(pieces)):
            piece = pieces[i]
            if i > first and piece.start >= end:
                break
            inside = (max(start, piece.start) - piece.start, min(max(end, piece.start), piece.end) - piece.start)
            cut[i].append((*inside, text if i == first else ""))
    return cut
