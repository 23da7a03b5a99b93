"""Serving the documents of jobs, beside the requests, one process a runner."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, cast

from starlette.concurrency import run_in_threadpool

from incognote.agents.item import Item
from incognote.errors import IncognoteError, retryable_code
from incognote.keys import Keyring
from incognote.nouns import Known, Result
from incognote.service.api.desk import RELEASE, Desk
from incognote.service.api.jobs import Document, DocumentState
from incognote.service.api.serving import REFUSAL, opted_out, served
from incognote.service.api.words import Operation, answer_of
from incognote.service.review import Settled, case_of, corrected

ORIGIN = "api"
_IDLE, _LONGEST = 1.0, 60.0  # seconds between two looks where nobody wakes it
_STATES: dict[str, DocumentState] = {"release": "released", "review": "review", "quarantine": "quarantined"}


class Runner:
    """Takes documents up, a few at once, for as long as it runs."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._woken = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End; what is being served waits for the next start."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def wake(self) -> None:
        """There is something to do; from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._woken.set)

    async def _run(self) -> None:
        pause = _IDLE
        while True:
            self._woken.clear()
            try:
                busy, outage = await self.round()
            except IncognoteError as error:  # the database; the next round asks it again
                self._desk.telemetry.unexpected(error)
                busy, outage = False, True
            pause = min(_LONGEST, 2 * pause) if outage else _IDLE
            if busy and not outage:
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), pause)

    async def round(self) -> tuple[bool, bool]:
        """Serve what waits, at most a window of it -> whether there was any, and whether something did not serve."""
        desk = self._desk
        for settled in await run_in_threadpool(lambda: list(desk.queue.settled(origin=ORIGIN))):
            await self._deliver(settled)
        claimed = await run_in_threadpool(desk.jobs.claim, desk.deid.width)
        outages = await asyncio.gather(*map(self._serve, claimed))
        return bool(claimed), any(outages)

    async def _serve(self, document: Document) -> bool:
        """One document -> whether it waits again because something did not serve."""
        desk, given = self._desk, document.given
        try:
            if given is None:
                return False
            operation = cast(Operation, document.operation)
            item = Item(**{**given, "known": tuple(Known(*known) for known in given["known"])})
            result = await served(desk, operation, item)
            if retryable_code(reason.code for reason in result.verdict.reasons):
                await run_in_threadpool(desk.jobs.give_back, document)
                return True
            held = None
            if result.verdict.outcome == "review" and operation != "tag":
                held = await run_in_threadpool(self._hold, document, item, result)
            state = (
                "released"
                if operation == "tag" and result.verdict.outcome == "review"
                else _STATES[result.verdict.outcome]
            )
            answer = told(result, operation, desk.deid.tools.keyring)
            stands = await run_in_threadpool(desk.jobs.settle, document, state, answer)
            if held is not None and not stands:  # it was deleted meanwhile, or its subject forgotten
                await run_in_threadpool(desk.queue.drop, held)
        except asyncio.CancelledError:
            desk.jobs.give_back(document)
            raise
        except Exception as bug:  # fail closed: a document that cannot be served is held back, the others go on
            desk.telemetry.unexpected(bug)
            await run_in_threadpool(desk.jobs.settle, document, "quarantined", _held(document.operation, bug))
        return False

    def _hold(self, document: Document, item: Item, result: Result) -> str:
        desk = self._desk
        extra = {"job": document.job, "number": document.number, "operation": document.operation}
        tools = desk.engine(cast(Operation, document.operation)).tools
        item_id = desk.queue.put(
            f"{document.job}/{document.number}", RELEASE, case_of(item, result, tools, extra), origin=ORIGIN
        )
        desk.audit.append("review.queued", item=item_id, job=document.job)
        desk.telemetry.tell("queue.measured", waiting=desk.queue.counts()["waiting"])
        return item_id

    async def _deliver(self, settled: Settled) -> None:
        """What a person decided, into the job it came from."""
        extra, desk = settled.case.extra, self._desk
        operation = cast(Operation, extra["operation"])
        state: DocumentState = "quarantined"
        answer = _refused(operation, "rejected", "a person rejected it")
        if settled.entry.state == "approved":
            try:
                engine = await run_in_threadpool(desk.engine, operation)
                gone = await run_in_threadpool(opted_out, desk, engine, settled.case.item)
                result = REFUSAL if gone else await corrected(engine, settled.case, settled.spans)
            except Exception as bug:  # as in _serve
                desk.telemetry.unexpected(bug)
                answer = _held(operation, bug)
            else:
                if retryable_code(reason.code for reason in result.verdict.reasons):
                    return
                state, answer = _STATES[result.verdict.outcome], told(result, operation, desk.deid.tools.keyring)
        await run_in_threadpool(desk.jobs.reviewed, extra["job"], extra["number"], state, answer)
        await run_in_threadpool(desk.queue.delivered, settled.entry.id)


def told(result: Result, operation: Operation, keyring: Keyring) -> dict[str, Any]:
    """An answer as a job keeps it; a record beside it under `raw`, as it is written."""
    answer, record = answer_of(result, operation, keyring)
    return answer if record is None else {**answer, "raw": record}


def _held(operation: str, bug: Exception) -> dict[str, Any]:
    """The answer where something of ours failed."""
    return _refused(operation, "internal-error", type(bug).__name__)


def _refused(operation: str, code: str, detail: str) -> dict[str, Any]:
    reason = {"code": code, "field": "", "detail": detail}
    return {"id": None, "operation": operation, "verdict": "quarantine", "reasons": [reason]}
