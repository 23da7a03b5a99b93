"""A language model without a model: answers from a script, in this process."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable
from incognote.llm.base import Reply, Request
from incognote.testing.answers import Answer, Answering
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.trouble import Trouble


class ScriptedLLM:
    """A LanguageModel that answers from a function or a table.

    Usage is estimated on both sides as the number of words between white space or a quarter of the characters,
    whichever is more; it costs nothing. A reply with usage of its own keeps it. A trouble (429, a hang, a lost
    connection) becomes the error that an adapter raises where nobody retries; a slow reply comes late.

    Args:
        answer: a function over the request, or a table: the text asked about, or the request's address, and the reply.
        name: vendor and model.
        latency: seconds that each call takes.
        misbehaviour: which replies are made bad, and how.

    Attributes:
        requests: what was asked, in order.
        misbehaved: the name of the misbehaviour of each call, in the same order; None where it was good.
        peak: the most calls that were under way at once.
        closed: whether `aclose` was called.
    """

    def __init__(
        self,
        answer: Answer,
        *,
        name: str = "scripted/model",
        latency: float = 0.0,
        misbehaviour: Misbehaviour | None = None,
    ) -> None:
        self.name, self.latency = name, latency
        self.requests: list[Request] = []
        self.misbehaved: list[str | None] = []
        self.peak = 0
        self.closed = False
        self._under_way = 0
        self._answering = Answering(answer, misbehaviour, models=(name,))

    @property
    def calls(self) -> int:
        """How many calls there were, whatever became of them."""
        return len(self.requests)

    def __repr__(self) -> str:
        return f"ScriptedLLM(name={self.name!r}, calls={self.calls})"

    async def complete(self, request: Request) -> Reply:
        """Answer as the script says.

        Raises:
            ModelUnavailable, ModelRejected, ContextTooLong: as the script or the misbehaviour has it; ModelRejected
                also where a table holds no reply.
        """
        began = time.monotonic()
        self.requests.append(request)
        place = len(self.misbehaved)
        self.misbehaved.append(None)
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            turn = self._answering(request)
            self.misbehaved[place] = turn.misbehaviour
            await asyncio.sleep(self.latency)
            reply = await _endured(turn.act) if isinstance(turn.act, Trouble) else turn.act
        finally:
            self._under_way -= 1
        return replace(reply, seconds=time.monotonic() - began, model=reply.model or self.name)

    async def aclose(self) -> None:
        self.closed = True


async def _endured(trouble: Trouble) -> Reply:
    """The late reply of a slow trouble; the error that any other ends in."""
    await asyncio.sleep(trouble.seconds)
    if trouble.kind == "slow" and trouble.reply is not None:
        return trouble.reply
    if trouble.kind == "status" and trouble.code == "context_length_exceeded":
        raise ContextTooLong("the script says 400: the request is longer than the model reads")
    if trouble.kind == "status" and 400 <= trouble.status < 500 and trouble.status not in (408, 409, 429):
        raise ModelRejected(f"the script says {trouble.status}: the request is refused")
    raise ModelUnavailable(
        f"the script says {trouble.status or trouble.kind}: try again later", retry_after=trouble.retry_after
    )
