"""Language models: the protocol that every vendor's adapter and every test double implements.

Prompts and replies are PHI. No repr shows them, and no adapter logs them.
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
    """A request to a model.

    Args:
        messages: system, user and, when a bad reply is returned for correction, assistant turns.
        schema: the JSON schema of the reply, for models with constrained decoding; None for plain text.
        strict: whether the schema meets the strict subset (every property required, no additional ones).
        temperature: 0 for the most likely reply.
        max_tokens: the maximum length of the reply, in tokens.
        sample: the number of this vote. It distinguishes equal requests in a recording.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    strict: bool = False
    temperature: float = 0.0
    max_tokens: int = 4096
    sample: int = 0

    def address(self, model: str) -> str:
        """Return the recording's key for the reply: SHA-256, in hexadecimal, of everything that decides the reply."""
        content = [
            model, [[m.role, m.content] for m in self.messages], self.schema, self.strict, self.temperature,
            self.max_tokens, self.sample,
        ]
        written = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls, and their cost.

    Args:
        input: tokens read, including cached ones.
        output: tokens written, including the hidden ones of a reasoning model.
        cached: the input tokens that came from the provider's cache.
        calls: the number of requests.
        usd: the cost; None if no price is known.
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
    """A model's answer.

    Args:
        text: the exact content; may be empty.
        finish: why it ended. Anything but `stop` never counts as "no PHI".
        usage: of this call.
        seconds: from the request to the complete reply, including retries.
        model: the name of the model that answered. It may be a fallback.
    """

    text: str = field(repr=False)
    finish: Finish = "stop"
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    seconds: float = 0.0
    model: str = ""


class LanguageModel(Protocol):
    """A language model at an address. One object handles concurrent calls on one event loop."""

    name: str
    """Vendor and model, as in the settings: `openai/gpt-4o-mini`."""

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            ModelUnavailable, ModelRejected, ContextTooLong, EgressRefused: see `incognote.errors`.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections. The object must not be used afterwards."""
        ...


class ModelWrapper:
    """A model that wraps another one and has its name. Closing it closes the inner one. A subclass adds `complete`.

    Args:
        model: the inner model.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    @property
    def left_out(self) -> frozenset[str]:
        """The features that the endpoint rejects (`ChatModel.left_out`); empty if the model does not report them."""
        return left_out_by(self._model)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


def left_out_by(model: LanguageModel) -> frozenset[str]:
    """Return the features that requests to a model omit because its endpoint rejects them."""
    rejected: frozenset[str] = getattr(model, "left_out", frozenset())
    return rejected


T = TypeVar("T")


async def gather_all(work: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results in order. When all have ended, raise the first error among them.

    This is not a TaskGroup, which would wrap the error, and cancel calls that are already paid for.
    """
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
