"""Databases that the service keeps beside the ledger: SQLite in one file, or PostgreSQL, through SQLAlchemy.

What a table holds of a record is sealed by whoever writes it; an error of the database never quotes parameters.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import IncognoteError, MissingExtra, SettingError, Unwritable
from incognote.keys import Keyring, MacKey, Purpose
from incognote.sqlite import WAIT, go_wal, private

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, MetaData, Table

_TRIES = 5


class ServiceStore:
    """One database and the tables of one part of the service; made where they are not there yet.

    Args:
        url: `sqlite:///FILE` or `postgresql://user:password@host/name`.
        metadata: the tables; one of them is `meta`.
        meta: a table of `name` and `value`, both strings; it remembers the version and the key.
        version: of the tables; a database of another version is refused.
        keyring: what is sealed there is sealed with it.

    Raises:
        SettingError: the URL names no database we know.
        WrongKey: another key made what is there, or the key is ephemeral.
        IncognoteError: the database does not serve, or another version of incognote made the tables.
    """

    def __init__(self, url: str, metadata: MetaData, meta: Table, version: int, keyring: Keyring) -> None:
        if not keyring.persistent:
            from incognote.errors import WrongKey

            raise WrongKey(
                "The service needs a persistent key, or its data could never be opened. Run: incognote key new"
            )
        self._engine = open_engine(url)
        self._meta, self._keyring = meta, keyring
        self._rows: dict[str, str] | None = None
        try:
            with self.reading(), self._engine.connect():
                pass  # it opens, or `reading` says why not
            self._make(metadata)
            stands = self._remembered(meta, {"version": str(version), "key": keyring.id, "check": keyring.check})
            if stands["version"] != str(version):
                raise IncognoteError(
                    f"The tables of the database have version {stands['version']}, but this program needs {version}."
                )
            keyring.require(stands["key"], stands["check"])
            self._rows = stands
        except IncognoteError:
            self._engine.dispose()
            raise

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction: committed at the end, rolled back when something is raised.

        Raises:
            WrongKey: the key was changed since this was opened; nothing was written.
        """
        with self.reading(), self._engine.begin() as connection:
            yield connection
            if self._rows is not None:  # at the end: what wrote holds up a change of the key until it is committed
                self._still_ours(connection)

    def mac(self, purpose: Purpose, message: str, *scope: str) -> bytes:
        """As `Keyring.mac`, but the same after a change of the key: for names that are kept and sought again."""
        return MacKey.of(self._rows or {}, self._keyring, purpose, *scope).mac(message)

    def _still_ours(self, connection: Connection) -> None:
        from sqlalchemy import select

        asked = select(self._meta.c.name, self._meta.c.value).where(self._meta.c.name.in_(("key", "check")))
        stands = {row.name: row.value for row in connection.execute(asked)}
        self._keyring.require(stands["key"], stands["check"])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of the database as ours, by their class only."""
        from sqlalchemy.exc import IntegrityError, SQLAlchemyError

        try:
            yield
        except IntegrityError:  # the caller's to read: a unique key decided
            raise
        except SQLAlchemyError as error:
            raise Unwritable(
                f"The database of the service does not answer ({type(error).__name__}). Check it."
            ) from None

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def _make(self, metadata: MetaData) -> None:
        """Make the tables; another process may be at it too, and then one of the two is told so."""
        from sqlalchemy.exc import SQLAlchemyError

        for left in reversed(range(_TRIES)):
            try:
                metadata.create_all(self._engine)
                return
            except SQLAlchemyError as error:
                if not left:
                    raise IncognoteError(
                        f"The tables of the service cannot be made ({type(error).__name__}). Check the permissions "
                        "of the database."
                    ) from None

    def _remembered(self, meta: Table, words: dict[str, str]) -> dict[str, str]:
        """What the database says of itself; whoever comes first writes it."""
        from sqlalchemy import insert, select
        from sqlalchemy.exc import IntegrityError

        for name, value in words.items():
            try:
                with self.begin() as connection:
                    if connection.execute(select(meta.c.value).where(meta.c.name == name)).first() is None:
                        connection.execute(insert(meta).values(name=name, value=value))
            except IntegrityError:
                continue  # another process has just written it
        with self.begin() as connection:
            return {row.name: row.value for row in connection.execute(select(meta.c.name, meta.c.value))}


def open_engine(url: str) -> Engine:
    """A database by its address; a file of SQLite is made where there is none.

    Raises:
        SettingError, MissingExtra, IncognoteError: as `ServiceStore`.
    """
    try:
        from sqlalchemy import create_engine, event
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:
        raise MissingExtra("service", "the service's database") from None
    try:
        made = make_url(url)
    except ArgumentError:
        raise SettingError("The database must be sqlite:///FILE or postgresql://USER@HOST/NAME.") from None
    vendor = made.get_backend_name()
    if vendor == "postgresql":
        return create_engine(made.set(drivername="postgresql+psycopg"), hide_parameters=True, pool_pre_ping=True)
    if vendor != "sqlite" or not made.database:
        raise SettingError("The database must be sqlite:///FILE or postgresql://USER@HOST/NAME.")
    path = Path(made.database)
    try:
        private(path, create=True)
    except OSError as error:
        raise IncognoteError(f"The database of the service cannot be opened: {error.strerror}.") from None
    engine = create_engine(made, hide_parameters=True, connect_args={"timeout": WAIT})

    @event.listens_for(engine, "connect")
    def _settings(connection: sqlite3.Connection, record: Any) -> None:
        go_wal(connection)

    return engine
