"""A table or view of a database as the source of a worker. Its rows are records, and it is only read.

Rows are read in the order of (watermark, key) and divided into windows. The ledger stores each window like the version
of a file, so workers share them, and a killed worker's window is read again. Each look begins at the last window in the
ledger, minus an overlap for transactions that committed late. A window is new if its watermarks and keys are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa

from incognote.errors import SourceUnavailable, UsageError
from incognote.files.inputs import Input
from incognote.files.sources import Source
from incognote.formats.base import Unreadable
from incognote.formats.records.typed import TypedColumn, TypedTable
from incognote.formats.tables import Columns, Layout
from incognote.runs.source import SeenFile
from incognote.runs.sql import TableDatabase, typed

WINDOW = 512
_SECONDS = 600.0
_BLOCK = 64  # rows in memory at once
_ROW = 4096  # bytes of a row, as the ledger counts a window
Cursor = tuple[Any, ...]


class SqlSource:
    """The rows of one table, by windows of (watermark, key).

    Args:
        name: the table or view, as in `TableDatabase.table`.
        layout: the schema, or the column options.
        key: a column with a different value in each row. Default: the primary key.
        watermark: a column that grows with each new or changed row: a time or an integer.
        overlap: how far before the last watermark to look again: seconds, or units of an integer. Default: 600 s, or 0.

    Raises:
        UsageError: the table, or one of the columns, cannot be used. SchemaViolation: the schema does not fit.
    """

    moves = False
    """A window does not change while it is read. A row that changes gets a later watermark, and so another window."""

    def __init__(
        self, database: TableDatabase, name: str, layout: Layout | None, *, key: str | None = None,
        watermark: str | None = None, overlap: float | None = None,
    ) -> None:  # fmt: skip
        self._database, self._name = database, name
        self.shown = f"{database.shown} {name}"
        found = database.table(name)
        if found is None:
            raise UsageError(f"--table: {name}: no such table or view. Check the name and the schema of the database.")
        if layout is None:
            raise UsageError("A database table needs --data-type NAME, or --text-column NAME with options for all "
                             "other columns.")  # fmt: skip
        self.table = found
        self._key = self._column("--key", key or self._primary())
        self._watermark = None if watermark is None else self._column("--watermark", watermark)
        self.rows = TypedTable(self._columns(layout), layout, self._key.name)
        if not any(column.name == self._key.name for column in self.rows.kept):
            raise UsageError(f"--key: {self._key.name} is dropped, but it identifies the rows. Hash or pass it.")
        self._order: list[sa.ColumnElement[Any]] = [self._key]
        if self._watermark is not None:
            self._order.insert(0, self._watermark)
        self._overlap = overlap
        self._check()

    def location(self, name: str) -> str:
        """Return the identity of the table: the same for all of its windows."""
        return f"{self._database.shown}\x1f{self._name}"

    def ranges(self, name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
        """Return the range of a window. It is never divided."""
        return ((0, None),)

    def stamp(self, name: str) -> str | None:
        """Return None: a window does not change. A row that changes gets a later watermark."""
        return None

    def fit(self, columns: Sequence[TypedColumn]) -> None:
        """Take the sizes of the columns from the destination."""
        theirs = {column.name: column for column in columns}
        self.rows = replace(self.rows, columns=tuple(theirs.get(each.name, each) for each in self.rows.columns))

    def look(self, latest: Callable[[str], str | None] | None = None) -> Iterator[SeenFile]:
        """Yield the windows that may have new rows, in order.

        Args:
            latest: returns the name of the last window in the ledger, by the location.

        Raises:
            SourceUnavailable: the database does not answer.
        """
        low: Any = None
        if self._watermark is not None:
            yield from self._windows("nulls", self._watermark.is_(None))
            last = None if latest is None else latest(self.location(""))
            low = None if last is None else self._before(json.loads(last)["to"])
        bound = sa.true() if self._watermark is None else self._watermark.is_not(None)
        yield from self._windows("rows", bound if low is None else sa.and_(bound, self._watermark >= low))

    def _windows(self, kind: str, where: Any) -> Iterator[SeenFile]:
        asked = sa.select(*self._order).where(where).order_by(*self._order)
        streamed = self._database.engine.execution_options(stream_results=True, yield_per=1000)
        with self._failing(), streamed.connect() as db:
            for rows in db.execute(asked).partitions(WINDOW):
                bounds = {"kind": kind, "from": _said(rows[0]), "to": _said(rows[-1])}
                digest = hashlib.blake2b(digest_size=16)
                for row in rows:
                    digest.update(json.dumps(_said(row)).encode())
                yield SeenFile(json.dumps(bounds), len(rows) * _ROW, digest.hexdigest(), "ready")

    def _before(self, cursor: Sequence[Any]) -> Any:
        """Return the watermark from which to look again."""
        [last, _] = self._heard(cursor)
        if isinstance(last, datetime | date | str):
            moved = _moment(last).timestamp() - (_SECONDS if self._overlap is None else self._overlap)
            before = datetime.fromtimestamp(moved, UTC)
            if isinstance(last, str):
                said = before.replace(tzinfo=None).isoformat(sep=" " if " " in last else "T", timespec="microseconds")
                return min(said[: len(last)], last)
            return before if isinstance(last, datetime) and last.tzinfo else before.replace(tzinfo=None)
        return last - int(self._overlap or 0)

    def read(self, name: str, start: int, stop: int | None, layout: Layout | None) -> Iterator[Input]:
        """Yield the rows of a window, in order. A row that does not fit its schema has its reason.

        Raises:
            SourceUnavailable: the database does not answer.
        """
        told = json.loads(name)
        source, position = Source(None, self._name, "lines", shown=self.shown), 0
        for rows in self._blocks(told["kind"], self._heard(told["from"]), self._heard(told["to"])):
            for row in rows:
                position += 1
                values = row._mapping
                version = None if self._watermark is None else version_of(values[self._watermark])
                one = self.rows.row({column.name: values[self.table.c[column.name]] for column in self.rows.columns},
                                    version)  # fmt: skip
                if isinstance(one, Unreadable):
                    yield Input(source, position, one.document, error=one.reason, raw=one.data)
                else:
                    yield Input(source, position, one)

    def _blocks(self, kind: str, low: Cursor, high: Cursor) -> Iterator[Sequence[sa.Row[Any]]]:
        """Yield the rows in blocks. No transaction stays open while a block is processed."""
        order = self._order
        if kind == "nulls":
            order, low, high = [self._key], low[1:], high[1:]
            assert self._watermark is not None  # only then is there such a window
        within = sa.tuple_(*order)
        asked = sa.select(*dict.fromkeys((*(self.table.c[c.name] for c in self.rows.columns), *self._order)))
        asked = asked.where(within <= sa.tuple_(*_bound(order, high))).order_by(*order).limit(_BLOCK)
        if kind == "nulls":
            asked = asked.where(self._order[0].is_(None))
        after = within >= sa.tuple_(*_bound(order, low))
        while True:
            with self._failing(), self._database.engine.connect() as db:
                rows = db.execute(asked.where(after)).all()
            yield rows
            if len(rows) < _BLOCK:
                return
            after = within > sa.tuple_(*_bound(order, tuple(rows[-1]._mapping[column] for column in order)))

    def _failing(self) -> Any:
        return self._database.failing(SourceUnavailable, "The source database does not answer")

    def _heard(self, said: Sequence[Any]) -> Cursor:
        """The inverse of `_said`, by the types of the columns."""
        return tuple(_parsed(value, column) for value, column in zip(said, self._order, strict=True))

    def _column(self, option: str, name: str) -> sa.Column[Any]:
        found = self.table.c.get(name)
        if found is None:
            raise UsageError(f"{option}: the table has no column {name!r}. Check the name.")
        return found

    def _primary(self) -> str:
        keys = [column.name for column in self.table.primary_key]
        if len(keys) != 1:
            raise UsageError("--key: the table has no primary key of one column. Name a column that identifies a row.")
        return keys[0]

    def _columns(self, layout: Layout) -> tuple[Any, ...]:
        dropped = layout.schema.dropped if isinstance(layout.schema, Columns) else ()
        columns, faults = [], []
        for column in self.table.c:
            known = typed(column)
            if known is None and column.name not in dropped:
                faults.append(column.name)
            elif column.name not in dropped or known is not None:
                columns.append(known)
        if faults:
            raise UsageError(
                f"These columns hold binary data or a type that cannot be read: {', '.join(faults)}. Drop them "
                "(--drop-column), or read a view without them."
            )
        return tuple(columns)

    def _check(self) -> None:
        """Refuse a watermark of the wrong type, and a key that is NULL or occurs twice."""
        watermark = self._watermark
        unique = any(
            [*each.columns] == [self._key] for each in self.table.constraints
            if isinstance(each, sa.PrimaryKeyConstraint | sa.UniqueConstraint)
        )  # fmt: skip
        twice = sa.select(self._key).group_by(self._key).having(sa.func.count() > 1).limit(1)
        null = sa.select(sa.literal(1)).where(self._key.is_(None)).limit(1)
        with self._failing(), self._database.engine.connect() as db:
            if (not unique and db.execute(twice).first()) or db.execute(null).first():
                raise UsageError(f"--key: {self._key.name} is NULL or repeated in some rows. Choose another column.")
            try:
                version_of(None if watermark is None else db.scalar(sa.select(sa.func.max(watermark))))
            except (TypeError, ValueError):
                raise UsageError("--watermark: the column must hold times (ISO 8601) or integers.") from None


def _said(row: Sequence[Any]) -> list[Any]:
    return [value if isinstance(value, str | int | None) else str(value) for value in row]


def _parsed(value: Any, column: sa.ColumnElement[Any]) -> Any:
    of_type = column.type.python_type
    if not isinstance(value, str) or of_type is object:  # SQLite's values are read as they are stored
        return value
    return of_type.fromisoformat(value) if issubclass(of_type, date) else of_type(value)


def _bound(order: Sequence[sa.ColumnElement[Any]], values: Cursor) -> Iterator[sa.ColumnElement[Any]]:
    return (sa.literal(value, column.type) for column, value in zip(order, values, strict=True))


def _moment(value: datetime | date | str) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def version_of(watermark: Any) -> int | None:
    """Return a watermark as a number: an integer itself, and a time in microseconds since 1970.

    Raises:
        TypeError, ValueError: it is neither.
    """
    if watermark is None or isinstance(watermark, int):
        return watermark
    if not isinstance(watermark, datetime | date | str):
        raise TypeError
    return round(_moment(watermark).timestamp() * 1_000_000)
