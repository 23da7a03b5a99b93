"""How the twins come to an answer: a function or a table of replies, a misbehaviour over it, tokens estimated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from incognote.errors import ModelRejected
from incognote.llm.base import Reply, Request, Usage
from incognote.testing.asked import CHARACTERS_A_TOKEN, text_of, tokens
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.trouble import Act, Trouble

Answer = Callable[[Request], str | Reply | Trouble] | Mapping[str, str]
"""A function over the request, or a table: the text asked about, or the request's address, and the reply."""

_NOT_COUNTED = Usage(calls=1)


class Replies:
    """A table of replies as a function over requests.

    Args:
        table: the text asked about (see `text_of`) or a request's address, and the reply.
        models: names under which an address may have been computed, as in `Request.address(name)`.
        otherwise: the reply to what the table does not hold; None refuses it.

    Raises (when called):
        ModelRejected: the table holds no reply and there is none for the rest.
    """

    def __init__(self, table: Mapping[str, str], *, models: tuple[str, ...] = (), otherwise: str | None = None) -> None:
        self._table, self._models, self._otherwise = table, models, otherwise

    def __call__(self, request: Request) -> str:
        found = self._table.get(text_of(request))
        if found is None:
            addresses = (request.address(model) for model in self._models)
            found = next((self._table[a] for a in addresses if a in self._table), self._otherwise)
        if found is None:
            raise ModelRejected("the table of replies holds none for this request") from None
        return found


@dataclass(frozen=True, slots=True)
class Turn:
    """What becomes of one request.

    Args:
        act: a reply with its usage, or a trouble.
        attempt: how often the same request had come before, this one included; 1 for the first.
        misbehaviour: the name of the one that was chosen.
    """

    act: Act = field(repr=False)
    attempt: int
    misbehaviour: str | None


class Answering:
    """One answer, one misbehaviour, and the count of attempts at each request.

    A reply longer than the request's `max_tokens` is cut there and ends with `length`, as a provider's would, unless
    the answer brought usage of its own.
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
    """The reply with estimated usage, and no longer than was asked for, unless it has a count of its own."""
    if reply.usage != _NOT_COUNTED:
        return reply
    if tokens(reply.text) > request.max_tokens and reply.finish == "stop":
        reply = replace(reply, text=reply.text[: request.max_tokens * CHARACTERS_A_TOKEN], finish="length")
    read = sum(tokens(message.content) for message in request.messages)
    return replace(reply, usage=Usage(input=read, output=tokens(reply.text), calls=1))
