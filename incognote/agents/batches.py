"""Process whole batches under a policy with surrogates. Their mentions go through the relexicalization loop together.

    for result in relexicalize_items(items, engine): ...          # sync, from any thread
    results = await relexicalize_batch(some_items, engine)        # one batch, on the Runtime's loop

Within a batch the order of the records has no influence on strings or identities. Records of other callers that use the
same engine at the same time go through the loop separately. Everything runs in this process: the setting `processes`
is not used. This module imports LangGraph, so import it only when the first record arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack

from incognote.agents.composites import PatientRequests, Seat
from incognote.agents.engine import Engine
from incognote.agents.graph import run
from incognote.agents.item import TOGETHER, Item, ItemBatch
from incognote.agents.relexing import BARRIER
from incognote.agents.runtime import Runtime
from incognote.agents.sharing import units
from incognote.nouns import Result


def relexicalize_items(
    items: Iterable[Item], engine: Engine, *, together: int = TOGETHER, raise_faults: bool = False
) -> Iterator[Result]:
    """Yield one Result per item, in order. One batch at a time is in memory.

    Args:
        items: read as they are needed.
        engine: an engine whose policy uses surrogates.
        together: the number of records in a batch. A batch ends earlier if it reaches 8 million characters.
        raise_faults: as in `relexicalize_batch`.

    Raises:
        IndexProblem: see `raise_faults`.
    """
    runtime, batch = Runtime.shared(), ItemBatch(together, windows=engine.shares)
    for item in items:
        if complete := batch.add(item):
            yield from runtime.run(relexicalize_batch(complete, engine, raise_faults=raise_faults))
    if batch.items:
        yield from runtime.run(relexicalize_batch(batch.take(), engine, raise_faults=raise_faults))


async def relexicalize_batch(items: Sequence[Item], engine: Engine, *, raise_faults: bool = False) -> list[Result]:
    """Return one Result per item, in order. Run it on the loop of the Runtime (`Runtime.shared().run` or `.join`).

    Args:
        items: the records of one batch. It begins with a window (`sharing`).
        engine: an engine whose policy uses surrogates.
        raise_faults: raise the error of the index. By default the records of the batch are quarantined with the reason,
            as in `Deidentifier.deidentify`.

    Raises:
        IndexProblem: the index failed, and `raise_faults` is set.
    """
    barrier = engine.relexing.barrier(len(items))
    results: dict[int, Result] = {}

    async def one(at: int, item: Item, seat: Seat | None) -> None:
        BARRIER.set(barrier)  # set for this task alone
        try:
            results[at] = await run(item, engine, seat)
        finally:
            await barrier.withdraw()

    async with AsyncExitStack() as closing:
        tasks = []
        for unit in units(items, engine):
            seats: Sequence[Seat | None] = [None]
            if len(unit) > 1 and engine.reader is not None:
                requests = PatientRequests(engine.reader, engine.policy, len(unit))
                closing.push_async_callback(requests.aclose)
                seats = requests.seats()
            tasks += [asyncio.create_task(one(*each, seat)) for each, seat in zip(unit, seats, strict=True)]
        await asyncio.gather(*tasks)
    if raise_faults and barrier.fault is not None:
        raise barrier.fault
    return [results[at] for at in range(len(items))]
