"""SQLite files as every store of ours keeps them: their owner's alone, readers and writers side by side."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from errno import EACCES, EISDIR, ENOENT
from pathlib import Path

WAIT = 30.0
"""Seconds that one process waits for another's transaction."""


def private(path: Path, *, create: bool) -> None:
    """See to it that a file is its owner's alone before SQLite opens it; `-wal` and `-shm` inherit the mode.

    A file that is there is not opened here: closing it would drop the locks of every connection that this process has
    to it. Another process would then delete the write-ahead log with what was committed to it.

    Raises:
        OSError: it is not there and must not be made, or may not be opened.
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
    with suppress(PermissionError):  # another's file, which a group shares on purpose
        path.chmod(0o600)


def sqlite_file(url: str) -> Path | None:
    """The file that `sqlite:///FILE` names; None for any other address."""
    _, found, path = url.partition("sqlite:///")
    return Path(path) if found and path else None


def fold(path: Path) -> None:
    """Fold the write-ahead log into the file, so that no replaced page is left in it; others may hold that up."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=1)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def transaction(db: sqlite3.Connection, *, writes: bool = True) -> Iterator[None]:
    """All or nothing, on a connection that begins none by itself (`isolation_level=None`).

    Args:
        writes: take the right to write at once: a reader that later writes would be refused.
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
    """Readers and writers side by side. The switch itself does not wait for others, so it is tried again.

    Raises:
        sqlite3.OperationalError: not within WAIT seconds.
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
