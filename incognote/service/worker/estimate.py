"""Estimate the time, cores, cost and review work of processing a source, from a sample."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from incognote.agents.item import item_of
from incognote.errors import UsageError
from incognote.evaluation.intervals import Figure, share
from incognote.files.inputs import Input, RecordDefaults
from incognote.formats.tables import Layout
from incognote.runs.source import SeenFile, WatchedSource, part_ranges, read_part
from incognote.runs.units import counted, dollars, duration, size
from incognote.service.worker.hooks import ModelCosts

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

_PER_FILE = 20  # records of one file in the sample, since those of a file resemble each other
_SEED = 8


@dataclass(frozen=True)
class RunEstimate:
    """The estimate: counts of what was found, and figures from the sample.

    Args:
        files, bytes: of the files that will be read.
        sampled: records that were run.
        unread: additional records that could not be read.
        records: estimated from the bytes.
        seconds: processing and waiting time per record, with one worker.
        hours: with the given number of workers, each on its own core.
        usd: for all records; None if a price is unknown or no model is named.
        review, quarantine: shares of the sample with their 95% intervals.
    """

    files: int
    bytes: int
    skipped: int
    sampled: int
    unread: int
    records: int
    seconds: float
    workers: int
    hours: float
    tokens: int
    usd: float | None
    review: Figure
    quarantine: Figure

    def needed(self, hours: float) -> int:
        """Return how many workers, or cores of Spark executors, finish in some hours."""
        return max(1, math.ceil(self.seconds * self.records / 3600 / hours))

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate for JSON."""
        return {**asdict(self), "review": self.review.as_dict(), "quarantine": self.quarantine.as_dict()}

    def rows(self) -> list[tuple[str, str]]:
        """Return the estimate as rows for a terminal."""
        low, high = ((bound or 0.0) * self.records for bound in (self.review.low, self.review.high))
        return [
            ("files", f"{self.files:,} ({size(self.bytes)}); {self.skipped:,} skipped"),
            ("sample", f"{counted(self.sampled, 'record')} processed, {self.unread:,} unreadable"),
            ("records", f"about {self.records:,}"),
            ("per record", duration(self.seconds)),
            ("run time", f"about {duration(self.hours * 3600)} with {counted(self.workers, 'worker')}, one core each"),
            ("tokens", f"about {self.tokens:,}" if self.tokens else "none"),
            ("cost", "none" if not self.tokens else dollars(self.usd)),
            ("for review", f"{_percent(self.review)}: {low:,.0f} to {high:,.0f} records"),
            ("quarantined", _percent(self.quarantine)),
        ]


def _percent(share: Figure) -> str:
    low, high = ((bound or 0.0) * 100 for bound in (share.low, share.high))
    return f"{100 * (share.value or 0.0):.1f}% [{low:.1f}, {high:.1f}]"


async def estimate(
    made: Deidentifier, source: WatchedSource, *, layout: Layout | None, words: RecordDefaults, sample: int,
    workers: int,
) -> RunEstimate:
    """Run a sample: files drawn at random, and some records of each.

    Raises:
        UsageError: there is nothing to sample.
    """
    seen = list(source.look())
    files = [one for one in seen if one.why in ("ready", "resting")]
    drawn, unread, taken = _drawn(source, files, layout, words, sample)
    if not drawn:
        raise UsageError("The source holds no readable record, so there is nothing to estimate from. Check SOURCE.")
    total = sum(one.size for one in files)
    items = [item_of(one, made.engine) for one in drawn]
    async for _ in made.abatch(items[:1]):
        pass  # excludes one-time loading from the time per record
    bill = ModelCosts(made)
    began = time.perf_counter()
    outcomes = [result.verdict.outcome async for result in made.abatch(items)]
    seconds = (time.perf_counter() - began) / len(items)
    records = max(len(drawn), round(total * (len(drawn) + unread) / max(taken, 1)))
    each = {name: spent / len(items) for name, spent in bill.since().items()}
    usd = each["usd"] * records if "usd" in each else None
    return RunEstimate(
        files=len(files), bytes=total, skipped=len(seen) - len(files), sampled=len(items), unread=unread,
        records=records, seconds=seconds, workers=workers, hours=seconds * records / workers / 3600,
        tokens=round(each.get("tokens", 0) * records), usd=usd, review=share(outcomes.count("review"), len(items)),
        quarantine=share(outcomes.count("quarantine") + unread, len(items) + unread),
    )  # fmt: skip


def _drawn(
    source: WatchedSource, files: Sequence[SeenFile], layout: Layout | None, words: RecordDefaults, sample: int
) -> tuple[list[Input], int, int]:
    """Draw records of files in random order. Return also the numbers of unreadable records and of bytes read."""
    chance = Random(_SEED)  # noqa: S311 -- the same sample every time
    drawn: list[Input] = []
    unread = taken = 0
    for one in chance.sample(list(files), len(files)):
        if len(drawn) >= sample:
            break
        parts = part_ranges(one.name, one.size, 2**20)
        start, stop = chance.choice(parts)
        size, ended = 0, True
        for number, read_in in enumerate(read_part(source, one.name, start, stop, layout)):
            if number >= _PER_FILE or len(drawn) >= sample:
                ended = False
                break
            if read_in.left_out:
                continue
            size += len(read_in.content or "") + 1
            if read_in.error is None:
                drawn.append(replace(read_in, defaults=words))
            else:
                unread += 1
        taken += (one.size if len(parts) == 1 else (stop or one.size) - start) if ended else size
    return drawn, unread, taken
