"""Language models: one protocol, which every vendor's adapter and every test double serves.

Prompts and replies are PHI: none of it shows in a repr, and no adapter logs it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filter", "refusal"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked.

    Args:
        messages: system, user and, when a bad reply is asked about again, assistant turns.
        schema: the JSON schema of the reply, for models that decode under constraints; None asks for text.
        strict: whether the schema meets the strict subset (every property required, none additional).
        temperature: 0 for the likeliest reply.
        max_tokens: the longest reply that is waited for, in tokens.
        sample: which of several votes this is; it keeps equal requests apart in a recording.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    strict: bool = False
    temperature: float = 0.0
    max_tokens: int = 4096
    sample: int = 0

    def address(self, model: str) -> str:
        """The content address under which a recording keeps the reply: SHA-256, in hexadecimal, of all that decides."""
        content = [
            model, [[m.role, m.content] for m in self.messages], self.schema, self.strict, self.temperature,
            self.max_tokens, self.sample,
        ]
        written = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one call or many took, and what they cost.

    Args:
        input: tokens read, the cached ones included.
        output: tokens written, the hidden ones of a reasoning model included.
        cached: of the input, those the provider had at hand.
        calls: how many requests.
        usd: money, None where no price is known.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    calls: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        money = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Usage(
            self.input + other.input, self.output + other.output, self.cached + other.cached,
            self.calls + other.calls, money,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Args:
        text: the content, word for word; may be empty.
        finish: why it ended. Anything but `stop` never counts as "no PHI".
        usage: of this call.
        seconds: from the request to the whole reply, retries included.
        model: the name of the model that answered (a fallback's, where one served).
    """

    text: str = field(repr=False)
    finish: Finish = "stop"
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    seconds: float = 0.0
    model: str = ""


class LanguageModel(Protocol):
    """A language model at an address. One object handles concurrent calls on one event loop."""

    name: str
    """Vendor and model, as the settings name it: `openai/gpt-4o-mini`."""

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            ModelUnavailable, ModelRejected, ContextTooLong, EgressRefused: see `incognote.errors`.
        """
        ...

    async def aclose(self) -> None:
        """Give back connections; the object is not used afterwards."""
        ...


class ModelWrapper:
    """A model around another one, with its name; closing it closes the inner one. A subclass adds `complete`.

    Args:
        model: the inner model.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


T = TypeVar("T")


async def gather_all(work: Iterable[Awaitable[T]]) -> list[T]:
    """What each yields, in order; when all have ended, the first error among them.

    Not a TaskGroup: it would wrap the error, and cancel calls that are paid for already.
    """
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
