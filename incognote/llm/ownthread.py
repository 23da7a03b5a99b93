"""A model asked on an event loop of its own, in a thread beside the one that does the processor's work.

A slot is given to the next request when a reply has come, not when the records' loop finds the time to look: beside a
model that takes 200 ms, a third of each slot's time was spent waiting for that.
"""

from __future__ import annotations

import asyncio
import os
import threading

from incognote.llm.base import LanguageModel, Reply, Request


class OwnThread:
    """Serves the door's protocol from any loop.

    Args:
        model: asked on the other thread only, and closed there.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    async def complete(self, request: Request) -> Reply:
        """As the model; cancelling cancels the call."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._model.complete(request), _loop()))

    async def aclose(self) -> None:
        """Close the model."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._model.aclose(), _loop()))


_guard = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def _loop() -> asyncio.AbstractEventLoop:
    """The one of this process; a forked child makes its own."""
    global _running
    with _guard:
        if _running is None or _running[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="incognote-models", daemon=True).start()
            _running = os.getpid(), loop
        return _running[1]
