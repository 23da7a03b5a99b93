"""The embedded index: one SQLite file, shared by threads and processes of one machine."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from incognote.errors import IndexRejected, IndexUnavailable
from incognote.relex.index.docs import (
    CountDocs,
    Counted,
    Create,
    Delete,
    Doc,
    Get,
    NearestIdentities,
    Op,
    Page,
    Program,
    Scan,
    Swap,
)
from incognote.relex.index.matrix import Matrix, filled
from incognote.relex.index.sealing import Meta, Sealer
from incognote.sqlite import WAIT, go_wal, private, transaction

T = TypeVar("T")
_APPLICATION = 0x494E4358  # "INCX", in SQLite's header; files of other programs are never written to
_PAGE = 500
_MANY = 500  # ids in one statement
_STEPS = (
    (
        "CREATE TABLE docs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, domain TEXT NOT NULL, "
        "scope TEXT NOT NULL, grp TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL, pool TEXT NOT NULL, "
        "tags TEXT NOT NULL, owner TEXT NOT NULL, draws INTEGER NOT NULL, created INTEGER NOT NULL, "
        "body BLOB NOT NULL, vector BLOB, version INTEGER NOT NULL)",
        "CREATE TABLE counter (version INTEGER NOT NULL, epoch INTEGER NOT NULL)",
        "INSERT INTO counter VALUES (0, 0)",
    ),
    (
        "CREATE INDEX docs_of_a_scope ON docs (scope, kind)",
        "CREATE INDEX docs_of_an_identity ON docs (owner, kind)",
        "CREATE INDEX identities_since ON docs (domain, grp, version) WHERE kind = 'identity'",
    ),
)  # one step per version of the tables; an older file is upgraded by the missing steps
_COLUMNS = {name: name for name in ("id", "kind", "key", "domain", "scope", "type", "state", "pool", "tags", "draws")}
_COLUMNS |= {"group": "grp", "into": "owner", "created": "created", "body": "body", "vector": "vector"}
_READ = ", ".join(column for name, column in _COLUMNS.items() if name != "vector")
_ORDER = (*(name for name in _COLUMNS if name != "vector"), "vector", "version")


class SqliteStore:
    """Documents in one file, mode 0600. A batch of programs is one transaction, on disk when it ends.

    Vectors are stored sealed and searched in memory. Those of a whole domain and group are opened at the first search,
    and changed ones at later searches.

    Args:
        path: the file. SQLite puts a `-wal` and a `-shm` file beside it while it is open.
        create: the metadata, to make the file if there is none; None: never make it.

    Raises:
        IndexRejected: the file is absent, belongs to another program, or has a newer version.
        IndexUnavailable: it is not available.
    """

    vendor = "sqlite"
    seals_vectors = True

    def __init__(self, path: Path, create: Meta | None = None) -> None:
        self._sealer: Sealer | None = None
        self._matrices: dict[tuple[str, str], Matrix] = {}
        self._epoch = -1
        try:
            private(path, create=create is not None)
        except OSError:
            raise IndexRejected(
                "There is no index at this path, or another user owns it. To create one, run: incognote index create"
            ) from None
        with _spoken():
            self._db = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            with _spoken():
                self._prepare(create)
        except BaseException:
            self._db.close()
            raise
        self._thread = ThreadPoolExecutor(1, "incognote-index")  # from here on, only this thread uses the file

    def use(self, sealer: Sealer) -> None:
        """Open and seal vectors with this sealer."""
        self._sealer = sealer
        self._matrices.clear()

    async def run_all(self, programs: Sequence[Program[T]], *, writes: bool) -> list[T]:
        """Run all in one transaction. If one fails, nothing is written."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, programs, writes)

    async def refresh(self) -> None:
        """Do nothing: there is nothing to wait for."""

    async def purge(self) -> None:
        """Fold the write-ahead log into the file and truncate it. Deleted content is already zeroed."""

        def cut() -> None:
            with _spoken():
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        await asyncio.get_running_loop().run_in_executor(self._thread, cut)

    async def aclose(self) -> None:
        """Close the file. The last process to close it folds the `-wal` file into it."""
        await asyncio.to_thread(self._thread.shutdown)
        self._db.close()

    def _prepare(self, create: Meta | None) -> None:
        self._db.execute("PRAGMA secure_delete=ON")
        with transaction(self._db):
            (ours,) = self._db.execute("PRAGMA application_id").fetchone()
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables and create is not None:
                self._db.execute(f"PRAGMA application_id={_APPLICATION}")
            elif ours != _APPLICATION:
                raise IndexRejected("the file belongs to another program. Use another file, or create the index first")
            if version > len(_STEPS):
                raise IndexRejected("the index was made by a newer version of incognote. Use that version")
            for step in _STEPS[version:]:
                for statement in step:
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version={len(_STEPS)}")
            if not tables and create is not None:
                self._create((create.doc(),))
        go_wal(self._db)
        self._db.execute("PRAGMA synchronous=FULL")  # a surrogate that was handed out is never lost

    def _transact(self, programs: Sequence[Program[T]], writes: bool) -> list[T]:
        with _spoken(), transaction(self._db, writes=writes):
            return [self._drive(program) for program in programs]

    def _drive(self, program: Program[T]) -> T:
        result: Any = None
        while True:
            try:
                op = program.send(result)
            except StopIteration as stop:
                done: T = stop.value
                return done
            result = self._do(op)

    def _do(self, op: Op) -> Any:
        match op:
            case Get(ids):
                return self._get(ids)
            case Create(docs):
                return self._create(docs)
            case Swap(changes):
                return [self._swap(doc, fields) for doc, fields in changes]
            case Delete(docs):
                # processes that hold a matrix cannot see what was deleted
                if any(doc.kind == "identity" for doc in docs):
                    self._db.execute("UPDATE counter SET epoch = epoch + 1")
                return sum(self._delete(doc) for doc in docs)
            case Scan():
                return self._scan(op)
            case NearestIdentities():
                return self._near(op)
            case CountDocs():
                return self._tally()

    def _get(self, ids: tuple[str, ...]) -> dict[str, Doc]:
        found: dict[str, Doc] = {}
        for start in range(0, len(ids), _MANY):
            some = ids[start : start + _MANY]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(f"SELECT {_READ}, NULL, version FROM docs WHERE id IN ({marks})", some)  # noqa: S608 -- question marks only
            found |= {row[0]: _doc(row) for row in rows}
        return found

    def _create(self, docs: Sequence[Doc]) -> list[int | None]:
        made: list[int | None] = []
        for doc in docs:
            row = [_value(name, getattr(doc, name)) for name in _COLUMNS]
            done = self._db.execute(
                f"INSERT OR IGNORE INTO docs ({', '.join(_COLUMNS.values())}, version) VALUES ({'?, ' * len(row)}?)",  # noqa: S608 -- names of ours and question marks
                (*row, version := self._version()),
            )
            made.append(version if done.rowcount == 1 else None)
        return made

    def _swap(self, doc: Doc, fields: Any) -> bool:
        sets = ", ".join(f"{_COLUMNS[name]} = ?" for name in fields)
        values = [_value(name, value) for name, value in fields.items()]
        done = self._db.execute(
            f"UPDATE docs SET {sets}, version = ? WHERE id = ? AND version = ?",  # noqa: S608 -- names of ours
            (*values, self._version(), doc.id, doc.version),
        )
        return done.rowcount == 1

    def _delete(self, doc: Doc) -> int:
        return self._db.execute("DELETE FROM docs WHERE id = ? AND version = ?", (doc.id, doc.version)).rowcount

    def _version(self) -> int:
        (version,) = self._db.execute("UPDATE counter SET version = version + 1 RETURNING version").fetchone()
        return int(version)

    def _scan(self, op: Scan) -> Page:
        conditions, values = ["rowid > ?"], [op.after or 0]
        for name, wanted in op.where.items():
            some = wanted if isinstance(wanted, tuple) else (wanted,)
            conditions.append(f"{_COLUMNS[name]} IN ({','.join('?' * len(some))})")
            values += some
        for name, value in op.without.items():
            conditions.append(f"{_COLUMNS[name]} <> ?")
            values.append(value)
        vector = "vector" if op.vectors else "NULL"
        rows = self._db.execute(
            f"SELECT {_READ}, {vector}, version, rowid FROM docs WHERE {' AND '.join(conditions)} "  # noqa: S608 -- names of ours and question marks
            f"ORDER BY rowid LIMIT {_PAGE}",
            values,
        ).fetchall()
        return Page([_doc(row) for row in rows], rows[-1][-1] if len(rows) == _PAGE else None)

    def _near(self, op: NearestIdentities) -> list[tuple[str, float]]:
        sealer = self._sealer
        assert sealer is not None
        domain, group = op.where["domain"], op.where["group"]
        (epoch,) = self._db.execute("SELECT epoch FROM counter").fetchone()
        if epoch != self._epoch:
            self._matrices.clear()
            self._epoch = epoch
        matrix = self._matrices.get((domain, group))
        if matrix is None and "scope" in op.where:  # a patient's few vectors are opened for this search only
            rows = self._db.execute(
                f"SELECT {_READ}, vector, version FROM docs WHERE scope = ? AND kind = 'identity' AND grp = ? "  # noqa: S608 -- names of ours
                "AND domain = ?",
                (op.where["scope"], group, domain),
            )
            return filled(sealer.meta.dimension, ((doc, sealer.raw(doc)) for doc in map(_doc, rows))).near(op)
        if matrix is None:
            matrix = self._matrices[domain, group] = Matrix(sealer.meta.dimension)
        rows = self._db.execute(
            f"SELECT {_READ}, vector, version FROM docs WHERE kind = 'identity' AND domain = ? AND grp = ? "  # noqa: S608 -- names of ours
            "AND version > ?",
            (domain, group, matrix.seen),
        )
        for doc in map(_doc, rows):
            matrix.put(doc, sealer.raw(doc))
            matrix.seen = max(matrix.seen, doc.version)
        return matrix.near(op)

    def _tally(self) -> list[Counted]:
        rows = self._db.execute(
            "SELECT kind, state, domain, grp, count(*), sum(draws > 0), sum(draws), count(vector) FROM docs "
            "GROUP BY kind, state, domain, grp"
        )
        return [Counted(*row) for row in rows]


def _value(name: str, value: Any) -> Any:
    return " ".join(value) if name == "tags" else value


def _doc(row: tuple[Any, ...]) -> Doc:
    values = dict(zip(_ORDER, row, strict=False))  # in a scan, another column follows
    return Doc(**{**values, "tags": tuple(values["tags"].split())})


@contextmanager
def _spoken() -> Iterator[None]:
    """Convert SQLite's errors into ours, with their names only."""
    try:
        yield
    except sqlite3.OperationalError as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise IndexUnavailable(f"the index is not available ({name}). Check the disk space and permissions") from None
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise IndexRejected(f"the index cannot be used ({name}): it is damaged or belongs to another program") from None
