"""A scripted model, and how the test doubles answer.

An answer comes from a function or a table of replies, with optional misbehavior and estimated tokens.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable, UsageError
from incognote.jsonlines import read_rows
from incognote.llm.base import Reply, Request, Usage
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.trouble import CHARACTERS_A_TOKEN, Act, Trouble, text_of, tokens

Answer = Callable[[Request], str | Reply | Trouble] | Mapping[str, str]
"""A function of the request, or a table from the text asked about, or the request's address, to the reply."""

_NOT_COUNTED = Usage(calls=1)


class Replies:
    """A table of replies as a function of requests.

    Args:
        table: from the text asked about (see `text_of`), or a request's address, to the reply.
        models: names with which an address may have been computed, as in `Request.address(name)`.
        otherwise: the reply to requests that are not in the table; None refuses them.

    Raises (when called):
        ModelRejected: the table has no reply, and `otherwise` is None.
    """

    def __init__(self, table: Mapping[str, str], *, models: tuple[str, ...] = (), otherwise: str | None = None) -> None:
        self._table, self._models, self._otherwise = table, models, otherwise

    def __call__(self, request: Request) -> str:
        found = self._table.get(text_of(request))
        if found is None:
            addresses = (request.address(model) for model in self._models)
            found = next((self._table[a] for a in addresses if a in self._table), self._otherwise)
        if found is None:
            raise ModelRejected("the table has no reply to this request") from None
        return found


def read_replies(path: str | Path, *, otherwise: str | None = None) -> Replies:
    """Read a table of replies from a file.

    Each line is `{"note": TEXT, "reply": REPLY}` or `{"address": ADDRESS, "model": NAME, "reply": REPLY}`. It contains
    the exact text asked about, or the request's address and the name of the model with which it was computed. A reply
    is a text or a JSON object.

    Args:
        otherwise: the reply to requests that no line contains; None refuses them.

    Raises:
        UsageError: the file cannot be read, or a line is not such an object. The message gives the line's number.
    """
    table: dict[str, str] = {}
    models: dict[str, None] = {}
    for number, said in read_rows(path, "the file of replies"):
        try:
            key = said["note"] if "note" in said else said["address"]
            reply = said["reply"]
        except (KeyError, TypeError):
            raise UsageError(f"line {number}: must have note or address, and reply") from None
        if not isinstance(key, str) or not isinstance(reply, str | dict):
            raise UsageError(f"line {number}: note and address must be strings, and reply a string or an object")
        table[key] = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        models[str(said.get("model", ""))] = None
    return Replies(table, models=tuple(models), otherwise=otherwise)


@dataclass(frozen=True, slots=True)
class Turn:
    """The response to one request.

    Args:
        act: a reply with its usage, or a trouble.
        attempt: how often the same request had come, including this one; 1 for the first.
        misbehaviour: the name of the chosen misbehavior.
    """

    act: Act = field(repr=False)
    attempt: int
    misbehaviour: str | None


class Answering:
    """One answer, one misbehavior, and the count of attempts at each request.

    If a reply is longer than the request's `max_tokens`, it is cut and ends with `length`, as a provider would do,
    unless the answer has usage of its own.
    """

    def __init__(
        self, answer: Answer, misbehaviour: Misbehaviour | None = None, *, models: tuple[str, ...] = ()
    ) -> None:
        self._answer = Replies(answer, models=models) if isinstance(answer, Mapping) else answer
        self._misbehaviour = misbehaviour
        self._attempts: Counter[str] = Counter()

    def __call__(self, request: Request) -> Turn:
        address = request.address("")
        self._attempts[address] += 1
        attempt = self._attempts[address]
        said = self._answer(request)
        act: Act = Reply(said) if isinstance(said, str) else said
        name = None
        if isinstance(act, Reply) and self._misbehaviour is not None:
            name = self._misbehaviour.choose(request, attempt)
            if name is not None:
                act = self._misbehaviour.apply(name, request, act, attempt)
        if isinstance(act, Trouble):
            counted = None if act.reply is None else _counted(act.reply, request)
            return Turn(replace(act, reply=counted), attempt, name)
        return Turn(_counted(act, request), attempt, name)


def _counted(reply: Reply, request: Request) -> Reply:
    """Return the reply with estimated usage, cut to the requested length, unless it has its own usage."""
    if reply.usage != _NOT_COUNTED:
        return reply
    if tokens(reply.text) > request.max_tokens and reply.finish == "stop":
        reply = replace(reply, text=reply.text[: request.max_tokens * CHARACTERS_A_TOKEN], finish="length")
    read = sum(tokens(message.content) for message in request.messages)
    return replace(reply, usage=Usage(input=read, output=tokens(reply.text), calls=1))


class ScriptedLLM:
    """A LanguageModel that answers from a function or a table.

    Usage is estimated on both sides as the number of words between white space or a quarter of the characters,
    whichever is more. The cost is zero. A reply with usage of its own keeps it. A trouble (429, a hang, a lost
    connection) becomes the error that an adapter raises without retries. A slow reply comes late.

    Args:
        answer: a function of the request, or a table from the text asked about, or the request's address, to the reply.
        name: vendor and model.
        latency: seconds that each call takes.
        misbehaviour: which replies are made bad, and how.

    Attributes:
        requests: the requests, in order.
        misbehaved: the name of the misbehavior of each call, in the same order; None for a good reply.
        peak: the maximum number of concurrent calls.
        closed: whether `aclose` was called.
    """

    def __init__(
        self,
        answer: Answer,
        *,
        name: str = "scripted/model",
        latency: float = 0.0,
        misbehaviour: Misbehaviour | None = None,
    ) -> None:
        self.name, self.latency = name, latency
        self.requests: list[Request] = []
        self.misbehaved: list[str | None] = []
        self.peak = 0
        self.closed = False
        self._under_way = 0
        self._answering = Answering(answer, misbehaviour, models=(name,))

    @property
    def calls(self) -> int:
        """The number of calls, whatever their outcome."""
        return len(self.requests)

    def __repr__(self) -> str:
        return f"ScriptedLLM(name={self.name!r}, calls={self.calls})"

    async def complete(self, request: Request) -> Reply:
        """Answer according to the script.

        Raises:
            ModelUnavailable, ModelRejected, ContextTooLong: as in the script or the misbehavior. ModelRejected also if
                a table has no reply.
        """
        began = time.monotonic()
        self.requests.append(request)
        place = len(self.misbehaved)
        self.misbehaved.append(None)
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            turn = self._answering(request)
            self.misbehaved[place] = turn.misbehaviour
            await asyncio.sleep(self.latency)
            reply = await _endured(turn.act) if isinstance(turn.act, Trouble) else turn.act
        finally:
            self._under_way -= 1
        return replace(reply, seconds=time.monotonic() - began, model=reply.model or self.name)

    async def aclose(self) -> None:
        self.closed = True


async def _endured(trouble: Trouble) -> Reply:
    """Return the late reply of a slow trouble, or raise the error of any other."""
    await asyncio.sleep(trouble.seconds)
    if trouble.kind == "slow" and trouble.reply is not None:
        return trouble.reply
    if trouble.kind == "status" and trouble.code == "context_length_exceeded":
        raise ContextTooLong("the script says 400: the request is longer than the model reads")
    if trouble.kind == "status" and 400 <= trouble.status < 500 and trouble.status not in (408, 409, 429):
        raise ModelRejected(f"the script says {trouble.status}: the request is refused")
    raise ModelUnavailable(
        f"the script says {trouble.status or trouble.kind}: try again later", retry_after=trouble.retry_after
    )
