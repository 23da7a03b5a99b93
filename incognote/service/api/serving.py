"""One item through the machine; who opted out is not served."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from incognote.agents.item import Item
from incognote.nouns import Reason, Result, Verdict
from incognote.service.worker.records import opened, subject_of

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier
    from incognote.service.api.context import ApiContext, Operation

REFUSAL = Result(None, Verdict("quarantine", (Reason("opted-out", "", "its subject opted out or was forgotten"),)), {})


async def served(context: ApiContext, operation: Operation, item: Item) -> Result:
    """What came of an item.

    Raises:
        Refused: the operation is not configured (501).
        IncognoteError: nobody can say who opted out.
    """
    engine = await run_in_threadpool(context.engine, operation)  # the first surrogate takes seconds to make ready
    if await run_in_threadpool(opted_out, context, engine, item):
        return replace(REFUSAL, id=item.id)
    return await engine.adeidentify(item)


def opted_out(context: ApiContext, engine: Deidentifier, item: Item) -> bool:
    """Whether the subject of an item is on the list."""
    patient = subject_of(item, opened(item, engine.engine))
    return patient is not None and bool(context.optouts.refused({patient}))
