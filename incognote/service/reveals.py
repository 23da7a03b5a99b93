"""Requests to reveal. With `reveal_approvals = 2`, one person asks, another approves, and the first may reveal once.

A request expires after `reveal_minutes`. The question is sealed, and only a keyed hash of a patient is stored. A
request that was used or has expired is deleted. The audit log says what happened to it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import AlreadyDecided, UnknownName, UsageError
from incognote.keys import Keyring
from incognote.service.store import ServiceStore

if TYPE_CHECKING:
    from sqlalchemy import Row

    from incognote.settings import Settings

VERSION = 1


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """One request.

    Args:
        by, approved_by: accounts of the command line, or names of API keys.
        about: the question and the reason for it, for the approver. May be PHI.
    """

    id: str
    by: str
    since: str
    ends: str
    approved_by: str | None
    about: Mapping[str, Any] = field(repr=False)


class Reveals:
    """The requests of one database. Threads and processes may share it.

    Args:
        url, keyring: as in `ServiceStore`.
        minutes: the time until a request expires.
        clock: returns the time.

    Raises:
        SettingError, WrongKey, IncognoteError: as in `ServiceStore`.
    """

    def __init__(
        self, url: str, keyring: Keyring, minutes: float, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        from sqlalchemy import Column, LargeBinary, MetaData, String, Table, Text

        metadata = MetaData()
        meta = Table("reveal_meta", metadata, Column("name", String(32), primary_key=True), Column("value", Text))
        self._table = Table(
            "reveal_requests",
            metadata,
            Column("id", String(16), primary_key=True),
            Column("question", String(64), nullable=False),
            Column("requested_by", String(64), nullable=False),
            Column("since", String(32), nullable=False),
            Column("ends", String(32), nullable=False),
            Column("approved_by", String(64)),
            Column("sealed", LargeBinary, nullable=False),
        )
        self._keyring, self._minutes, self._clock = keyring, minutes, clock
        self._store = ServiceStore(url, metadata, meta, VERSION, keyring)

    def ask(self, question: Mapping[str, Any], why: str, by: str, *, hidden: str = "") -> RevealRequest:
        """Store a request.

        Args:
            question: what is to be revealed. The approver sees it.
            hidden: a part of the question that is not shown: the patient.
        """
        from sqlalchemy import insert

        now, name = self._clock().astimezone(UTC), secrets.token_hex(8)
        about = {"question": dict(question), "why": why, "patient": bool(hidden)}
        row = {
            "id": name,
            "question": self._question(question, hidden),
            "requested_by": by,
            "since": _written(now),
            "ends": _written(now + timedelta(minutes=self._minutes)),
            "approved_by": None,
        }
        sealed = self._keyring.seal("review", json.dumps(about).encode(), f"{name}/reveal")
        self._purge()
        with self._store.begin() as connection:
            connection.execute(insert(self._table).values(**row, sealed=sealed))
        return self.request(name)

    def items(self) -> list[RevealRequest]:
        """Return the requests that have not expired, the oldest first."""
        from sqlalchemy import select

        self._purge()
        with self._store.begin() as connection:
            rows = connection.execute(select(self._table).order_by(self._table.c.since, self._table.c.id)).all()
        return [self._request(row) for row in rows]

    def request(self, id: str) -> RevealRequest:
        """Return one request.

        Raises:
            UnknownName: it does not exist, has expired, or was used.
        """
        for one in self.items():
            if one.id == id:
                return one
        raise UnknownName("request to reveal", id[:16])

    def may_approve(self, id: str, by: str) -> RevealRequest:
        """Return the request if this person may approve it.

        Raises:
            UnknownName: as in `request`.
            UsageError: it is this person's own request.
            AlreadyDecided: it is already approved.
        """
        one = self.request(id)
        if _person(one.by) == _person(by):
            raise UsageError("You cannot approve your own request. Another person must.")
        if one.approved_by is not None:
            raise AlreadyDecided("This request is already approved.")
        return one

    def approve(self, id: str, by: str) -> RevealRequest:
        """Approve a request.

        Raises:
            UnknownName, UsageError, AlreadyDecided: as in `may_approve`.
        """
        from sqlalchemy import update

        self.may_approve(id, by)
        place = (self._table.c.id == id) & self._table.c.approved_by.is_(None)
        with self._store.begin() as connection:
            if not connection.execute(update(self._table).where(place).values(approved_by=by)).rowcount:
                raise AlreadyDecided("This request is already approved.")
        return self.request(id)

    def take(self, id: str, question: Mapping[str, Any], by: str, *, hidden: str = "") -> RevealRequest:
        """Use up a request. If two callers try, one succeeds.

        Args:
            question, hidden: as in `ask`.

        Raises:
            UnknownName: as in `request`.
            UsageError: another person made the request, it asks for something else, or it is not approved. It remains.
        """
        from sqlalchemy import delete

        one = self.request(id)
        if _person(one.by) != _person(by):
            raise UsageError("Another person made this request. Only that person can use it.")
        if one.approved_by is None or _person(one.approved_by) == _person(by):
            raise UsageError("Another person must approve this request first.")
        table = self._table
        place = (table.c.id == id) & (table.c.question == self._question(question, hidden))
        place &= (table.c.approved_by == one.approved_by) & (table.c.ends > _written(self._clock()))
        with self._store.begin() as connection:
            if not connection.execute(delete(table).where(place)).rowcount:
                raise UsageError("The approved request asks for something else.")
        return one

    def close(self) -> None:
        """Close the connections."""
        self._store.close()

    def _question(self, question: Mapping[str, Any], hidden: str) -> str:
        return self._store.mac("review", json.dumps([dict(question), hidden], sort_keys=True), "reveal").hex()

    def _purge(self) -> None:
        from sqlalchemy import delete

        with self._store.begin() as connection:
            connection.execute(delete(self._table).where(self._table.c.ends <= _written(self._clock())))

    def _request(self, row: Row[Any]) -> RevealRequest:
        about = json.loads(self._keyring.open("review", row.sealed, f"{row.id}/reveal"))
        return RevealRequest(row.id, row.requested_by, row.since, row.ends, row.approved_by, about)


def open_reveals(settings: Settings, keyring: Keyring) -> Reveals:
    """Open the requests in the service's database.

    Raises:
        MissingExtra, SettingError, WrongKey, IncognoteError: as in `Reveals`.
    """
    from incognote.service.monitoring import database_of

    return Reveals(database_of(settings), keyring, settings.reveal_minutes)


def write_down(log: Path, record: dict[str, object]) -> None:
    """Append one line to the audit file and flush it to disk.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise UsageError(
            f"The audit file of reveals cannot be written ({error.strerror}), so nothing is shown. Check --audit, or "
            "the home folder of incognote."
        ) from None


def _person(name: str) -> str:
    return name.strip().casefold()


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds")
