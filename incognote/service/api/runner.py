"""The runner processes the documents of jobs in the background, one runner per process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import suppress
from typing import Any, cast

from starlette.concurrency import run_in_threadpool

from incognote.agents.item import Item, unpacked
from incognote.errors import IncognoteError, retryable_code
from incognote.keys import Keyring
from incognote.nouns import Result
from incognote.runs.driver import Driver, Outage, Retries
from incognote.service.api.context import REFUSAL, RELEASE, ApiContext, opted_out, served_each
from incognote.service.api.jobs import DocumentState, JobDocument
from incognote.service.api.messages import Operation, answer_of
from incognote.service.review import DecidedCase, case_of, corrected

ORIGIN = "api"
_IDLE, _LONGEST = 1.0, 60.0  # seconds between two checks if it is not woken
_STATES: dict[str, DocumentState] = {"release": "released", "review": "review", "quarantine": "quarantined"}


class Runner:
    """Processes documents, a few at once, as long as it runs."""

    def __init__(self, context: ApiContext) -> None:
        self._context = context
        self._woken = asyncio.Event()
        self._retries = Retries(context.settings.service.most_tries)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop. Documents that are being processed wait for the next start."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def wake(self) -> None:
        """Wake the runner, from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._woken.set)

    async def _run(self) -> None:
        pause = _IDLE
        while True:
            self._woken.clear()
            try:
                busy, outage = await self.round()
            except IncognoteError as error:  # the database; the next round tries it again
                self._context.telemetry.unexpected(error)
                busy, outage = False, True
            pause = min(_LONGEST, 2 * pause) if outage else _IDLE
            if busy and not outage:
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), pause)

    async def round(self) -> tuple[bool, bool]:
        """Process waiting documents, at most one window.

        Return whether there were any, and whether there was an outage.
        """
        context = self._context
        for settled in await run_in_threadpool(lambda: list(context.queue.settled(origin=ORIGIN))):
            await self._deliver(settled)
        claimed = await run_in_threadpool(context.jobs.claim, context.deid.width)
        groups: dict[Operation, list[JobDocument]] = {}
        for document in claimed:
            groups.setdefault(cast(Operation, document.operation), []).append(document)
        waits = any(await asyncio.gather(*(self._serve_group(*group) for group in groups.items())))
        if waits:
            self._retries.paused()
        return bool(claimed), waits

    async def _serve_group(self, operation: Operation, documents: Sequence[JobDocument]) -> bool:
        """Process documents of one operation. Return whether any of them waits again because of an outage.

        Short texts of documents of one patient share requests to a language model.
        """
        given = [(document, unpacked(document.given)) for document in documents if document.given is not None]
        items = [item for _, item in given]
        started = asyncio.create_task(served_each(self._context, operation, items))
        serving = (self._serve(document, item, at, started) for at, (document, item) in enumerate(given))
        return any(await asyncio.gather(*serving))

    async def _serve(
        self, document: JobDocument, item: Item, at: int, started: asyncio.Task[list[Awaitable[Result]]]
    ) -> bool:
        """Process one document. Return whether it waits again because of an outage.

        Args:
            at: its index among the results of its group.
            started: returns these results.
        """
        context, operation = self._context, cast(Operation, document.operation)

        async def machine(_: Sequence[JobDocument]) -> AsyncIterator[Result]:
            yield await (await asyncio.shield(started))[at]

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
        except Exception as bug:  # fail closed: a document that cannot be processed is held, and the others go on
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
        """Store the answer of a document. A document that a person must review joins the review queue first."""
        context, operation = self._context, cast(Operation, document.operation)
        state, held = _STATES[result.verdict.outcome], None
        if result.verdict.outcome == "review":
            if operation == "tag":
                state = "released"
            else:
                held = self._hold(document, item, result)
        settled = context.jobs.settle(document, state, told(result, operation, context.deid.engine.keyring))
        if held is not None and not settled:  # it was deleted meanwhile, or its subject was forgotten
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
        """Write a review decision into the job of the document."""
        extra, context = settled.case.extra, self._context
        operation = cast(Operation, extra["operation"])
        state: DocumentState = "quarantined"
        answer = _refused(operation, "rejected", "a person rejected it")
        if settled.entry.state == "approved":
            try:
                engine = await run_in_threadpool(context.engine, operation)
                gone = await run_in_threadpool(opted_out, context, engine, settled.case.item)
                result = REFUSAL if gone else await corrected(
                    engine, settled.case, settled.spans, regions=settled.regions
                )
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
    """Return an answer in the form that a job stores. A record is beside it under `raw`, as it is written."""
    answer, record = answer_of(result, operation, keyring)
    return answer if record is None else {**answer, "raw": record}


def _held(operation: str, bug: Exception) -> dict[str, Any]:
    """Return the answer for an internal error."""
    return _refused(operation, "internal-error", type(bug).__name__)


def _refused(operation: str, code: str, detail: str) -> dict[str, Any]:
    reason = {"code": code, "field": "", "detail": detail}
    return {"id": None, "operation": operation, "verdict": "quarantine", "reasons": [reason]}
