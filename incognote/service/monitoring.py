"""Monitoring of a worker: audit log, telemetry, opt-outs, drift and sentinel notes, set up from the settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from socket import gethostname
from typing import TYPE_CHECKING, Any, Self, TextIO

from incognote.errors import IncognoteError, LedgerUnavailable, UsageError
from incognote.service.audit import AuditLog
from incognote.service.drift import DriftStore
from incognote.service.optouts import OptOuts
from incognote.service.sentinels import SentinelWatch
from incognote.service.telemetry import Telemetry, telemetry_of
from incognote.service.vocabulary import Fact, audited, checked
from incognote.sqlite import sqlite_file

if TYPE_CHECKING:
    from pathlib import Path

    from incognote.keys import Keyring
    from incognote.sdk import Deidentifier
    from incognote.service.worker.hooks import Hooks
    from incognote.service.worker.records import ReviewStore
    from incognote.settings import Settings


def audit_folder(settings: Settings) -> Path:
    """Return the folder of the audit log."""
    return settings.service.audit or settings.home / "audit"


def database_of(settings: Settings) -> str:
    """Return the URL of the database for opt-outs, drift and the API."""
    return settings.service.database or f"sqlite:///{settings.home / 'service.db'}"


def existing_database_of(settings: Settings) -> str:
    """Return the URL as `database_of`, for a command that only reads.

    Raises:
        UsageError: it is an SQLite file that does not exist.
    """
    url = database_of(settings)
    file = sqlite_file(url)
    if file is not None and not file.exists():
        raise UsageError(
            f"The service database {file} does not exist, so it holds no entries. If you expected some, check "
            "INCOGNOTE_HOME and `service.database` in the settings."
        )
    return url


def noted(settings: Settings, keyring: Keyring, event: str, **facts: Fact) -> None:
    """Record an action of a command-line user in the audit log, if there is one.

    Raises:
        IncognoteError: it cannot be written, and the action must not happen.
    """
    folder = audit_folder(settings)
    if folder.is_dir():  # not every user of the command line has a service
        AuditLog(folder, keyring).append(event, by=account(), **facts)


def account() -> str:
    """Return the system's name for this process's user. USER and LOGNAME are not used, since any user can set them."""
    try:
        import pwd
    except ImportError:  # Windows, where the service does not run
        from getpass import getuser

        name = getuser()
    else:
        try:
            name = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # in a container a user may be just a number
            name = f"uid-{os.getuid()}"
    return re.sub(r"[^\w .@'-]", "-", f"{name}"[:64])


class ServiceMonitor:
    """The monitoring objects of a worker. As a context manager, it closes them.

    Args:
        made: the Deidentifier that serves the records.
        release: the name of the current release.
        source: the location of the source. It is recorded under a keyed name.
        stream: where log lines go; None is the standard error.
    """

    def __init__(
        self,
        made: Deidentifier,
        *,
        release: str,
        source: str,
        stream: TextIO | None = None,
    ) -> None:
        settings = made.engine.settings
        service, keyring = settings.service, made.engine.keyring
        self._worker = re.sub(r"[^A-Za-z0-9-]", "-", f"w-{gethostname()[:40]}-{os.getpid()}")
        self._release = release
        always = checked("worker.started", {"release": release, "worker": self._worker})
        self.telemetry: Telemetry = telemetry_of(service, stream, **always)
        self.audit = AuditLog(audit_folder(settings), keyring)
        database = database_of(settings)
        self.optouts = OptOuts(database, keyring)
        self.drift = DriftStore(
            database, keyring, least=service.drift_least, z=service.drift_z, change=service.drift_change
        )
        self.sentinels = SentinelWatch(
            made,
            self.audit,
            self.telemetry,
            count=service.sentinels,
            floor=service.sentinel_floor,
            least=service.sentinel_least,
        )
        self._source = self.drift.source(source)
        self._server: Any = self.telemetry.metrics.serve(service.metrics) if service.metrics else None

    def tell(self, event: str, **facts: Fact) -> None:
        """Write an event to the log lines and metrics, and to the audit log if it is an audited event.

        Raises:
            IncognoteError: the audit log cannot be written, and the worker ends.
        """
        self.telemetry.tell(event, **facts)
        if not audited(event):
            return
        try:
            self.audit.append(event, **{"worker": self._worker, "release": self._release, **facts})
        except IncognoteError as error:
            self.telemetry.tell("audit.broken", error=type(error).__name__)
            raise

    def counted(self, counts: Sequence[Mapping[str, int]]) -> None:
        """Add the counts of a batch and check them for drift. If the database fails, a day may lack some counts."""
        if not counts:
            return
        alarms: list[tuple[str, dict[str, Fact]]] = []
        try:
            self.drift.add(self._source, counts)
            self.drift.check(self._source, lambda event, **facts: alarms.append((event, facts)))
        except IncognoteError as error:
            self.telemetry.tell("database.failed", error=type(error).__name__)
        for event, facts in alarms:
            self.tell(event, **facts)

    def refused(self, patients: Iterable[str]) -> set[str]:
        """Return the patients who have opted out.

        Raises:
            LedgerUnavailable: the list does not answer, and the worker waits.
        """
        try:
            return self.optouts.refused(patients)
        except IncognoteError:
            raise LedgerUnavailable(
                "The list of opt-outs does not answer. Check the database of the service."
            ) from None

    async def settled(self) -> None:
        """Run sentinel notes.

        Raises:
            SentinelsMissed: too few of their identifiers were found.
        """
        await self.sentinels.look(self._release)

    def hooks(self, reviews: ReviewStore | None = None) -> Hooks:
        """Return all of it as hooks for a worker."""
        from incognote.service.worker.hooks import Hooks

        return Hooks(tell=self.tell, refused=self.refused, counted=self.counted, settled=self.settled,
                      span=self.telemetry.span, reviews=reviews)  # fmt: skip

    def close(self) -> None:
        """Record the head of the audit log, and close everything."""
        self.tell("worker.stopped")
        self.telemetry.tell("audit.head", head=str(self.audit.head()))
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        self.optouts.close()
        self.drift.close()
        self.telemetry.close()

    def __enter__(self) -> Self:
        self.telemetry.take_over()
        self.tell("worker.started")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Report unexpected errors of the block, and raise them again."""
        try:
            yield
        except IncognoteError:
            raise
        except Exception as bug:  # only its place is reported, since its message may quote a record
            self.telemetry.unexpected(bug)
            raise
