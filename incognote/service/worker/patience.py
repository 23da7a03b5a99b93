"""Waiting: for a ledger that is away, between two looks, and no longer than until somebody asks the worker to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from incognote.errors import LedgerUnavailable
from incognote.service.worker.around import Around, Done
from incognote.service.worker.outage import Pauses

P = ParamSpec("P")
T = TypeVar("T")


class Patience:
    """One worker's.

    Args:
        around: told of a ledger that is away.
        done: counts the pauses.
        longest: seconds of one pause.
    """

    def __init__(self, around: Around, done: Done, longest: float) -> None:
        self._around, self._done = around, done
        self.pauses = Pauses(longest)
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
                    self._around.tell("database.failed", error=LedgerUnavailable.code)
                    self._done.pauses += 1
                told = True
                await self.sleep(self.pauses.next())
            else:
                if told:
                    self.pauses.reset()
                    self._around.tell("worker.resumed")
                return answer

    async def sleep(self, seconds: float) -> None:
        """Until then, or until it is to stop."""
        try:
            async with asyncio.timeout(seconds):
                await self.stopping.wait()
        except TimeoutError:
            pass  # nobody stopped it
