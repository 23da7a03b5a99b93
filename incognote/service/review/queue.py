"""The review queue: sealed records that a person must review, and the decisions about them.

    queue.put(key, release, case)   the worker, or /v1/jobs
    queue.list(), queue.open(id)    the review page
    queue.decide(id, decision, by)  once; a second decision is refused
    queue.settled()                 the sender delivers: approved to the destination, rejected to quarantine
    queue.delivered(id)

One record of one release has one entry, however often it is put.
"""

from __future__ import annotations

import builtins
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incognote.errors import AlreadyDecided, UnknownName
from incognote.files.quarantine import in_clear
from incognote.keys import Keyring
from incognote.nouns import Reason, Region, Span, subject_form
from incognote.service.review.filtering import QueueFilter
from incognote.service.review.nouns import (
    Changes,
    DecidedCase,
    QueueEntry,
    ReviewCase,
    ReviewComment,
    ReviewDecision,
    State,
    check_spans,
)
from incognote.service.store import ServiceStore

if TYPE_CHECKING:
    from sqlalchemy import Connection

VERSION = 1
_PAGE = 200


class ReviewQueue:
    """The review queue; see the module's docstring. Threads and processes may share one database.

    Args:
        url: `sqlite:///FILE` or `postgresql://...`.
        keyring: a persistent key, which seals the texts.

    Raises:
        SettingError, WrongKey, IncognoteError: as in `ServiceStore`.
    """

    def __init__(self, url: str, keyring: Keyring) -> None:
        from incognote.service.tables import REVIEW_ASSIGNEES, REVIEW_COMMENTS, REVIEW_META, REVIEWS

        self._keyring, self._table = keyring, REVIEWS
        self._assignees, self._comments = REVIEW_ASSIGNEES, REVIEW_COMMENTS
        self._store = ServiceStore(url, REVIEWS.metadata, REVIEW_META, VERSION, keyring)

    def put(self, key: str, release: str, case: ReviewCase, *, origin: str = "worker") -> str:
        """Add a record. It is in the database when this returns.

        If it is put again while it waits, it replaces the former entry. After a decision, nothing changes until the
        decision is delivered. After the delivery it waits again, since it was taken back out of the quarantine, or
        recalled.

        Args:
            key: of the record and its version, without PHI.
            release: the name of the release it is for.

        Returns:
            Its id in the queue.
        """
        from sqlalchemy import insert, select, update
        from sqlalchemy.exc import IntegrityError

        table, fresh = self._table, secrets.token_hex(8)
        words: dict[str, Any] = {
            "reasons": json.dumps([[r.code, r.field] for r in map(in_clear, case.reasons)]),
            "policy": case.policy,
            "data_type": case.data_type,
            "characters": sum(map(len, case.texts)),
            "spans": len(case.spans),
            "patient": None if case.item.patient is None else self._subject(case.item.patient),
        }
        place = (table.c.record_key == key) & (table.c.release == release)
        try:
            with self._store.begin() as connection:
                made = {"record_key": key, "release": release, "origin": origin, "state": "waiting", "since": self._now}
                connection.execute(insert(table).values(id=fresh, **made, **words, sealed=self._seal(fresh, case)))
                return fresh
        except IntegrityError:
            with self._store.begin() as connection:
                existing: str = connection.execute(select(table.c.id).where(place)).scalar_one()
                waits = place & ((table.c.state == "waiting") | table.c.delivered.is_not(None))
                gone = dict.fromkeys(("decision", "decided", "decided_by", "changes", "delivered"))
                again = {**words, **gone, "state": "waiting", "sealed": self._seal(existing, case)}
                connection.execute(update(table).where(waits).values(**again))
                return existing

    def list(
        self, state: State | None = "waiting", *, after: int = 0, limit: int = 50, release: str | None = None
    ) -> builtins.list[QueueEntry]:
        """Return lines of the queue, oldest first.

        Args:
            state: None for all.
            after: the number of the last line that was seen.
            limit: at most 200.
        """
        return self.search(QueueFilter(state, release), after=after, limit=limit)

    def search(
        self, only: QueueFilter, *, after: int = 0, before: int | None = None, limit: int = 50
    ) -> builtins.list[QueueEntry]:
        """Return lines that match a filter, oldest first.

        Args:
            after: only lines with a higher number.
            before: only lines with a lower number. The nearest comes first.
            limit: at most 200.
        """
        number = self._table.c.number
        asked = self._lines.where(*only.conditions(self._table.c, self._assignees.c.assignee), number > after)
        if before is not None:
            asked = asked.where(number < before)
        with self._store.begin() as connection:
            ordered = asked.order_by(number if before is None else number.desc())
            return [_entry(row) for row in connection.execute(ordered.limit(min(limit, _PAGE)))]

    def matches(self, only: QueueFilter) -> int:
        """Return how many lines match a filter."""
        from sqlalchemy import func, select

        conditions = only.conditions(self._table.c, self._assignees.c.assignee)
        asked = select(func.count()).select_from(self._joined).where(*conditions)
        with self._store.begin() as connection:
            return int(connection.execute(asked).scalar_one())

    def counts(self, release: str | None = None) -> dict[State, int]:
        """Return how many records are in each state."""
        from sqlalchemy import func, select

        table = self._table
        asked = select(table.c.state, func.count()).group_by(table.c.state)
        if release is not None:
            asked = asked.where(table.c.release == release)
        counted: dict[State, int] = {"waiting": 0, "approved": 0, "rejected": 0}
        with self._store.begin() as connection:
            counted.update({row[0]: row[1] for row in connection.execute(asked)})
        return counted

    def entry(self, id: str) -> QueueEntry:
        """Return one line.

        Raises:
            UnknownName: no record has this id.
        """
        with self._store.begin() as connection:
            return _entry(self._row(connection, id))

    def open(self, id: str) -> DecidedCase:
        """Return one record with its texts: PHI. If it waits, the spans are the proposed ones, or else those found.

        Raises:
            UnknownName: no record has this id.
            WrongKey: it is damaged.
        """
        with self._store.begin() as connection:
            return self._opened(self._row(connection, id, whole=True))

    def decide(self, id: str, decision: ReviewDecision, by: str) -> QueueEntry:
        """Decide on a record, once.

        Args:
            by: the name of the person who decides.

        Raises:
            UnknownName: no record has this id.
            AlreadyDecided: another person has already decided.
            UsageError: spans that are outside the record's texts, overlap, or have an unknown type.
        """
        opened = self.open(id)
        case = opened.case
        spans = opened.spans if decision.spans is None else check_spans(case, decision.spans)
        regions = opened.regions if decision.regions is None else decision.regions
        settled = {
            "state": "approved" if decision.outcome == "approve" else "rejected",
            "decided": self._now,
            "changes": json.dumps(asdict(Changes.between(case.spans, spans, len(regions)))),
        }
        return self._put_down(replace(opened, spans=spans, regions=regions), by, settled)

    def propose(
        self, id: str, spans: Sequence[Span], by: str, regions: tuple[Region, ...] | None = None
    ) -> QueueEntry:
        """Save corrected spans for the person who decides. The record stays in the queue.

        Args:
            regions: the parts of its pages without words that a person added; None for the current ones.

        Raises:
            UnknownName, AlreadyDecided, UsageError: as in `decide`.
        """
        opened = self.open(id)
        regions = opened.regions if regions is None else regions
        return self._put_down(replace(opened, spans=check_spans(opened.case, spans), regions=regions), by, {})

    def assign(self, id: str, assignee: str | None) -> QueueEntry:
        """Assign a record to a person, or remove the assignment. Others can still decide it.

        Raises:
            UnknownName: no record has this id.
        """
        from sqlalchemy import insert, update
        from sqlalchemy.exc import IntegrityError

        self.entry(id)
        with suppress(IntegrityError), self._store.begin() as connection:  # it already has a row
            connection.execute(insert(self._assignees).values(item=id))
        with self._store.begin() as connection:
            place = self._assignees.c.item == id
            connection.execute(update(self._assignees).where(place).values(assignee=assignee))
        return self.entry(id)

    def comment(self, id: str, text: str, by: str) -> None:
        """Add a comment to a record. It is encrypted like the record.

        Raises:
            UnknownName: no record has this id.
        """
        from sqlalchemy import insert

        self.entry(id)
        fresh = secrets.token_hex(8)
        sealed = self._keyring.seal("review", text.encode(), f"{id}/{fresh}/comment")
        with self._store.begin() as connection:
            row = {"id": fresh, "item": id, "by": by, "at": self._now, "sealed": sealed}
            connection.execute(insert(self._comments).values(**row))

    def comments(self, id: str) -> builtins.list[ReviewComment]:
        """Return the comments on a record, oldest first: PHI.

        Raises:
            WrongKey: a comment is damaged.
        """
        from sqlalchemy import select

        at = self._comments.c
        with self._store.begin() as connection:
            rows = connection.execute(select(self._comments).where(at.item == id).order_by(at.number)).all()
        return [
            ReviewComment(row.by, row.at, self._keyring.open("review", row.sealed, f"{id}/{row.id}/comment").decode())
            for row in rows
        ]

    def _put_down(self, decided: DecidedCase, by: str, more: Mapping[str, str]) -> QueueEntry:
        """Store the spans of a record that waits, with additional values for its row."""
        from sqlalchemy import update

        item = decided.entry.id
        sealed = self._keyring.seal("review", decided.packed(), f"{item}/decision")
        values = {**more, "decided_by": by, "decision": sealed}
        waits = (self._table.c.id == item) & (self._table.c.state == "waiting")
        with self._store.begin() as connection:
            if not connection.execute(update(self._table).where(waits).values(**values)).rowcount:
                raise AlreadyDecided("a colleague has already decided this record; reload it")
        return self.entry(item)

    def settled(
        self, *, delivered: bool = False, release: str | None = None, origin: str | None = None
    ) -> Iterator[DecidedCase]:
        """Yield decided records, oldest first, one in memory at a time.

        Args:
            delivered: include those that were delivered.
            origin: only what this sender put. Each sender delivers its own.
        """
        table, after = self._table, 0
        while True:
            asked = self._whole.where(table.c.number > after, table.c.state != "waiting")
            if not delivered:
                asked = asked.where(table.c.delivered.is_(None))
            if release is not None:
                asked = asked.where(table.c.release == release)
            if origin is not None:
                asked = asked.where(table.c.origin == origin)
            with self._store.begin() as connection:
                row = connection.execute(asked.order_by(table.c.number).limit(1)).first()
            if row is None:
                return
            after = row.number
            yield self._opened(row)

    def delivered(self, id: str) -> None:
        """Mark a decided record as delivered."""
        from sqlalchemy import update

        table = self._table
        with self._store.begin() as connection:
            place = (table.c.id == id) & (table.c.state != "waiting")
            connection.execute(update(table).where(place).values(delivered=self._now))

    def of_subject(self, patient: str) -> builtins.list[str]:
        """Return the ids of everything that was put for a subject."""
        from sqlalchemy import select

        with self._store.begin() as connection:
            asked = select(self._table.c.id).where(self._table.c.patient == self._subject(patient))
            return [*connection.execute(asked).scalars()]

    def drop(self, id: str) -> int:
        """Delete a record with its comments permanently. Return 0 if no record has this id."""
        from sqlalchemy import delete

        with self._store.begin() as connection:
            for table in (self._assignees, self._comments):
                connection.execute(delete(table).where(table.c.item == id))
            return int(connection.execute(delete(self._table).where(self._table.c.id == id)).rowcount)

    def close(self) -> None:
        """Close the connections."""
        self._store.close()

    def _row(self, connection: Connection, id: str, *, whole: bool = False) -> Any:
        asked = self._whole if whole else self._lines
        row = connection.execute(asked.where(self._table.c.id == id)).first()
        if row is None:
            raise UnknownName("record in review", id[:32])
        return row

    def _opened(self, row: Any) -> DecidedCase:
        entry = _entry(row)
        case = ReviewCase.unpacked(self._keyring.open("review", row.sealed, f"{entry.id}/case"))
        if row.decision is None:
            return DecidedCase(entry, case, case.spans)
        told = self._keyring.open("review", row.decision, f"{entry.id}/decision")
        return DecidedCase.unpacked(entry, case, told)

    def _seal(self, id: str, case: ReviewCase) -> bytes:
        return self._keyring.seal("review", case.packed(), f"{id}/case")

    def _subject(self, patient: str) -> str:
        return self._store.mac("review", subject_form(patient), "patient").hex()

    @property
    def _now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    @cached_property
    def _joined(self) -> Any:
        return self._table.outerjoin(self._assignees, self._assignees.c.item == self._table.c.id)

    @cached_property
    def _lines(self) -> Any:
        """The lines of the queue, without the sealed columns."""
        from sqlalchemy import func, select

        hidden = ("sealed", "decision", "patient")
        shown = [column for column in self._table.c if column.name not in hidden]
        comments = select(func.count()).where(self._comments.c.item == self._table.c.id).scalar_subquery()
        return select(*shown, self._assignees.c.assignee, comments.label("comments")).select_from(self._joined)

    @cached_property
    def _whole(self) -> Any:
        return self._lines.add_columns(self._table.c.sealed, self._table.c.decision)


def _entry(row: Any) -> QueueEntry:
    return QueueEntry(
        number=row.number,
        id=row.id,
        key=row.record_key,
        release=row.release,
        origin=row.origin,
        state=row.state,
        reasons=tuple(Reason(*reason) for reason in json.loads(row.reasons)),
        policy=row.policy,
        data_type=row.data_type,
        characters=row.characters,
        spans=row.spans,
        since=row.since,
        decided=row.decided,
        by=row.decided_by,
        changes=None if row.changes is None else Changes(**json.loads(row.changes)),
        delivered=row.delivered,
        assignee=row.assignee,
        comments=row.comments,
    )
