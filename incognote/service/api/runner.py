"""Serving the documents of jobs, beside the requests, one process a runner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, cast

from starlette.concurrency import run_in_threadpool

from incognote.agents.item import Item, unpacked
from incognote.errors import IncognoteError, retryable_code
from incognote.keys import Keyring
from incognote.nouns import Result
from incognote.runs.driver import Driver, Outage, Retries
from incognote.service.api.context import REFUSAL, RELEASE, ApiContext, opted_out, served
from incognote.service.api.jobs import DocumentState, JobDocument
from incognote.service.api.messages import Operation, answer_of
from incognote.service.review import DecidedCase, case_of, corrected

ORIGIN = "api"
_IDLE, _LONGEST = 1.0, 60.0  # seconds between two looks where nobody wakes it
_STATES: dict[str, DocumentState] = {"release": "released", "review": "review", "quarantine": "quarantined"}


class Runner:
    """Takes documents up, a few at once, for as long as it runs."""

    def __init__(self, context: ApiContext) -> None:
        self._context = context
        self._woken = asyncio.Event()
        self._retries = Retries(context.settings.service.most_tries)
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
                self._context.telemetry.unexpected(error)
                busy, outage = False, True
            pause = min(_LONGEST, 2 * pause) if outage else _IDLE
            if busy and not outage:
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), pause)

    async def round(self) -> tuple[bool, bool]:
        """Serve what waits, at most a window of it -> whether there was any, and whether something did not serve."""
        context = self._context
        for settled in await run_in_threadpool(lambda: list(context.queue.settled(origin=ORIGIN))):
            await self._deliver(settled)
        claimed = await run_in_threadpool(context.jobs.claim, context.deid.width)
        waits = any(await asyncio.gather(*map(self._serve, claimed)))
        if waits:
            self._retries.paused()
        return bool(claimed), waits

    async def _serve(self, document: JobDocument) -> bool:
        """One document -> whether it waits again because something did not serve."""
        context, given, operation = self._context, document.given, cast(Operation, document.operation)
        if given is None:
            return False
        item = unpacked(given)

        async def machine(_: Sequence[JobDocument]) -> AsyncIterator[Result]:
            yield await served(context, operation, item)

        def settle(document: JobDocument, result: Result) -> None:
            self._settle(document, item, result)

        driver = Driver(
            settle,
            lambda document, verdict, result: settle(document, result or Result(None, verdict, {})),
            retries=self._retries,
            key=lambda document: f"{document.job}/{document.number}",
        )
        try:
            await driver.serve([document], machine)
            waits = bool(await run_in_threadpool(driver.end_batch))
        except asyncio.CancelledError:
            context.jobs.give_back(document)
            raise
        except Exception as bug:  # fail closed: a document that cannot be served is held back, the others go on
            context.telemetry.unexpected(bug)
            waits = isinstance(bug, IncognoteError) and bug.retryable
            if not waits:
                await run_in_threadpool(context.jobs.settle, document, "quarantined", _held(operation, bug))
        if waits:
            await run_in_threadpool(context.jobs.give_back, document)
        with suppress(Outage):  # any document that waits makes the runner pause
            driver.check_outage()
        return waits

    def _settle(self, document: JobDocument, item: Item, result: Result) -> None:
        """Write down what came of a document; one that a person must look at joins the review queue first."""
        context, operation = self._context, cast(Operation, document.operation)
        state, held = _STATES[result.verdict.outcome], None
        if result.verdict.outcome == "review":
            if operation == "tag":
                state = "released"
            else:
                held = self._hold(document, item, result)
        stands = context.jobs.settle(document, state, told(result, operation, context.deid.engine.keyring))
        if held is not None and not stands:  # it was deleted meanwhile, or its subject forgotten
            context.queue.drop(held)

    def _hold(self, document: JobDocument, item: Item, result: Result) -> str:
        context = self._context
        extra = {"job": document.job, "number": document.number, "operation": document.operation}
        tools = context.engine(cast(Operation, document.operation)).engine
        item_id = context.queue.put(
            f"{document.job}/{document.number}", RELEASE, case_of(item, result, tools, extra), origin=ORIGIN
        )
        context.audit.append("review.queued", item=item_id, job=document.job)
        context.telemetry.tell("queue.measured", waiting=context.queue.counts()["waiting"])
        return item_id

    async def _deliver(self, settled: DecidedCase) -> None:
        """What a person decided, into the job it came from."""
        extra, context = settled.case.extra, self._context
        operation = cast(Operation, extra["operation"])
        state: DocumentState = "quarantined"
        answer = _refused(operation, "rejected", "a person rejected it")
        if settled.entry.state == "approved":
            try:
                engine = await run_in_threadpool(context.engine, operation)
                gone = await run_in_threadpool(opted_out, context, engine, settled.case.item)
                result = REFUSAL if gone else await corrected(engine, settled.case, settled.spans)
            except Exception as bug:  # as in _serve
                context.telemetry.unexpected(bug)
                answer = _held(operation, bug)
            else:
                if retryable_code(reason.code for reason in result.verdict.reasons):
                    return
                state, answer = _STATES[result.verdict.outcome], told(result, operation, context.deid.engine.keyring)
        await run_in_threadpool(context.jobs.reviewed, extra["job"], extra["number"], state, answer)
        await run_in_threadpool(context.queue.delivered, settled.entry.id)


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
