"""Records: each is claimed by one worker and settled once, together with its shard."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from incognote.errors import LeaseLost
from incognote.ledger.leases import Now, beat
from incognote.ledger.nouns import KEY, OPEN, RecordClaim, SettledRecord, Shard, Wanted
from incognote.ledger.tables import PARTS, RECORDS, SHARDS, WORKERS

Outcome = Literal["mine", "again", "suspect", "busy", "settled"]
_MANY = 500  # ids in one statement


def claim(
    db: Connection, now: Now, worker: str, release: int, wanted: Sequence[Wanted], *, alone: bool
) -> dict[str, RecordClaim]:
    """Claim records. Return the outcome of each claim by the record's key.

    If a reader got this far, the part does not kill workers, so its count of tries is reset.

    Args:
        alone: also claim a record on which a worker died. It must be the only one.
    """
    beat(db, now, worker)
    by_key = {one.key: one for one in wanted}
    ordered = sorted(by_key.values(), key=lambda one: one.key)  # in a fixed order, so that two workers cannot deadlock
    rows = [
        {
            "release_id": release,
            "part_id": one.part,
            "source": one.source,
            "content": one.content,
            "subject": one.subject,
            "version": one.version,
            "state": "found",
            "tries": 0,
            "codes": "[]",
            "at": now,
        }
        for one in ordered
    ]
    dialect = postgresql if db.dialect.name == "postgresql" else sqlite
    for start in range(0, len(rows), _MANY):
        db.execute(dialect.insert(RECORDS).values(rows[start : start + _MANY]).on_conflict_do_nothing())
    claims: dict[str, RecordClaim] = {}
    mine: dict[int, list[int]] = {}
    for start in range(0, len(ordered), _MANY):
        sources = [one.source for one in ordered[start : start + _MANY]]
        asked = (
            select(RECORDS.c.id, RECORDS.c.source, RECORDS.c.content, RECORDS.c.state, RECORDS.c.tries, RECORDS.c.owner)
            .where(RECORDS.c.source.in_(sources), RECORDS.c.release_id == release)
            .order_by(RECORDS.c.source, RECORDS.c.content)
            .with_for_update()
        )
        for row in db.execute(asked).all():
            one = by_key.get(row.source + row.content)
            if one is None:
                continue  # another version of the record
            outcome = _outcome(row.state, row.owner == worker, row.tries, alone=alone)
            claims[one.key] = RecordClaim(outcome, row.id, row.tries)
            if outcome == "mine":
                mine.setdefault(one.part, []).append(row.id)
    for part, ids in mine.items():
        values = {"state": "claimed", "owner": worker, "part_id": part, "at": now}
        db.execute(update(RECORDS).where(RECORDS.c.id.in_(ids)).values(values))
    if not alone:
        db.execute(update(PARTS).where(PARTS.c.id.in_({one.part for one in wanted})).values(tries=0))
    return claims


def _outcome(state: str, own: bool, tries: int, *, alone: bool) -> Outcome:
    if state == "claimed":
        return "again" if own else "busy"
    if state != "found":
        return "settled"
    return "suspect" if tries and not alone else "mine"


def claim_reviewed(db: Connection, now: Now, worker: str, release: int, key: str) -> RecordClaim:
    """Claim a record that a person has decided on.

    `busy`: it is on its way to review again, or belongs to another ledger.
    """
    beat(db, now, worker)
    this = (RECORDS.c.release_id == release) & (RECORDS.c.source == key[:KEY]) & (RECORDS.c.content == key[KEY:])
    waits = update(RECORDS).where(this, RECORDS.c.state == "review").values(state="claimed", owner=worker, at=now)
    row = db.scalar(waits.returning(RECORDS.c.id))
    if row is not None:
        return RecordClaim("mine", row, 0)
    state = db.scalar(select(RECORDS.c.state).where(this))
    return RecordClaim("busy" if state is None or state in OPEN else "settled", 0, 0)


def begin_shards(db: Connection, now: Now, worker: str, release: int, names: Sequence[str]) -> None:
    """Announce that shards are about to be staged, so that their owner is known if they are left over."""
    beat(db, now, worker)
    dialect = postgresql if db.dialect.name == "postgresql" else sqlite
    for name in names:
        values = {"release_id": release, "name": name, "state": "staging", "owner": worker, "at": now}
        db.execute(dialect.insert(SHARDS).values(**values, records=0, bytes=0, sha256="").on_conflict_do_nothing())


def settle(
    db: Connection, now: Now, worker: str, token: str,
    shards: Sequence[tuple[Shard, Sequence[SettledRecord]]], held: Sequence[SettledRecord], parts: Collection[int],
) -> None:  # fmt: skip
    """Settle records, all or nothing. A repeated call with the same token has no effect.

    Args:
        shards: staged, each with the records in it.
        held: records in no shard.
        parts: parts all of whose records are settled by this call or were settled before.

    Raises:
        LeaseLost: the worker's lease, or its claim on one of the records, has ended.
    """
    if db.scalar(select(WORKERS.c.last).where(WORKERS.c.id == worker)) == token:
        return
    beat(db, now, worker)
    ids = [one.id for _, settled in shards for one in settled] + [one.id for one in held]
    claimed = 0
    for start in range(0, len(ids), _MANY):
        some = RECORDS.c.id.in_(ids[start : start + _MANY])
        mine = (RECORDS.c.owner == worker) & (RECORDS.c.state == "claimed")
        claimed += db.scalar(select(func.count()).select_from(RECORDS).where(some, mine)) or 0
    if claimed != len(ids):
        raise LeaseLost("this worker no longer owns the records of its batch")
    for shard, settled in shards:
        told = {"records": shard.records, "bytes": shard.bytes, "sha256": shard.sha256, "at": now}
        staged = update(SHARDS).where(SHARDS.c.name == shard.name, SHARDS.c.state == "staging")
        row = db.scalar(staged.values(state="committed", **told).returning(SHARDS.c.id))
        if row is None:
            raise LeaseLost("another worker took over a shard of this worker")
        _put(db, now, settled, row)
        _link(db, [one.id for one in settled])
    _put(db, now, held, None)
    db.execute(update(PARTS).where(PARTS.c.id.in_(parts), PARTS.c.owner == worker).values(state="done", owner=None))
    db.execute(update(WORKERS).where(WORKERS.c.id == worker).values(last=token))


def _put(db: Connection, now: Now, settled: Sequence[SettledRecord], shard: int | None) -> None:
    if not settled:
        return
    row = update(RECORDS).where(RECORDS.c.id == bindparam("row"))
    values: dict[str, Any] = {
        name: bindparam(f"to_{name}") for name in ("state", "line", "codes", "manifest", "shard_id")
    }  # a parameter must not have a column's name
    told = [
        {
            "row": one.id,
            "to_state": one.state,
            "to_line": one.line,
            "to_codes": json.dumps(one.codes),
            "to_manifest": one.manifest,
            "to_shard_id": shard,
        }
        for one in settled
    ]
    db.execute(row.values(**values, owner=None, at=now), told)


def _link(db: Connection, ids: Sequence[int]) -> None:
    """Link each newly released record to the released version before it, and the version after it to this one.

    Versions are ordered by the watermark of their source, or else in the order in which they were found.
    """
    new, other = RECORDS.alias(), RECORDS.alias()
    asked = (
        select(new.c.id, other.c.id.label("other"), new.c.version, other.c.version.label("its"))
        .join(other, (other.c.source == new.c.source) & (other.c.release_id == new.c.release_id))
        .where(other.c.id != new.c.id, other.c.state == "released")
    )
    for start in range(0, len(ids), _MANY):
        before: dict[int, tuple[int, int]] = {}
        after: dict[int, tuple[int, int]] = {}
        for row in db.execute(asked.where(new.c.id.in_(ids[start : start + _MANY]))).all():
            its = (row.its or 0, row.other)
            if its < (row.version or 0, row.id):
                before[row.id] = max(its, before.get(row.id, its))
            else:
                after[row.id] = min(its, after.get(row.id, its))
        links = [(record, replaced) for record, (_, replaced) in before.items()]
        links += [(newer, record) for record, (_, newer) in after.items()]
        for record, replaced in links:
            db.execute(update(RECORDS).where(RECORDS.c.id == record).values(replaces=replaced))
