"""The session of a worker in the ledger: its heartbeat, and waiting for a ledger that does not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from incognote.errors import LeaseLost, LedgerUnavailable
from incognote.ledger import Ledger
from incognote.runs.driver import Backoff
from incognote.service.worker.hooks import Hooks, WorkerCounts

_BEATS = 4  # in one lease


class Heartbeat:
    """Beats from its start to its stop, or until the lease is lost."""

    def __init__(self, ledger: Ledger, worker: str, lease: float) -> None:
        self._ledger, self._worker, self._pause = ledger, worker, lease / _BEATS
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="incognote-heart", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stopped.wait(self._pause):
            with suppress(LedgerUnavailable):  # whoever wants something of the ledger says so
                try:
                    self._ledger.beat(self._worker)
                except LeaseLost:  # the next claim or settlement is told
                    return

    def stop(self) -> None:
        """Beat no more."""
        self._stopped.set()
        self._thread.join()


P = ParamSpec("P")
T = TypeVar("T")


class Waiting:
    """One worker's.

    Args:
        hooks: told of a ledger that is away.
        done: counts the pauses.
        longest: seconds of one pause.
    """

    def __init__(self, hooks: Hooks, done: WorkerCounts, longest: float) -> None:
        self._hooks, self._done = hooks, done
        self.pauses = Backoff(longest)
        self.stopping = asyncio.Event()

    async def asked(self, ask: Callable[P, T], *args: P.args, **words: P.kwargs) -> T:
        """An answer of the ledger's; while its database is away, it is asked again. Nothing is claimed meanwhile.

        Raises:
            LedgerUnavailable: it is away, and the worker is to stop; what was asked may or may not stand.
        """
        told = False
        while True:
            try:
                answer = await asyncio.to_thread(ask, *args, **words)
            except LedgerUnavailable:
                if self.stopping.is_set():
                    raise
                if not told:
                    self._hooks.tell("database.failed", error=LedgerUnavailable.code)
                    self._done.pauses += 1
                told = True
                await self.sleep(self.pauses.next())
            else:
                if told:
                    self.pauses.reset()
                    self._hooks.tell("worker.resumed")
                return answer

    async def sleep(self, seconds: float) -> None:
        """Until then, or until it is to stop."""
        try:
            async with asyncio.timeout(seconds):
                await self.stopping.wait()
        except TimeoutError:
            pass  # nobody stopped it
