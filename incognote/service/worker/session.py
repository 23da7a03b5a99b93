"""A worker's wait for a ledger that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from incognote.errors import LedgerUnavailable
from incognote.runs.driver import Backoff
from incognote.service.worker.hooks import Hooks, WorkerCounts

P = ParamSpec("P")
T = TypeVar("T")


class Waiting:
    """The waits and pauses of one worker.

    Args:
        hooks: receives events about a ledger that does not answer.
        done: counts the pauses.
        longest: the maximum length of one pause, in seconds.
    """

    def __init__(self, hooks: Hooks, done: WorkerCounts, longest: float) -> None:
        self._hooks, self._done = hooks, done
        self.pauses = Backoff(longest)
        self.stopping = asyncio.Event()

    async def asked(self, ask: Callable[P, T], *args: P.args, **words: P.kwargs) -> T:
        """Call the ledger, and repeat the call while its database is away. Nothing is claimed meanwhile.

        Raises:
            LedgerUnavailable: it is away, and the worker must stop. The call may or may not have taken effect.
        """
        reported = False
        while True:
            try:
                answer = await asyncio.to_thread(ask, *args, **words)
            except LedgerUnavailable:
                if self.stopping.is_set():
                    raise
                if not reported:
                    self._hooks.tell("database.failed", error=LedgerUnavailable.code)
                    self._done.pauses += 1
                reported = True
                await self.sleep(self.pauses.next())
            else:
                if reported:
                    self.pauses.reset()
                    self._hooks.tell("worker.resumed")
                return answer

    async def sleep(self, seconds: float) -> None:
        """Sleep for some seconds, or until the worker must stop."""
        try:
            async with asyncio.timeout(seconds):
                await self.stopping.wait()
        except TimeoutError:
            pass  # not stopped
