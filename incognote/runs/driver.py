"""The one driver: from a source through the machine to a destination, for every run alike.

    tally = run(inputs, serve, release, hold)                      files of a folder, held records: the command line
    driver = Driver(release, hold, retries=..., key=...)           batches of a worker, documents of jobs
    await driver.serve(records, machine)
    returned = driver.end_batch()

A record ends in one of four ways: released, in review, quarantined, or returned to its source because something did not
serve it. `retryable` of the error classes says what is an outage. A run that can come back to a record (a worker, the
jobs of the API) returns it; one that ends (a command) holds it under the code of the outage, and `incognote quarantine
retry` is its later try. What a destination raises is never a verdict: it ends the batch or the run.
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
_FAILING = 2  # batches of which nothing was served, one after the other: then it is no record's doing


class Outage(IncognoteError):
    """Something that records need did not serve; they are returned as they were."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code}: records wait until it serves again")
        self.code = code


class Backoff:
    """Seconds to wait, doubling up to the longest."""

    def __init__(self, longest: float) -> None:
        self._longest, self._next = longest, 0.0
        self.reset()

    def reset(self) -> None:
        """All serves again."""
        self._next = min(_FIRST, self._longest)

    def next(self) -> float:
        """How long to wait now."""
        now, self._next = self._next, min(2 * self._next, self._longest)
        return now


class Retries:
    """Whether a record that is not served is itself the cause, or nobody is served.

    Args:
        most: how often a record may fail while others are served.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._failed: dict[str, tuple[int, int]] = {}  # how often, and how many had been served by then
        self._served = self._failing = self._in_a_row = 0
        self._code: str | None = None

    def used_up(self, key: str) -> bool:
        """Whether a record that was not served has failed too often while others were."""
        times, served = self._failed.get(key, (0, -1))
        self._failed[key] = (times + (self._served > served), self._served)
        return times >= self._most

    def decided(self, key: str) -> None:
        """A record need not be remembered any more."""
        self._failed.pop(key, None)

    def batch(self, served: int, failed: int, code: str | None) -> None:
        """What came of the records of a batch.

        Args:
            code: of what did not serve those that are returned.

        Raises:
            Outage: nobody is served any more.
        """
        self._served += served
        self._code = code or self._code
        if served:
            self._failing = self._in_a_row = 0
        elif failed:
            self._failing += 1
        if self._failing >= _FAILING + self._in_a_row:  # each time farther, past those who are the cause themselves
            raise Outage(self._code or "")

    def round(self) -> None:
        """A round is over.

        Raises:
            Outage: some of its records were not served.
        """
        code, self._code = self._code, None
        if code is not None:
            raise Outage(code)

    def paused(self) -> None:
        """It begins anew."""
        self._failing, self._in_a_row, self._code = 0, self._in_a_row + 1, None


class Driver(Generic[T]):
    """Settles the records of one run, or of one batch.

    Args:
        release: takes a record that may leave; UnicodeEncodeError says that it cannot be written, and it is held.
        hold: takes one that may not, with the verdict, and the Result where the machine gave one.
        retries: None: the run does not come back to a record, which is held then.
        key: what `retries` knows a record by.
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
        """Hold a record that the machine is not shown."""
        self.tally.read += 1
        self._held(record, verdict, None)

    def settle(self, record: T, result: Result) -> None:
        """Release or hold a record that was served; one that met an outage waits for the end of the batch."""
        code = None if result.verdict.released else retryable_code(reason.code for reason in result.verdict.reasons)
        if code is not None and self._retries is not None:
            self._failed.append((record, result, code))
            return
        self._served += 1
        if code is not None:
            self.tally.unserved[code] += 1
        self._decide(record, result)

    async def serve(self, records: Sequence[T], machine: Callable[[Sequence[T]], AsyncIterable[Result]]) -> None:
        """Serve records, and settle each as soon as those before it are.

        Args:
            machine: gives one Result per record, in their order.
        """
        self.tally.read += len(records)
        waiting = iter(records)
        async for result in machine(records):
            await asyncio.to_thread(self.settle, next(waiting), result)

    def end_batch(self) -> list[T]:
        """Decide on records that failed too often while others were served -> the others that were not served.

        The caller returns these to their source as they were, and then asks `check_outage`.

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
        """Say how the batch ended.

        Raises:
            Outage: nobody is served any more.
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
    """Settle every input of a run that ends with its source; what could not be read is noted.

    Args:
        inputs: read lazily; no more are in memory than `serve` takes ahead.
        serve: one Result per readable input, in their order.
        release, hold: as of `Driver`.

    Raises:
        AccountingError: the counts do not balance at the end.
    """
    driver = Driver(release, hold)
    waiting: deque[Input] = deque()

    def readable() -> Iterator[Input]:
        for one in inputs:
            if one.not_read and one.error is not None:
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
