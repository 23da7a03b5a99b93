"""The two databases that a ledger can use: how to open them, their clocks, and the meaning of their errors."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Float, create_engine, event, literal_column
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from incognote.errors import LedgerRejected, LedgerUnavailable, MissingExtra, SettingError
from incognote.sqlite import WAIT, go_wal, private

T = TypeVar("T")
_NAMED = "ledger: use sqlite:///FILE or postgresql://USER@HOST/NAME. Put the password in a file, and set PGPASSFILE."
_CLOCKS = {
    "postgresql": "extract(epoch from clock_timestamp())",
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
}
_AGAIN = ("40001", "40P01")  # PostgreSQL: serialization failure, deadlock
_TRIES = 12


class Database:
    """Transactions on one database.

    Args:
        url: see _NAMED.

    Raises:
        SettingError: the URL is not of a supported database.
        MissingExtra: psycopg is not installed.
        LedgerUnavailable: the file cannot be opened.
    """

    def __init__(self, url: str) -> None:
        try:
            made = make_url(url)
        except ArgumentError:
            raise SettingError(_NAMED) from None
        self.vendor = made.get_backend_name()
        if self.vendor == "postgresql":
            try:
                self._engine = create_engine(
                    made.set(drivername="postgresql+psycopg"), hide_parameters=True, pool_pre_ping=True,
                    connect_args={"connect_timeout": 10},
                )  # fmt: skip
            except ImportError:
                raise MissingExtra("service", "a ledger in PostgreSQL") from None
        elif self.vendor == "sqlite" and made.database and made.database != ":memory:":
            self._engine = _sqlite(Path(made.database))
        else:
            raise SettingError(_NAMED)
        self.now: ColumnElement[float] = literal_column(_CLOCKS[self.vendor], Float(53))
        """The database's own clock, in seconds since 1970, since the clocks of machines may differ."""

    def run(self, work: Callable[[Connection], T]) -> T:
        """Run one transaction. Retry it if it conflicts with another.

        Raises:
            LedgerUnavailable: the transaction may or may not have taken effect.
            LedgerRejected: the database refuses.
        """
        for left in reversed(range(_TRIES)):
            try:
                with self._engine.begin() as db:
                    return work(db)
            except (OperationalError, InterfaceError) as error:
                if left and _in_the_way(error):
                    time.sleep(random.uniform(0, 0.05))  # noqa: S311 -- so that the two do not collide again
                    continue
                raise LedgerUnavailable(f"The ledger database does not answer ({_name(error)}).") from None
            except DBAPIError as error:
                if error.connection_invalidated:
                    raise LedgerUnavailable(
                        f"The connection to the ledger database was lost ({_name(error)})."
                    ) from None
                raise LedgerRejected(f"The ledger database refused the request ({_name(error)}).") from None
            except SQLAlchemyError as error:
                raise LedgerUnavailable(
                    f"The ledger database does not answer ({type(error).__name__})."
                ) from None
        raise AssertionError  # the last round returns or raises

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _sqlite(path: Path) -> Engine:
    try:
        private(path, create=True)
    except OSError as error:
        raise LedgerUnavailable(f"The ledger file cannot be opened: {error.strerror}.") from None
    engine = create_engine(f"sqlite:///{path}", hide_parameters=True, connect_args={"timeout": WAIT})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        go_wal(connection)

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # a reader that writes later would be refused at once

    return engine


def _in_the_way(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in _AGAIN or "SQLITE_BUSY" in _name(error)


def _name(error: DBAPIError) -> str:
    """Return what may be shown of an error: its code or class, never its message."""
    codes = (getattr(error.orig, name, None) for name in ("sqlite_errorname", "sqlstate"))
    return next(filter(None, codes), type(error.orig).__name__)
