"""The line of the adapter that is asked most: POSTs to one address by aiohttp, guarded as the transport of `wire` is.

The layers under an SDK (its own, httpx's, httpcore's, h11's and anyio's) take 1.1 ms of processor time a call; aiohttp,
whose parser is compiled, takes 0.2 ms for the same bytes.
Import this module only where aiohttp is needed: it comes with the extra `llm`.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import weakref
from collections.abc import Mapping
from contextlib import suppress

import aiohttp
from yarl import URL

from incognote.errors import EgressRefused
from incognote.llm.egress import Egress, guarded
from incognote.llm.vendors import faults
from incognote.llm.vendors.wire import LARGEST, NotAnswered

_PIECE = 256 * 1024
_parents: list[aiohttp.ClientSession] = []
"""Of a forked child: kept for ever, since to close them here would be heard of there."""


class Line:
    """One address, asked again and again over connections that are kept; for one event loop at a time.

    It follows no redirect, keeps no cookie, and takes no proxy, password or name server from the environment.

    Args:
        egress: where requests may go.
        url: what is asked, always.
        headers: of every request.
        tls: whom to believe.
        largest: bytes of an answer; a longer one counts as none.
    """

    def __init__(
        self, egress: Egress, url: str, headers: Mapping[str, str], tls: ssl.SSLContext, largest: int = LARGEST
    ) -> None:
        self._egress, self._url, self._headers = egress, URL(url), headers
        self._tls, self._largest = tls, largest
        self._session: aiohttp.ClientSession | None = None
        self._of: tuple[int, asyncio.AbstractEventLoop]
        self._leaving: weakref.finalize[..., Line]

    async def post(self, body: bytes) -> bytes:
        """The body of the answer; what became of the call is noted in the exchange under way.

        Raises:
            EgressRefused: before a byte is sent, or where the answer is a redirect.
            NotAnswered: not connected, cut off, longer than any reply, or the answer is a complaint.
        """
        noted = faults.current() or faults.Exchange()
        try:
            self._egress.check(str(self._url))  # as aiohttp has understood it
        except EgressRefused as error:
            noted.refused = str(error)
            raise
        session = await self._opened()
        try:
            with guarded():
                async with session.post(self._url, data=body, allow_redirects=False) as response:
                    status, answer = response.status, await _whole(response, self._largest)
                    headers = response.headers
        except (aiohttp.ClientError, OSError):
            noted.failure = "not connected, or cut off"
            raise NotAnswered(noted.failure) from None
        noted.note(status, headers, answer)
        if 300 <= status < 400:
            raise EgressRefused("a redirect is never followed")
        if status >= 400:
            raise NotAnswered("a complaint")
        return answer

    async def shut(self) -> None:
        """Give back the connections."""
        if self._session is None:
            return
        self._leaving.detach()
        session, self._session = self._session, None
        if self._of[0] == os.getpid():
            await session.close()
        else:
            _parents.append(session)

    async def _opened(self) -> aiohttp.ClientSession:
        """The session of this process and loop, a new one where there is none."""
        here = os.getpid(), asyncio.get_running_loop()
        if self._session is None or self._of != here:
            await self.shut()
            self._of = here
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._tls, resolver=aiohttp.ThreadedResolver()),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # who asks has one for the whole
                trust_env=False,
            )
            self._leaving = weakref.finalize(self, _left, self._session, *here)
        return self._session


def _left(session: aiohttp.ClientSession, pid: int, loop: asyncio.AbstractEventLoop) -> None:
    """Close what nobody has closed, at the latest when the process ends: aiohttp would complain of it, loudly."""
    if pid != os.getpid():
        _parents.append(session)
    elif not loop.is_running():  # its loop has ended, and the connections with it: there is nothing to wait for
        with suppress(StopIteration):
            session.close().send(None)
    else:
        closing = asyncio.run_coroutine_threadsafe(session.close(), loop)
        with suppress(TimeoutError):
            closing.result(0 if _on_a_loop() else 1)


def _on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _whole(response: aiohttp.ClientResponse, largest: int) -> bytes:
    """The decoded body."""
    body = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        body += piece
        if len(body) > largest:
            raise aiohttp.ClientPayloadError("longer than any reply")
    return bytes(body)
