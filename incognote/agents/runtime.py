"""The process-wide Runtime: a private event loop on its own thread.

The sync API submits to it and waits, so it works inside a running loop (Jupyter) too. The async API awaits the same
coroutine, so both give the same answers. A forked child makes its own Runtime.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")
_WAKES = 1.0  # seconds


class Runtime:
    """Holds the loop thread. Use `Runtime.shared()`."""

    _shared: Runtime | None = None
    _guard = threading.Lock()

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="incognote-runtime", daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> Runtime:
        """Return the Runtime of this process."""
        with cls._guard:
            if cls._shared is None or cls._shared._pid != os.getpid():
                cls._shared = cls()
            return cls._shared

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the private loop and wait for it. An interrupt cancels it."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("the synchronous API was called from the runtime's own event loop")
        future = self.start(work)
        try:
            return awaited(future)
        except BaseException:
            future.cancel()
            raise

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine on the private loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def join(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the private loop and await it from the caller's loop. Cancelling cancels both."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


def awaited(future: Future[T]) -> T:
    """Return the result of a future. The wait always responds to an interrupt.

    A signal can arrive after Python last checked for one and before the thread sleeps. It then wakes no thread, and an
    unbounded wait would notice it only when the future is done, which may take a model's whole timeout. So the wait
    wakes up at intervals.
    """
    while not future.done():
        wait((future,), timeout=_WAKES)
    return future.result()
