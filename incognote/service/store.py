"""Databases that the service keeps beside the ledger: SQLite in one file, or PostgreSQL, through SQLAlchemy.

The writer of a table seals what it holds of a record. An error of the database never quotes parameters.
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
    """One database and the tables of one part of the service. Missing tables are created.

    Args:
        url: `sqlite:///FILE` or `postgresql://user:password@host/name`.
        metadata: the tables; one of them is `meta`.
        meta: a table of `name` and `value`, both strings, which stores the version and the key.
        version: the version of the tables. A database of another version is refused.
        keyring: the key that seals the data.

    Raises:
        SettingError: the URL is not of a supported database.
        WrongKey: the data was made with another key, or the key is ephemeral.
        IncognoteError: the database failed, or another version of incognote made the tables.
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
                pass  # it opens, or `reading` gives the reason
            self._make(metadata)
            stored = self._remembered(meta, {"version": str(version), "key": keyring.id, "check": keyring.check})
            if stored["version"] != str(version):
                raise IncognoteError(
                    f"The tables of the database have version {stored['version']}, but this program needs {version}."
                )
            keyring.require(stored["key"], stored["check"])
            self._rows = stored
        except IncognoteError:
            self._engine.dispose()
            raise

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Run a transaction. It is committed at the end, and rolled back if an error is raised.

        Raises:
            WrongKey: the key was changed since the database was opened, and nothing was written.
        """
        with self.reading(), self._engine.begin() as connection:
            yield connection
            if self._rows is not None:  # at the end: after a write, a change of the key must wait for the commit
                self._still_ours(connection)

    def mac(self, purpose: Purpose, message: str, *scope: str) -> bytes:
        """Like `Keyring.mac`, but with the same result after a change of the key.

        For names that are stored and looked up.
        """
        return MacKey.of(self._rows or {}, self._keyring, purpose, *scope).mac(message)

    def _still_ours(self, connection: Connection) -> None:
        from sqlalchemy import select

        asked = select(self._meta.c.name, self._meta.c.value).where(self._meta.c.name.in_(("key", "check")))
        stored = {row.name: row.value for row in connection.execute(asked)}
        self._keyring.require(stored["key"], stored["check"])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn errors of the database into ours, with their class only."""
        from sqlalchemy.exc import IntegrityError, SQLAlchemyError

        try:
            yield
        except IntegrityError:  # for the caller: a unique constraint decided
            raise
        except SQLAlchemyError as error:
            raise Unwritable(
                f"The database of the service does not answer ({type(error).__name__}). Check it."
            ) from None

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _make(self, metadata: MetaData) -> None:
        """Create the tables.

        Another process may do so at the same time, and one of the two then gets an error and retries.
        """
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
        """Return the database's metadata. The first process writes it."""
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
    """Open a database by its URL. A missing SQLite file is created.

    Raises:
        SettingError, MissingExtra, IncognoteError: as in `ServiceStore`.
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
