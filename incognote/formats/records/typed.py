"""Rows with typed columns, from Parquet files and databases. Each row is a flat JSON record under a schema.

A value keeps the type of its column: a hashed integer stays an integer, and a date that the policy shifts stays a date.
A label that does not fit its column, such as `[DATE]` in a date column, or its pattern in the schema, becomes NULL. If
the column does not allow NULL, or a text becomes too long for its column, the row is held.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

from incognote.errors import RecordProblem, UsageError
from incognote.formats.base import Change, FieldAction, Unreadable, account, splice
from incognote.formats.json import JsonRecord
from incognote.formats.records.rawjson import Node, parse, quoted, string_edits
from incognote.formats.records.record import OpenRecord, Walk
from incognote.formats.records.rows import refuse_unfit
from incognote.formats.tables import Columns, Layout
from incognote.nouns import Reason
from incognote.schemas.fieldnames import child
from incognote.schemas.record_schema import Schema

Kind = Literal["text", "integer", "number", "boolean", "date", "datetime", "time", "json", "other"]
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_TIMES: Mapping[str, Callable[[str], object]] = {
    "date": date.fromisoformat, "datetime": datetime.fromisoformat, "time": time.fromisoformat,
}  # fmt: skip


class UnfitColumn(RecordProblem):
    """The replacement of a value does not fit the type, the size, or the NOT NULL of its column."""

    code = "column-type"


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column of a table.

    Args:
        kind: the type of its values. A value of an `other` type is either passed or becomes NULL.
        largest: the maximum length of a text in characters, or the largest integer; None if there is no limit.
        nullable: whether NULL is allowed.
    """

    name: str
    kind: Kind
    largest: int | None = None
    nullable: bool = True


