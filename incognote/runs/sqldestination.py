"""A table of a database as the destination of a worker: each row is there once, in its latest version.

A shard is staged as one row of the table `incognote_staged`. Placing it writes its rows and removes it in one
transaction, so it can be repeated. The table `incognote_rows` keeps the version and the shard of each row. An older
version never replaces a newer one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from incognote.errors import Unwritable, UsageError
from incognote.formats.records.typed import TypedColumn, TypedTable, read_back
from incognote.runs.sql import TableDatabase, typed

_METADATA = sa.MetaData()
_STAGED = sa.Table(
    "incognote_staged", _METADATA, sa.Column("shard", sa.String(100), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)  # fmt: skip
_ROWS = sa.Table(
    "incognote_rows", _METADATA, sa.Column("target", sa.String(200), primary_key=True),
    sa.Column("key", sa.String(200), primary_key=True), sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("record", sa.BigInteger, nullable=False), sa.Column("shard", sa.String(100), nullable=False),
    sa.Column("line", sa.Integer, nullable=False),
    sa.Column("key_column", sa.String(200), nullable=False), sa.Index("incognote_rows_shard", "shard", "line"),
)  # fmt: skip
_MANY = 500  # rows in one statement


class SqlDestination:
    """A table that a worker fills. It is created if it does not exist, with the columns of the source.

    Args:
        name: the table, as in `TableDatabase.table`.
        rows: the columns of the source, and what happens to them.
        source: the source table, for the types of the columns.

    Raises:
        UsageError: the table cannot be used, or the schema masks the key.
        Unwritable: the database does not answer.
    """

    numbered = True
    """Shards have the version and the ledger's id of each record before its line."""

    def __init__(self, database: TableDatabase, name: str, rows: TypedTable, source: sa.Table) -> None:
        self._database, self._name = database, name
        key = rows.key
        assert key is not None  # a row of a database has a key
        rule = rows.schema.root.properties[key]
        if rule.flag not in ("pass", "hash"):
            raise UsageError(f"--key: the key {key} must be passed or hashed. Masked rows could not be told apart.")
        found = database.table(name)
        with self._failing():
            if found is None:
                found = self._created(name, rows, source)
            _METADATA.create_all(database.engine)
        self._table = found
        absent = [column.name for column in rows.kept if column.name not in found.c]
        if absent:
            raise UsageError(f"--into: the table {name} has no column {', '.join(absent)}. Add it, or drop it.")
        made = [c.name for c in found.c if c.name in rows.schema.root.properties and (c.computed or c.identity)]
        if made:
            raise UsageError(f"--into: the database computes {', '.join(made)}. Make it a plain column, or drop it.")
        self._key = found.c[key]
        self.columns = tuple(self._fitting(column, found.c[column.name]) for column in rows.kept)
        """The columns of the source, with the sizes of the destination."""
        self._uuids = [column.name for column in found.c if isinstance(column.type, sa.Uuid)]
        self._target = f"{found.schema or ''}.{found.name}"

    def _created(self, name: str, rows: TypedTable, source: sa.Table) -> sa.Table:
        """Create the table. Columns whose values are replaced allow NULL and any length."""
        columns = []
        for column in rows.kept:
            rule = rows.schema.root.properties[column.name]
            declared = source.c[column.name]
            of_type = declared.info.get("declared", declared.type).as_generic(allow_nulltype=True)
            if isinstance(of_type, sa.String) and rule.flag != "pass":
                of_type = sa.Text()
            own = column.name == rows.key
            if own and isinstance(of_type, sa.Text):
                of_type = sa.String(200)
            nullable = not own and (rule.flag != "pass" or column.nullable)
            columns.append(sa.Column(column.name, of_type, primary_key=own, nullable=nullable, autoincrement=False))
        schema, _, own_name = name.replace('"', "").rpartition(".")
        made = sa.Table(own_name, sa.MetaData(), *columns, schema=schema or None)
        made.create(self._database.engine)
        found = self._database.table(name)
        assert found is not None  # it was created above
        return found

    def _fitting(self, column: TypedColumn, ours: sa.Column[Any]) -> TypedColumn:
        found = typed(ours)
        if found is None or (found.kind != column.kind and "text" not in (found.kind, column.kind)):
            raise UsageError(f"--into: {self._name}.{column.name} has another type than the source. Change its type.")
        return found

    def stage(self, name: str, data: bytes) -> None:
        """Store a shard. Its lines are `VERSION RECORD ROW`, with the row as JSON."""
        with self._failing(), self._database.engine.begin() as db:
            db.execute(sa.delete(_STAGED).where(_STAGED.c.shard == name))
            db.execute(sa.insert(_STAGED).values(shard=name, data=data))

    def place(self, name: str) -> None:
        """Write the rows of a shard, each unless a newer version is there."""
        with self._failing(), self._database.engine.begin() as db:
            staged = sa.select(_STAGED.c.data).where(_STAGED.c.shard == name)
            if self._database.vendor == "postgresql":
                staged = staged.with_for_update()
            data = db.scalar(staged)
            if data is None:
                return  # another worker has placed it
            lines = [line.split(b" ", 2) for line in data.splitlines()]
            newest = self._newest(name, lines)
            for start in range(0, len(newest), _MANY):
                self._write(db, newest[start : start + _MANY])
            db.execute(sa.delete(_STAGED).where(_STAGED.c.shard == name))

    def _newest(self, shard: str, lines: Sequence[Sequence[bytes]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return each row of a shard with its entry in `incognote_rows`. Of two versions, the newer one is returned."""
        rows: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        for number, (version, record, raw) in enumerate(lines, 1):
            values = json.loads(raw) if self._database.vendor == "sqlite" else read_back(raw.decode(), self.columns)
            key = str(values[self._key.name])
            for name in self._uuids:
                values[name] = values[name] and UUID(values[name])
            entry = {"target": self._target, "key": key, "version": int(version), "record": int(record),
                     "shard": shard, "line": number, "key_column": self._key.name}  # fmt: skip
            if key not in rows or _age(rows[key][1]) < _age(entry):
                rows[key] = values, entry
        return [rows[key] for key in sorted(rows)]  # in a fixed order, so that two workers cannot deadlock

    def _write(self, db: sa.Connection, rows: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> None:
        dialect = postgresql if self._database.vendor == "postgresql" else sqlite
        put = dialect.insert(_ROWS)
        new, age = put.excluded, (_ROWS.c.version, _ROWS.c.record)
        put = put.on_conflict_do_update(
            index_elements=["target", "key"], set_={name: new[name] for name in ("version", "record", "shard", "line")},
            where=sa.tuple_(*age) < sa.tuple_(new.version, new.record),
        )  # fmt: skip
        current: set[str] = set()
        for _, entry in rows:  # one by one: the database says for each whether it is the newest
            if db.execute(put.values(**entry).returning(_ROWS.c.key)).first() is not None:
                current.add(entry["key"])
        values = [row for row, entry in rows if entry["key"] in current]
        if values:
            db.execute(sa.delete(self._table).where(self._key.in_([row[self._key.name] for row in values])))
            db.execute(sa.insert(self._table), values)

    def discard(self, name: str) -> None:
        with self._failing(), self._database.engine.begin() as db:
            db.execute(sa.delete(_STAGED).where(_STAGED.c.shard == name))

    def put(self, name: str, data: bytes) -> None:
        raise Unwritable("A table holds rows only. Write this file to a folder.")

    def readable(self) -> bool | None:
        return True  # it must read the versions of its rows

    def holds(self, folder: str) -> bool | None:
        with self._failing(), self._database.engine.connect() as db:
            there = sa.select(_ROWS.c.key).where(_ROWS.c.shard.startswith(f"{folder}/"), _ROWS.c.target == self._target)
            return db.execute(there.limit(1)).first() is not None

    def _failing(self) -> Any:
        return self._database.failing(Unwritable, "The destination database failed")


def _age(entry: dict[str, Any]) -> tuple[int, int]:
    return entry["version"], entry["record"]


class TableTombstones:
    """Deletes rows of the tables of a database for a recall."""

    def __init__(self, database: TableDatabase) -> None:
        self._database = database

    def put(self, name: str, data: bytes) -> None:
        """Delete the rows that a list of tombstones names by shard and line.

        Raises:
            Unwritable: the database failed, and no row is deleted.
        """
        listed = [(one["shard"], one["line"]) for one in map(json.loads, data.splitlines())]
        with self._database.failing(Unwritable, "The destination database failed"), self._database.engine.begin() as db:
            for shard, line in listed:
                here = (_ROWS.c.shard == shard) & (_ROWS.c.line == line)
                for row in db.execute(sa.select(_ROWS).where(here)).all():
                    schema, _, table = row.target.partition(".")
                    key: sa.ColumnClause[Any] = sa.column(row.key_column)
                    rows = sa.table(table, key, schema=schema or None)
                    db.execute(sa.delete(rows).where(sa.cast(key, sa.String) == row.key))
                db.execute(sa.delete(_ROWS).where(here))

    def holds(self, folder: str) -> bool | None:
        return False  # there are no files to find
