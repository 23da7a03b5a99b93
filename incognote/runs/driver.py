"""The driver: it takes records from a source through the machine to a destination, in the same way for every run.

    tally = run(inputs, serve, release, hold)                      files of a folder, held records: the command line
    driver = Driver(release, hold, retries=..., key=...)           batches of a worker, documents of jobs
    await driver.serve(records, machine)
    returned = driver.end_batch()

A record ends in one of four ways: released, in review, quarantined, or returned to its source after an outage.
`retryable` of the error classes says what is an outage. A run that can come back to a record (a worker, the jobs of the
API) returns it. A run that ends (a command) holds it under the code of the outage, and `incognote quarantine retry`
tries it later. An error of a destination is never a verdict: it ends the batch or the run.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from incognote.errors import IncognoteError, retryable_code
from incognote.files.inputs import Input
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.tally import Tally

T = TypeVar("T")
UNENCODABLE = Reason("encoding", "", "the new text has a character that the encoding of its file cannot represent")
_FIRST = 0.5
_FAILING = 2  # batches without a served record, one after the other: then no single record is the cause


class Outage(IncognoteError):
    """A service that records need has failed. The records are returned unchanged."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code}: the service is not available. Records wait until it is back")
        self.code = code


class Backoff:
    """Wait times in seconds, doubling up to a maximum."""

    def __init__(self, longest: float) -> None:
        self._longest, self._next = longest, 0.0
        self.reset()

    def reset(self) -> None:
        """Start again with the shortest wait, since all services work."""
        self._next = min(_FIRST, self._longest)

    def next(self) -> float:
        """Return how long to wait now."""
        now, self._next = self._next, min(2 * self._next, self._longest)
        return now


class Retries:
    """Tell whether a record that fails is itself the cause, or a service is out.

    Args:
        most: how often a record may fail while others are served.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._failed: dict[str, tuple[int, int]] = {}  # how often, and how many had been served by then
        self._served = self._failing = self._in_a_row = 0
        self._code: str | None = None

    def used_up(self, key: str) -> bool:
        """Whether a record that was not served has failed too often while others were served."""
        times, served = self._failed.get(key, (0, -1))
        self._failed[key] = (times + (self._served > served), self._served)
        return times >= self._most

    def decided(self, key: str) -> None:
        """Forget a record that has a verdict."""
        self._failed.pop(key, None)

    def batch(self, served: int, failed: int, code: str | None) -> None:
        """Count the results of a batch.

        Args:
            code: the code of the outage, if records are returned.

        Raises:
            Outage: no records are served any more.
        """
        self._served += served
        self._code = code or self._code
        if served:
            self._failing = self._in_a_row = 0
        elif failed:
            self._failing += 1
        if self._failing >= _FAILING + self._in_a_row:  # each time farther, past records that are themselves the cause
            raise Outage(self._code or "")

    def round(self) -> None:
        """End a round.

        Raises:
            Outage: some of its records were not served.
        """
        code, self._code = self._code, None
        if code is not None:
            raise Outage(code)

    def paused(self) -> None:
        """Start again after a pause."""
        self._failing, self._in_a_row, self._code = 0, self._in_a_row + 1, None


class Driver(Generic[T]):
    """Settles the records of one run, or of one batch.

    Args:
        release: takes a record to release. If it raises UnicodeEncodeError, the record is held instead.
        hold: takes a record to hold, with the verdict, and the Result if the machine gave one.
        retries: None if the run does not come back to a record. After an outage the record is then held.
        key: identifies a record for `retries`.
    """

    def __init__(
        self,
        release: Callable[[T, Result], object],
        hold: Callable[[T, Verdict, Result | None], object],
        *,
        retries: Retries | None = None,
        key: Callable[[T], str] = str,
    ) -> None:
        self.tally = Tally()
        self._release, self._hold = release, hold
        self._retries, self._key = retries, key
        self._failed: list[tuple[T, Result, str]] = []
        self._served = 0
        self._code: str | None = None

    def refuse(self, record: T, verdict: Verdict) -> None:
        """Hold a record without showing it to the machine."""
        self.tally.read += 1
        self._held(record, verdict, None)

    def settle(self, record: T, result: Result) -> None:
        """Release or hold a record that was served. One that met an outage waits for the end of the batch."""
        code = None if result.verdict.released else retryable_code(reason.code for reason in result.verdict.reasons)
        if code is not None and self._retries is not None:
            self._failed.append((record, result, code))
            return
        self._served += 1
        if code is not None:
            self.tally.unserved[code] += 1
        self._decide(record, result)

    async def serve(self, records: Sequence[T], machine: Callable[[Sequence[T]], AsyncIterable[Result]]) -> None:
        """Serve records, and settle each as soon as the ones before it are settled.

        Args:
            machine: yields one Result per record, in order.
        """
        self.tally.read += len(records)
        waiting = iter(records)
        async for result in machine(records):
            await asyncio.to_thread(self.settle, next(waiting), result)

    def end_batch(self) -> list[T]:
        """Decide on records that failed too often while others were served. Return the others that were not served.

        The caller returns these to their source unchanged, and then calls `check_outage`.

        Raises:
            AccountingError: the counts do not balance.
        """
        returned = list[T]()
        for record, result, code in self._failed:
            if self._retries is not None and self._retries.used_up(self._key(record)):
                self._decide(record, result)
            else:
                returned.append(record)
                self._code = code
        self.tally.returned += len(returned)
        self.tally.balance()
        return returned

    def check_outage(self) -> None:
        """Report how the batch ended.

        Raises:
            Outage: no records are served any more.
        """
        if self._retries is not None:
            self._retries.batch(self._served, len(self._failed), self._code)

    def _decide(self, record: T, result: Result) -> None:
        if self._retries is not None:
            self._retries.decided(self._key(record))
        if not result.verdict.released:
            self._held(record, result.verdict, result)
            return
        try:
            self._release(record, result)
        except UnicodeEncodeError:
            self._held(record, Verdict("quarantine", (UNENCODABLE,)), result)
        else:
            self._count(result.verdict, result)

    def _held(self, record: T, verdict: Verdict, result: Result | None) -> None:
        self._hold(record, verdict, result)
        self._count(verdict, result)

    def _count(self, verdict: Verdict, result: Result | None) -> None:
        self.tally.add(verdict, result.manifest if result is not None else {})


def run(
    inputs: Iterable[Input],
    serve: Callable[[Iterator[Input]], Iterable[Result]],
    release: Callable[[Input, Result], object],
    hold: Callable[[Input, Verdict, Result | None], object],
) -> Tally:
    """Settle every input of a run that ends with its source. Inputs that could not be read are noted in the tally.

    Args:
        inputs: read lazily. No more of them are in memory than `serve` takes ahead.
        serve: yields one Result per readable input, in order.
        release, hold: as in `Driver`.

    Raises:
        AccountingError: the counts do not balance at the end.
    """
    driver = Driver(release, hold)
    waiting: deque[Input] = deque()

    def readable() -> Iterator[Input]:
        for one in inputs:
            if one.left_out:
                driver.tally.left_out.append(one.source.shown)
            elif one.not_read and one.error is not None:
                driver.tally.not_read.append((one.source.shown, one.error.detail))
            elif one.error is not None:
                driver.refuse(one, Verdict("quarantine", (one.error,)))
            else:
                driver.tally.read += 1
                waiting.append(one)
                yield one

    for result in serve(readable()):
        driver.settle(waiting.popleft(), result)
    driver.end_batch()
    return driver.tally
