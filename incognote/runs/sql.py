"""Tables of a database: how to open them, their columns, and what may be shown of their errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from incognote.errors import MissingExtra, StoreProblem, UsageError
from incognote.formats.records.typed import Kind, TypedColumn
from incognote.runs.location import Location

try:
    import sqlalchemy as sa
    from sqlalchemy.engine import URL, make_url
    from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, NoSuchTableError, SQLAlchemyError
except ImportError:
    raise MissingExtra("sql", "a database") from None

_FORM = "Use sqlite:///FILE or postgresql://USER@HOST/NAME"
_TABLE = re.compile(r'(?:(?P<schema>"[^"]+"|[^".]+)\.)?(?P<name>"[^"]+"|[^".]+)')
_INTEGERS = ((sa.SmallInteger, 2**15 - 1), (sa.BigInteger, 2**63 - 1), (sa.Integer, 2**31 - 1))


def is_database(given: str) -> bool:
    """Whether a location is the URL of a database."""
    return given.partition(":")[0] in ("sqlite", "postgresql", "postgresql+psycopg")


class TableDatabase:
    """A database that holds a source or a destination table.

    Args:
        url: `sqlite:///FILE`, or `postgresql://USER@HOST/NAME` without a password. libpq takes the password from
            PGPASSWORD, or from the file in PGPASSFILE.
        option: the name of the option that gave the URL, for messages.
        writes: whether tables are written. Otherwise the connections are read-only.

    Attributes:
        shown: the URL without user, password, and parameters.
        place: the location of an SQLite file; None for a server.

    Raises:
        UsageError: the URL is not usable. MissingExtra: the driver is not installed.
    """

    def __init__(self, url: str, option: str, *, writes: bool = False) -> None:
        try:
            made = make_url(url)
        except ArgumentError:
            raise UsageError(f"{option} is not the URL of a database. {_FORM}.") from None
        if made.password is not None or "password" in made.query:
            raise UsageError(
                f"{option}: other users of this computer can see a password in a URL. Remove it, and set PGPASSWORD or "
                "PGPASSFILE."
            )
        self.option, self.vendor = option, made.get_backend_name()
        self.place: Location | None = None
        self.shown = URL.create(self.vendor, None, None, made.host, made.port, made.database).render_as_string()
        if self.vendor == "sqlite":
            made = self._of_file(made, writes=writes)
        elif self.vendor == "postgresql":
            made = made.set(drivername="postgresql+psycopg")
        else:
            raise UsageError(f"{option}: this kind of database is not supported. {_FORM}.")
        try:
            self.engine = sa.create_engine(
                made, hide_parameters=True, poolclass=sa.NullPool if writes else None, pool_pre_ping=not writes,
                json_serializer=lambda text: text, json_deserializer=_unchanged,  # JSON stays as it is written
            )  # fmt: skip
        except (ImportError, NoSuchModuleError):
            raise MissingExtra("sql", "a database in PostgreSQL") from None
        if not writes and self.vendor == "postgresql":
            sa.event.listen(self.engine, "connect", _read_only)
        if writes and self.vendor == "sqlite":
            sa.event.listen(self.engine, "connect", _in_our_hands)
            sa.event.listen(self.engine, "begin", lambda db: db.exec_driver_sql("BEGIN IMMEDIATE"))

    def _of_file(self, made: URL, *, writes: bool) -> URL:
        if not made.database or made.database == ":memory:":
            raise UsageError(f"{self.option}: name the SQLite file: sqlite:///FILE.")
        file = os.path.realpath(made.database)
        self.place = Location(file)
        if not writes and not os.path.isfile(file):
            raise UsageError(f"{self.option}: {made.database}: no such file.")
        mode = "rwc" if writes else "ro"
        return URL.create("sqlite", database=f"file:{file}", query={"uri": "true", "mode": mode, "timeout": "60"})

    def table(self, name: str) -> sa.Table | None:
        """Return the columns of a table or view; None if it does not exist.

        Args:
            name: `TABLE` or `SCHEMA.TABLE`. Names that contain a dot are in double quotes.

        Raises:
            UsageError: the name is malformed, or the database cannot be read.
        """
        parts = _TABLE.fullmatch(name)
        if parts is None:
            raise UsageError("--table must be TABLE or SCHEMA.TABLE. Put a name that contains a dot in double quotes.")
        schema, own = (part and part.strip('"') for part in (parts["schema"], parts["name"]))
        try:
            listen = [("column_reflect", _plain)] if self.vendor == "sqlite" else []
            return sa.Table(own, sa.MetaData(), schema=schema, autoload_with=self.engine, listeners=listen)
        except NoSuchTableError:
            return None
        except SQLAlchemyError as error:
            raise UsageError(
                f"{self.option}: the database cannot be read ({error_name(error)}). Check its address, and "
                "the password in PGPASSWORD or PGPASSFILE."
            ) from None

    @contextmanager
    def failing(self, problem: type[StoreProblem], what: str) -> Iterator[None]:
        """Turn an error of the database into one of ours, which says nothing about values."""
        try:
            yield
        except SQLAlchemyError as error:
            raise problem(f"{what} ({error_name(error)}).") from None

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


def typed(column: sa.Column[Any]) -> TypedColumn | None:
    """Return a column's type; None if its values are binary or of a type that cannot be read."""
    declared, nullable = column.info.get("declared", column.type), bool(column.nullable)
    kinds: tuple[tuple[type[Any], Kind], ...] = (
        (sa.Enum, "other"), (sa.Uuid, "other"), (sa.DateTime, "datetime"), (sa.Date, "date"), (sa.Time, "time"),
        (sa.Boolean, "boolean"), (sa.Float, "number"), (sa.Numeric, "number"), (sa.JSON, "json"),
    )  # fmt: skip
    if isinstance(declared, sa.types.NullType | sa.LargeBinary):
        return None
    for of_type, kind in kinds:
        if isinstance(declared, of_type):
            return TypedColumn(column.name, kind, None, nullable)
    for whole, largest in _INTEGERS:
        if isinstance(declared, whole):
            free = column.info.get("declared") is not None  # an SQLite integer has 64 bits
            return TypedColumn(column.name, "integer", 2**63 - 1 if free else largest, nullable)
    if isinstance(declared, sa.String):
        return TypedColumn(column.name, "text", declared.length, nullable)
    return None


def error_name(error: Exception) -> str:
    """Return what may be shown of a database error: its code or class, never its message."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    codes = (getattr(origin, name, None) for name in ("sqlite_errorname", "sqlstate"))
    return str(next(filter(None, codes), type(origin).__name__))


def _plain(inspector: Any, table: Any, column: Any) -> None:
    """Read the values of SQLite as they are stored. It does not check them against the declared type."""
    declared = column["type"]
    column["info"] = {"declared": declared}
    if not isinstance(declared, sa.LargeBinary | sa.types.NullType):
        column["type"] = _Stored()


class _Stored(sa.types.UserDefinedType[Any]):
    """A type without conversion of values."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return ""


def _unchanged(written: str | bytes) -> str:
    return written if isinstance(written, str) else written.decode()


def _read_only(connection: Any, record: Any) -> None:
    connection.read_only = True


def _in_our_hands(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin with BEGIN IMMEDIATE, not by the driver
