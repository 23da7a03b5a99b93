"""How all our stores use SQLite files: private to their owner, with concurrent readers and writers."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from errno import EACCES, EISDIR, ENOENT
from pathlib import Path

WAIT = 30.0
"""The wait in seconds for another process's transaction."""


def private(path: Path, *, create: bool) -> None:
    """Make sure that a file is private to its owner before SQLite opens it. `-wal` and `-shm` inherit the mode.

    An existing file is not opened here. Closing it would drop the locks of every connection that this process has to
    it. Another process would then delete the write-ahead log with its committed content.

    Raises:
        OSError: the file does not exist and must not be created, or opening it is not permitted.
    """
    path = Path(os.path.realpath(path))
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    fault = 0 if path.is_file() else EISDIR if path.is_dir() else ENOENT
    fault = fault or (0 if os.access(path, os.R_OK | os.W_OK) else EACCES)
    if fault:
        raise OSError(fault, os.strerror(fault))
    with suppress(PermissionError):  # another user's file, shared with a group on purpose
        path.chmod(0o600)


def sqlite_file(url: str) -> Path | None:
    """Return the file that `sqlite:///FILE` names; None for any other address."""
    _, found, path = url.partition("sqlite:///")
    return Path(path) if found and path else None


def fold(path: Path) -> None:
    """Fold the write-ahead log into the file, so that no replaced page is left in it.

    Other connections may prevent this.
    """
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=1)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def transaction(db: sqlite3.Connection, *, writes: bool = True) -> Iterator[None]:
    """Run a block as one transaction, on a connection that begins none by itself (`isolation_level=None`).

    Args:
        writes: take the write lock at once. A reader that writes later would be refused.
    """
    db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def go_wal(db: sqlite3.Connection) -> None:
    """Switch to WAL mode, for concurrent readers and writers.

    The switch does not wait for other connections, so it is retried.

    Raises:
        sqlite3.OperationalError: the switch did not succeed within WAIT seconds.
    """
    until = time.monotonic() + WAIT
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
