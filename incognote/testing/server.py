"""A real HTTP server on the loopback: OpenAI's chat completions, files and batches, answered from a script."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from incognote.errors import ContextTooLong, ModelProblem, ModelRejected, UsageError
from incognote.llm.base import Request
from incognote.testing.dialects import DIALECTS, Dialect
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.responses import (
    Broken,
    Call,
    Connection,
    Rejected,
    as_json,
    body_of,
    cut,
    disconnected,
    error_of,
    parsed,
    route,
    said_in,
)
from incognote.testing.scripted import Answer, Answering, Turn
from incognote.testing.store import BatchPlan, Store
from incognote.testing.transcriptions import Transcribing, transcription_routes
from incognote.testing.trouble import Trouble, tokens
from incognote.testing.vendors import anthropic_routes, batch_routes, file_routes, gemini_routes, mistral_routes
from incognote.testing.wire import CHAT, ApiError, Json, completion, request_of

_HOST = "127.0.0.1"
_BACKLOG = 512
_TURNS = 8  # turns of the loop: accepting a connection takes three
_IDLE = 3600  # seconds that a connection without a request is kept


async def _aborted(state: ServerState) -> None:
    """Abort all connections. One that was just accepted is not among them yet, so this takes several turns."""
    for _ in range(_TURNS):
        for connection in list(state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)


class LocalServer:
    """An OpenAI-compatible server on 127.0.0.1, in its own thread.

    It serves `POST /v1/chat/completions`, `GET /v1/models`, `POST /v1/audio/transcriptions` (whisper.cpp's as
    `/v1/inference`), and the batches of OpenAI, Azure, Mistral, Anthropic, and Gemini. It keeps connections alive and
    queues nothing: each request waits its own latency. As a context manager it starts and closes itself:

        with LocalServer({"Seen by Dr. Abara.": '{"PERSON": ["Abara"]}'}) as server:
            client = OpenAI(base_url=server.url, api_key=server.api_key)

    Args:
        answer: a function of the request, called in the server's thread, or a table from the text asked about, or the
            request's address, to the reply. A ModelProblem that the function raises becomes a status (400, or 503
            if a later try may help). Any other error becomes a 500 and is raised again when the `with` block ends.
        misbehaviour: which replies are made bad, and how.
        latency: seconds that each chat completion takes.
        models: those that `GET /v1/models` lists; any other is refused (404). None lists one and accepts all.
        context: tokens (estimated) beyond which a request is too long for the model.
        dialect: how the server rejects a long request or a response format: a name in
            `incognote.testing.dialects.DIALECTS`, or one of your own. Servers that cut the prompt reply to the request,
            and report half of `context` as its length.
        transcribe: returns the words of the sound of a transcription request, or the trouble that comes instead.
        echo: whether error bodies repeat the request's text, as with some servers.
        port: 0 for a free one.

    Attributes:
        log: every HTTP request, in order of arrival.
        peak: the maximum number of chat completions that waited for their response at once.
        latency, echo: as above; may be set.
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
        dialect: str | Dialect = "openai",
        transcribe: Transcribing | None = None,
        echo: bool = False,
        port: int = 0,
    ) -> None:
        self._answering = Answering(answer, misbehaviour, models=models or ())
        self._models, self._context = models, context
        self._dialect = DIALECTS[dialect] if isinstance(dialect, str) else dialect
        self.echo = echo
        self.latency = latency
        self.log: list[Call] = []
        self.peak = 0
        self._store = store = Store(self._line)
        self._failures: list[Exception] = []
        self._under_way = self._ids = 0
        self._port = port
        self._reserved: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._app = Starlette(
            routes=[
                Route(CHAT, self._chat, methods=["POST"]),
                route("GET", "/v1/models", lambda _: self._listed()),
                *file_routes(store), *file_routes(store, "/openai"), *batch_routes(store),
                *batch_routes(store, "/openai"), *mistral_routes(store), *anthropic_routes(store),
                *gemini_routes(store), *transcription_routes(transcribe, self._refused),
            ],
            exception_handlers={ApiError: self._refused, HTTPException: self._unknown},
        )

    @property
    def url(self) -> str:
        """The base address, `http://127.0.0.1:PORT/v1`.

        Raises:
            UsageError: the server was not started.
        """
        if not self._port:
            raise UsageError("the server has no address yet. Start it, or set its port")
        return f"http://{_HOST}:{self._port}/v1"

    @property
    def requests(self) -> list[Request]:
        """The chat completion requests in order of arrival, without the lines of batches."""
        return [call.request for call in self.log if call.request is not None]

    @property
    def calls(self) -> int:
        """The number of chat completions requested over HTTP, whatever their outcome."""
        return sum(call.path == CHAT for call in self.log)

    @property
    def files(self) -> dict[str, bytes]:
        """The content of every file that was not deleted, by id."""
        return self._store.held

    @property
    def batch_plan(self) -> BatchPlan:
        """What happens to the batches that are created from now on; may be set."""
        return self._store.plan

    @batch_plan.setter
    def batch_plan(self, plan: BatchPlan) -> None:
        self._store.plan = plan

    def __repr__(self) -> str:
        return f"LocalServer(port={self._port}, running={self._thread is not None}, calls={self.calls})"

    def start(self) -> Self:
        """Listen. After a stop, listen again on the same port. Files, batches, attempts and the log are kept.

        Raises:
            UsageError: the port is in use.
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
        """Simulate a kill.

        Connections are closed at once, and responses under way are lost. The port stays reserved.
        """
        if self._thread is None or self._loop is None or self._end is None:
            return
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._thread = self._loop = self._end = None

    def close(self) -> None:
        """Stop, and release the port."""
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
        if error is None and self._failures:
            raise self._failures[0]

    def _reserve(self) -> socket.socket:
        """Return a socket that never listens.

        While the server is down, it keeps the port from others, including clients.
        """
        try:
            if self._port:
                _bound(self._port, shared=False).close()
            return _bound(self._port, shared=True)
        except OSError:
            raise UsageError(f"port {self._port} is taken") from None

    async def _run(self, listening: socket.socket, ready: threading.Event) -> None:
        self._loop, self._end, state = asyncio.get_running_loop(), asyncio.Event(), ServerState()
        config = Config(
            self._respond, interface="asgi3", ws="none", lifespan="off", log_config=None, access_log=False,
            server_header=False, proxy_headers=False, timeout_keep_alive=_IDLE,
        )  # fmt: skip
        server = await self._loop.create_server(
            lambda: Connection(config, state, {}), sock=listening, backlog=_BACKLOG
        )
        ready.set()
        await self._end.wait()
        server.close()
        await _aborted(state)
        await asyncio.gather(*state.tasks)
        await _aborted(state)  # those accepted last; and transports that a task closed need another turn

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: log it, check the key, and pass it to the routes."""
        asked = HttpRequest(scope, receive)
        call = Call(asked.method, asked.url.path, dict(asked.headers), await asked.body(), began=time.monotonic())
        self.log.append(call)
        scope["state"]["call"] = call
        self._ids += 1
        request_id = f"req_{self._ids:024d}".encode()

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                call.status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id)]
            await send(message)

        try:
            keys = {asked.headers.get(name) for name in ("x-api-key", "api-key", "x-goog-api-key", "authorization")}
            if keys & {self.api_key, f"Bearer {self.api_key}"}:
                await self._app(scope, receive, sent)
            else:
                refusal = ApiError(401, "Incorrect API key provided.", "invalid_api_key")
                await self._refused(asked, refusal)(scope, receive, sent)
        except Exception as failure:  # the server's own; raised when the server is closed
            self._failures.append(failure)
        finally:
            call.ended = time.monotonic()

    async def _chat(self, asked: HttpRequest) -> Response:
        call: Call = asked.state.call
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            response = self._completed(call)
        except ApiError as error:
            response = self._refused(asked, error)
        gone = await disconnected(asked.receive, call.began + self.latency - time.monotonic())
        self._under_way -= 1
        return Broken(None, Trouble("drop")) if gone else response

    def _completed(self, call: Call) -> Response:
        """Return the response to a chat completion.

        Raises:
            ApiError: it is refused.
        """
        body = parsed(call.body)
        call.request, model = request_of(body)
        turn = self._turn(call.request, model, body)
        call.attempt, call.misbehaviour = turn.attempt, turn.misbehaviour
        trouble = turn.act if isinstance(turn.act, Trouble) else None
        if trouble is not None and trouble.kind == "status":
            raise error_of(trouble)
        reply = turn.act.reply if isinstance(turn.act, Trouble) else turn.act
        if reply is None:
            return Broken(None, trouble or Trouble("drop"))
        whole = completion(reply, model, self._id())
        return as_json(whole) if trouble is None else Broken(whole, trouble)

    def _turn(self, request: Request, model: str, body: Json) -> Turn:
        """Return the script's response to a request.

        Raises:
            ApiError: it is refused.
        """
        if self._models is not None and model not in self._models:
            raise ApiError(404, "The model does not exist or you do not have access to it.", "model_not_found", "model")
        form = body.get("response_format")
        if form is not None and form.get("type") not in self._dialect.accepts:
            raise Rejected(self._dialect.format)
        read = sum(tokens(message.content) for message in request.messages)
        if self._context is not None and read > self._context:
            if self._dialect.context is not None:
                raise Rejected(self._dialect.context)
            return cut(self._answering(request), self._context // 2)
        try:
            return self._answering(request)
        except ContextTooLong:
            raise Rejected(self._dialect.context or DIALECTS["openai"].context or (400, "")) from None
        except ModelProblem as problem:
            status = 400 if isinstance(problem, ModelRejected) else 503
            raise ApiError(status, "The script refuses this request.", problem.code) from None
        except Exception as failure:  # the script is the test's own code; raised when the server is closed
            self._failures.append(failure)
            raise ApiError(500, "The script failed. Its error is raised when the server is closed.") from None

    def _line(self, body: Json) -> tuple[int, Json]:
        """Return status and body for one line of a batch. A trouble without a status becomes an error 500."""
        try:
            request, model = request_of(body)
            act = self._turn(request, model, body).act
            if isinstance(act, Trouble):
                if act.kind != "slow" or act.reply is None:
                    raise error_of(act)
                act = act.reply
        except ApiError as error:
            return error.status, error.body()
        return 200, completion(act, model, self._id())

    def _id(self) -> str:
        self._ids += 1
        return f"chatcmpl-{self._ids:024d}"

    def _listed(self) -> Json:
        names = self._models or ("scripted",)
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "incognote"} for name in names]
        return {"object": "list", "data": models}

    def _refused(self, asked: HttpRequest, error: Exception) -> Response:
        """Return an error as a response. With `echo`, it contains the text of the request."""
        assert isinstance(error, ApiError)
        echo = said_in(body_of(asked)) if self.echo else ""
        if isinstance(error, Rejected):
            return Response(error.content(echo), error.status, media_type=error.media_type)
        after = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
        return as_json(error.body(echo), error.status, after)

    def _unknown(self, asked: HttpRequest, error: Exception) -> Response:
        return self._refused(asked, ApiError(404, "Unknown request URL.", "unknown_url"))


def _bound(port: int, *, shared: bool) -> socket.socket:
    """Return a socket on the port. If it is shared, other sockets of ours may be bound to it too."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle on
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        bound.bind((_HOST, port))
    except OSError:
        bound.close()
        raise
    return bound
