"""Batch mode: large runs at half price, through a provider's batch endpoints.

Requests are collected until no new one has come for a while. Then all are sent as one batch, so that one pass of the
extraction over many records becomes one batch. Its replies come within a day.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from incognote.errors import IncognoteError, ModelProblem, ModelRejected, ModelUnavailable, PolicyProblem, PromptCut
from incognote.llm.base import Reply, Request
from incognote.llm.batchapi import BatchApi, Outcome, Unwanted, rows
from incognote.llm.batchjobs import BatchJob, BatchJobs
from incognote.llm.lengths import Lengths
from incognote.llm.prices import Price
from incognote.llm.recording import Recording, reply_bytes, unpaid
from incognote.llm.truncation import PromptCheck
from incognote.llm.vendors.chat import next_omission

_SHARE = 0.5  # of the price of a call
_TRIES = 4  # when sending
_LONGEST_PAUSE = 60.0  # seconds between them, since other processes wait to send meanwhile
_MOST_SILENT = 60  # polls in a row without an answer
_CLOSING = 30.0  # time limit for closing, in seconds


@dataclass
class _Pending:
    """A request with callers waiting for its reply."""

    request: Request = field(repr=False)
    reply: asyncio.Future[Reply] = field(repr=False)
    waiting: int = 0
    paid: bool = False


class BatchModel:
    """A language model that answers in batches. One object per event loop.

    A request that was paid for is never sent again. Replies go into the recording before the provider's files are
    deleted. A batch is recorded before it is sent, and a later run finds it by its token if the first one was killed.
    If a batch failed, expired or was cancelled, its requests without results are sent once more.

    Args:
        api: the provider, with the model's name. It is closed with this object.
        recording: an encrypted one; several processes may share it.
        poll_seconds: the interval between two checks of a batch.
        settle_seconds: a batch is sent when no new request has come for this time.
        allow_provider_storage: the policy's consent that notes are stored in files at the provider until collected.
        price: of single calls; half of it is charged. None leaves the cost unknown.

    Raises:
        PolicyProblem: the policy does not consent.
        SettingError: the recording is plain.
    """

    def __init__(
        self,
        api: BatchApi,
        recording: Recording,
        *,
        poll_seconds: float = 30.0,
        settle_seconds: float = 5.0,
        allow_provider_storage: bool = False,
        price: Price | None = None,
    ) -> None:
        if allow_provider_storage is not True:
            raise PolicyProblem(
                "batch: the provider stores the notes until their replies are collected. If your agreement covers "
                "that, set allow_provider_storage = true in the policy. Otherwise, remove --batch."
            )
        self.name = api.name
        self.hits = 0
        """The number of requests that the recording answered."""
        self.batches = 0
        """The number of batches sent."""
        self.failed_deletions = 0
        """The number of failed attempts to delete a file at the provider. They are repeated at the next opportunity."""
        self._recording = recording
        self._lengths = Lengths()
        self._jobs = BatchJobs(recording.sealed, api.name, api.base)
        self._api = api
        self._prompts = PromptCheck()
        self._poll, self._settle, self._price = poll_seconds, settle_seconds, price
        self._unwanted: set[str] = set()
        self._pending: dict[str, _Pending] = {}
        self._parked: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._followed: dict[str, BatchJob] = {}
        self._held: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording, or else with the next batch, within a day.

        Raises:
            ModelUnavailable: the request failed, or its batch failed twice.
            ModelRejected, ContextTooLong: as for a single call.
        """
        address = request.address(self.name)
        known = self._recording.reply(address)
        if known is not None:
            self.hits += 1
            return unpaid(known)
        if self._closed:
            raise ModelUnavailable("batch: the run ended before this request was sent")
        pending = self._pending.get(address)
        if pending is None:
            pending = self._pending[address] = _Pending(request, asyncio.get_running_loop().create_future())
            pending.reply.add_done_callback(lambda f: f.cancelled() or f.exception())  # all callers may be gone
            if address not in self._held:
                self._park(address)
        pending.waiting += 1
        try:
            reply = await asyncio.shield(pending.reply)
        finally:
            pending.waiting -= 1
            if not pending.waiting and address in self._parked:
                del self._parked[address], self._pending[address]
        if pending.paid:  # equal requests share a line, and its price
            return unpaid(reply)
        pending.paid = True
        return reply

    @property
    def left_out(self) -> frozenset[str]:
        """What the endpoint rejects, as in `ChatModel.left_out`."""
        return frozenset(self._unwanted)

    async def aclose(self) -> None:
        """Stop waiting. Batches under way continue: a later run with the same recording collects them."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._fail(
            list(self._pending),
            ModelUnavailable("batch: the run ended while the request was waiting. Run again to collect the batch"),
        )
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    for job in self._jobs.jobs():
                        if job.batch is not None:
                            with suppress(ModelProblem):
                                await self._collected(job)
        finally:
            await self._api.aclose()

    # -- sending

    def _park(self, address: str) -> None:
        self._parked[address] = None
        if self._timer is not None:
            self._timer.cancel()
        self._wait(0.0 if len(self._parked) >= self._api.most_requests else self._settle)

    def _wait(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(due := loop.time() + seconds, self._send_parked, due)

    def _send_parked(self, due: float) -> None:
        if asyncio.get_running_loop().time() > due + self._settle / 2:
            return self._wait(self._settle)  # the processor was busy, so more requests may be about to come
        addresses, self._parked = list(self._parked), {}
        if addresses:
            self._spawn(partial(self._send, addresses, 1), addresses)
        return None

    def _spawn(self, work: Callable[[], Awaitable[None]], addresses: Iterable[str]) -> None:
        """Run a task. If it fails, so do the requests that depend on it, unless another batch has them."""

        async def run() -> None:
            try:
                await work()
            except IncognoteError as problem:
                self._fail([a for a in addresses if a not in self._held], problem)
            except Exception as error:  # a bug: callers must not hang, and its message may quote a note
                fault = IncognoteError(f"batch: internal error ({type(error).__name__}). Please report it.")
                self._fail([a for a in addresses if a not in self._held], fault)

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, addresses: list[str], attempt: int) -> None:
        async with self._jobs.sending():
            await self._catch_up()
            for part, content in self._api.pieces(self._lines(addresses)):
                job = self._jobs.intend(part, attempt, sorted(self._unwanted))
                job.batch = await self._open(job, content)
                self._jobs.write(job)
                self._follow(job)
                self.batches += 1

    def _lines(self, addresses: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the requests that are still wanted, not answered, and not in a batch of another process."""
        for address in addresses:
            pending = self._pending.get(address)
            if pending is None or address in self._held:
                continue
            known = self._recording.reply(address)
            if known is not None:
                self.hits += 1
                self._answer(address, unpaid(known))
            else:
                yield address, self._api.line(address, pending.request, self._unwanted)

    async def _open(self, job: BatchJob, content: bytes) -> str:
        """Create a batch. If it is unclear whether it was created, the entry is kept for `_catch_up`."""
        begun = False
        for left in range(_TRIES - 1, -1, -1):
            try:
                outcomes = await self._found(job) if begun else None
                begun = True
                return outcomes or await self._api.send(job.token, content)
            except ModelUnavailable as problem:
                if not left:
                    raise
                await asyncio.sleep(min(problem.retry_after or self._poll, _LONGEST_PAUSE))
            except ModelProblem:
                with suppress(ModelProblem):
                    if await self._found(job) is None:
                        self._jobs.drop(job)
                raise
        raise AssertionError  # the last round returns or raises

    async def _found(self, job: BatchJob) -> str | None:
        """Return the id of a planned batch if it was created. Otherwise delete what was uploaded for it."""
        others = {other.batch for other in self._jobs.jobs() if other.batch is not None}
        outcomes = await self._api.find(job, others)
        if outcomes is None:
            await self._api.sweep(job.token)
        return outcomes

    async def _catch_up(self) -> None:
        """Follow the batches that other processes, running or killed, have sent."""
        for job in self._jobs.jobs():
            if job.token in self._followed:
                continue
            if job.batch is None:
                job.batch = await self._found(job)
                if job.batch is None:
                    self._jobs.drop(job)
                    continue
                self._jobs.write(job)
            self._follow(job)

    # -- receiving

    def _follow(self, job: BatchJob) -> None:
        self._followed[job.token] = job
        if not job.done:
            self._held.update(job.addresses)
        self._spawn(partial(self._collect, job), job.addresses)

    async def _collect(self, job: BatchJob) -> None:
        silent = 0
        try:
            while True:
                try:
                    if await self._collected(job):
                        return
                    silent = 0
                except ModelUnavailable:  # a batch runs for hours, so an outage of some minutes does not matter
                    silent += 1
                    if silent == _MOST_SILENT:
                        raise
                await asyncio.sleep(self._poll)
        finally:
            del self._followed[job.token]
            self._held.difference_update(job.addresses)

    async def _collected(self, job: BatchJob) -> bool:
        """Check a batch once.

        Return whether it has ended, with its results recorded and, if possible, its files deleted.
        """
        if not job.done:
            assert job.batch is not None
            state = await self._api.state(job.batch)
            if state is not None and not state.ended:
                return False
            outcomes: dict[str, Outcome] = {}
            ours = state is not None and state.sure
            for file in state.results if state else ():
                content = await self._api.read(file)
                outcomes |= await asyncio.to_thread(self._api.outcomes, content, job.addresses)
                ours = ours or any(True for _ in rows(content, job.addresses))
            await self._keep(job, outcomes)
            job.done, job.files = True, state.files if state and ours else ()
            self._jobs.write(job)
            self._answer_waiting(job, outcomes, whole=ours and state is not None and state.whole)
        await self._delete_files(job)
        return True

    async def _keep(self, job: BatchJob, outcomes: dict[str, Outcome]) -> None:
        """Write results to the recording, on the disk. Only then may the provider's files be deleted."""
        for address, outcome in outcomes.items():
            pending = self._pending.get(address)
            if isinstance(outcome, Reply) and pending is not None:
                try:
                    self._prompts.check(pending.request, outcome)
                except PromptCut as problem:
                    outcomes[address] = outcome = problem
            if isinstance(outcome, Reply):
                usd = None if self._price is None else _SHARE * self._price.of(outcome.usage)
                outcomes[address] = replace(
                    outcome, usage=replace(outcome.usage, usd=usd), seconds=max(0.0, time.time() - job.created)
                )
            elif isinstance(outcome, ModelRejected):
                self._recording.keep_problem(address, outcome)
        rows = ((address, reply_bytes(reply)) for address, reply in outcomes.items() if isinstance(reply, Reply))
        await asyncio.to_thread(self._recording.put_all, rows)

    def _answer_waiting(self, job: BatchJob, outcomes: dict[str, Outcome], *, whole: bool) -> None:
        """Give waiting callers what the recording now has. Retry the requests without a result."""
        self._held.difference_update(job.addresses)
        nothing_passed = not any(isinstance(outcome, Reply) for outcome in outcomes.values())
        again: dict[int, list[str]] = {job.attempt: [], job.attempt + 1: []}
        for address in job.addresses:
            if address not in self._pending:
                continue
            outcome = self._recording.reply(address) or outcomes.get(address)
            if isinstance(outcome, Unwanted):
                possible = outcome.sure or (nothing_passed and self._pending[address].request.schema is not None)
                omission = next_omission(outcome.parameter, job.left_out) if possible else None
                if omission is not None:
                    self._unwanted.add(omission)
                    again[job.attempt].append(address)
                    continue
                outcome = outcome.problem
            if isinstance(outcome, Reply):
                self._lengths.fit(self._pending[address].request)
            elif outcome is not None and outcome.unclear:
                outcome = self._lengths.judged(self._pending[address].request, outcome)
                if isinstance(outcome, ModelRejected):
                    self._recording.keep_problem(address, outcome)
            if outcome is not None:
                self._answer(address, outcome)
            elif whole or job.attempt > 1 or self._closed:
                self._answer(address, ModelUnavailable(f"{self.name}: the batch returned no result. Try later"))
            else:
                again[job.attempt + 1].append(address)
        for attempt, addresses in again.items():
            if addresses:
                self._spawn(partial(self._send, addresses, attempt), addresses)

    async def _delete_files(self, job: BatchJob) -> None:
        left = []
        for file in job.files:
            try:
                await self._api.delete(file)
            except ModelProblem:
                self.failed_deletions += 1
                left.append(file)
        if left:
            job.files = left
            self._jobs.write(job)
        else:
            self._jobs.drop(job)

    def _answer(self, address: str, outcome: Reply | IncognoteError) -> None:
        pending = self._pending.pop(address, None)
        if pending is None or pending.reply.done():
            return
        if isinstance(outcome, Reply):
            pending.reply.set_result(outcome)
        else:
            pending.reply.set_exception(outcome)

    def _fail(self, addresses: Iterable[str], problem: IncognoteError) -> None:
        for address in addresses:
            self._answer(address, problem)
