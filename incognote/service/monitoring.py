"""What watches over a worker: audit log, telemetry, opt-outs, drift and sentinel notes, made of the settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from socket import gethostname
from typing import TYPE_CHECKING, Any, Self, TextIO

from incognote.errors import IncognoteError, LedgerUnavailable
from incognote.service.audit import AuditLog
from incognote.service.drift import DriftStore
from incognote.service.optouts import OptOuts
from incognote.service.sentinels import SentinelWatch
from incognote.service.telemetry import Telemetry, telemetry_of
from incognote.service.vocabulary import Fact, audited, checked

if TYPE_CHECKING:
    from pathlib import Path

    from incognote.keys import Keyring
    from incognote.sdk import Deidentifier
    from incognote.service.worker.hooks import Hooks
    from incognote.service.worker.records import ReviewStore
    from incognote.settings import Settings


def audit_folder(settings: Settings) -> Path:
    """Where the audit log lies."""
    return settings.service.audit or settings.home / "audit"


def database_of(settings: Settings) -> str:
    """Where opt-outs and drift are kept, and the API's things."""
    return settings.service.database or f"sqlite:///{settings.home / 'service.db'}"


def noted(settings: Settings, keyring: Keyring, event: str, **facts: Fact) -> None:
    """Into the audit log, where there is one, what the user of the command line does.

    Raises:
        IncognoteError: it cannot be written; what it is about must not happen.
    """
    folder = audit_folder(settings)
    if folder.is_dir():  # not every user of the command line has a service
        AuditLog(folder, keyring).append(event, by=account(), **facts)


def account() -> str:
    """The name that the system has for this process's user; what USER and LOGNAME say, anybody can set."""
    try:
        import pwd
    except ImportError:  # Windows, where the service does not run
        from getpass import getuser

        name = getuser()
    else:
        try:
            name = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # in a container a user may be a mere number
            name = f"uid-{os.getuid()}"
    return re.sub(r"[^\w .@'-]", "-", f"{name}"[:64])


class ServiceMonitor:
    """Holds them; a context that closes them.

    Args:
        made: what serves the records.
        release: the name of the release that is made.
        source: the source's location; it is known by a keyed name.
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
        """Into the log lines and metrics, and into the audit log where that is for it.

        Raises:
            IncognoteError: the audit log cannot be written; the worker ends.
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
        """Take in what a batch's records held, and look whether that is as it was; a day may lack some of them."""
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
        """Which of some patients opted out.

        Raises:
            LedgerUnavailable: nobody can say; the worker waits.
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
            SentinelsMissed: they found too little.
        """
        await self.sentinels.look(self._release)

    def hooks(self, reviews: ReviewStore | None = None) -> Hooks:
        """All of it, at the places where a worker asks for it."""
        from incognote.service.worker.hooks import Hooks

        return Hooks(tell=self.tell, refused=self.refused, counted=self.counted, settled=self.settled,
                      span=self.telemetry.span, reviews=reviews)  # fmt: skip

    def close(self) -> None:
        """Tell where the audit log ends, and give everything back."""
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
        """What goes wrong in the block is told, if it is a fault of ours, and goes on its way."""
        try:
            yield
        except IncognoteError:
            raise
        except Exception as bug:  # told by its place alone, since its message may quote a record
            self.telemetry.unexpected(bug)
            raise
