
from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable

import pytest

from incognote.errors import (
    BudgetExhausted,
    ContextTooLong,
    EgressRefused,
    ModelProblem,
    ModelRejected,
    ModelUnavailable,
)
from incognote.llm.base import Message, Reply, Request, Usage
from incognote.llm.retry import Fallbacks, Limited, OwnThread, Retrying

ASK = Request((Message("user", "?"),))


class Scripted:
    """Raises or returns the items of a list, repeating the last one."""

    def __init__(self, *acts: ModelProblem | str, name: str = "a/b", takes: float = 0.0) -> None:
        self.name, self.acts, self.takes = name, list(acts), takes
        self.calls = self.now = self.peak = 0
        self.closed = False

    async def complete(self, request: Request) -> Reply:
        self.calls += 1
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await asyncio.sleep(self.takes)
            act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
            if isinstance(act, ModelProblem):
                raise act
            return Reply(act, model=self.name)
        finally:
            self.now -= 1

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the pauses without waiting."""
    made: list[float] = []
    real: Callable[[float], object] = asyncio.sleep

    async def sleep(seconds: float) -> None:
        if seconds:
            made.append(seconds)
        await real(0)  # type: ignore[misc]  # the original asyncio.sleep

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return made


async def test_an_unavailable_model_is_asked_again(pauses: list[float]) -> None:
    model = Scripted(ModelUnavailable("429", retry_after=4.0), ModelUnavailable("500"), "yes")
    reply = await Retrying(model, 5).complete(ASK)
    assert (reply.text, model.calls) == ("yes", 3)
    assert 4.0 <= pauses[0] <= 5.5
    assert 1.0 <= pauses[1] <= 1.5


async def test_pauses_grow_and_have_an_end(pauses: list[float]) -> None:
    random.seed(7)
    with pytest.raises(ModelUnavailable, match="503"):
        await Retrying(Scripted(ModelUnavailable("503")), 7, longest_wait=3.0).complete(ASK)
    assert len(pauses) == 6
    assert pauses[:3] == sorted(pauses[:3])
    assert pauses[3:] == [3.0, 3.0, 3.0]


async def test_a_retry_after_beyond_the_longest_wait_is_not_waited_out(pauses: list[float]) -> None:
    await Retrying(Scripted(ModelUnavailable("429", retry_after=3600), "yes"), 2, longest_wait=9.0).complete(ASK)
    assert pauses == [9.0]


@pytest.mark.parametrize("problem", [ModelRejected("401"), ContextTooLong("400"), EgressRefused("no")])
async def test_what_will_not_get_better_is_not_tried_again(problem: ModelProblem) -> None:
    model = Scripted(problem)
    with pytest.raises(type(problem)):
        await Retrying(model, 5).complete(ASK)
    assert model.calls == 1


async def test_no_more_requests_than_slots_are_in_flight() -> None:
    model = Scripted("yes", takes=0.01)
    limited = Limited(model, 3)
    await asyncio.gather(*(limited.complete(ASK) for _ in range(20)))
    assert (model.calls, model.peak) == (20, 3)


async def test_who_waits_for_a_retry_holds_no_slot() -> None:
    model = Scripted(ModelUnavailable("429", retry_after=50), "soon")
    gate = Limited(model, 1)
    waiting = asyncio.create_task(Retrying(gate, 2).complete(ASK))
    async with asyncio.timeout(20):
        while not model.calls:  # noqa: ASYNC110 -- the model has no signal to wait for
            await asyncio.sleep(0)
        assert (await gate.complete(ASK)).text == "soon"
    assert not waiting.done()
    waiting.cancel()


def test_slots_serve_one_loop_after_the_other() -> None:
    limited = Limited(Scripted("yes", takes=0.001), 1)

    async def crowd() -> int:
        return len(await asyncio.gather(*(limited.complete(ASK) for _ in range(3))))

    assert [asyncio.run(crowd()), asyncio.run(crowd())] == [3, 3]


@pytest.mark.parametrize("problem", [ModelUnavailable("503"), ModelRejected("404")])
async def test_a_fallback_serves_and_is_named(problem: ModelProblem) -> None:
    both = Fallbacks([Scripted(problem, name="a/1"), Scripted("yes", name="b/2")])
    reply = await both.complete(ASK)
    assert (both.name, reply.model, reply.text) == ("a/1", "b/2", "yes")


async def test_egress_refused_is_final() -> None:
    second = Scripted("yes")
    with pytest.raises(EgressRefused):
        await Fallbacks([Scripted(EgressRefused("no")), second]).complete(ASK)
    assert second.calls == 0


async def test_where_no_model_serves_the_first_reason_is_told_unless_a_chunk_could_be_smaller() -> None:
    with pytest.raises(ModelUnavailable, match="first"):
        await Fallbacks([Scripted(ModelUnavailable("first")), Scripted(ModelRejected("second"))]).complete(ASK)
    with pytest.raises(ContextTooLong):
        await Fallbacks([Scripted(ModelUnavailable("first")), Scripted(ContextTooLong("second"))]).complete(ASK)


async def test_closing_reaches_every_model() -> None:
    models = [Scripted("yes"), Scripted("yes")]
    await Fallbacks([Retrying(Limited(m, 1), 2) for m in models]).aclose()
    assert [m.closed for m in models] == [True, True]


ASKED = Request((Message("user", "x"),))


class Slow:
    """Answers on the calling thread, or never answers."""

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


async def test_a_request_that_waited_for_a_slot_needs_a_permit_to_be_sent() -> None:
    model = Scripted("yes", takes=0.01)
    permits = iter([None, BudgetExhausted()])

    def permit() -> None:
        if (error := next(permits)) is not None:
            raise error

    limited = Limited(model, 1, permit)
    answers = await asyncio.gather(limited.complete(ASK), limited.complete(ASK), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Reply, BudgetExhausted]
    assert model.calls == 1
