"""The gate that every request passes first: authentication, rate limits, size limits, and logging.

It is plain ASGI and outermost, so that nothing inside can log a request or quote it in an answer. An unexpected error
becomes a problem without its message. The body is read only after the key was checked.
"""

from __future__ import annotations

import asyncio
import hmac
import threading
import time
from base64 import b64decode
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from incognote.errors import IncognoteError
from incognote.service.api.keys import NOBODY, Caller
from incognote.service.api.problems import Refused, problem

if TYPE_CHECKING:
    from fastapi import FastAPI

    from incognote.service.api.context import ApiContext

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

OPEN = frozenset({"/", "/review", "/livez", "/readyz", "/health", "/openapi.json"})
ALIVE = "/livez"
PAGES = ("/review/", "/try/")
ASKS_WHO = "/v1/me"
"""Also answers without a key: an empty name, with no role."""
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LOCAL = Caller(NOBODY, frozenset({"submit", "review", "try"}))
"""The caller with the start token.

To release or to see an original, a key is needed, whose name the audit log records.
"""
_NAMES = ("localhost", "127.0.0.1", "[::1]")
_PROXIES = frozenset(
    "forwarded via x-real-ip x-original-forwarded-for cf-connecting-ip true-client-ip x-client-ip x-cluster-client-ip "
    "fly-client-ip x-envoy-external-address x-azure-clientip x-amzn-trace-id".split()
)
"""Headers by which a proxy identifies itself, in addition to all `x-forwarded`."""


