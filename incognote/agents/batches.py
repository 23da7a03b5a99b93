"""Whole batches through the machine under a policy with surrogates: their mentions go through the loop together.

    for result in relexicalize_items(items, engine): ...          # sync, from any thread
    results = await relexicalize_batch(some_items, engine)        # one batch, on the Runtime's loop

Within a batch the order of the records decides no string and no identity. Records of other callers that use the same
engine at the same time go through the loop by themselves. All of it runs in this process: the setting `processes` is
not used. This module imports LangGraph: import it only when a record comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from incognote.agents.engine import Engine
from incognote.agents.graph import run
from incognote.agents.item import TOGETHER, Item, ItemBatch
from incognote.agents.relexing import BARRIER
from incognote.agents.runtime import Runtime
from incognote.nouns import Result


def relexicalize_items(
    items: Iterable[Item], engine: Engine, *, together: int = TOGETHER, raise_faults: bool = False
) -> Iterator[Result]:
    """One Result per item, in their order; a batch of them is in memory.

    Args:
        items: read as they are needed.
        engine: of a policy with surrogates.
        together: records of a batch; a batch of 8 million characters holds fewer.
        raise_faults: as of `relexicalize_batch`.

    Raises:
        IndexProblem: see `raise_faults`.
    """
    runtime, batch = Runtime.shared(), ItemBatch(together)
    for item in items:
        if batch.add(item):
            yield from runtime.run(relexicalize_batch(batch.take(), engine, raise_faults=raise_faults))
    if batch.items:
        yield from runtime.run(relexicalize_batch(batch.take(), engine, raise_faults=raise_faults))


async def relexicalize_batch(items: Sequence[Item], engine: Engine, *, raise_faults: bool = False) -> list[Result]:
    """One Result per item, in their order. Runs on the loop of the Runtime (`Runtime.shared().run` or `.join`).

    Args:
        items: the records of one batch.
        engine: of a policy with surrogates.
        raise_faults: raise what the index failed with; else the records of the batch are quarantined with the reason,
            as `Deidentifier.deidentify` does it.

    Raises:
        IndexProblem: the index does not serve, and `raise_faults` is set.
    """
    barrier = engine.relexing.barrier(len(items))

    async def one(item: Item) -> Result:
        BARRIER.set(barrier)  # of this task alone
        try:
            return await run(item, engine)
        finally:
            await barrier.withdraw()

    results = await asyncio.gather(*(asyncio.create_task(one(item)) for item in items))
    if raise_faults and barrier.fault is not None:
        raise barrier.fault
    return results
