"""What each endpoint of the local server answers: requests in, responses out, no socket in sight."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from incognote.errors import ContextTooLong, ModelProblem, ModelRejected
from incognote.llm.base import Reply, Request
from incognote.testing import http1
from incognote.testing.answers import Answering, Turn
from incognote.testing.asked import tokens
from incognote.testing.store import Store
from incognote.testing.trouble import Trouble
from incognote.testing.wire import ApiError, Json, chunks, completion, request_of

CHAT = "/v1/chat/completions"
_JSON = {"content-type": "application/json"}
_PIECES = 20
_STATUSES = {
    400: "The request is refused.",
    429: "Rate limit reached.",
    500: "The server had an error while processing your request.",
    503: "The server is overloaded.",
}


@dataclass(frozen=True, slots=True)
class Response:
    """What is sent.

    Args:
        pieces: of the body, in order.
        length: of the body; None sends it in chunks.
        pause: seconds before each piece.
        broken: the connection is closed after half of the pieces.
    """

    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...] = field(repr=False)
    length: int | None
    pause: float = 0.0
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing is sent; the connection is closed after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Chat:
    """What becomes of one chat completion."""

    response: Response | Silence
    request: Request | None = field(default=None, repr=False)
    attempt: int = 0
    misbehaviour: str | None = None


class Endpoints:
    """The endpoints over one answer and one store. See `LocalServer` for the arguments."""

    def __init__(
        self,
        answering: Answering,
        *,
        models: tuple[str, ...] | None,
        context: int | None,
        schemas: bool,
        echo: bool,
    ) -> None:
        self._answering = answering
        self._models, self._context, self._schemas, self._echo = models, context, schemas, echo
        self.store = Store(self._line)
        self.failures: list[Exception] = []
        self._made = 0

    def id(self, kind: str) -> str:
        """An id nobody else bears."""
        self._made += 1
        return f"{kind}{self._made:024d}"

    def chat(self, body: bytes) -> Chat:
        """Answer one chat completion."""
        request: Request | None = None
        try:
            asked = _parsed(body)
            request, model = request_of(asked)
            turn = self._turn(request, model, asked)
        except ApiError as error:
            return Chat(self.refusal(error, body), request)
        act = turn.act
        if isinstance(act, Trouble) and act.kind == "status":
            return Chat(self.refusal(_error(act), body), request, turn.attempt, turn.misbehaviour)
        response = self._reply(act, model, asked)
        return Chat(response, request, turn.attempt, turn.misbehaviour)

    def _turn(self, request: Request, model: str, asked: Json) -> Turn:
        """What the script does with a request.

        Raises:
            ApiError: it is refused.
        """
        if self._models is not None and model not in self._models:
            raise ApiError(404, "The model does not exist or you do not have access to it.", "model_not_found", "model")
        if not self._schemas and "response_format" in asked:
            raise ApiError(400, "response_format is not supported.", "unsupported_parameter", "response_format")
        if self._context is not None and sum(tokens(m.content) for m in request.messages) > self._context:
            raise _too_long()
        try:
            return self._answering(request)
        except ContextTooLong:
            raise _too_long() from None
        except ModelProblem as problem:
            status = 400 if isinstance(problem, ModelRejected) else 503
            raise ApiError(status, "The script refuses this request.", problem.code) from None
        except Exception as failure:  # the script is the test's own code; it is raised where the server is closed
            self.failures.append(failure)
            raise ApiError(500, "The script failed; its error is raised where the server is closed.") from None

    def _reply(self, act: Reply | Trouble, model: str, asked: Json) -> Response | Silence:
        reply = act if isinstance(act, Reply) else act.reply
        if reply is None or (isinstance(act, Trouble) and act.kind in ("hang", "drop")):
            return Silence(act.seconds if isinstance(act, Trouble) and act.kind == "hang" else 0.0)
        whole = completion(reply, model, self.id("chatcmpl-"))
        plain = not isinstance(act, Trouble)
        if asked.get("stream"):
            response = _streamed(whole, usage=bool((asked.get("stream_options") or {}).get("include_usage")))
        else:
            response = _whole(200, whole, pieces=1 if plain else _PIECES)
        if isinstance(act, Trouble) and act.kind == "slow":
            return replace(response, pause=act.seconds / len(response.pieces))
        return response if plain else replace(response, broken=True)

    def _line(self, asked: Json) -> tuple[int, Json]:
        """One line of a batch: status and body. A trouble that has no status is an error 500 there."""
        try:
            request, model = request_of(asked)
            act = self._turn(request, model, asked).act
            if isinstance(act, Trouble) and act.kind == "slow" and act.reply is not None:
                act = act.reply
            if isinstance(act, Trouble):
                raise _error(act)
        except ApiError as error:
            return error.status, error.body()
        return 200, completion(act, model, self.id("chatcmpl-"))

    def other(self, asked: http1.Asked) -> Response:
        """Answer what is no chat completion."""
        try:
            made = self._kept(asked)
        except ApiError as error:
            return self.refusal(error, asked.body)
        if isinstance(made, bytes):
            return Response(200, {"content-type": "application/octet-stream"}, (made,), len(made))
        return _whole(200, made)

    def _kept(self, asked: http1.Asked) -> Json | bytes:
        store = self.store
        match (asked.method, *asked.path.removeprefix("/v1/").split("/")):
            case ("GET", "models"):
                return self._listed()
            case ("POST", "files"):
                try:
                    form = http1.parts(asked.body, asked.headers.get("content-type", ""))
                except ValueError:
                    raise ApiError(400, "a multipart form is required") from None
                return store.upload(form)
            case ("GET", "files"):
                return store.files(asked.query)
            case ("GET", "files", id):
                return store.file(id)
            case ("GET", "files", id, "content"):
                return store.content(id)
            case ("DELETE", "files", id):
                return store.delete(id)
            case ("POST", "batches"):
                return store.create(_parsed(asked.body))
            case ("GET", "batches"):
                return store.batches(asked.query)
            case ("GET", "batches", id):
                return store.batch(id)
            case ("POST", "batches", id, "cancel"):
                return store.cancel(id)
        raise ApiError(404, "Unknown request URL.", "unknown_url")

    def _listed(self) -> Json:
        names = self._models or ("scripted",)
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "incognote"} for name in names]
        return {"object": "list", "data": models}

    def refusal(self, error: ApiError, body: bytes) -> Response:
        """An error as a response; where the server echoes, with what was said in the request."""
        echo = _said(body) if self._echo else ""
        after = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
        response = _whole(error.status, error.body(echo))
        return replace(response, headers={**response.headers, **after})


def _parsed(body: bytes) -> Json:
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise ApiError(400, "We could not parse the JSON body of your request.")
    return said


def _said(body: bytes) -> str:
    """What the messages of a request say; the whole body where it has none."""
    try:
        messages: Any = json.loads(body)["messages"]
        return "\n".join(str(message["content"]) for message in messages)
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")


def _error(trouble: Trouble) -> ApiError:
    status = trouble.status or 500
    message = _STATUSES.get(status, _STATUSES[400] if status < 500 else _STATUSES[500])
    return ApiError(status, message, trouble.code or None, retry_after=trouble.retry_after)


def _too_long() -> ApiError:
    return ApiError(400, "This model's maximum context length is exceeded.", "context_length_exceeded", "messages")


def _whole(status: int, body: Json, *, pieces: int = 1) -> Response:
    content = json.dumps(body).encode()
    size = -(-len(content) // pieces)
    parts = tuple(content[at : at + size] for at in range(0, len(content), size))
    return Response(status, _JSON, parts, len(content))


def _streamed(whole: Json, *, usage: bool) -> Response:
    events = [f"data: {json.dumps(piece)}\n\n".encode() for piece in chunks(whole, _PIECES, usage=usage)]
    pieces = tuple(http1.chunk(event) for event in (*events, b"data: [DONE]\n\n"))
    return Response(200, {"content-type": "text/event-stream; charset=utf-8"}, (*pieces, http1.chunk(b"")), None)
