"""Jobs: many documents submitted at once and processed one by one. Their content is sealed and survives a restart.

A document is `waiting`, `running`, then `released`, `review`, `quarantined` or `cancelled`. The submitted content is
deleted when the document is settled. A document in review is in the review queue.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from incognote.errors import UnknownName
from incognote.keys import Keyring
from incognote.nouns import subject_form
from incognote.service.store import ServiceStore

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

DocumentState = Literal["waiting", "running", "released", "review", "quarantined", "cancelled"]
DOCUMENT_STATES: tuple[DocumentState, ...] = ("waiting", "running", "released", "review", "quarantined", "cancelled")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class ApiJob:
    """One job, in counts."""

    number: int
    id: str
    owner: str
    operation: str
    state: Literal["running", "done", "cancelled"]
    submitted: str
    documents: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JobDocument:
    """One document. Its input is PHI, and its answer may be."""

    job: str
    number: int
    state: DocumentState
    operation: str
    given: Mapping[str, Any] | None = field(default=None, repr=False)
    answer: Mapping[str, Any] | None = field(default=None, repr=False)


class Jobs:
    """All jobs of one service. Threads and processes may share one database.

    Args:
        url, keyring: as in `ServiceStore`.
        lease: seconds after which a running document counts as abandoned by a killed process.

    Raises:
        SettingError, WrongKey, IncognoteError: as in `ServiceStore`.
    """

    def __init__(self, url: str, keyring: Keyring, lease: float) -> None:
        from incognote.service.tables import DOCUMENTS, JOBS, JOBS_META

        self._keyring, self._lease = keyring, lease
        self._jobs, self._documents = JOBS, DOCUMENTS
        self._store = ServiceStore(url, JOBS.metadata, JOBS_META, _VERSION, keyring)

    def submit(self, owner: str, operation: str, documents: Sequence[Mapping[str, Any]]) -> ApiJob:
        """Store documents. All are in the database when this returns.

        Args:
            owner: the name of the caller who may see them.
            documents: ready for JSON. A `patient` in one is stored as a keyed hash.
        """
        from sqlalchemy import insert

        name = secrets.token_hex(8)
        rows = [
            {
                "job": name,
                "number": number,
                "state": "waiting",
                "patient": None if one.get("patient") is None else self._subject(one["patient"]),
                "given": self._seal(one, f"{name}/{number}/given"),
            }
            for number, one in enumerate(documents, 1)
        ]
        with self._store.begin() as connection:
            job = {"id": name, "owner": owner, "operation": operation, "submitted": self._now}
            connection.execute(insert(self._jobs).values(**job))
            connection.execute(insert(self._documents), rows)
        return self.job(name, owner)

    def job(self, id: str, owner: str) -> ApiJob:
        """Return one job.

        Raises:
            UnknownName: it does not exist, or belongs to another owner.
        """
        with self._store.begin() as connection:
            return self._told(connection, self._mine(connection, id, owner))

    def list(self, owner: str, *, after: int = 0, limit: int = 50) -> tuple[ApiJob, ...]:
        """Return the jobs of one owner, oldest first, after a number."""
        from sqlalchemy import select

        place = (self._jobs.c.owner == owner) & (self._jobs.c.number > after)
        asked = select(self._jobs).where(place).order_by(self._jobs.c.number).limit(limit)
        with self._store.begin() as connection:
            return tuple(self._told(connection, row) for row in connection.execute(asked).all())

    def documents(self, id: str, owner: str, *, after: int = 0, limit: int = 50) -> tuple[JobDocument, ...]:
        """Return documents of a job with their answers, by number.

        Raises:
            UnknownName: as in `job`.
        """
        from sqlalchemy import select

        table = self._documents
        with self._store.begin() as connection:
            job = self._mine(connection, id, owner)
            place = (table.c.job == id) & (table.c.number > after)
            rows = connection.execute(select(table).where(place).order_by(table.c.number).limit(limit))
            return tuple(self._document(row, job.operation) for row in rows)

    def cancel(self, id: str, owner: str) -> ApiJob:
        """Process no further documents of a job. Those that are settled remain.

        Raises:
            UnknownName: as in `job`.
        """
        from sqlalchemy import update

        jobs, table = self._jobs, self._documents
        with self._store.begin() as connection:
            self._mine(connection, id, owner)
            connection.execute(
                update(jobs).where((jobs.c.id == id) & jobs.c.cancelled.is_(None)).values(cancelled=self._now)
            )
            left = (table.c.job == id) & table.c.state.in_(("waiting", "running"))
            connection.execute(update(table).where(left).values(state="cancelled", given=None))
        return self.job(id, owner)

    def delete(self, id: str, owner: str) -> None:
        """Delete a job and all its answers permanently.

        Raises:
            UnknownName: as in `job`.
        """
        from sqlalchemy import delete

        with self._store.begin() as connection:
            self._mine(connection, id, owner)
            connection.execute(delete(self._documents).where(self._documents.c.job == id))
            connection.execute(delete(self._jobs).where(self._jobs.c.id == id))

    def claim(self, most: int) -> tuple[JobDocument, ...]:
        """Claim documents: those that wait, and those whose process was killed."""
        from sqlalchemy import or_, select, update

        table, jobs, now = self._documents, self._jobs, datetime.now(UTC).timestamp()
        left = (table.c.state == "running") & (table.c.claimed < now - self._lease)
        ready = or_(table.c.state == "waiting", left)
        asked = select(table, jobs.c.operation).join(jobs, jobs.c.id == table.c.job).where(ready)
        with self._store.begin() as connection:
            rows = connection.execute(asked.order_by(jobs.c.number, table.c.number).limit(most)).all()
            taken = []
            for row in rows:
                place = (table.c.job == row.job) & (table.c.number == row.number) & ready
                if connection.execute(update(table).where(place).values(state="running", claimed=now)).rowcount:
                    taken.append(self._document(row, row.operation))
            return tuple(taken)

    def give_back(self, document: JobDocument) -> None:
        """Return a document to `waiting` after an outage."""
        self._change(document, "running", state="waiting", claimed=None)

    def settle(self, document: JobDocument, state: DocumentState, answer: Mapping[str, Any]) -> bool:
        """Store the answer of a document. Return False if it was cancelled or deleted meanwhile."""
        sealed = self._seal(answer, f"{document.job}/{document.number}/answer")
        return self._change(document, "running", state=state, answer=sealed, given=None)

    def reviewed(self, job: str, number: int, state: DocumentState, answer: Mapping[str, Any]) -> bool:
        """Store the answer of a document that was in review. Return False if it no longer is."""
        sealed = self._seal(answer, f"{job}/{number}/answer")
        return self._change(JobDocument(job, number, "review", ""), "review", state=state, answer=sealed)

    def counts(self) -> dict[str, int]:
        """Return the number of documents by state, of all jobs."""
        from sqlalchemy import func, select

        table = self._documents
        with self._store.begin() as connection:
            rows = connection.execute(select(table.c.state, func.count()).group_by(table.c.state))
            return {row[0]: row[1] for row in rows}

    def count(self, patient: str) -> int:
        """Return how many documents of a subject are held."""
        from sqlalchemy import func, select

        place = self._documents.c.patient == self._subject(patient)
        with self._store.begin() as connection:
            return int(connection.execute(select(func.count()).where(place)).scalar_one())

    def forget(self, patient: str) -> int:
        """Delete all documents of a subject permanently. Return how many."""
        from sqlalchemy import delete

        place = self._documents.c.patient == self._subject(patient)
        with self._store.begin() as connection:
            return int(connection.execute(delete(self._documents).where(place)).rowcount)

    def close(self) -> None:
        """Close the connections."""
        self._store.close()

    def _change(self, document: JobDocument, before: DocumentState, **values: Any) -> bool:
        from sqlalchemy import update

        table = self._documents
        place = (table.c.job == document.job) & (table.c.number == document.number) & (table.c.state == before)
        with self._store.begin() as connection:
            return bool(connection.execute(update(table).where(place).values(**values)).rowcount)

    def _mine(self, connection: Connection, id: str, owner: str) -> Row[Any]:
        from sqlalchemy import select

        place = (self._jobs.c.id == id) & (self._jobs.c.owner == owner)
        row = connection.execute(select(self._jobs).where(place)).first()
        if row is None:
            raise UnknownName("job", id[:32])
        return row

    def _told(self, connection: Connection, row: Row[Any]) -> ApiJob:
        from sqlalchemy import func, select

        table = self._documents
        asked = select(table.c.state, func.count()).where(table.c.job == row.id).group_by(table.c.state)
        found = {row[0]: row[1] for row in connection.execute(asked)}
        counts: dict[str, int] = {state: found.get(state, 0) for state in DOCUMENT_STATES}
        state: Literal["running", "done", "cancelled"] = "running" if counts["waiting"] + counts["running"] else "done"
        if row.cancelled is not None:
            state = "cancelled"
        return ApiJob(row.number, row.id, row.owner, row.operation, state, row.submitted, sum(counts.values()), counts)

    def _document(self, row: Row[Any], operation: str) -> JobDocument:
        name = f"{row.job}/{row.number}"
        given = None if row.given is None else json.loads(self._keyring.open("review", row.given, f"{name}/given"))
        answer = None if row.answer is None else json.loads(self._keyring.open("review", row.answer, f"{name}/answer"))
        return JobDocument(row.job, row.number, row.state, operation, given, answer)

    def _seal(self, told: Mapping[str, Any], label: str) -> bytes:
        return self._keyring.seal("review", json.dumps(told).encode(), label)

    def _subject(self, patient: str) -> str:
        return self._store.mac("review", subject_form(patient), "patient").hex()

    @property
    def _now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")
