"""The ledger: every query and every change is one transaction, in both SQLite and PostgreSQL."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from incognote.errors import LedgerRejected, SettingError, UnknownName, UsageError, WrongKey
from incognote.keys import Keyring, MacKey
from incognote.ledger import claiming, finding, leases
from incognote.ledger.database import Database
from incognote.ledger.nouns import (
    KEY,
    OPEN,
    FilePart,
    FoundFile,
    LedgerEntry,
    RecordClaim,
    Release,
    SettledRecord,
    Shard,
    State,
    Wanted,
)
from incognote.ledger.tables import FILES, META, PARTS, RECORDS, RELEASES, SHARDS, WORKERS, bring_up
from incognote.nouns import subject_form
from incognote.sqlite import sqlite_file

_PAGE = 1000
_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TAKEN = frozenset({"tombstones"})
_ENTRIES = (
    select(RECORDS, RELEASES.c.name, SHARDS.c.name.label("shard"), FILES.c.sealed, FILES.c.location)
    .join(RELEASES, RECORDS.c.release_id == RELEASES.c.id)
    .join(PARTS, RECORDS.c.part_id == PARTS.c.id)
    .join(FILES, PARTS.c.file_id == FILES.c.id)
    .outerjoin(SHARDS, RECORDS.c.shard_id == SHARDS.c.id)
)


class Ledger:
    """A database of what happened to each record of a release, and which worker did it. Processes can share it.

    Thread-safe. The methods block.

    Args:
        url: `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.
        keyring: a persistent key. Any other key is refused.
        create: create the file of an SQLite ledger if it does not exist.

    Raises:
        WrongKey: the ledger was made with another key, or this key exists only in this process.
        SettingError, LedgerUnavailable, LedgerRejected: the database cannot be used.
    """

    def __init__(self, url: str, keyring: Keyring, *, create: bool = True) -> None:
        if not keyring.persistent:
            raise WrongKey(
                "A ledger needs a persistent key, or every record would count as new. Run: incognote key new"
            )
        self._keyring = keyring
        file = sqlite_file(url)
        if not create and file is not None and not file.is_file():
            raise SettingError("--ledger: the file does not exist. Check the path.")
        self._base = Database(url)
        self.now = self._base.now
        try:
            self._base.run(self._opened)
        except BaseException:
            self._base.close()
            raise

    def _opened(self, db: Connection) -> None:
        bring_up(db)
        meta = {row.name: row.value for row in db.execute(select(META))}
        if "key" not in meta:
            db.execute(insert(META), [{"name": "key", "value": self._keyring.id},
                                      {"name": "check", "value": self._keyring.check}])  # fmt: skip
        else:
            self._keyring.require(meta["key"], meta["check"])
        self._names = MacKey.of(meta, self._keyring, "ledger")

    def key(self, *words: str) -> str:
        """Return the keyed hash that the ledger stores for words that may be PHI."""
        return self._names.mac("\x1f".join(words)).hex()[:KEY]

    def subject(self, patient: str) -> str:
        """Return the keyed hash that the ledger stores for a patient, by `subject_form`."""
        return self.key("subject", subject_form(patient))

    def close(self) -> None:
        """Close the connections."""
        self._base.close()

    # Releases

    def freeze(self, name: str, frozen: Mapping[str, Any]) -> Release:
        """Return the release with a name. It is created now, or was created before with the same values.

        Raises:
            UsageError: the release was created with other values, which the message names. Or the name is invalid: it
                is also a folder name.
        """
        if not _NAME.fullmatch(name) or name.casefold() in _TAKEN:
            raise UsageError(
                "--release must be letters, digits, dots, hyphens, and underscores, with at least one letter, at "
                "most 64, and not the name of a folder that incognote uses in the destination."
            )
        content = json.dumps(frozen, sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]

        def work(db: Connection) -> Release:
            row = db.execute(select(RELEASES).where(RELEASES.c.name == name).with_for_update()).first()
            if row is None:
                values = {"name": name, "digest": digest, "frozen": content, "made": self.now}
                row = db.execute(insert(RELEASES).values(values).returning(*RELEASES.c)).one()
            return _release(row)

        try:
            release = self._base.run(work)
        except LedgerRejected:  # another worker has just created it
            release = self._base.run(work)
        if release.digest != digest:
            differing = ", ".join(sorted(diff(release.frozen, frozen)))
            raise UsageError(
                f"The release {name!r} was started with other settings ({differing}). Choose a new release name."
            )
        return release

    def releases(self) -> list[Release]:
        """Return all releases in the order of creation."""
        asked = select(RELEASES).order_by(RELEASES.c.id)
        return self._base.run(lambda db: [_release(row) for row in db.execute(asked)])

    def release(self, name: str) -> Release:
        """Return a release by its name.

        Raises:
            UnknownName: no release has the name.
        """
        found = {release.name: release for release in self.releases()}
        if name not in found:
            raise UnknownName("release", name, found)
        return found[name]

    # Workers

    def join(self, lease: float) -> str:
        """Register a new worker and return its id. Its lease starts now."""
        return self._base.run(partial(leases.join, now=self.now, lease=lease, keyring=self._keyring))

    def beat(self, worker: str) -> int:
        """Record a worker's heartbeat, and end leases that have expired. Return how many have ended.

        Raises:
            LeaseLost: its own lease was taken over.
        """

        def work(db: Connection) -> int:
            leases.beat(db, self.now, worker)
            return leases.end_expired(db, self.now, worker)

        return self._base.run(work)

    def give_back(self, worker: str) -> int:
        """Return a worker's claims, with no try used up. Return the number of records."""
        return self._base.run(lambda db: leases.give_back(db, worker))

    def return_records(self, worker: str, ids: Sequence[int]) -> None:
        """Return some of a worker's records, with no try used up. Their parts are returned separately."""
        self._base.run(lambda db: leases.give_back_some(db, worker, ids))

    def leave(self, worker: str) -> None:
        """Remove a worker. Its claims are returned."""
        self._base.run(lambda db: leases.leave(db, worker))

    def workers(self) -> int:
        """Return how many workers are at work, or died less than a lease ago."""
        return self._base.run(lambda db: db.scalar(select(func.count()).select_from(WORKERS)) or 0)

    # Files and their parts

    def found(self, release: int, files: Sequence[FoundFile], *, code: str | None = None) -> int:
        """Add files. Return how many were new in this version for this release.

        Args:
            code: why none of them is read; None if they are read.
        """
        new = 0
        for start in range(0, len(files), _PAGE):
            some = files[start : start + _PAGE]
            new += self._base.run(lambda db, some=some: finding.found(db, self._keyring, release, some, code))  # type: ignore[misc]  # a default in a lambda
        return new

    def latest(self, release: int, location: str) -> str | None:
        """Return the name of the last version of a file that was added; None if there is none."""
        where = (FILES.c.release_id == release) & (FILES.c.location == location)
        asked = select(FILES.c.sealed).where(where).order_by(FILES.c.id.desc()).limit(1)
        sealed = self._base.run(lambda db: db.scalar(asked))
        return None if sealed is None else self._keyring.open("ledger", sealed, location).decode()

    def claim_parts(self, worker: str, release: int, *, most: int, bytes: int) -> list[FilePart]:
        """Claim unclaimed parts: at most `most`, and no further part once `bytes` is reached.

        Raises:
            LeaseLost: the worker's lease was taken over.
        """
        return self._base.run(
            lambda db: finding.claim_parts(db, self.now, self._keyring, worker, release, most=most, bytes=bytes)
        )

    def return_part(self, worker: str, part: FilePart) -> None:
        """Return a claimed part that must be read again. No try is used up."""
        self._base.run(lambda db: finding.give_back(db, self.now, worker, part))

    def close_part(self, worker: str, part: FilePart, code: str) -> None:
        """Close a claimed part that cannot be read on, with the reason."""
        self._base.run(lambda db: finding.close(db, self.now, worker, part, code))

    def reopen(self, release: int) -> None:
        """Allow another try for what could not be read."""
        self._base.run(lambda db: finding.reopen(db, release))

    def unread(self, release: int) -> list[tuple[str, str]]:
        """Return the name (PHI) and code of every file that is not, or not completely, read.

        Older versions are left out.
        """
        return self._base.run(lambda db: finding.unread(db, self._keyring, release))

    # Records

    def claim(
        self, worker: str, release: int, wanted: Sequence[Wanted], *, alone: bool = False
    ) -> dict[str, RecordClaim]:
        """Claim records. Return the outcome of each claim by the record's key.

        Args:
            alone: also claim one record on which a worker died.

        Raises:
            LeaseLost: the worker's lease was taken over.
        """
        return self._base.run(lambda db: claiming.claim(db, self.now, worker, release, wanted, alone=alone))

    def claim_reviewed(self, worker: str, release: int, key: str) -> RecordClaim:
        """Claim a record that a person has decided on.

        The outcome is `mine`, `settled` (since then), or `busy` (on its way to review again).

        Raises:
            LeaseLost: the worker's lease was taken over.
        """
        return self._base.run(lambda db: claiming.claim_reviewed(db, self.now, worker, release, key))

    def begin_shards(self, worker: str, release: int, names: Sequence[str]) -> None:
        """Announce that shards are about to be staged."""
        self._base.run(lambda db: claiming.begin_shards(db, self.now, worker, release, names))

    def settle(
        self,
        worker: str,
        token: str,
        shards: Sequence[tuple[Shard, Sequence[SettledRecord]]] = (),
        held: Sequence[SettledRecord] = (),
        parts: Collection[int] = (),
    ) -> None:
        """Settle records, all or nothing. A repeated call with the same token has no effect.

        Raises:
            LeaseLost: the worker's lease was taken over, and nothing was changed.
        """
        self._base.run(lambda db: claiming.settle(db, self.now, worker, token, shards, held, parts))

    def requeue(self, release: int, keys: Collection[str]) -> int:
        """Make held or recalled records claimable again. Return how many there were.

        Args:
            keys: the names of the held records.
        """

        def work(db: Connection) -> int:
            done = 0
            for key in keys:
                where = _of_key(release, key) & RECORDS.c.state.in_(("quarantined", "review", "refused", "tombstoned"))
                values = {"state": "found", "tries": 0, "codes": "[]", "at": self.now}
                part = db.scalar(update(RECORDS).where(where).values(values).returning(RECORDS.c.part_id))
                if part is not None:
                    again = (PARTS.c.id == part) & (PARTS.c.state == "done")
                    db.execute(update(PARTS).where(again).values(state="found", tries=0))
                    done += 1
            return done

        return self._base.run(work)

    def holds(self, release: int, key: str) -> bool:
        """Whether a record with that key was ever claimed for a release."""
        asked = select(RECORDS.c.id).where(_of_key(release, key))
        return self._base.run(lambda db: db.scalar(asked)) is not None

    def mark(self, release: int, keys: Collection[str], state: State, code: str, *, claimed: bool = False) -> int:
        """Set a later state (dropped, recalled) on settled records. Return how many there were.

        Args:
            claimed: include records that a worker is processing. That worker gets LeaseLost when it settles them.
        """

        def work(db: Connection) -> int:
            done = 0
            for key in keys:
                where = _of_key(release, key)
                if not claimed:
                    where &= RECORDS.c.state.not_in(OPEN)
                values = {"state": state, "codes": json.dumps([code]), "at": self.now, "owner": None}
                done += db.execute(update(RECORDS).where(where).values(values)).rowcount
            return done

        return self._base.run(work)

    def counts(self, release: int) -> dict[State, int]:
        """Return the number of records in each state. States without records are left out."""
        asked = select(RECORDS.c.state, func.count()).where(RECORDS.c.release_id == release)
        return self._base.run(lambda db: {row[0]: row[1] for row in db.execute(asked.group_by(RECORDS.c.state))})

    def to_do(self, release: int) -> int:
        """Return the number of parts that are not done."""
        asked = select(func.count()).select_from(PARTS).where(PARTS.c.release_id == release, PARTS.c.state != "done")
        return self._base.run(lambda db: db.scalar(asked) or 0)

    def complete(self, release: int) -> bool:
        """Whether all parts are done, and all shards are placed."""
        asked = select(SHARDS.c.id).where(SHARDS.c.release_id == release, SHARDS.c.state != "placed").limit(1)
        return not self.to_do(release) and self._base.run(lambda db: db.scalar(asked)) is None

    def entries(
        self, *, release: int | None = None, state: State | None = None, subject: str | None = None,
        shard: str | None = None,
    ) -> Iterator[LedgerEntry]:  # fmt: skip
        """Yield records in the order they were found, read in pages.

        Args:
            subject: as `key(patient)` returns it.
        """
        asked = _ENTRIES.order_by(RECORDS.c.id).limit(_PAGE)
        conditions = {RECORDS.c.release_id: release, RECORDS.c.state: state, RECORDS.c.subject: subject,
                      SHARDS.c.name: shard}  # fmt: skip
        for column, wanted in conditions.items():
            if wanted is not None:
                asked = asked.where(column == wanted)
        after = 0
        while True:
            page = asked.where(RECORDS.c.id > after)
            rows = self._base.run(lambda db, page=page: db.execute(page).all())  # type: ignore[misc]  # a default in a lambda
            for row in rows:
                yield self._entry(row)
            if len(rows) < _PAGE:
                return
            after = rows[-1].id

    # Shards

    def placed(self, names: Sequence[str]) -> None:
        """Mark committed shards as placed in the destination."""

        def work(db: Connection) -> None:
            for name in names:
                this = (SHARDS.c.name == name) & (SHARDS.c.state == "committed")
                db.execute(update(SHARDS).where(this).values(state="placed"))

        self._base.run(work)

    def left_over(self) -> tuple[list[str], list[str]]:
        """Return the shards that a killed worker left: those to place, and those whose staging was never committed."""
        orphan = SHARDS.c.owner.not_in(select(WORKERS.c.id))
        asked = select(SHARDS.c.name, SHARDS.c.state).where(SHARDS.c.state.in_(("committed", "staging")), orphan)
        rows = self._base.run(lambda db: db.execute(asked).all())
        to_place, in_vain = ([row.name for row in rows if row.state == state] for state in ("committed", "staging"))
        return to_place, in_vain

    def replaced(self, shard: str) -> list[LedgerEntry]:
        """Return the released records that records of a shard replace, and those of the shard that others replace."""
        newer, older = RECORDS.alias(), RECORDS.alias()
        of_shard = select(SHARDS.c.id).where(SHARDS.c.name == shard).scalar_subquery()
        links = select(newer.c.replaces).where(newer.c.shard_id == of_shard).union(
            select(newer.c.replaces).join(older, newer.c.replaces == older.c.id).where(older.c.shard_id == of_shard)
        )
        asked = _ENTRIES.where(RECORDS.c.id.in_(links), RECORDS.c.state == "released")
        return [self._entry(row) for row in self._base.run(lambda db: db.execute(asked.order_by(RECORDS.c.id)).all())]

    def dropped(self, name: str) -> bool:
        """Give up a staged shard. Return False if it was committed, and so must be placed."""

        def work(db: Connection) -> bool:
            db.execute(delete(SHARDS).where(SHARDS.c.name == name, SHARDS.c.state == "staging"))
            return db.scalar(select(SHARDS.c.id).where(SHARDS.c.name == name)) is None

        return self._base.run(work)

    def shards(self, release: int) -> list[Shard]:
        """Return the shards that are in the destination, or committed to go there, in the order they were written."""
        asked = select(SHARDS).where(SHARDS.c.release_id == release, SHARDS.c.state.in_(("committed", "placed")))
        return self._base.run(
            lambda db: [Shard(r.name, r.records, r.bytes, r.sha256) for r in db.execute(asked.order_by(SHARDS.c.id))]
        )

    def _entry(self, row: Row[Any]) -> LedgerEntry:
        file = self._keyring.open("ledger", row.sealed, row.location).decode("utf-8", "surrogateescape")
        codes = tuple(json.loads(row.codes))
        key = row.source + row.content
        return LedgerEntry(
            row.id, row.name, key, row.state, row.tries, row.shard, row.line, codes, row.manifest, row.at, file,
            row.replaces,
        )


def diff(one: Mapping[str, Any], other: Mapping[str, Any], under: str = "") -> dict[str, tuple[Any, Any]]:
    """Return the differences between two releases by path: the value of each, None if it is absent."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in one.keys() | other.keys():
        path = f"{under}{name}"
        mine, its = one.get(name), other.get(name)
        if isinstance(mine, Mapping) and isinstance(its, Mapping):
            found |= diff(mine, its, f"{path}.")
        elif json.dumps(mine) != json.dumps(its):  # compared as stored: a tuple becomes a list
            found[path] = (mine, its)
    return found


def _of_key(release: int, key: str) -> ColumnElement[bool]:
    return (RECORDS.c.release_id == release) & (RECORDS.c.source == key[:KEY]) & (RECORDS.c.content == key[KEY:])


def _release(row: Row[Any]) -> Release:
    return Release(row.id, row.name, row.digest, json.loads(row.frozen), row.made)
