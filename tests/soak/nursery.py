"""A process that imports everything once and forks workers, which the soaks then kill.

Each input line is JSON: the definition of one worker. The reply is the worker's process id. A worker that ends by
itself writes its result to the file named for it. This is a script; the parent process has no other threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import psycopg  # noqa: F401 -- imported once, before all forks
from sqlalchemy.dialects import postgresql, sqlite  # noqa: F401 -- the same

from incognote.agents import graph
from incognote.detectors import rules  # noqa: F401 -- the same
from incognote.errors import LedgerUnavailable
from incognote.files.inputs import RecordDefaults
from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote.llm.vendors import chat  # noqa: F401 -- the same
from incognote.runs.destination import open_destination
from incognote.runs.freezing import code
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource
from incognote.sdk import Deidentifier
from incognote.service.worker.freezing import frozen
from incognote.service.worker.worker import Worker
from incognote.settings import ServiceSettings

SHUT = "shut"


def shut() -> None:
    """Refuse to open files with a certain prefix: tests run as root, whose permissions cannot be revoked."""
    real = os.open

    def refused(path: Any, *rest: Any, **more: Any) -> int:
        if os.path.basename(str(path)).startswith(SHUT):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest, **more)

    os.open = refused


def opened(address: str, keyring: Keyring) -> Ledger:
    """Open the ledger, again and again for a minute while its database restarts, as a supervisor starts a worker."""
    for _ in range(60):
        with contextlib.suppress(LedgerUnavailable):
            return Ledger(address, keyring)
        time.sleep(1)
    return Ledger(address, keyring)


def work(told: dict[str, Any]) -> None:
    if os.geteuid() == 0:
        shut()
    settings = ServiceSettings(**told["settings"])
    made = Deidentifier(key_file=told["key"], service=settings, **told["engine"])
    keyring = made.engine.keyring
    ledger = opened(told["ledger"], keyring)
    parts = frozen(
        made, layout=None, words=RecordDefaults(), form="lines", packing="none", part_bytes=settings.part_bytes
    )
    release = ledger.freeze("soak", parts)
    worker = Worker(
        made, WatchedSource(open_location(told["source"])), open_destination(open_location(told["destination"])),
        ledger, release, Quarantine(told["quarantine"], keyring),
    )  # fmt: skip
    done = asyncio.run(worker.run(once=True))
    Path(told["says"]).write_text(json.dumps({"states": done.states, "pauses": done.pauses}))


def main() -> None:
    code()
    graph.machine(reads=True)
    graph.machine()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the killed workers are not waited for
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            failed = 0
            try:
                work(told)
            except BaseException:
                traceback.print_exc()
                failed = 1
            sys.stderr.flush()
            os._exit(failed)
        print(child, flush=True)


main()