@dataclass(frozen=True)
class TypedTable:
    """The columns of a table, and what happens to each.

    Args:
        columns: all columns that are read.
        layout: the schema, or the column options.
        key: the column that identifies a row, if it is not the id of the schema.

    Raises:
        UsageError: a column has no rule, or a named column does not exist.
        SchemaViolation: the columns do not fit the schema.
    """

    columns: tuple[TypedColumn, ...]
    layout: Layout
    key: str | None = None

    def __post_init__(self) -> None:
        if self.layout.group or self.layout.order:
            raise UsageError("--group and --order are for .csv and .tsv files. Remove them.")
        names, schema = [column.name for column in self.columns], self.layout.schema
        if isinstance(schema, Columns):
            schema.refuse_unnamed(names, {*schema.schema().root.properties, *schema.dropped})
        else:
            refuse_unfit(names, schema)

    @cached_property
    def schema(self) -> Schema:
        """The schema of the rows. Column options allow values of any type."""
        if not isinstance(self.layout.schema, Columns):
            return self.layout.schema
        made = self.layout.schema.schema()
        rules = {name: replace(rule, types=_SCALARS) for name, rule in made.root.properties.items()}
        return replace(made, root=replace(made.root, properties=rules))

    @cached_property
    def kept(self) -> tuple[TypedColumn, ...]:
        """The columns of the output, without the dropped ones."""
        dropped = self.layout.schema.dropped if isinstance(self.layout.schema, Columns) else ()
        return tuple(column for column in self.columns if column.name not in dropped)

    def words(self) -> dict[str, Any]:
        """Return the table as JSON data for the quarantine."""
        return {"columns": [asdict(column) for column in self.columns], "layout": self.layout.words(), "key": self.key}

    @classmethod
    def of(cls, words: Mapping[str, Any], schema_of: Callable[[str], Schema]) -> TypedTable:
        """The inverse of `words`."""
        columns = tuple(TypedColumn(**column) for column in words["columns"])
        return cls(columns, Layout.of(words["layout"], schema_of), words["key"])

    def row(self, values: Mapping[str, Any], version: int | None = None) -> TypedRow | Unreadable:
        """Open one row.

        Args:
            values: the value of each column.
            version: as in TypedRow.
        """
        try:
            members = {column.name: written(values[column.name], column.kind) for column in self.kept}
        except UnfitColumn as problem:
            return Unreadable(Reason(problem.code, "", str(problem)))
        return self.opened("{" + ", ".join(f"{quoted(name)}: {raw}" for name, raw in members.items()) + "}", version)

    def opened(self, raw: str, version: int | None = None) -> TypedRow | Unreadable:
        """Open one row from its JSON."""
        document = JsonRecord(raw)
        try:
            raw.encode()
            root, schema = parse(raw), self.schema
            walk = Walk(raw, root, schema, what="column")
        except UnicodeEncodeError:
            return Unreadable(Reason("encoding", "", "a value is not valid Unicode"), raw.encode(errors="replace"))
        except RecordProblem as problem:
            return Unreadable(Reason(problem.code, problem.field, str(problem)), document.data, document)
        columns = {child("", column.name): column for column in self.kept}
        own = root.value.get(self.key) if self.key else None
        return TypedRow(
            data_type=schema.data_type, schema=schema, texts=tuple(walk.texts),
            actions=tuple(_typed(action, columns, walk.nodes) for action in walk.actions),
            known=tuple(dict.fromkeys(walk.known)), patient=walk.scalar_at(schema.patient_key),
            id=walk.scalar_at(schema.id_key) if own is None else str(own.value or raw[own.start : own.end]),
            content=raw, nodes=walk.nodes, table=None, typed=self, columns=columns, version=version, after=b"\n",
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TypedRow(OpenRecord):
    """One row of a typed table, opened as a record. Its content and its output are JSON.

    Args:
        typed: its table.
        columns: its columns by path.
        version: a number that grows when the row is changed (its watermark), if the source has one.
        origin: its place in a Parquet file, from which values without a rule are copied.
    """

    table: None = field(default=None, kw_only=True)
    typed: TypedTable = field(kw_only=True, repr=False)
    columns: Mapping[str, TypedColumn] = field(kw_only=True, repr=False)
    version: int | None = field(kw_only=True)
    origin: Any = field(default=None, kw_only=True, repr=False)

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """Return the new JSON of the row. Every new value has the type of its column.

        Raises:
            AccountingError: as in OpenRecord.
            UnfitColumn: a new value does not fit its column.
        """
        account(self, changes, values)
        edits: list[Change] = []
        texts = {text.field: text.content for text in self.texts}
        for path, inside in changes.items():
            if inside:
                new = self._text(path, splice(texts[path], inside))
                node = self.nodes[path]
                edits += [(node.start, node.end, new)] if node.kind != "string" else string_edits(
                    self.content, node, inside)
        for action, value in values.items():
            node = self.nodes[action.text.field]
            edits.append((node.start, node.end, self._field(action, value)))
        return splice(self.content, edits)

    def _text(self, path: str, new: str) -> str:
        """Return a text with its edits as JSON, or raise UnfitColumn."""
        column = self.columns[path]
        if column.kind == "text" and (column.largest is None or len(new) <= column.largest):
            return quoted(new)
        if column.kind == "json":
            try:
                json.loads(new)
                return quoted(new)
            except ValueError:
                raise UnfitColumn("the new text is not valid JSON. Mask or drop the column", field=path) from None
        if column.kind == "text":
            raise _too_small(column, path, f"{len(new)} characters")
        return self._null(path)

    def _field(self, action: FieldAction, value: str) -> str:
        """Return the new value of a structured field as JSON. A label that does not fit becomes NULL."""
        path = action.text.field
        column = self.columns[path]
        fits = column.kind == "text" and (column.largest is None or len(value) <= column.largest)
        pattern = self.typed.schema.root.properties[column.name].pattern
        if action.action == "mask" and pattern is not None:
            fits = fits and pattern.fullmatch(value) is not None
        if action.action == "integer":
            new = int(value)
            if column.largest is not None and max(new, -new - 1) > column.largest:
                raise _too_small(column, path, f"an integer of {len(value)} digits")
            return value
        if action.action == "hash" and not fits:
            raise _too_small(column, path, f"a hash of {len(value)} characters")
        if column.kind in _TIMES:
            try:
                _TIMES[column.kind](value)
                fits = True
            except ValueError:
                pass  # a label, or a year alone
        return quoted(value) if fits else self._null(path)

    def _null(self, path: str) -> str:
        if not self.columns[path].nullable:
            raise UnfitColumn(
                "its replacement does not fit the type of the column, and the column does not allow NULL. Allow NULL "
                "in the destination, or use a policy that shifts dates", field=path,
            )  # fmt: skip
        return "null"


def _too_small(column: TypedColumn, path: str, what: str) -> UnfitColumn:
    limit = "which is not a text column" if column.kind != "text" else f"which holds at most {column.largest}"
    return UnfitColumn(f"the replacement is {what}, too large for its column, {limit}. Enlarge the column in the "
                       "destination", field=path)  # fmt: skip


def _typed(action: FieldAction, columns: Mapping[str, TypedColumn], nodes: Mapping[str, Node]) -> FieldAction:
    """Return the action that keeps the type of the column."""
    column, node = columns[action.text.field], nodes[action.text.field]
    if action.action == "hash" and node.kind == "integer" and column.kind == "integer":
        return replace(action, action="integer")
    if action.action == "mask" and column.kind in ("date", "datetime") and action.entity_type == "DATE":
        return replace(action, action="date")
    return action


def written(value: object, kind: Kind) -> str:
    """Return a value of a column as JSON. NaN and infinity, which JSON does not have, become null.

    Raises:
        UnfitColumn: the value has a type without a JSON form, such as bytes.
    """
    if isinstance(value, str):
        return quoted(value)
    if value is None or (isinstance(value, float | Decimal) and not Decimal(value).is_finite()):
        return "null"
    if isinstance(value, bool | int | float):
        return json.dumps(bool(value) if kind == "boolean" and value in (0, 1) else value)  # SQLite stores 0 and 1
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, date | datetime | time):
        return quoted(value.isoformat())
    if isinstance(value, UUID):
        return quoted(str(value))
    raise UnfitColumn("a column holds values that JSON cannot represent. Drop it, or read a view without it")


def read_back(raw: str, columns: Iterable[TypedColumn]) -> dict[str, Any]:
    """Return the values of a row from its JSON: the inverse of `written`, with dates and decimals as such."""
    members = json.loads(raw, parse_float=Decimal)
    for column in columns:
        value = members.get(column.name)
        if isinstance(value, str) and column.kind in _TIMES:
            members[column.name] = _TIMES[column.kind](value)
    return dict(members)
