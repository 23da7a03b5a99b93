"""Requests to reveal: with `reveal_approvals = 2` one person asks, another one approves, and the first reveals once.

A request ends after `reveal_minutes`. What is asked is sealed; of a patient only a keyed hash is kept. A request that
was used or has ended is deleted: what became of it is in the audit log.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
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
        about: what is asked and why, for whoever approves; may be PHI.
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
        url, keyring: as `ServiceStore`.
        minutes: until a request ends.
        clock: tells the time.

    Raises:
        SettingError, WrongKey, IncognoteError: as `ServiceStore`.
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
        """Put a request down.

        Args:
            question: what is to be revealed; shown to whoever approves.
            hidden: what belongs to the question and is not shown: the patient.
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
        """Those that have not ended, the oldest first."""
        from sqlalchemy import select

        self._purge()
        with self._store.begin() as connection:
            rows = connection.execute(select(self._table).order_by(self._table.c.since, self._table.c.id)).all()
        return [self._request(row) for row in rows]

    def request(self, id: str) -> RevealRequest:
        """One.

        Raises:
            UnknownName: there is none, it has ended, or it was used.
        """
        for one in self.items():
            if one.id == id:
                return one
        raise UnknownName("request to reveal", id[:16])

    def may_approve(self, id: str, by: str) -> RevealRequest:
        """The request, if somebody may approve it.

        Raises:
            UnknownName: as `request`.
            UsageError: it is this person's own request.
            AlreadyDecided: it is approved.
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
            UnknownName, UsageError, AlreadyDecided: as `may_approve`.
        """
        from sqlalchemy import update

        self.may_approve(id, by)
        place = (self._table.c.id == id) & self._table.c.approved_by.is_(None)
        with self._store.begin() as connection:
            if not connection.execute(update(self._table).where(place).values(approved_by=by)).rowcount:
                raise AlreadyDecided("This request is already approved.")
        return self.request(id)

    def take(self, id: str, question: Mapping[str, Any], by: str, *, hidden: str = "") -> RevealRequest:
        """Use a request up; of two who try, one succeeds.

        Args:
            question, hidden: as they were asked.

        Raises:
            UnknownName: as `request`.
            UsageError: another asked for it, it asks for something else, or nobody has approved it; it stays.
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
        """Give the connections back."""
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
    """The requests in the service's database.

    Raises:
        MissingExtra, SettingError, WrongKey, IncognoteError: as `Reveals`.
    """
    from incognote.service.monitoring import database_of

    return Reveals(database_of(settings), keyring, settings.reveal_minutes)


def _person(name: str) -> str:
    return name.strip().casefold()


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds")
