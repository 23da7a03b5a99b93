"""Chat completions by the `openai` SDK, and code shared by both adapters: parameters, retries, reading the reply."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, TypeVar

from incognote.errors import MissingExtra
from incognote.llm.base import Finish, Reply, Request, Usage
from incognote.llm.egress import Egress, silence_loggers
from incognote.llm.vendors import faults

T = TypeVar("T")
_FINISHES: Mapping[str, Finish] = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "content_filter": "filter", "refusal": "refusal",
}  # fmt: skip


class ChatModel(ABC):
    """A model that is called by chat completions. An adapter implements `_ask` and `aclose`.

    Args:
        name: vendor and model.
        timeout: for the complete reply, in seconds.
    """

    def __init__(self, name: str, timeout: float) -> None:
        self.name = name
        self._timeout = timeout
        self._unwanted: set[str] = set()
        self._formats = _FormatTrial()

    @property
    def left_out(self) -> frozenset[str]:
        """What requests omit because the endpoint rejects it: parameters, and `json_schema` for that format."""
        return frozenset(self._unwanted)

    @abstractmethod
    async def _ask(self, parameters: dict[str, Any]) -> Any:
        """Send one request. Exceptions are dropped, since the exchange records what happened."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections."""

    async def complete(self, request: Request) -> Reply:
        """Answer one request. If the endpoint rejects a parameter, it is omitted now and in later requests.

        Many servers reject `response_format` without naming it. If the first request with a schema is rejected for no
        reason that we recognize, it is sent again with `json_object`, and then without `response_format`. If neither
        helps, this is tried again only for much shorter requests, since the length may have been a problem, too.

        Raises:
            ModelUnavailable, ModelRejected, ContextTooLong, EgressRefused: the status and a remedy.
        """
        silence_loggers()
        began = time.monotonic()
        left_out = set(self._unwanted)
        response, noted = await self._exchange(request, left_out)
        if request.schema is not None and "response_format" not in left_out:
            if response is None and noted.unclear:
                response, noted = await self._formats.run(partial(self._other_formats, request, left_out, noted))
            elif response is not None:
                self._formats.accepted = True
        if (finish := noted.finish) is not None:
            return Reply("", finish, Usage(calls=1), time.monotonic() - began, self.name)
        if response is None:
            raise noted.problem(self.name) from None
        self._unwanted |= left_out  # they were the problem, since it answers without them
        return reply_of(response, time.monotonic() - began, self.name)

    async def _exchange(self, request: Request, left_out: set[str]) -> tuple[Any, faults.Exchange]:
        """Send a request. While the endpoint names a parameter that it rejects, add it to `left_out` and send again."""
        while True:
            with faults.exchange() as noted:
                response = await self._answer(parameters_of(request, left_out), noted)
            rejected = next_omission(noted.parameter, left_out) if response is None else None
            if rejected is None:
                return response, noted
            left_out.add(rejected)

    async def _other_formats(
        self, request: Request, left_out: set[str], first: faults.Exchange
    ) -> tuple[Any, faults.Exchange]:
        """Send a rejected request again with `json_object`, then without a format."""
        if self._unwanted - left_out:  # another request was faster
            left_out |= self._unwanted
            response, noted = await self._exchange(request, left_out)
            if response is not None or not noted.unclear:
                return response, noted
        size = sum(len(message.content) for message in request.messages[1:])
        if self._formats.over(size):
            return None, first
        trial = set(left_out)
        for form in _FORMATS:
            if form in left_out:
                continue
            trial.add(form)
            response, noted = await self._exchange(request, trial)
            if response is not None:
                if self._formats.confirms(first):
                    left_out |= trial
                return response, noted
            if not noted.unclear:  # it is busy, or there is another problem
                return None, noted
        self._formats.failed = size
        return None, first

    async def _answer(self, parameters: dict[str, Any], noted: faults.Exchange) -> Any:
        """Return the SDK's answer; None if it has none."""
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._ask(parameters)
        except TimeoutError:
            noted.status, noted.failure = None, f"no complete reply within {self._timeout:g} s"
            return None
        except Exception:  # any kind, from the SDK; it may quote what was sent
            return None
        return answer if _choice(answer) is not None else None


_FORMATS = ("json_schema", "response_format")
"""What is omitted, in this order, if a server rejects schemas. Without `json_schema`, `json_object` is requested."""


_SHORTER = 0.75  # of a request's characters: half of the text, the fence, and an overlap


