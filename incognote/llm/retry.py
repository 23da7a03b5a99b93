"""Wrappers around a model: try again, not too many at once, another model where one does not serve, another thread."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request


class Retrying(ModelWrapper):
    """Asks again when the model was unavailable, and only then.

    Args:
        model: the inner model.
        attempts: how often in all, at least 1.
        longest_wait: the longest pause in seconds, even if a Retry-After asks for more.
    """

    def __init__(self, model: LanguageModel, attempts: int, longest_wait: float = 60.0) -> None:
        super().__init__(model)
        self._attempts, self._longest = attempts, longest_wait

    async def complete(self, request: Request) -> Reply:
        """Answer; the reply's seconds hold the pauses too.

        Raises:
            ModelUnavailable: the last attempt's, after all of them.
        """
        began = time.monotonic()
        try:
            reply = await self._model.complete(request)
        except ModelUnavailable as error:
            failed = error
        else:  # as mostly; the machinery of attempts would take 0.1 ms of processor time to find that out
            return replace(reply, seconds=time.monotonic() - began)
        return replace(await self._again(request, failed), seconds=time.monotonic() - began)

    async def _again(self, request: Request, failed: ModelUnavailable) -> Reply:
        """The attempts after the first, which has failed."""
        waiting = [failed]

        async def attempt() -> Reply:
            if waiting:
                raise waiting.pop()
            return await self._model.complete(request)

        asking = AsyncRetrying(
            retry=retry_if_exception_type(ModelUnavailable),
            stop=stop_after_attempt(self._attempts),
            wait=self._wait,
            reraise=True,
        )
        reply: Reply = await asking(attempt)
        return reply

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            pause = error.retry_after
        else:
            pause = 0.5 * 2 ** (state.attempt_number - 1)
        # a little more, else all who were turned away together come back together
        return min(pause + random.uniform(0, 0.1 + pause / 4), self._longest)  # noqa: S311 -- spreads load, hides nothing


class Limited(ModelWrapper):
    """Lets so many requests through at once. Put it inside `Retrying`: who waits for a retry then holds no slot.

    Args:
        model: the inner model.
        slots: requests in flight at once.
    """

    def __init__(self, model: LanguageModel, slots: int) -> None:
        super().__init__(model)
        self._slots = slots
        self._gate: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer when a slot is free."""
        loop = asyncio.get_running_loop()
        if self._gate is None or self._loop is not loop:  # a semaphore belongs to the loop that first waited on it
            self._gate, self._loop = asyncio.Semaphore(self._slots), loop
        async with self._gate:
            return await self._model.complete(request)


class Fallbacks:
    """Asks the next model where one was unavailable or refused.

    Args:
        models: in order of preference, at least one; the first gives its name.
    """

    def __init__(self, models: Sequence[LanguageModel]) -> None:
        self.name = models[0].name
        self._models = tuple(models)

    async def complete(self, request: Request) -> Reply:
        """Answer from the first model that serves; the reply names it.

        Raises:
            ContextTooLong: none served and for one the request was too long, so that a smaller chunk may pass.
            ModelUnavailable, ModelRejected: none served; the first's reason.
        """
        reasons: list[ModelUnavailable | ModelRejected] = []
        for model in self._models:
            try:
                return await model.complete(request)
            except (ModelUnavailable, ModelRejected) as error:
                reasons.append(error)
        raise next((r for r in reasons if isinstance(r, ContextTooLong)), reasons[0])

    async def aclose(self) -> None:
        """Close every model, also where one fails to."""
        await asyncio.gather(*(model.aclose() for model in self._models), return_exceptions=True)


class OwnThread(ModelWrapper):
    """Asks a model on an event loop of its own, in a thread beside the one that does the processor work.

    A slot is given to the next request when a reply has come, not when the records' loop finds the time to look: beside
    a model that takes 200 ms, a third of each slot's time was spent waiting for that.

    Args:
        model: asked on the other thread only, and closed there.
    """

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
