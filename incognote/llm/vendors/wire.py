"""The transport under the SDKs. It checks the address, reads the whole answer, and hides the text of errors.

An SDK above it sees an error's status with an empty body, so that nothing a server echoes gets into its exceptions and
logs. It never sees httpx's connection errors, which would make litellm send the request again. Import this module only
where httpx is needed. It comes with the extra `llm`.
"""

from __future__ import annotations

import asyncio
import os
import ssl

import httpx

from incognote.errors import EgressRefused
from incognote.llm.egress import Egress, guarded
from incognote.llm.vendors import faults

LARGEST = 32 * 1024 * 1024
"""The maximum size of an answer in bytes: some hundred times the longest reply that a model writes."""


_MOST_IDLE = 64
"""The maximum number of connections that are kept while idle."""


class NotAnswered(Exception):
    """A call without an answer. The exchange holds the reason."""


class Guarded(httpx.AsyncBaseTransport):
    """Sends requests to the allowed addresses and follows no redirects. Works for one event loop at a time.

    Args:
        egress: the addresses.
        largest: the maximum size of an answer in bytes. A longer one is discarded.
    """

    def __init__(self, egress: Egress, largest: int = LARGEST) -> None:
        self._egress = egress
        self._largest = largest
        # trust_env: only the variables SSL_CERT_FILE and SSL_CERT_DIR concern a transport
        self.tls: ssl.SSLContext = httpx.create_ssl_context(trust_env=True)
        # One transport per concurrent request, with idle ones in a stack. A pool that holds all connections checks each
        # of its sockets before and after every request. With 32 of them this takes 0.6 ms of processor time per call.
        self._idle: list[httpx.AsyncHTTPTransport] = []
        self._place: tuple[int, asyncio.AbstractEventLoop] | None = None
        self._inherited: list[httpx.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            EgressRefused: before a byte is sent, or if the answer is a redirect.
            NotAnswered: timed out, not connected, cut off, or longer than any reply.
        """
        noted = faults.current() or faults.Exchange()
        try:
            self._egress.check(str(request.url))
        except EgressRefused as error:
            noted.refused = str(error)
            raise
        self._use_this_loop()
        inner = self._idle.pop() if self._idle else httpx.AsyncHTTPTransport(verify=self.tls, retries=0)
        try:
            with guarded():
                response = await inner.handle_async_request(request)
                try:
                    body = await _whole(response, self._largest)
                finally:
                    await response.aclose()
        except httpx.TimeoutException:
            noted.failure = "no answer before the timeout"
            raise NotAnswered(noted.failure) from None
        except httpx.HTTPError:
            noted.failure = "the connection failed or was cut off"
            raise NotAnswered(noted.failure) from None
        finally:
            await self._keep_idle(inner)
        noted.note(response.status_code, response.headers, body)
        if 300 <= response.status_code < 400:
            raise EgressRefused("redirects are never followed")
        if response.status_code >= 400:
            return httpx.Response(
                response.status_code,
                headers={"content-type": "application/json"},
                content=b'{"error": {"message": "kept back"}}',
                request=request,
            )
        return httpx.Response(
            response.status_code,
            headers=[(k, v) for k, v in response.headers.items() if k not in _FRAMING],
            content=body,
            request=request,
        )

    async def aclose(self) -> None:
        """Do nothing, since clients above come and go (litellm closes one after each failure). `shut` closes."""

    async def shut(self) -> None:
        """Close the connections."""
        self._use_this_loop()
        while self._idle:
            await self._idle.pop().aclose()

    def _use_this_loop(self) -> None:
        """Use no connection of another event loop or, in a forked child, of the parent.

        It would read the parent's answers as its own. The parent's connections are kept, since closing them here would
        end them there.
        """
        place = os.getpid(), asyncio.get_running_loop()
        if self._place != place:
            if self._place is not None and self._place[0] != place[0]:
                self._inherited += self._idle
            self._idle = []
            self._place = place

    async def _keep_idle(self, inner: httpx.AsyncHTTPTransport) -> None:
        """Keep a transport for the next request, with its connection if that is intact and not too old."""
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(inner)
        else:
            await inner.aclose()


_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})


def client(transport: Guarded, timeout: float) -> httpx.AsyncClient:
    """Return a client that uses nothing from the environment and follows no redirect."""
    return httpx.AsyncClient(transport=transport, timeout=timeout, follow_redirects=False, trust_env=False)


async def _whole(response: httpx.Response, largest: int) -> bytes:
    """Return the decoded body."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > largest:
            raise httpx.ReadError("the answer is too long for a reply")
    return bytes(body)
