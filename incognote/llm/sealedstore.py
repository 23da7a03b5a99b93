"""Stored answers: one SQLite file with neither values nor questions in clear text."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from incognote.errors import IncognoteError, KeyMissing, SettingError, UsageError, WrongKey
from incognote.keys import Keyring, MacKey, mac_row
from incognote.sqlite import WAIT, go_wal, private, transaction


class PlainStore:
    """Lines `{"address", "kind", "value"}`. Other keys are the author's notes. The first line of an address counts.

    Args:
        path: the file. It is read as a whole, and written to only by `put`.
        create: begin empty if it does not exist.

    Raises:
        SettingError: it does not exist and must not be created, or a line has another form.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._values: dict[str, bytes] = {}
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            if not create:
                raise SettingError("--recording: the file does not exist. Check the path.") from None
            lines = []
        except OSError:
            raise SettingError("The plain recording cannot be read. Check its path and permissions.") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                    self._values.setdefault(row["address"], written(row["value"]))
                except (ValueError, KeyError, TypeError):
                    raise SettingError(
                        f"Line {number} of the plain recording is not a JSON object with address, kind, and value."
                    ) from None

    def get(self, address: str) -> bytes | None:
        """Return the value under an address as canonical JSON, or None."""
        return self._values.get(address)

    def put(self, address: str, value: bytes, kind: str = "reply") -> bytes:
        """Append a value unless the address has one. Return the stored value.

        Raises:
            UsageError: the value is not JSON.
        """
        try:
            content = json.loads(value)
        except ValueError:
            raise UsageError("A plain recording can hold only JSON.") from None
        with self._lock:
            if address not in self._values:
                line = json.dumps({"address": address, "kind": kind, "value": content}, separators=(",", ":"))
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab", buffering=0) as out:  # one write, so that lines of two processes never mix
                    out.write(line.encode() + b"\n")
                self._values[address] = written(content)
            return self._values[address]

    def put_all(self, values: Iterable[tuple[str, bytes]]) -> None:
        """Append many values."""
        for address, value in values:
            self.put(address, value)

    def __len__(self) -> int:
        return len(self._values)

    def close(self) -> None:
        """Do nothing, since nothing is held open."""


