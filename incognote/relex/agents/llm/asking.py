"""One question of an agent, until there is an answer that keeps the contract, or a reason why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from incognote.errors import ContextTooLong, Unread
from incognote.llm.base import LanguageModel, Message, Request, Usage
from incognote.relex.agents.llm.contracts import Said

T = TypeVar("T")
AGAIN = (
    "That answer could not be used: {complaint}. Answer the first message once more, with the one JSON object it asks "
    "for, whole, and nothing before or after it."
)
_WHY = "an agent of relexicalization got no answer that can be used; try again, name another model, or let the policy "
_REMEDY = 'take the embedded agents (models.on_failure = "embedded")'


def _untold(usage: Usage) -> None:
    """Nobody counts."""


def _never() -> bool:
    return False


@dataclass(slots=True)
class Asker:
    """Asks a model and accounts; shared by the agents of a run, on one event loop.

    Args:
        model: who is asked.
        consents: the policy lets the embedded agent stand in where the model gives no answer that can be used.
        tally: takes what each call cost.
        exhausted: whether the run's budget is spent.
        max_tokens: the longest reply that is waited for.

    Attributes:
        faults: what was wrong with replies, by code.
        stood_in: how often an embedded agent stood in, by the reason.
    """

    model: LanguageModel
    consents: bool = False
    tally: Callable[[Usage], None] = _untold
    exhausted: Callable[[], bool] = _never
    max_tokens: int = 4096
    faults: Counter[str] = field(default_factory=Counter, init=False)
    stood_in: Counter[str] = field(default_factory=Counter, init=False)

    async def ask(
        self, messages: tuple[str, str], schema: Mapping[str, Any], read: Callable[[str], Said[T]], *, strict: bool
    ) -> T:
        """What the model says.

        Args:
            messages: the system's and the user's.
            schema: JSON schema of the reply; with `strict`, one that requires every property.
            read: the contract.

        Raises:
            Unread: declined, cut short, twice not to be used, or no budget; its code says which.
            ModelUnavailable, ModelRejected, EgressRefused: the model did not serve.
        """
        system, user = messages
        asked = (Message("system", system), Message("user", user))
        first, said = await self._once(asked, schema, read, system, strict=strict)
        if said.value is not None:
            return said.value
        own = (Message("assistant", first),) if said.faults & _CONTENT else ()
        again = (*asked, *own, Message("user", AGAIN.format(complaint=said.complaint)))
        _, said = await self._once(again, schema, read, system, strict=strict)
        if said.value is not None:
            return said.value
        raise _unread("model-reply-cut" if "cut" in said.faults else "model-reply-unusable")

    async def served(self, asked: Awaitable[T], otherwise: Callable[[], Awaitable[T]]) -> T:
        """What was asked, else what the embedded agent says, where the policy consents.

        Raises:
            Unread: there is no answer, and nobody may stand in: the record goes to a person.
        """
        try:
            return await asked
        except Unread as none:
            if not self.consents:
                raise
            self.stood_in[none.code] += 1
            return await otherwise()

    async def _once(
        self,
        messages: tuple[Message, ...],
        schema: Mapping[str, Any],
        read: Callable[[str], Said[T]],
        system: str,
        *,
        strict: bool,
    ) -> tuple[str, Said[T]]:
        if self.exhausted():
            raise _unread("budget-exhausted")
        try:
            reply = await self.model.complete(Request(messages, schema, strict, 0.0, self.max_tokens))
        except ContextTooLong:
            raise _unread("model-context") from None
        self.tally(reply.usage)
        if reply.finish in ("filter", "refusal"):
            raise _unread("model-declined")
        if reply.finish == "length":
            raise _unread("model-reply-cut")
        said = read(reply.text.replace(system, ""))  # echoed, with examples that would count as answers
        self.faults.update(said.faults)
        return reply.text, said


_CONTENT = frozenset(("twice", "left-out", "invented", "mixed", "count", "type", "repeats", "original", "kin"))
"""Faults of a reply that could be read: then the model sees it again, beside what is wrong with it."""


def _unread(code: str) -> Unread:
    return Unread(code, _WHY + _REMEDY)
