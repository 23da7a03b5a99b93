"""Workers and their leases, on the database's clock.

A claim is valid as long as its worker's lease. A worker extends only its own row, not one row per record. When a lease
has ended, another worker takes over its records. One try of each is then used up, since the record may have killed the
worker.

But a lease may also end because the database was away, or because its clock jumped. So a worker takes leases over only
after its own heartbeat has not failed for a whole lease. By then every live worker has had time to extend its own.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, select, update

from incognote.errors import LeaseLost
from incognote.keys import Keyring
from incognote.ledger.tables import META, PARTS, RECORDS, WORKERS

Now = ColumnElement[float]
_GAP = 0.5
"""As a share of a lease. A longer silence of this worker may have been an outage for all workers."""


def join(db: Connection, now: Now, lease: float, keyring: Keyring) -> str:
    """Register a new worker and return its id.

    Raises:
        WrongKey: the ledger's key was changed since it was opened.
    """
    meta = {row.name: row.value for row in db.execute(select(META))}
    keyring.require(meta["key"], meta["check"])
    worker = secrets.token_hex(8)
    db.execute(insert(WORKERS).values(id=worker, beat=now, since=now, lease=lease))
    return worker


def beat(db: Connection, now: Now, id: str) -> None:
    """Record a worker's heartbeat, as a part of all its operations.

    Raises:
        LeaseLost: its lease has ended and was taken over.
    """
    table = WORKERS.c
    gap = (now - table.beat > _GAP * table.lease) | (now < table.beat)
    alive = update(WORKERS).where(table.id == id).values(since=case((gap, now), else_=table.since), beat=now)
    if not db.execute(alive).rowcount:
        raise LeaseLost("This worker sent no heartbeat for longer than its lease (lease_seconds). It starts again.")


def end_expired(db: Connection, now: Now, by: str) -> int:
    """Return the records of workers whose lease has ended, if the caller may judge.

    Return the number of such workers.
    """
    table = WORKERS.c
    db.execute(update(WORKERS).where(table.beat > now).values(beat=now))  # the clock was turned back
    judge = WORKERS.alias()
    may_judge = (
        judge.select().with_only_columns(judge.c.id).where(judge.c.id == by, judge.c.since + judge.c.lease <= now)
    )
    silent = (table.beat + table.lease < now) & (table.id != by) & may_judge.exists()
    dead = list(db.scalars(delete(WORKERS).where(silent).returning(table.id)))
    for worker in dead:
        _return(db, worker, tries=1)
    return len(dead)


def give_back(db: Connection, id: str) -> int:
    """Return a worker's claims, with no try used up. Return the number of records."""
    return _return(db, id, tries=0)


def give_back_some(db: Connection, worker: str, ids: Sequence[int]) -> None:
    """Return some of a worker's records, with no try used up."""
    mine = RECORDS.c.id.in_(ids) & (RECORDS.c.owner == worker) & (RECORDS.c.state == "claimed")
    db.execute(update(RECORDS).where(mine).values(state="found", owner=None))


def leave(db: Connection, id: str) -> None:
    """Remove a worker and return its claims."""
    _return(db, id, tries=0)
    db.execute(delete(WORKERS).where(WORKERS.c.id == id))


def end_all(db: Connection, now: Now) -> int:
    """Return the claims of all workers if none is alive. Otherwise return the number of live workers.

    A worker that was only silent gets LeaseLost and must join again.
    """
    alive = db.scalar(select(func.count()).select_from(WORKERS).where(WORKERS.c.beat + WORKERS.c.lease >= now)) or 0
    if not alive:
        for worker in list(db.scalars(select(WORKERS.c.id))):
            leave(db, worker)
    return alive


def _return(db: Connection, id: str, *, tries: int) -> int:
    """Return parts and records of a worker to `found`.

    A part that was done is returned too, if one of its records is.
    """
    returned = 0
    undone = select(RECORDS.c.part_id).where(RECORDS.c.owner == id, RECORDS.c.state == "claimed")
    db.execute(update(PARTS).where(PARTS.c.id.in_(undone), PARTS.c.state == "done").values(state="found"))
    for table in (PARTS, RECORDS):
        claims = (table.c.owner == id) & (table.c.state == "claimed")
        values = {"state": "found", "owner": None, "tries": table.c.tries + tries}
        returned = db.execute(update(table).where(claims).values(values)).rowcount
    return returned