class Gate:
    """The gate; see the module's docstring.

    Args:
        app: the application behind the gate; `inner`.
        context: keys, settings, telemetry.
        token: the token of this start, for users who can read the file or the terminal that it was written to. It
            grants the rights of `_LOCAL` as long as no key exists. None: a key is always needed.
    """

    def __init__(self, app: FastAPI, context: ApiContext, *, token: str | None = None) -> None:
        limits = context.settings.service
        self.inner, self._context, self._token = app, context, token
        self._rate, self._refusals = Buckets(limits.api_rate), Buckets(limits.api_refusals)
        self._most, self._patience = limits.api_bytes, limits.api_seconds
        self._each, self._serving, self._bytes = limits.api_connections, Counter[str](), 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*_kept(message.get("headers", ())), *_ADDED]}
            await send(message)

        method = scope["method"].lower()
        telemetry = self._context.telemetry
        with telemetry.timed("api.request", method=method if method in _METHODS else "other") as told:
            reason = await self._answered(scope, receive, answer, lambda: status)
            # the route as we wrote it, never the path of the request
            told.update(route=_code(getattr(scope.get("route"), "path", "none")), status=status or 499)
        if status == 403 and not reason:
            reason = "role"
        if reason:
            telemetry.tell("api.refused", reason=reason, route=told["route"])

    async def _answered(self, scope: Scope, receive: Receive, answer: Send, status: Callable[[], int]) -> str:
        """Admit a request and answer it. Return the reason if it was refused here, or ""."""
        try:
            await self._let_in(scope)
            if _is_open(scope):
                await self.inner(scope, _again(b"", receive), answer)
            else:
                await self._serve(scope, receive, answer)
        except Refused as refused:
            await problem(refused.status, str(refused), headers=refused.headers)(scope, receive, answer)
            return _REASONS.get(refused.status, "other")
        except IncognoteError as error:  # the database of the keys
            self._context.telemetry.unexpected(error)
            if not status():
                await problem(503, "the service database is not available; try again later")(scope, receive, answer)
        except Exception as bug:  # a bug: its message may quote the request, so only its place is reported
            self._context.telemetry.unexpected(bug)
            if not status():
                await problem(500, "internal error in incognote; nothing was changed")(scope, receive, answer)
        return ""

    async def _serve(self, scope: Scope, receive: Receive, answer: Send) -> None:
        """Read the body and answer.

        Raises:
            Refused: too many requests are served at once, their bodies are too large together, or a body is too slow or
                too large.
        """
        address = _address(scope)
        if self._serving[address] >= self._each or self._serving.total() >= _ALL * self._each:
            raise Refused(503, "the server is busy with too many requests; try again", {"Retry-After": "1"})
        self._serving[address] += 1
        taken = bytearray()
        try:
            try:
                async with asyncio.timeout(self._patience):
                    await self._body(scope, receive, taken)
            except TimeoutError:
                raise Refused(408, "the body did not arrive in time (service.api_seconds)") from None
            await self.inner(scope, _again(bytes(taken), receive), answer)
        finally:
            self._bytes -= len(taken)
            self._serving[address] -= 1
            self._serving += Counter()  # drops the entries with a count of zero

    async def _let_in(self, scope: Scope) -> None:
        """Set `caller` in the scope's state; None if no authentication is needed.

        Raises:
            Refused: no key where one is needed, a wrong one, or too many requests.
        """
        state = scope.setdefault("state", {})
        state["caller"] = None
        path, headers = scope["path"], {name.decode("latin-1"): value for name, value in scope["headers"]}
        if path == ALIVE:
            return  # no limit: a failed probe restarts the process, so other requests must not block it
        if _is_open(scope):
            self._limit_rate(self._rate, f"open {_address(scope)}")
            return
        given = headers.get("authorization", b"").decode("latin-1")
        if path == ASKS_WHO and not given:
            self._limit_rate(self._rate, f"open {_address(scope)}")
            return
        written, caller = _credential(given, headers), None
        if written:
            caller = await self._local(scope, headers, written)
            caller = caller or await run_in_threadpool(self._context.keys.find, written)
        if caller is None:
            self._limit_rate(self._refusals, _address(scope))
            why = await self._why_not(written) if written else _NO_KEY
            raise Refused(401, why, {"WWW-Authenticate": "Bearer"})
        self._limit_rate(self._rate, f"key {caller.name}")
        state["caller"] = caller

    async def _local(self, scope: Scope, headers: dict[str, bytes], written: str) -> Caller | None:
        """Return the caller if it has the token of this start while no key exists.

        The token is the deciding check. Behind a proxy's default configuration, a stranger's request has the loopback's
        address, our own Host and no proxy header. The other checks limit the use of a leaked token: not from another
        machine, not through a proxy that identifies itself, not from another site's page.
        """
        if self._token is None or not hmac.compare_digest(self._token.encode(), written.encode("utf-8", "replace")):
            return None
        if not _is_loopback(_address(scope)):
            return None
        if any(name in _PROXIES or name.startswith("x-forwarded") for name in headers):
            return None
        host, port = headers.get("host", b"").decode("latin-1").lower(), (scope.get("server") or ("", 0))[1]
        if host not in {*_NAMES, *(f"{name}:{port}" for name in _NAMES)}:
            return None
        if headers.get("sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return None  # a page of another site requests an image or script from here
        origin = headers.get("origin", b"").decode("latin-1").lower()
        if origin and origin != f"{scope.get('scheme', 'http')}://{host}":
            return None
        return None if await run_in_threadpool(self._context.keys.any) else _LOCAL

    async def _why_not(self, written: str) -> str:
        """Return the message for a caller whose key was refused."""
        if self._token is not None and hmac.compare_digest(self._token.encode(), written.encode("utf-8", "replace")):
            if await run_in_threadpool(self._context.keys.any):
                return "the start token no longer works, because there are API keys now: use an API key"
            return "the start token works only in a browser on the server's own machine: use an API key"
        ended = await run_in_threadpool(self._context.keys.ended, written)
        if ended:
            return f"this API key {ended}: ask an administrator for a new one (`incognote key api new`)"
        return "the server does not know this API key: check that it was copied whole"

    @staticmethod
    def _limit_rate(buckets: Buckets, asker: str) -> None:
        wait = buckets.take(asker)
        if wait:
            seconds = int(wait) + 1
            raise Refused(429, f"too many requests: wait {seconds} s and try again", {"Retry-After": str(seconds)})

    async def _body(self, scope: Scope, receive: Receive, taken: bytearray) -> None:
        """Read the whole body.

        Raises:
            Refused: it is longer than the settings allow, or too large together with other bodies.
        """
        told = [value for name, value in scope["headers"] if name == b"content-length"]
        too_large = Refused(413, f"the body is longer than {self._most} bytes (service.api_bytes)")
        if told and told[0].isdigit() and int(told[0]) > self._most:
            raise too_large
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client disconnected, so the answer is not read
            piece = message.get("body", b"")
            taken += piece
            self._bytes += len(piece)
            if len(taken) > self._most:
                raise too_large
            if self._bytes > _BODIES * self._most:
                raise Refused(503, "the server is receiving too many large bodies; try again", {"Retry-After": "1"})
            if not message.get("more_body"):
                return


_NO_KEY = "an API key is needed: send the header `Authorization: Bearer KEY`"
_METHODS = ("get", "post", "put", "delete", "head", "options", "patch")
_ALL = 2  # limit of all addresses together, as a multiple of the limit of one
_BODIES = 16  # bodies of maximum length that are held at once
_REASONS = {401: "no-key", 403: "host", 408: "slow", 413: "size", 429: "rate", 503: "load"}
_ADDED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def _code(route: str) -> str:
    """Return a route in lowercase letters and hyphens: `/v1/jobs/{id}` becomes `v1-jobs-id`."""
    word = "".join(c if c.isalnum() else "-" for c in route.lower())
    return "-".join(part for part in word.split("-") if part)[:64] or "none"


def _kept(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.decode("latin-1").lower() not in HEADERS]


def _credential(given: str, headers: dict[str, bytes]) -> str:
    """Return the key of an Authorization header; "" if there is none.

    The password of Basic is accepted too, since clients such as LiteLLM's guardrail can put a key only into the
    address. A browser sends Basic by itself, for pages of other sites too, so it is not accepted with a browser's
    headers.
    """
    scheme, _, written = given.partition(" ")
    if scheme.lower() == "bearer":
        return written.strip()
    if scheme.lower() != "basic" or "origin" in headers or any(name.startswith("sec-fetch") for name in headers):
        return ""
    try:
        return b64decode(written.strip(), validate=True).decode("latin-1").partition(":")[2]
    except ValueError:
        return ""


def _is_open(scope: Scope) -> bool:
    """Whether no key is needed for it. No such endpoint reads a body."""
    path: str = scope["path"]
    return path in OPEN or path.startswith(PAGES)


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("unknown", 0))[0])


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that delivers a body that was already read."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


_MOST = 10_000
"""The number of askers that are remembered. The least recently seen is forgotten first."""


class Buckets:
    """Rate limits: a number of requests per minute, and the same number at once after a pause.

    Args:
        rate: requests per minute.
        clock: a monotonic time in seconds.
    """

    def __init__(self, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._per_second, self._clock = float(rate), rate / 60, clock
        self._stand: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._guard = threading.Lock()

    def take(self, asker: str) -> float:
        """Return 0 if the request is admitted, or the seconds to wait."""
        with self._guard:
            now = self._clock()
            left, then = self._stand.pop(asker, (self._most, now))
            left = min(self._most, left + (now - then) * self._per_second)
            served = left >= 1
            self._stand[asker] = (left - 1 if served else left, now)
            while len(self._stand) > _MOST:
                self._stand.popitem(last=False)
            return 0.0 if served else (1 - left) / self._per_second
