"""A real HTTP server on the loopback: OpenAI's chat completions, files and batches, answered from a script."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from incognote.errors import UsageError
from incognote.llm.base import Request
from incognote.testing import http1
from incognote.testing.answers import Answer, Answering
from incognote.testing.endpoints import CHAT, Endpoints, Response, Silence
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.store import BatchPlan
from incognote.testing.wire import ApiError

_HOST = "127.0.0.1"
_BACKLOG = 512


@dataclass(slots=True)
class Call:
    """One HTTP request that came, and what became of it.

    Args:
        method, path: of the request; the query is left out.
        headers: names in lower case.
        body: as it came.
        request: of a chat completion, what was asked.
        attempt: how often the same had been asked, this time included; 0 for what is no chat completion.
        misbehaviour: the name of the one that was chosen.
        status: of the response; 0 where none was sent.
        began, ended: seconds of the monotonic clock; `ended` is 0 while it is under way.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    request: Request | None = field(default=None, repr=False)
    attempt: int = 0
    misbehaviour: str | None = None
    status: int = 0
    began: float = 0.0
    ended: float = 0.0


class LocalServer:
    """An OpenAI-compatible server on 127.0.0.1, in a thread of its own.

    It serves `POST /v1/chat/completions` (whole, or streamed as server-sent events), `GET /v1/models`, `/v1/files` and
    `/v1/batches`, keeps connections alive, and queues nothing: each request waits its own latency. As a context
    manager it starts and closes itself:

        with LocalServer({"Seen by Dr. Abara.": '{"PERSON": ["Abara"]}'}) as server:
            client = OpenAI(base_url=server.url, api_key=server.api_key)

    Args:
        answer: a function over the request, called in the server's thread, or a table: the text asked about, or the
            request's address, and the reply. A ModelProblem that the function raises becomes a status (400, or 503
            where a later try may help); anything else becomes a 500 and is raised again when the `with` block ends.
        misbehaviour: which replies are made bad, and how.
        latency: seconds that each chat completion takes.
        models: those that `GET /v1/models` lists; any other is refused (404). None lists one and takes all.
        context: tokens (estimated) beyond which a request is refused as too long for the model.
        schemas: whether `response_format` is understood; otherwise it is refused (400).
        echo: whether error bodies repeat what the request said, as some servers' do.
        port: 0 for a free one.

    Attributes:
        log: every HTTP request, in order of arrival.
        peak: the most chat completions that waited for their response at once.
    """

    api_key = "sk-local"

    def __init__(
        self,
        answer: Answer,
        *,
        misbehaviour: Misbehaviour | None = None,
        latency: float = 0.0,
        models: tuple[str, ...] | None = None,
        context: int | None = None,
        schemas: bool = True,
        echo: bool = False,
        port: int = 0,
    ) -> None:
        answering = Answering(answer, misbehaviour, models=models or ())
        self._endpoints = Endpoints(answering, models=models, context=context, schemas=schemas, echo=echo)
        self.latency = latency
        self.log: list[Call] = []
        self.peak = 0
        self._under_way = 0
        self._port = port
        self._reserved: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """The base address, `http://127.0.0.1:PORT/v1`.

        Raises:
            UsageError: the server was not started.
        """
        if not self._port:
            raise UsageError("a server without a port of its choice has no address before it starts")
        return f"http://{_HOST}:{self._port}/v1"

    @property
    def requests(self) -> list[Request]:
        """What was asked of chat completions, in order of arrival; lines of batches are not among it."""
        return [call.request for call in self.log if call.request is not None]

    @property
    def calls(self) -> int:
        """How many chat completions were asked for over HTTP, whatever became of them."""
        return sum(call.path == CHAT for call in self.log)

    @property
    def files(self) -> dict[str, bytes]:
        """The content of every file that was not deleted, by id."""
        return self._endpoints.store.held

    @property
    def batch_plan(self) -> BatchPlan:
        """What becomes of the batches that are created from now on; may be set."""
        return self._endpoints.store.plan

    @batch_plan.setter
    def batch_plan(self, plan: BatchPlan) -> None:
        self._endpoints.store.plan = plan

    def __repr__(self) -> str:
        return f"LocalServer(port={self._port}, running={self._thread is not None}, calls={self.calls})"

    def start(self) -> Self:
        """Listen; after a stop, again on the same port. Files, batches, attempts and the log are kept.

        Raises:
            UsageError: the port is taken.
        """
        if self._thread is not None:
            return self
        if self._reserved is None:
            self._reserved = self._reserve()
            self._port = self._reserved.getsockname()[1]
        listening = _bound(self._port, shared=True)
        ready = threading.Event()
        self._thread = threading.Thread(
            target=asyncio.run, args=(self._run(listening, ready),), name="incognote-local-server", daemon=True
        )
        self._thread.start()
        ready.wait()
        return self

    def stop(self) -> None:
        """Be killed: connections are closed at once, responses under way are lost. The port stays reserved."""
        if self._thread is None or self._loop is None or self._end is None:
            return
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._thread = self._loop = self._end = None

    def close(self) -> None:
        """Stop, and give the port back."""
        self.stop()
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._endpoints.failures:
            raise self._endpoints.failures[0]

    def _reserve(self) -> socket.socket:
        """A socket that never listens: while we are down it keeps the port from others, clients included."""
        try:
            if self._port:
                _bound(self._port, shared=False).close()
            return _bound(self._port, shared=True)
        except OSError:
            raise UsageError(f"port {self._port} is taken") from None

    async def _run(self, listening: socket.socket, ready: threading.Event) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._connection(reader, writer))
            connections[task] = writer
            task.add_done_callback(connections.pop)

        server = await asyncio.start_server(connected, sock=listening, backlog=_BACKLOG)
        ready.set()
        await self._end.wait()
        server.close()
        left = dict(connections)
        for task, writer in left.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*left, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it."""
        try:
            while (asked := await http1.read(reader, writer)) is not None:
                if not await self._serve(asked, reader, writer):
                    break
        except ConnectionError:
            pass  # the client went first
        except Exception as failure:  # the server's own; whoever closes it is told
            self._endpoints.failures.append(failure)
        finally:
            writer.close()

    async def _serve(self, asked: http1.Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Respond to one request; returns whether the connection goes on."""
        call = Call(asked.method, asked.path, asked.headers, asked.body, began=time.monotonic())
        self.log.append(call)
        try:
            if asked.headers.get("authorization") != f"Bearer {self.api_key}":
                error = ApiError(401, "Incorrect API key provided.", "invalid_api_key")
                response: Response | Silence = self._endpoints.refusal(error, asked.body)
            elif (asked.method, asked.path) == ("POST", CHAT):
                response = await self._chat(call)
            else:
                response = self._endpoints.other(asked)
            if isinstance(response, Silence):
                await _until_gone(reader, response.seconds)
                return False
            call.status = response.status
            await _send(response, writer, self._endpoints.id("req_"))
            return not response.broken and asked.headers.get("connection", "").lower() != "close"
        finally:
            call.ended = time.monotonic()

    async def _chat(self, call: Call) -> Response | Silence:
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            chat = self._endpoints.chat(call.body)
            call.request, call.attempt, call.misbehaviour = chat.request, chat.attempt, chat.misbehaviour
            await asyncio.sleep(call.began + self.latency - time.monotonic())
            return chat.response
        finally:
            self._under_way -= 1


def _bound(port: int, *, shared: bool) -> socket.socket:
    """A socket on the port; shared, others of ours may be bound to it too."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        bound.bind((_HOST, port))
    except OSError:
        bound.close()
        raise
    return bound


async def _until_gone(reader: asyncio.StreamReader, seconds: float) -> None:
    """Wait for the client to close the connection, so long at most."""
    try:
        async with asyncio.timeout(seconds):
            await reader.read(1)
    except TimeoutError:
        pass  # the client holds it open: it has waited long enough


async def _send(response: Response, writer: asyncio.StreamWriter, id: str) -> None:
    head = http1.head(response.status, {**response.headers, "x-request-id": id}, response.length)
    pieces = response.pieces[: len(response.pieces) // 2] if response.broken else response.pieces
    if not response.pause:
        writer.write(head + b"".join(pieces))
        return await writer.drain()
    writer.write(head)
    for piece in pieces:
        await asyncio.sleep(response.pause)
        writer.write(piece)
        await writer.drain()
    return None
