"""Files of the source and their parts: found once per version and release, each claimed by one worker."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from incognote.keys import Keyring
from incognote.ledger.leases import Now, beat
from incognote.ledger.nouns import UNREADABLE, FilePart, FoundFile
from incognote.ledger.tables import FILES, META, PARTS

_MANY = 200  # rows in one statement: SQLite takes 32,766 parameters


def found(db: Connection, keyring: Keyring, release: int, files: Sequence[FoundFile], code: str | None = None) -> int:
    """Add the files whose version is new for this release. Return how many were new.

    Args:
        code: why none of them is read; None if they are read.
    """
    new = 0
    meta = {row.name: row.value for row in db.execute(select(META))}
    keyring.require(meta["key"], meta["check"])  # names are sealed below, never under a key that has just been changed
    for start in range(0, len(files), _MANY):
        some = {(file.location, file.stamp): file for file in files[start : start + _MANY]}
        rows = [
            {
                "release_id": release,
                "location": file.location,
                "stamp": file.stamp,
                "sealed": keyring.seal("ledger", file.name.encode("utf-8", "surrogateescape"), file.location),
                "size": file.size,
                "code": code,
            }
            for file in some.values()
        ]
        dialect = postgresql if db.dialect.name == "postgresql" else sqlite
        put = dialect.insert(FILES).on_conflict_do_nothing().returning(FILES.c.id, FILES.c.location, FILES.c.stamp)
        put_in = db.execute(put, rows).all()
        new += len(put_in)
        parts = [
            {
                "file_id": row.id,
                "release_id": release,
                "start": begin,
                "stop": end,
                "size": (some[row.location, row.stamp].size if end is None else end) - begin,
                "state": "found",
                "tries": 0,
            }
            for row in put_in
            for begin, end in some[row.location, row.stamp].ranges
        ]
        if parts and code is None:
            db.execute(insert(PARTS), parts)
    return new


def claim_parts(
    db: Connection, now: Now, keyring: Keyring, worker: str, release: int, *, most: int, bytes: int
) -> list[FilePart]:
    """Claim unclaimed parts, in the order they were found. At least one is returned if any exists.

    Args:
        bytes: the size limit. No further part is taken beyond it.
    """
    beat(db, now, worker)
    asked = (
        select(PARTS, FILES.c.location, FILES.c.stamp, FILES.c.sealed)
        .join(FILES)
        .where(PARTS.c.release_id == release, PARTS.c.state == "found")
        .order_by(PARTS.c.id)
        .limit(most)
        .with_for_update(skip_locked=True, of=PARTS)  # SQLite has one writer at a time, and ignores this
    )
    taken: list[FilePart] = []
    for row in db.execute(asked):
        if taken and sum(part.size for part in taken) + row.size > bytes:
            break
        name = keyring.open("ledger", row.sealed, row.location).decode("utf-8", "surrogateescape")
        taken.append(
            FilePart(row.id, row.file_id, row.location, row.stamp, name, row.start, row.stop, row.size, row.tries)
        )
    ids = [part.id for part in taken]
    db.execute(update(PARTS).where(PARTS.c.id.in_(ids)).values(state="claimed", owner=worker))
    return taken


def give_back(db: Connection, now: Now, worker: str, part: FilePart) -> None:
    """Return one claimed part, so that another worker can take it. Its settled records stay settled."""
    beat(db, now, worker)
    mine = (PARTS.c.id == part.id) & (PARTS.c.owner == worker)
    db.execute(update(PARTS).where(mine).values(state="found", owner=None))


def reopen(db: Connection, release: int) -> None:
    """Allow another try for what could not be read.

    Unreadable files are read again; the rest is left to the next scan.
    """
    parts = select(PARTS.c.id).where(PARTS.c.file_id == FILES.c.id).exists()
    mine = FILES.c.release_id == release
    db.execute(delete(FILES).where(mine, FILES.c.code.is_not(None), ~parts))
    ids = list(db.scalars(select(FILES.c.id).where(mine, FILES.c.code == UNREADABLE)))
    for start in range(0, len(ids), _MANY):
        some = ids[start : start + _MANY]
        done = PARTS.c.file_id.in_(some) & (PARTS.c.state == "done")
        db.execute(update(PARTS).where(done).values(state="found", tries=0))
        db.execute(update(FILES).where(FILES.c.id.in_(some)).values(code=None))


def unread(db: Connection, keyring: Keyring, release: int) -> list[tuple[str, str]]:
    """Return the name and code of every file that is not, or not completely, read.

    Only the latest version of a file counts.
    """
    later = FILES.alias()
    superseded = (
        select(later.c.id)
        .where(later.c.location == FILES.c.location, later.c.release_id == release, later.c.id > FILES.c.id)
        .exists()
    )
    asked = select(FILES.c.location, FILES.c.sealed, FILES.c.code).where(
        FILES.c.release_id == release, FILES.c.code.is_not(None), ~superseded
    )
    return [
        (keyring.open("ledger", row.sealed, row.location).decode("utf-8", "surrogateescape"), row.code)
        for row in db.execute(asked.order_by(FILES.c.id))
    ]


def close(db: Connection, now: Now, worker: str, part: FilePart, code: str) -> None:
    """Close a claimed part whose file cannot be read on, with the reason. Its settled records stay settled."""
    beat(db, now, worker)
    mine = (PARTS.c.id == part.id) & (PARTS.c.owner == worker)
    if db.execute(update(PARTS).where(mine).values(state="done", owner=None)).rowcount:
        db.execute(update(FILES).where(FILES.c.id == part.file).values(code=code))
