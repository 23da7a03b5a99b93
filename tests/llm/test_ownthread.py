"""A model on a thread of its own: the same replies and problems, from any loop, and cancelled with who asked."""

from __future__ import annotations

import asyncio
import threading

import pytest

from incognote.errors import ModelUnavailable
from incognote.llm.base import Message, Reply, Request, Usage
from incognote.llm.ownthread import OwnThread

ASKED = Request((Message("user", "x"),))


class Slow:
    """Answers on whichever thread it is asked, or waits for ever."""

    name = "slow"

    def __init__(self, *, never: bool = False) -> None:
        self.threads: set[str] = set()
        self.asked, self.cancelled = threading.Event(), threading.Event()
        self._never = never

    async def complete(self, request: Request) -> Reply:
        self.threads.add(threading.current_thread().name)
        self.asked.set()
        try:
            await asyncio.sleep(3600 if self._never else 0)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return Reply("{}", "stop", Usage(calls=1), 0.0, self.name)

    async def aclose(self) -> None:
        self.threads.add(threading.current_thread().name)


class Down(Slow):
    async def complete(self, request: Request) -> Reply:
        raise ModelUnavailable("503")


async def test_it_is_asked_and_closed_on_another_thread() -> None:
    model = Slow()
    model_on_thread = OwnThread(model)
    assert (await model_on_thread.complete(ASKED)).text == "{}"
    await model_on_thread.aclose()
    assert model.threads == {"incognote-models"}
    assert model_on_thread.name == "slow"


def test_any_loop_may_ask() -> None:
    model_on_thread = OwnThread(Slow())
    assert [asyncio.run(model_on_thread.complete(ASKED)).finish for _ in range(2)] == ["stop", "stop"]


async def test_its_problems_come_through() -> None:
    with pytest.raises(ModelUnavailable, match="503"):
        await OwnThread(Down()).complete(ASKED)


async def test_who_leaves_takes_the_call_along() -> None:
    model = Slow(never=True)
    asking = asyncio.create_task(OwnThread(model).complete(ASKED))
    assert await asyncio.to_thread(model.asked.wait, 60)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await asyncio.to_thread(model.cancelled.wait, 60)
