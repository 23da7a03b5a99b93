"""Subjects who opted out or were forgotten. Their records are refused when a worker claims them.

Only a keyed hash of the subject's id is stored. It can be compared with a record's subject, but not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from incognote.keys import Keyring
from incognote.nouns import subject_form
from incognote.service.store import ServiceStore

VERSION = 1


@dataclass(frozen=True, slots=True)
class OptOut:
    """One subject by its keyed name, since when it is on the list, and which staff member entered it."""

    subject: str
    since: str
    by: str


class OptOuts:
    """The opt-out list. Workers check it for every batch, so an entry takes effect with the next claim.

    Args:
        url, keyring: as in `ServiceStore`.

    Raises:
        SettingError, WrongKey, IncognoteError: as in `ServiceStore`.
    """

    def __init__(self, url: str, keyring: Keyring) -> None:
        from sqlalchemy import Column, MetaData, String, Table, Text

        metadata = MetaData()
        meta = Table("optout_meta", metadata, Column("name", String(32), primary_key=True), Column("value", Text))
        self._table = Table(
            "optouts",
            metadata,
            Column("subject", String(32), primary_key=True),
            Column("since", String(32), nullable=False),
            Column("entered_by", String(64), nullable=False),
        )
        self._store = ServiceStore(url, metadata, meta, VERSION, keyring)

    def key(self, patient: str) -> str:
        """Return the keyed hash that is stored for a subject, by `subject_form`."""
        return self._store.mac("ledger", subject_form(patient), "optout").hex()[:32]

    def add(self, patient: str, by: str) -> bool:
        """Enter a subject. Return False if it is already on the list."""
        from sqlalchemy import insert
        from sqlalchemy.exc import IntegrityError

        since = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            with self._store.begin() as connection:
                connection.execute(insert(self._table).values(subject=self.key(patient), since=since, entered_by=by))
        except IntegrityError:
            return False
        return True

    def remove(self, patient: str) -> bool:
        """Remove a subject from the list. Return False if it was not on it."""
        from sqlalchemy import delete

        with self._store.begin() as connection:
            gone = connection.execute(delete(self._table).where(self._table.c.subject == self.key(patient)))
            return bool(gone.rowcount)

    def refused(self, patients: Iterable[str]) -> set[str]:
        """Return the patients who are on the list."""
        from sqlalchemy import select

        keys = {patient: self.key(patient) for patient in patients}
        if not keys:
            return set()
        with self._store.begin() as connection:
            asked = select(self._table.c.subject).where(self._table.c.subject.in_(set(keys.values())))
            found = set(connection.execute(asked).scalars())
        return {patient for patient, key in keys.items() if key in found}

    def items(self) -> list[OptOut]:
        """Return the whole list, oldest first."""
        from sqlalchemy import select

        with self._store.begin() as connection:
            rows = connection.execute(select(self._table).order_by(self._table.c.since, self._table.c.subject))
            return [OptOut(row.subject, row.since, row.entered_by) for row in rows]

    def close(self) -> None:
        """Close the connections."""
        self._store.close()
