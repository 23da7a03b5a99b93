"""The days of each source, in the service's database: numbers under keyed names of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from incognote.keys import Keyring
from incognote.service.drift.rates import ALL, Alarm, Day, alarms
from incognote.service.store import ServiceStore

if TYPE_CHECKING:
    from sqlalchemy import Connection

VERSION = 1
WINDOW = 28
"""Today is compared with this many days before it."""


class DriftStore:
    """Stores the counts of batches, and detects changes.

    Args:
        url, keyring: as in `ServiceStore`.
        least, z, change: as in `alarms`.
        clock: returns the time.

    Raises:
        SettingError, WrongKey, IncognoteError: as in `ServiceStore`.
    """

    def __init__(
        self,
        url: str,
        keyring: Keyring,
        *,
        least: int = 200,
        z: float = 5.0,
        change: float = 0.5,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        from incognote.service.tables import ALARMS, DAYS, DRIFT_META

        self._days, self._alarms, self._clock = DAYS, ALARMS, clock
        self._least, self._z, self._change = least, z, change
        self._store = ServiceStore(url, DAYS.metadata, DRIFT_META, VERSION, keyring)

    def source(self, place: str) -> str:
        """Return the keyed name that the database, log lines and metrics use for a source."""
        return self._store.mac("ledger", place, "source").hex()[:16]

    def add(self, source: str, counts: Iterable[Mapping[str, int]]) -> None:
        """Add a batch of one source.

        Args:
            source: returned by `source`.
            counts: each record's identifiers by type. A record without any is an empty mapping.
        """
        self.put(source, Day.of(counts))

    def put(self, source: str, batch: Day) -> None:
        """Add the counts of a batch of one source."""
        day = self._today.isoformat()
        if not batch.records:
            return
        with self._store.begin() as connection:
            for kind in sorted(batch.totals):  # in a fixed order, so that two batches cannot deadlock
                more = (batch.records if kind == ALL else 0, batch.totals[kind], batch.squares[kind])
                self._increase(connection, source, day, kind, more)

    def _increase(self, connection: Connection, source: str, day: str, kind: str, more: tuple[int, int, int]) -> None:
        from sqlalchemy.dialects import postgresql, sqlite

        table = self._days
        insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        records, total, squares = more
        put = insert(table).values(source=source, day=day, type=kind, records=records, total=total, squares=squares)
        connection.execute(
            put.on_conflict_do_update(
                index_elements=["source", "day", "type"],
                set_={
                    "records": table.c.records + records,
                    "total": table.c.total + total,
                    "squares": table.c.squares + squares,
                },
            )
        )

    def found(self, source: str) -> list[Alarm]:
        """Return the alarms of a source today."""
        now, before = self._sides(source)
        return alarms(now, before, least=self._least, z=self._z, change=self._change)

    def check(self, source: str, tell: Callable[..., object] | None = None) -> list[Alarm]:
        """Return the alarms as `found` does. Each start and end of an alarm is reported once, by one of the callers."""
        from sqlalchemy import delete, select
        from sqlalchemy.dialects import postgresql, sqlite

        table, found = self._alarms, self.found(source)
        now = {alarm.entity_type: alarm for alarm in found}
        with self._store.begin() as connection:
            before = set(connection.execute(select(table.c.type).where(table.c.source == source)).scalars())
        begun: list[Alarm] = []
        ended: list[str] = []
        if before != now.keys():  # SQLite needs a separate transaction that begins with a write
            with self._store.begin() as connection:
                insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
                for kind in sorted(now.keys() - before):
                    row = {"source": source, "type": kind, "since": self._today.isoformat()}
                    if connection.execute(insert(table).values(row).on_conflict_do_nothing()).rowcount:
                        begun.append(now[kind])
                for kind in sorted(before - now.keys()):
                    if connection.execute(delete(table).where(table.c.source == source, table.c.type == kind)).rowcount:
                        ended.append(kind)
        if tell is not None:
            for alarm in begun:
                tell(
                    "drift.alarm",
                    source=source,
                    entity_type=alarm.entity_type or "ANY",
                    outlook=alarm.outlook,
                    share=round(alarm.rate, 4),
                    expected=round(alarm.expected, 4),
                )
            for kind in ended:
                tell("drift.calm", source=source, entity_type=kind or "ANY")
        return found

    def sources(self) -> list[str]:
        """Return the sources with records within the window."""
        from sqlalchemy import select

        since = (self._today - timedelta(days=WINDOW)).isoformat()
        with self._store.begin() as connection:
            return sorted(
                connection.execute(select(self._days.c.source).where(self._days.c.day >= since).distinct()).scalars()
            )

    def close(self) -> None:
        """Close the connections."""
        self._store.close()

    @property
    def _today(self) -> date:
        return self._clock().astimezone(UTC).date()

    def _sides(self, source: str) -> tuple[Day, Day]:
        """Return today, and the window before it."""
        from sqlalchemy import select

        table, today = self._days, self._today
        since = (today - timedelta(days=WINDOW)).isoformat()
        asked = select(table).where(table.c.source == source, table.c.day >= since, table.c.day <= today.isoformat())
        sides = {True: Day(), False: Day()}
        with self._store.begin() as connection:
            for row in connection.execute(asked):
                is_today = row.day == today.isoformat()
                sides[is_today] += Day(row.records, {row.type: row.total}, {row.type: row.squares})
        return sides[True], sides[False]
