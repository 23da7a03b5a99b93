"""Cells that run side by side ask the same at the same time: one asks, the others wait for what it records."""

from __future__ import annotations

import asyncio

from incognote.llm.base import Reply, Request
from incognote.llm.recording import Recorded

Waiting = dict[str, asyncio.Future[None]]
"""Requests under way, by address; shared by all that share a recording. On one event loop, so no lock."""


class Once:
    """A recorded model that never sends what another cell is waiting for.

    Args:
        model: of one cell.
        waiting: of the recording.
    """

    def __init__(self, model: Recorded, waiting: Waiting) -> None:
        self.name = model.name
        self._model, self._waiting = model, waiting

    @property
    def hits(self) -> int:
        """How many answers came from the recording."""
        return self._model.hits

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording, if need be after another cell put it there, else from the model.

        Raises:
            ModelProblem: the model's. Who waited for a request that failed asks himself.
        """
        address = request.address(self.name)
        while (other := self._waiting.get(address)) is not None:
            await asyncio.wait([other])
        own = self._waiting[address] = asyncio.get_running_loop().create_future()
        try:
            return await self._model.complete(request)
        finally:
            del self._waiting[address]
            own.set_result(None)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