def written(value: Any) -> bytes:
    """Return JSON in the one form that is stored and compared: ASCII, keys sorted, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


_APPLICATION = 0x494E4352  # "INCR", in SQLite's header: a file of another program is never written to
_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE answers (address BLOB PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE jobs (token TEXT PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID",
)


_PUT = (
    "INSERT OR IGNORE INTO answers SELECT ?, ? WHERE EXISTS (SELECT 1 FROM meta WHERE name = 'key_check' AND value = ?)"
)


class SealedStore:
    """Values under content addresses, and a few mutable rows (the batches under way).

    Several processes and threads may read and write. The address is stored as its HMAC, which also labels the sealed
    value, so that exchanged rows are detected. Mode 0600.

    Args:
        path: the file. SQLite keeps a `-wal` and a `-shm` beside it while it is open.
        keyring: a persistent one.
        create: create the file if it does not exist.

    Raises:
        KeyMissing: the key exists only in this process, so nothing could ever be read again.
        WrongKey: the file was made with another key.
        SettingError: the file does not exist and must not be created, cannot be opened, or is something else.
    """

    def __init__(self, path: Path, keyring: Keyring, *, create: bool = True) -> None:
        if not keyring.persistent:
            raise KeyMissing(
                "A recording needs a persistent key. Run `incognote key new`, or set key_file (INCOGNOTE_KEY_FILE)."
            )
        self.path = path
        self._keyring = keyring
        self._lock = threading.RLock()
        try:
            private(path, create=create)
            self._db = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error):
            raise SettingError(
                "The recording cannot be opened. Check that the file exists and that you own it."
            ) from None
        try:
            self._prepare()
        except sqlite3.Error:
            self._db.close()
            raise SettingError("The recording is damaged, or a file of another program. Choose another file.") from None
        except IncognoteError:
            self._db.close()
            raise

    def _prepare(self) -> None:
        with self._transaction():
            (ours,) = self._db.execute("PRAGMA application_id").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables:
                self._db.execute(f"PRAGMA application_id={_APPLICATION}")
                for table in _TABLES:
                    self._db.execute(table)
                meta = {"format": "1", "key_id": self._keyring.id, "key_check": self._keyring.check}
                self._db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            elif ours != _APPLICATION:
                raise SettingError("The recording is a file of another program. Choose another file.")
        meta = dict(self._db.execute("SELECT name, value FROM meta"))
        if meta.get("format") != "1":
            raise SettingError(
                "The recording was made by a newer version of incognote. Use that version, or another file."
            )
        self._keyring.require(meta.get("key_id", ""), meta.get("key_check", ""))
        self._places = MacKey.of(meta, self._keyring, "recording")
        go_wal(self._db)
        self._db.execute("PRAGMA synchronous=NORMAL")

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Run a transaction, all or nothing.

        With `durable`, it is on the disk at the end, even if the machine fails.
        """
        with self._lock:
            if durable:
                self._db.execute("PRAGMA synchronous=FULL")
            try:
                with transaction(self._db):
                    if durable:
                        self._require_key()
                    yield
            finally:
                if durable:
                    self._db.execute("PRAGMA synchronous=NORMAL")

    def _require_key(self) -> None:
        """Refuse to write into a file whose key was changed since it was opened."""
        meta = dict(self._db.execute("SELECT name, value FROM meta"))
        self._keyring.require(meta.get("key_id", ""), meta.get("key_check", ""))

    def get(self, address: str) -> bytes | None:
        """Return the value under an address, or None.

        Raises:
            WrongKey: the row was damaged or exchanged.
        """
        place = self._places.mac(address)
        with _own_errors(), self._lock:
            row = self._db.execute("SELECT sealed FROM answers WHERE address = ?", (place,)).fetchone()
        return None if row is None else self._keyring.open("recording", row[0], place.hex())

    def put(self, address: str, value: bytes) -> bytes:
        """Store a value unless the address has one. Return the stored value."""
        place = self._places.mac(address)
        sealed = self._keyring.seal("recording", value, place.hex())
        with _own_errors(), self._lock:
            done = self._db.execute(_PUT, (place, sealed, self._keyring.check))
            if done.rowcount < 1:
                self._require_key()
        if done.rowcount == 1:
            return value
        stored = self.get(address)
        return value if stored is None else stored

    def put_all(self, values: Iterable[tuple[str, bytes]]) -> None:
        """Store many values; the first writer of each wins. They are on the disk, all or none, when this returns."""
        rows = []
        for address, value in values:
            place = self._places.mac(address)
            rows.append((place, self._keyring.seal("recording", value, place.hex())))
        with _own_errors(), self._transaction(durable=True):
            self._db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)

    def purge(self, holds: Callable[[bytes], bool], *, only_count: bool = False) -> int:
        """Delete every value for which `holds` is true, and overwrite its place in the file. Return how many.

        Args:
            only_count: delete nothing.

        Raises:
            WrongKey: a row was damaged or exchanged.
        """
        gone = 0
        with _own_errors(), self._lock:
            self._db.execute("PRAGMA secure_delete=ON")
            places = [place for (place,) in self._db.execute("SELECT address FROM answers")]
            for place in places:
                row = self._db.execute("SELECT sealed FROM answers WHERE address = ?", (place,)).fetchone()
                if row is None or not holds(self._keyring.open("recording", row[0], place.hex())):
                    continue
                if only_count:
                    gone += 1
                else:
                    gone += self._db.execute("DELETE FROM answers WHERE address = ?", (place,)).rowcount
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def jobs(self) -> dict[str, bytes]:
        """Return the mutable rows, by token."""
        with _own_errors(), self._lock:
            rows = self._db.execute("SELECT token, sealed FROM jobs ORDER BY token").fetchall()
        return {token: self._keyring.open("recording", sealed, f"job {token}") for token, sealed in rows}

    def set_job(self, token: str, value: bytes) -> None:
        """Write or overwrite a mutable row. It is on the disk when this returns."""
        sealed = self._keyring.seal("recording", value, f"job {token}")
        with _own_errors(), self._transaction(durable=True):
            self._db.execute("INSERT OR REPLACE INTO jobs VALUES (?, ?)", (token, sealed))

    def drop_job(self, token: str) -> None:
        """Remove a mutable row, if it still exists."""
        with _own_errors(), self._transaction(durable=True):
            self._db.execute("DELETE FROM jobs WHERE token = ?", (token,))

    def _rekeyed(self, new: Keyring) -> int:
        done = 0
        with self._transaction(durable=True):
            for table, name, label in (("answers", "address", "{}"), ("jobs", "token", "job {}")):
                keys = [key for (key,) in self._db.execute(f"SELECT {name} FROM {table}")]  # noqa: S608 -- our names
                for key in keys:
                    row = self._db.execute(f"SELECT sealed FROM {table} WHERE {name} = ?", (key,)).fetchone()  # noqa: S608 -- as above
                    sealed = new.resealed(
                        self._keyring, "recording", row[0], label.format(key.hex() if isinstance(key, bytes) else key)
                    )
                    self._db.execute(f"UPDATE {table} SET sealed = ? WHERE {name} = ?", (sealed, key))  # noqa: S608 -- as above
                    done += 1
            meta = {"key_id": new.id, "key_check": new.check, mac_row("recording"): self._places.kept(new, "recording")}
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return done

    def __len__(self) -> int:
        with _own_errors(), self._lock:
            (count,) = self._db.execute("SELECT count(*) FROM answers").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the file. The last process to close it folds the `-wal` into it."""
        with self._lock:
            self._db.close()


def rekey(path: Path, former: Keyring, new: Keyring) -> int:
    """Move a recording to another key, all of it or nothing.

    Return the number of resealed rows; 0 if it was done before.

    Rows keep their place. Addresses are hashes of requests, and the derived key that hides them is carried over.

    Raises:
        SettingError: the recording does not exist.
        WrongKey: it is under neither key, or damaged.
        IncognoteError: the disk is full or not writable, and nothing was changed.
    """
    try:
        SealedStore(path, new, create=False).close()
        return 0
    except WrongKey:
        store = SealedStore(path, former, create=False)
    try:
        with _own_errors():
            store._db.execute("PRAGMA secure_delete=ON")
            return store._rekeyed(new)
    finally:
        store.close()


@contextmanager
def _own_errors() -> Iterator[None]:
    """Turn SQLite's errors into ours, with their name only."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise IncognoteError(f"The recording cannot be used ({name}). Check the disk space and permissions.") from None
