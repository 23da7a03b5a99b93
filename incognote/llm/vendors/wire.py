"""The transport under the SDKs. It checks the address, reads the whole answer, and hides the text of errors.

It sends with aiohttp, whose parser is compiled: httpcore and h11 took 1 ms more of processor time per call.

An SDK above it sees an error's status with an empty body, so that nothing a server echoes gets into its exceptions and
logs. It never sees httpx's connection errors, which would make litellm send the request again. Import this module only
where httpx is needed. It comes with the extra `llm`.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import weakref
from contextlib import suppress

import aiohttp
import httpx

from incognote.errors import EgressRefused
from incognote.llm.egress import Egress, guarded
from incognote.llm.vendors import faults

LARGEST = 32 * 1024 * 1024
"""The maximum size of an answer in bytes: some hundred times the longest reply that a model writes."""


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
        self._session: aiohttp.ClientSession | None = None
        self._place: tuple[int, asyncio.AbstractEventLoop] | None = None
        self._leaving: weakref.finalize[..., Guarded]

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
        timeout = request.extensions.get("timeout", {})
        try:
            body = await request.aread()
            with guarded():
                async with (await self._opened()).request(
                    request.method, str(request.url), data=body or None, headers=request.headers, allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(sock_connect=timeout.get("connect"), sock_read=timeout.get("read")),
                ) as response:  # fmt: skip
                    status, headers = response.status, response.headers
                    answer = await _whole(response, self._largest)
        except TimeoutError:
            noted.failure = "no answer before the timeout"
            raise NotAnswered(noted.failure) from None
        except (aiohttp.ClientError, OSError):
            noted.failure = "the connection failed or was cut off"
            raise NotAnswered(noted.failure) from None
        noted.note(status, headers, answer)
        if 300 <= status < 400:
            raise EgressRefused("redirects are never followed")
        if status >= 400:
            return httpx.Response(
                status,
                headers={"content-type": "application/json"},
                content=b'{"error": {"message": "kept back"}}',
                request=request,
            )
        kept = [(name, value) for name, value in headers.items() if name.lower() not in _FRAMING]
        return httpx.Response(status, headers=kept, content=answer, request=request)

    async def aclose(self) -> None:
        """Do nothing, since clients above come and go (litellm closes one after each failure). `shut` closes."""

    async def shut(self) -> None:
        """Close the connections, or in a forked child, leave those of the parent open."""
        if self._session is not None and self._place is not None:
            self._leaving.detach()
            session, self._session = self._session, None
            if self._place[0] == os.getpid():
                await session.close()
            else:
                _inherited.append(session)

    async def _opened(self) -> aiohttp.ClientSession:
        """Return the session of this process and event loop.

        With another one's connection, a forked child would read the parent's answers as its own.
        """
        place = os.getpid(), asyncio.get_running_loop()
        if self._session is None or self._place != place:
            await self.shut()
            self._place = place
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self.tls, resolver=aiohttp.ThreadedResolver()),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=False,
            )
            self._leaving = weakref.finalize(self, _left, self._session, *place)
        return self._session


_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})
_inherited: list[aiohttp.ClientSession] = []
"""In a forked child, the sessions of the parent. Closing them here would end the parent's connections."""


def client(transport: Guarded, timeout: float) -> httpx.AsyncClient:
    """Return a client that uses nothing from the environment and follows no redirect."""
    return httpx.AsyncClient(transport=transport, timeout=timeout, follow_redirects=False, trust_env=False)


def _left(session: aiohttp.ClientSession, pid: int, loop: asyncio.AbstractEventLoop) -> None:
    """Close a session that nobody closed. aiohttp would print a warning."""
    if pid != os.getpid():
        _inherited.append(session)
    elif loop.is_running():
        asyncio.run_coroutine_threadsafe(session.close(), loop)
    else:  # its connections ended with the loop, so there is nothing to wait for
        with suppress(StopIteration):
            session.close().send(None)


async def _whole(response: aiohttp.ClientResponse, largest: int) -> bytes:
    """Return the decoded body."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > largest:
            raise aiohttp.ClientPayloadError("the answer is too long for a reply")
    return bytes(body)