class _FormatTrial:
    """The state of the search for a response format that an endpoint accepts. One request at a time searches."""

    def __init__(self) -> None:
        self.accepted = False
        """A request in the present format was answered, so later failures have other causes."""
        self.failed: int | None = None
        """The characters of the shortest request for which no format was the problem."""
        self._suspected = False
        self._turn = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def over(self, size: int) -> bool:
        return self.accepted or (self.failed is not None and size > _SHORTER * self.failed)

    async def run(self, search: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # a lock belongs to the loop that first waited on it
            self._turn, self._loop = asyncio.Lock(), loop
        async with self._turn:
            return await search()

    def confirms(self, first: faults.Exchange) -> bool:
        """Whether an answer without a schema proves that the schema was the problem.

        After a single status 500 or an empty answer, the server may just have recovered.
        """
        proved = first.status not in (200, 500) or self._suspected
        self._suspected = True
        return proved


def next_omission(parameter: str | None, left_out: Collection[str]) -> str | None:
    """Return what to omit after an error about a parameter; None if nothing is left to omit."""
    candidates = _FORMATS if parameter == "response_format" else (parameter,)
    return next((each for each in candidates if each not in left_out), None)


class OpenAIModel(ChatModel):
    """A model behind an OpenAI-compatible chat API.

    Args:
        name: `openai/NAME`, where NAME is the endpoint's name for it.
        api_base: its address, with the path that precedes /chat/completions.
        api_key: sent as bearer token.
        timeout: for the complete reply, in seconds.
        egress: where its requests may go.

    Raises:
        MissingExtra: the extra `llm` is not installed.
    """

    def __init__(self, name: str, *, api_base: str, api_key: str, timeout: float, egress: Egress) -> None:
        try:
            from httpx import Response
            from openai import AsyncOpenAI

            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "asking a model") from None
        super().__init__(name, timeout)
        self._transport = Guarded(egress)
        http = client(self._transport, timeout)
        self._sdk = AsyncOpenAI(api_key=api_key, base_url=api_base, max_retries=0, timeout=timeout, http_client=http)
        self._response = Response

    async def _ask(self, parameters: dict[str, Any]) -> Any:
        body = {"model": self.name.removeprefix("openai/"), **parameters}
        # not `chat.completions.create`: it walks every message and the whole schema by type annotations and builds
        # pydantic objects of the answer, for 2.3 ms of processor time per call. This takes 1.25 ms.
        answer = await self._sdk.post("/chat/completions", body=body, cast_to=self._response)
        return json.loads(answer.content, object_hook=JsonObject)

    async def aclose(self) -> None:
        await self._sdk.close()
        await self._transport.shut()


class JsonObject(dict[str, Any]):
    """A JSON object whose members are also attributes, as in the SDK's objects; None if absent."""

    __getattr__ = dict.get


def parameters_of(request: Request, left_out: Collection[str]) -> dict[str, Any]:
    """Return the call's parameters, without those that the endpoint does not support.

    `json_schema` in `left_out` requests any JSON object instead.
    """
    parameters: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "store": False,
    }
    if request.schema is not None and "json_schema" in left_out:
        parameters["response_format"] = {"type": "json_object"}
    elif request.schema is not None:
        described = {"name": "reply", "schema": dict(request.schema), "strict": request.strict}
        parameters["response_format"] = {"type": "json_schema", "json_schema": described}
    if request.sample:
        parameters["seed"] = request.sample
    if "max_tokens" in left_out:  # reasoning models accept it under its newer name
        parameters["max_completion_tokens"] = request.max_tokens
    return {name: value for name, value in parameters.items() if name not in left_out}


def marked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with a mark on the system message, up to which Claude caches a prompt.

    The beginning includes the schema, which precedes the system message as a tool. If it is shorter than what a model
    caches, the mark has no effect and costs nothing. Other vendors find the common beginning of prompts themselves.
    """
    first, *others = messages
    if first["role"] != "system":
        return messages
    content = [{"type": "text", "text": first["content"], "cache_control": {"type": "ephemeral"}}]
    return [{"role": "system", "content": content}, *others]


def _choice(answer: Any) -> Any:
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices or not hasattr(getattr(choices[0], "message", None), "content"):
        return None  # SDKs build their objects from any content
    return choices[0]


def reply_of(answer: Any, seconds: float, name: str) -> Reply:
    """Return the reply in an SDK's chat completion. Its cost is unknown."""
    choice = _choice(answer)
    message = choice.message
    kept = getattr(message, "provider_specific_fields", None) or {}  # where litellm puts fields that it does not know
    refusal = getattr(message, "refusal", None) or kept.get("refusal")
    reason = getattr(choice, "finish_reason", None)
    # an unknown or missing reason counts as cut off: it must not pass for a complete reply
    finish = "refusal" if refusal else _FINISHES.get(str(reason), "length")
    return Reply(_text(getattr(message, "content", None)), finish, _usage(answer), seconds, name)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (p.get("text") if isinstance(p, dict) else getattr(p, "text", None) for p in content)
        return "".join(p for p in parts if isinstance(p, str))
    return ""


def _usage(answer: Any) -> Usage:
    usage = getattr(answer, "usage", None)
    read, written, total = (_count(usage, k) for k in ("prompt_tokens", "completion_tokens", "total_tokens"))
    cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
    # some vendors count a reasoning model's hidden tokens in the total only
    return Usage(read, max(written, total - read), min(cached, read), 1, None)


def _count(holder: Any, name: str) -> int:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and value > 0 else 0


