"""What a Python worker of Spark takes from the service: the opt-out list, sentinel notes, and drift alarms.

The settings are those of `incognote worker`. The opt-out list never travels with a job: each Python worker asks the
database of the service for the patients of its own rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.util import find_spec
from socket import gethostname
from typing import TYPE_CHECKING

from incognote.agents.item import opened, patient_of
from incognote.agents.runtime import Runtime
from incognote.errors import IncognoteError, LedgerUnavailable
from incognote.nouns import subject_form
from incognote.service.audit import AuditLog
from incognote.service.drift import Alarm, Day, DriftStore
from incognote.service.monitoring import audit_folder, database_of
from incognote.service.optouts import OptOuts
from incognote.service.sentinels import SentinelScore, SentinelWatch
from incognote.service.telemetry import Telemetry, telemetry_of
from incognote.service.vocabulary import Fact, audited
from incognote.sqlite import sqlite_file

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.keys import Keyring
    from incognote.sdk import Deidentifier
    from incognote.settings import Settings
    from incognote.spark.inputs import SparkRow

RELEASE = "spark"
"""The name of the release in log and audit entries of jobs that have none."""


def database(settings: Settings) -> str | None:
    """Return the URL of the service's database; None if none is set and the default file does not exist."""
    url = database_of(settings)
    file = sqlite_file(url)
    if settings.service.database is None and file is not None and not file.exists():
        return None
    return url


class Reports:
    """Reports the events of a Python worker: log lines on its standard error, and the audit log if there is one.

    Args:
        settings, keyring: of the worker.
    """

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        folder = audit_folder(settings)
        given = settings.service.audit is not None
        self.audit = AuditLog(folder, keyring) if given or folder.is_dir() else None
        installed = all(find_spec(name) for name in ("structlog", "prometheus_client"))  # the extra `service`
        self._worker = re.sub(r"[^A-Za-z0-9-]", "-", f"w-{gethostname()[:40]}-{os.getpid()}")
        self.telemetry: Telemetry | None = telemetry_of(settings.service, worker=self._worker) if installed else None

    def tell(self, event: str, **facts: Fact) -> None:
        """Report one event.

        Raises:
            IncognoteError: the audit log cannot be written.
        """
        if self.telemetry is not None:
            self.telemetry.tell(event, **facts)
        if self.audit is not None and audited(event):
            self.audit.append(event, **{"worker": self._worker, **facts})


class Monitor:
    """Watches the records of one Python worker.

    Args:
        made: the Deidentifier that serves the records.

    Raises:
        SettingError, MissingExtra, WrongKey, IncognoteError: the database or the audit log cannot be opened.
    """

    def __init__(self, made: Deidentifier) -> None:
        engine = made.engine
        settings, keyring = engine.settings, engine.keyring
        service, url = settings.service, database(settings)
        self._reports = Reports(settings, keyring)
        self._optouts = None if url is None else OptOuts(url, keyring)
        self._drift = None if url is None else drift_store(settings, keyring, url)
        self._sentinels = SentinelWatch(
            made, self._reports.audit, self._reports.telemetry, count=service.sentinels, floor=service.sentinel_floor,
            least=service.sentinel_least,
        )  # fmt: skip
        self._enough = service.sentinel_least if service.sentinels and service.sentinel_floor is not None else 0
        self._every, self._since = service.shard_records, 0

    def first(self) -> None:
        """Run as many sentinel notes as `sentinel_floor` needs. Call it before the first record.

        Raises:
            SentinelsMissed: too few of their identifiers were found.
        """
        while max(self._sentinels.total.planted, self._sentinels.total.notes) < self._enough:
            if not self.look().notes:
                return  # no language that is read has sentinel notes

    def served(self, records: int) -> None:
        """Run sentinel notes after every `shard_records` records.

        Raises:
            SentinelsMissed: all notes of this Python worker together found less than the floor.
        """
        self._since += records
        if self._since >= self._every:
            self._since = 0
            self.look()

    def look(self, release: str = RELEASE) -> SentinelScore:
        """Run the sentinel notes of one settlement.

        Raises:
            SentinelsMissed: as in `served`.
        """
        return Runtime.shared().run(self._sentinels.look(release))

    def subjects(self, rows: Iterable[SparkRow], engine: Engine) -> dict[int, str]:
        """Return the patient of each row by its position, from its column or its record; {} without an opt-out list."""
        found = {row.at: _subject(row, engine) for row in rows} if self._optouts is not None else {}
        return {at: subject for at, subject in found.items() if subject is not None}

    def refused(self, patients: Collection[str]) -> set[str]:
        """Return the patients who opted out.

        Raises:
            LedgerUnavailable: the list does not answer.
        """
        if self._optouts is None or not patients:
            return set()
        try:
            return self._optouts.refused(patients)
        except IncognoteError:
            raise LedgerUnavailable(
                "The list of opt-outs does not answer. Check the database of the service."
            ) from None

    def counted(self, source: str, counts: Sequence[Mapping[str, int]]) -> None:
        """Add the counts of settled records to those of a source, and report alarms that begin or end."""
        if self._drift is not None and counts:
            compare(self._drift, source, Day.of(counts), self._reports)


def _subject(row: SparkRow, engine: Engine) -> str | None:
    found = None if row.item is None else patient_of(row.item, opened(row.item, engine))
    return found or subject_form(row.patient or "") or None


def drift_store(settings: Settings, keyring: Keyring, url: str) -> DriftStore:
    """Open the drift counts of the service, as a worker does."""
    service = settings.service
    return DriftStore(url, keyring, least=service.drift_least, z=service.drift_z, change=service.drift_change)


def compare(store: DriftStore, source: str, day: Day, reports: Reports) -> list[Alarm]:
    """Add counts to a source and return its alarms.

    A database that fails is reported, and no record waits for it: a day may then lack some counts.
    """
    alarms: list[Alarm] = []
    told: list[tuple[str, dict[str, Fact]]] = []
    try:
        keyed = store.source(source)
        store.put(keyed, day)
        alarms = store.check(keyed, lambda event, **facts: told.append((event, facts)))
    except IncognoteError as error:
        reports.tell("database.failed", error=type(error).__name__)
    for event, facts in told:
        reports.tell(event, **facts)
    return alarms
