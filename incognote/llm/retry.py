"""Wrappers around a model: retries, a limit for concurrent requests, fallback models, and a separate thread."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request, left_out_by

T = TypeVar("T")


class Retrying(ModelWrapper):
    """Asks again if the model was unavailable, and only then.

    Args:
        model: the inner model.
        attempts: the total number of attempts, at least 1.
        longest_wait: the maximum pause in seconds, even if a Retry-After asks for more.
    """

    def __init__(self, model: LanguageModel, attempts: int, longest_wait: float = 60.0) -> None:
        super().__init__(model)
        self._attempts, self._longest = attempts, longest_wait

    async def complete(self, request: Request) -> Reply:
        """Answer. The reply's seconds include the pauses.

        Raises:
            ModelUnavailable: the error of the last attempt, after all of them.
        """
        began = time.monotonic()
        try:
            reply = await self._model.complete(request)
        except ModelUnavailable as error:
            failed = error
        else:  # the usual case; starting the retry machinery would take 0.1 ms of processor time
            return replace(reply, seconds=time.monotonic() - began)
        return replace(await self._again(request, failed), seconds=time.monotonic() - began)

    async def _again(self, request: Request, failed: ModelUnavailable) -> Reply:
        """Make the attempts after the first, which has failed."""
        waiting = [failed]

        async def attempt() -> Reply:
            if waiting:
                raise waiting.pop()
            return await self._model.complete(request)

        return await retried(attempt, self._attempts, self._longest)


async def retried(attempt: Callable[[], Awaitable[T]], attempts: int, longest_wait: float = 60.0) -> T:
    """Attempt again while the model is unavailable.

    Args:
        attempt: makes one attempt.
        attempts: their total number, at least 1.
        longest_wait: the maximum pause in seconds, even if a Retry-After asks for more.

    Raises:
        ModelUnavailable: the error of the last attempt, after all of them.
    """

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            pause = error.retry_after
        else:
            pause = 0.5 * 2 ** (state.attempt_number - 1)
        # plus jitter, so that rejected requests do not all return at once
        return min(pause + random.uniform(0, 0.1 + pause / 4), longest_wait)  # noqa: S311 -- spreads load, hides nothing

    asking = AsyncRetrying(
        retry=retry_if_exception_type(ModelUnavailable), stop=stop_after_attempt(attempts), wait=wait, reraise=True
    )
    answer: T = await asking(attempt)
    return answer


class Limited(ModelWrapper):
    """Limits the number of concurrent requests.

    Put it inside `Retrying`, so that a request waiting for a retry holds no slot.

    Args:
        model: the inner model.
        slots: concurrent requests.
        permit: called before each request is sent, when a slot is free. An error that it raises stops the request.
    """

    def __init__(self, model: LanguageModel, slots: int, permit: Callable[[], None] | None = None) -> None:
        super().__init__(model)
        self._slots, self._permit = slots, permit
        self._gate: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer when a slot is free."""
        loop = asyncio.get_running_loop()
        if self._gate is None or self._loop is not loop:  # a semaphore belongs to the loop that first waited on it
            self._gate, self._loop = asyncio.Semaphore(self._slots), loop
        async with self._gate:
            if self._permit is not None:
                self._permit()
            return await self._model.complete(request)


class Fallbacks:
    """Asks the next model if one was unavailable or refused.

    Args:
        models: in order of preference, at least one. The first gives its name.
    """

    def __init__(self, models: Sequence[LanguageModel]) -> None:
        self.name = models[0].name
        self._models = tuple(models)

    async def complete(self, request: Request) -> Reply:
        """Answer from the first model that works. The reply names it.

        Raises:
            ContextTooLong: none answered, and for one the request was too long, so a smaller chunk may pass.
            ModelUnavailable, ModelRejected: none answered. This is the first model's error.
        """
        reasons: list[ModelUnavailable | ModelRejected] = []
        for model in self._models:
            try:
                return await model.complete(request)
            except (ModelUnavailable, ModelRejected) as error:
                reasons.append(error)
        raise next((r for r in reasons if isinstance(r, ContextTooLong)), reasons[0])

    @property
    def left_out(self) -> frozenset[str]:
        """The features that any of the endpoints rejects."""
        return frozenset().union(*map(left_out_by, self._models))

    async def aclose(self) -> None:
        """Close every model, even if one fails to close."""
        await asyncio.gather(*(model.aclose() for model in self._models), return_exceptions=True)


class OwnThread(ModelWrapper):
    """Runs a model on its own event loop, in a thread beside the one that does the processor work.

    A slot is given to the next request as soon as a reply has come, not when the records' loop next runs. Without this,
    a model that takes 200 ms lost a third of each slot's time to that wait.

    Args:
        model: used and closed on the other thread only.
    """

    async def complete(self, request: Request) -> Reply:
        """Answer like the model. Cancelling cancels the call."""
        return await asyncio.wrap_future(on_own_thread(self._model.complete(request)))

    async def aclose(self) -> None:
        """Close the model."""
        await asyncio.wrap_future(on_own_thread(self._model.aclose()))


def on_own_thread(call: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a call on the loop of the thread that is only for models."""
    return asyncio.run_coroutine_threadsafe(call, _loop())


_guard = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process. A forked child makes its own."""
    global _running
    with _guard:
        if _running is None or _running[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="incognote-models", daemon=True).start()
            _running = os.getpid(), loop
        return _running[1]
