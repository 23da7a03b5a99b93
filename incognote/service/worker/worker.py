"""The worker's round: claim parts, read, claim records, serve them, settle, and repeat.

If a service fails (a model, the index, the ledger, the destination, the source), the worker pauses and does not fail.
It returns its claims unchanged, and tries again at growing intervals. If the worker is killed, other workers notice it
by its lease.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from incognote.errors import LeaseLost, LedgerRejected, LedgerUnavailable, StoreProblem
from incognote.files.inputs import Input, RecordDefaults
from incognote.files.quarantine import Quarantine
from incognote.formats.tables import Layout
from incognote.ledger import UNREADABLE, FilePart, Ledger, RecordClaim, Release, Wanted
from incognote.nouns import Result, Verdict
from incognote.runs.destination import Destination
from incognote.runs.driver import Driver, Outage, Retries
from incognote.runs.heartbeat import Heartbeat
from incognote.runs.shards import Form, OpenShards, PackedShard, Packing, ShardDelivery, token
from incognote.runs.source import RecordSource
from incognote.service.worker import decisions
from incognote.service.worker.discovery import Discovery, RecordBatch, batches
from incognote.service.worker.hooks import Hooks, ModelCosts, WorkerCounts, check
from incognote.service.worker.records import DIED, KeyedRecord, RecordKeeper, keyed, refusal
from incognote.service.worker.session import Waiting

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

_PARTS = 256  # claimed at once


class Worker:
    """Processes a source into a destination under one release.

    Args:
        made: the Deidentifier. The caller must close it.
        quarantine: of this release.
        layout: how tables are read.
        words: defaults for all records.
    """

    def __init__(
        self, made: Deidentifier, source: RecordSource, destination: Destination, ledger: Ledger,
        release: Release, quarantine: Quarantine, *, layout: Layout | None = None, words: RecordDefaults | None = None,
        form: Form = "lines", packing: Packing = "none", hooks: Hooks | None = None,
    ) -> None:  # fmt: skip
        self._made, self._source, self._ledger, self._release = made, source, ledger, release
        self._settings = settings = made.engine.settings.service
        self._layout, self._words = layout, words or RecordDefaults()
        self._hooks = hooks or Hooks()
        self._keeper = RecordKeeper(quarantine, made.engine, release.name, self._hooks.reviews)
        self._discovery = Discovery(source, ledger, release, settings.part_bytes, settings.poll_seconds)
        self._delivery = ShardDelivery(ledger, destination, release)
        most = settings.shard_records
        self._shards = OpenShards(
            release.name, form, packing, records=most, size=settings.shard_bytes, numbered=destination.numbered
        )
        self.done = WorkerCounts()
        self._waiting = Waiting(self._hooks, self.done, settings.longest_pause)
        self._asked, self._sleep = self._waiting.asked, self._waiting.sleep
        self._stopping, self._pauses = self._waiting.stopping, self._waiting.pauses
        self._id = ""
        self._heartbeat: Heartbeat | None = None
        self._begun = 0.0
        self._patients: set[str] = set()  # of records in open shards
        self._counts: list[Mapping[str, int]] = []
        self._bill = ModelCosts(made)
        self._retries = Retries(settings.most_tries)
        self._arrivals = decisions.Arrivals(self._hooks.reviews)
        self._staged: tuple[str, list[PackedShard]] | None = None  # with its token; not known to be settled

    def stop(self) -> None:
        """Claim no more, and finish the current work. Call it from the worker's loop."""
        self._stopping.set()

    async def run(self, *, once: bool = False) -> WorkerCounts:
        """Work until stopped.

        Args:
            once: end when the source is empty: nothing new, nothing resting, and no part claimed by any worker.

        Raises:
            ReviewCeiling: too large a share of the release's records waits for review.
            LedgerRejected, KeyProblem, SettingError: a pause cannot fix the problem.
        """
        await self._join()
        try:
            await self._asked(self._ledger.reopen, self._release.id)  # a permission may have been granted since
            while not self._stopping.is_set():
                try:
                    if not await self._round(once=once):
                        break
                    self._pauses.reset()
                except LedgerRejected:
                    raise
                except LeaseLost:
                    await self._begin_anew()
                except (Outage, StoreProblem) as problem:
                    await self._pause(problem)
            with suppress(StoreProblem):  # what is decided and not settled is returned with the rest
                await self._flush()
        finally:
            await asyncio.to_thread(self._leave)
        return self.done

    async def _round(self, *, once: bool) -> bool:
        """Run one round. Return whether there is to be another."""
        settings = self._settings
        await self._asked(self._delivery.recover)
        await self._deliver()
        looked = await self._asked(self._discovery.look) if self._discovery.due else None
        parts = await self._asked(
            self._ledger.claim_parts, self._id, self._release.id, most=_PARTS, bytes=settings.part_bytes
        )
        if parts:
            await self._work([part for part in parts if not await self._killing(part)])
            return True
        await self._flush()
        if looked is None:
            looked = await self._asked(self._discovery.look)
        if looked.new:
            return True
        if once and not looked.resting and await self._asked(self._ledger.complete, self._release.id):
            return False
        await self._sleep(min(settings.poll_seconds, settings.lease_seconds / 4) if once else settings.poll_seconds)
        return True

    async def _work(self, parts: Sequence[FilePart]) -> None:
        """Process parts to their end, or return them."""
        stream = self._batches(parts)
        busy: set[int] = set()
        before = self.done.states.total() + self.done.skipped
        try:
            while batch := await asyncio.to_thread(next, stream, None):
                await self._serve(batch, busy)
                if self._stopping.is_set():
                    return  # what was not read is returned at the end
        finally:
            await asyncio.to_thread(stream.close)
        self._retries.round()
        if busy and self._shards.empty and self.done.states.total() + self.done.skipped == before:
            await self._sleep(self._settings.lease_seconds / 4)

    async def _deliver(self) -> None:
        """Deliver the review decisions that were made since."""
        reviews = self._keeper.reviews
        if reviews is None:
            return
        ours = partial(self._ledger.holds, self._release.id)
        for decided in await decisions.waiting(reviews, self._release.name, ours):
            claim = await self._asked(self._ledger.claim_reviewed, self._id, self._release.id, decided.entry.key)
            if claim.outcome == "mine":
                one, verdict, result = await decisions.outcome(self._made, decided)
                driver = Driver(self._released, self._held)
                if one.patient is not None and await self._refused({one.patient}):
                    self._shards.held.append(refusal(claim.id))
                elif result is None:
                    await asyncio.to_thread(driver.refuse, (one, claim), verdict)
                else:
                    await asyncio.to_thread(driver.settle, (one, claim), result)
            if claim.outcome != "busy":
                self._arrivals.add(decided.entry.id)
        await self._flush()

    async def _killing(self, part: FilePart) -> bool:
        """Whether workers die while reading a part, before they claim any record of it. It is then skipped."""
        if part.tries < 2 * self._settings.most_tries:
            return False
        await self._skip(part, DIED.code)
        return True

    async def _skip(self, part: FilePart, code: str) -> None:
        self.done.unread[code] += 1
        self._hooks.tell("sink.skipped", reason=code)
        await self._asked(self._ledger.close_part, self._id, part, code)

    def _batches(self, parts: Sequence[FilePart]) -> Generator[RecordBatch, None, None]:
        tools, settings = self._made.engine, self._settings
        stands: Callable[[FilePart], bool] = (
            (lambda part: self._discovery.stands(part.name, part.stamp))
            if self._source.moves
            else lambda part: True
        )

        def key(part: FilePart, one: Input) -> KeyedRecord:
            return keyed(self._ledger, tools, part, one)

        return batches(
            parts, self._source, layout=self._layout, words=self._words, key=key, stands=stands,
            records=settings.batch_records, size=settings.batch_bytes,
        )  # fmt: skip

    async def _serve(self, batch: RecordBatch, busy: set[int]) -> None:
        """Serve one batch into the open shards.

        Records on which a worker died are served one by one, each settled first.
        """
        claims = await self._claim([one.wanted for one in batch.records], alone=False)
        mine: list[tuple[KeyedRecord, RecordClaim]] = []
        suspects: list[KeyedRecord] = []
        for one in batch.records:
            claim = claims.pop(one.wanted.key, None)
            if claim is None or claim.outcome in ("settled", "again"):
                self.done.skipped += 1  # None: the same record twice in one batch
            elif claim.outcome == "busy":
                busy.add(one.part.id)
            elif claim.outcome == "suspect":
                suspects.append(one)
            else:
                mine.append((one, claim))
        await self._decide(mine, busy)
        if suspects:
            await self._flush()
        for one in suspects:
            claim = (await self._claim([one.wanted], alone=True))[one.wanted.key]
            if claim.outcome == "mine":
                await self._decide([(one, claim)], busy)
                await self._flush()
            elif claim.outcome == "busy":
                busy.add(one.part.id)
        for part in [*batch.ended, *batch.unread]:
            if part.id in busy:  # it is checked again when the other worker is done, or dead
                await self._asked(self._ledger.return_part, self._id, part)
            elif part in batch.unread:
                await self._skip(part, UNREADABLE)
            else:
                self._shards.parts.append(part.id)
        for part in batch.changed:
            await self._skip(part, "changed")
        late = bool(self._begun) and time.monotonic() - self._begun > self._settings.shard_seconds
        if self._shards.full or late:
            await self._flush()

    async def _claim(self, wanted: Sequence[Wanted], *, alone: bool) -> dict[str, RecordClaim]:
        if not wanted:
            return {}
        return await self._asked(self._ledger.claim, self._id, self._release.id, wanted, alone=alone)

    async def _decide(self, mine: Sequence[tuple[KeyedRecord, RecordClaim]], busy: set[int]) -> None:
        """Process claimed records.

        A record that a model or the index did not serve is returned, and so is its part when it ends. The others go on,
        since the record itself may be the cause.

        Raises:
            Outage: no records are served any more.
        """
        if not mine:
            return
        self._hooks.tell("records.claimed", records=len(mine))
        self._begun = self._begun or time.monotonic()
        patients = {one.patient for one, _ in mine if one.patient is not None}
        refused = await self._refused(patients)
        driver = Driver(self._released, self._held, retries=self._retries, key=lambda mine: mine[0].wanted.key)
        to_serve: list[tuple[KeyedRecord, RecordClaim]] = []
        for one, claim in mine:
            if one.patient in refused and one.patient is not None:
                self._shards.held.append(refusal(claim.id))
            elif claim.tries >= self._settings.most_tries:
                await asyncio.to_thread(driver.refuse, (one, claim), Verdict("quarantine", (DIED,)))
            elif one.one.error is not None:
                await asyncio.to_thread(driver.refuse, (one, claim), Verdict("quarantine", (one.one.error,)))
            else:
                to_serve.append((one, claim))
        with self._hooks.span("records.claimed", records=len(to_serve)):
            await driver.serve(
                to_serve, lambda records: self._made.abatch([one.item for one, _ in records if one.item is not None])
            )
        returned = await asyncio.to_thread(driver.end_batch)
        if returned:
            busy.update(one.part.id for one, _ in returned)
            await self._asked(self._ledger.return_records, self._id, [claim.id for _, claim in returned])
        driver.check_outage()

    def _released(self, mine: tuple[KeyedRecord, RecordClaim], result: Result) -> None:
        one, claim = mine
        self._keeper.release(one, claim.id, result, self._shards)
        self._counts.append(result.manifest["counts"]["by_type"])
        if one.patient is not None:
            self._patients.add(one.patient)

    def _held(self, mine: tuple[KeyedRecord, RecordClaim], verdict: Verdict, result: Result | None) -> None:
        def refused(patient: str) -> bool:
            return bool(self._hooks.refused({patient}))

        one, claim = mine
        self._shards.held.append(self._keeper.hold(one, claim.id, verdict, result, refused))
        if result is not None:
            self._counts.append(result.manifest["counts"]["by_type"])

    async def _refused(self, patients: set[str]) -> set[str]:
        return await asyncio.to_thread(self._hooks.refused, patients) if patients else set()

    async def _flush(self) -> None:
        """Settle everything that was decided, and deliver the shards.

        Raises:
            Unwritable: nothing is settled yet.
            ReviewCeiling: everything is settled.
        """
        await self._asked(self._delivery.place)
        shards = self._shards
        if shards.empty:
            await asyncio.to_thread(self._arrivals.say)
            return
        if self._staged is None and await self._refused(self._patients):
            raise LeaseLost("A patient opted out after the record was claimed. All records are claimed again.")
        if self._staged is None:  # else ask again whether it was settled, since nothing was added
            self._staged = token(), await asyncio.to_thread(self._delivery.stage, self._id, shards)
        settlement, staged = self._staged
        try:
            await self._asked(self._delivery.settle, self._id, settlement, staged, shards)
        except LeaseLost:
            await asyncio.to_thread(self._delivery.discard, staged)
            raise
        self._staged = None
        self._patients.clear()
        states = Counter[str](one.state for one in shards.held) + Counter(released=sum(len(p.settled) for p in staged))
        shards.clear()
        self._begun = 0.0
        counts, self._counts = self._counts, []
        self.done.states += states
        self.done.shards += len(staged)
        self._hooks.tell(  # before anything that may fail, since it is settled
            "records.committed", outputs=len(staged), released=states["released"], review=states["review"],
            quarantined=states["quarantined"], refused=states["refused"], **self._bill.since(),
        )  # fmt: skip
        for arrived in (self._keeper.settled, self._arrivals.say):
            await asyncio.to_thread(arrived)
        await self._asked(self._delivery.place)
        await asyncio.to_thread(self._hooks.counted, counts)
        if self._hooks.settled is not None:
            await self._hooks.settled()
        counted = await self._asked(self._ledger.counts, self._release.id)
        check(counted, settings=self._settings, tell=self._hooks.tell)

    # Errors

    async def _pause(self, problem: Outage | StoreProblem) -> None:
        """Settle what is decided, return the rest unchanged, and wait."""
        self.done.pauses += 1
        self._retries.paused()
        self._hooks.tell("worker.paused", reason=problem.code)
        try:
            await self._flush()
        except StoreProblem:  # the destination itself failed: what is decided will be decided again
            self._forget()
        returned = await self._asked(self._ledger.give_back, self._id)
        self._hooks.tell("records.returned", records=returned, reason=problem.code)
        await self._sleep(self._pauses.next())
        self._hooks.tell("worker.resumed")

    async def _begin_anew(self) -> None:
        """Join again, since others have some of our records.

        What was decided is left to the next worker that claims it.
        """
        self._forget()
        await asyncio.to_thread(self._leave)
        await self._join()

    def _forget(self) -> None:
        self._shards.clear()
        self._keeper.forget()
        self._patients.clear()
        self._staged = None
        self._counts.clear()
        self._arrivals.forget()
        self._begun = 0.0

    async def _join(self) -> None:
        lease = self._settings.lease_seconds
        self._id = await self._asked(self._ledger.join, lease)
        self._heartbeat = Heartbeat(self._ledger, self._id, lease)

    def _leave(self) -> None:
        """Return what is not settled."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
        with suppress(LedgerUnavailable):  # its lease will end anyway
            self._ledger.leave(self._id)
