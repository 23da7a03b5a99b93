"""Requests and responses of the local server for Starlette, and connections that break on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from incognote.llm.base import Reply, Request
from incognote.testing.dialects import Rejection
from incognote.testing.scripted import Turn
from incognote.testing.trouble import Trouble
from incognote.testing.wire import ApiError, Json

_PIECES = 20
_STATUSES = {
    400: "The request is refused.",
    429: "Rate limit reached.",
    500: "The server had an error while processing your request.",
    503: "The server is overloaded.",
}


@dataclass(slots=True)
class Call:
    """One HTTP request that came, and its outcome.

    Args:
        method, path: of the request, without the query.
        headers: names in lower case.
        body: the body as received.
        request: for a chat completion, the parsed request.
        attempt: how often the same request had come, including this time; 0 if it is not a chat completion.
        misbehaviour: the name of the chosen misbehavior.
        status: of the response; 0 if none was sent.
        began, ended: seconds of the monotonic clock; `ended` is 0 while it is under way.
    """

    method: str
    path: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    request: Request | None = field(default=None, repr=False)
    attempt: int = 0
    misbehaviour: str | None = None
    status: int = 0
    began: float = 0.0
    ended: float = 0.0


class Connection(H11Protocol):
    """A connection that the application can break, since its transport is in each request's state."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        self.app_state = {**self.app_state, "transport": transport}
        super().connection_made(transport)


class Broken(Response):
    """JSON piece by piece, or nothing, and then a break of the connection.

    Args:
        content: None for a response that never begins.
        trouble: `slow` pauses before each piece, `cut` closes the connection after half of them, `drop` at once and
            `hang` after its seconds.
    """

    def __init__(self, content: Json | None, trouble: Trouble) -> None:
        sent = content is not None and trouble.kind in ("slow", "cut")
        super().__init__(json.dumps(content) if sent else b"", media_type="application/json")
        size = -(-len(self.body) // _PIECES) or 1
        pieces = [bytes(self.body[at : at + size]) for at in range(0, len(self.body), size)]
        self._pieces = pieces[: len(pieces) // 2] if trouble.kind == "cut" else pieces
        self._pause = trouble.seconds / len(pieces) if trouble.kind == "slow" else 0.0
        self._silence = trouble.seconds if trouble.kind == "hang" else 0.0
        self._breaks = trouble.kind != "slow"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pieces:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for piece in self._pieces:
            if self._pause and await disconnected(receive, self._pause):
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not self._breaks:
            await send({"type": "http.response.body"})
        elif not await disconnected(receive, self._silence):
            scope["state"]["transport"].close()
            await disconnected(receive, None)


async def disconnected(receive: Receive, seconds: float | None) -> bool:
    """Wait for the client to close the connection, up to a time limit. Return whether it did.

    The request's body has been read, so nothing else can come.
    """
    if seconds is not None and seconds <= 0:
        return False
    try:
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True


def route(method: str, path: str, handler: Callable[[HttpRequest], Json | bytes]) -> Route:
    """Return a route to a function that returns JSON or the content of a file."""

    async def endpoint(asked: HttpRequest) -> Response:
        answered = handler(asked)
        if isinstance(answered, bytes):
            return Response(answered, media_type="application/octet-stream")
        return as_json(answered)

    return Route(path, endpoint, methods=[method])


def as_json(content: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return JSON in ASCII, since a reply may contain half of a surrogate pair, which UTF-8 cannot encode."""
    return Response(json.dumps(content), status, headers, "application/json")


def body_of(asked: HttpRequest) -> bytes:
    """Return the body of a logged request."""
    call: Call = asked.state.call
    return call.body


def parsed(body: bytes) -> Json:
    """Parse a request's body.

    Raises:
        ApiError: it is not a JSON object.
    """
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ApiError(400, "We could not parse the JSON body of your request.")
    return content


def said_in(body: bytes) -> str:
    """Return the text of a request's messages, or the whole body if it has none."""
    try:
        messages: Any = json.loads(body)["messages"]
        return "\n".join(str(message["content"]) for message in messages)
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")


def error_of(trouble: Trouble) -> ApiError:
    """Return a trouble as an error response."""
    status = trouble.status or 500
    message = _STATUSES.get(status, _STATUSES[400] if status < 500 else _STATUSES[500])
    return ApiError(status, message, trouble.code or None, retry_after=trouble.retry_after)


class Rejected(ApiError):
    """An error in the words of another server.

    Args:
        rejection: its status and body.
    """

    def __init__(self, rejection: Rejection) -> None:
        status, self._body = rejection
        super().__init__(status, "in the server's own words")
        self.media_type = "application/json" if self._body.startswith("{") else "text/plain"

    def content(self, echo: str) -> str:
        """Return the body. `echo` is repeated in its message."""
        if not echo:
            return self._body
        words = f"{self._body} The request was: {echo}"
        return words if self.media_type == "text/plain" else json.dumps({"error": words})

    def body(self, echo: str = "") -> Json:
        """Return the error as the body of a batch's line."""
        words: Json = json.loads(self._body) if self.media_type == "application/json" else {"error": self._body}
        return words


def cut(turn: Turn, length: int) -> Turn:
    """Return a reply as from a server that read only `length` tokens of the request."""
    if not isinstance(turn.act, Reply):
        return turn
    return replace(turn, act=replace(turn.act, usage=replace(turn.act.usage, input=length)))
