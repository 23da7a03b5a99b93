"""Limits for connections: time to send headers, time to fetch an answer, and the number of connections.

Connections that serve no request are counted for each address. Beyond the limit, the oldest connection of the address
is closed, and the new one is accepted. So a health probe behind the same proxy as an attacker is still served.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_ALL = 8  # limit of all addresses together, as a multiple of the limit of one


def limited_connections(seconds: float, most: int = 128) -> type[H11Protocol]:
    """Return the protocol class of one server.

    Args:
        seconds: the time limit for all headers of a request. An answer that is not fetched is aborted after six times
            as long.
        most: connections of one address on which no request is served.
    """
    # both in the order in which connections began to wait
    waiting: dict[LimitedConnection, str] = {}
    of_address: dict[str, dict[LimitedConnection, None]] = defaultdict(dict)

    class LimitedConnection(H11Protocol):
        _timer: asyncio.TimerHandle | None = None
        _stuck: asyncio.TimerHandle | None = None

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
            self._unstuck()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._stuck is None:
                self._stuck = self.loop.call_later(6 * seconds, self.transport.abort)

        def resume_writing(self) -> None:
            self._unstuck()
            super().resume_writing()

        @property
        def _waits(self) -> bool:
            cycle: Any = self.cycle  # None before the first request, despite its annotation
            return cycle is None or bool(cycle.response_complete)

        def _watch(self) -> None:
            if not self._waits or self.transport.is_closing():
                self._calm()
            elif self._timer is None:
                self._timer = self.loop.call_later(seconds, self._give_up)
                address = str((self.client or ("unknown",))[0])
                waiting[self] = address
                of_address[address][self] = None
                if len(of_address[address]) > most:
                    next(iter(of_address[address]))._give_up()
                elif len(waiting) > _ALL * most:
                    next(iter(waiting))._give_up()

        def _calm(self) -> None:
            address = waiting.pop(self, None)
            if address is not None:
                del of_address[address][self]
                if not of_address[address]:
                    del of_address[address]
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _unstuck(self) -> None:
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None

        def _give_up(self) -> None:
            self._calm()
            if self._waits:
                self.transport.close()

    return LimitedConnection
