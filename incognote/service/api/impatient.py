"""A connection on which no request comes is closed; the server would let it stand, and connections are numbered."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def impatient(seconds: float) -> type[H11Protocol]:
    """The protocol of a server that waits so long for the whole of a request's headers."""

    class Impatient(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        @property
        def _waits(self) -> bool:
            cycle: Any = self.cycle  # None before the first request, whatever its annotation says
            return cycle is None or bool(cycle.response_complete)

        def _watch(self) -> None:
            if not self._waits:
                self._calm()
            elif self._timer is None:
                self._timer = self.loop.call_later(seconds, self._give_up)

        def _calm(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            self._timer = None
            if self._waits:
                self.transport.close()

    return Impatient
