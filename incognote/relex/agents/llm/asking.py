"""One question of an agent, until there is an answer that keeps the contract, or a reason why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from incognote.errors import BudgetExhausted, ContextTooLong, Unread
from incognote.llm.base import LanguageModel, Message, Request, Usage
from incognote.prompts.relexing import relex_prompt
from incognote.relex.agents.base import Note
from incognote.relex.agents.llm.contracts import Said
from incognote.relex.agents.llm.showing import named
from incognote.relex.nouns import Identity

T = TypeVar("T")
AGAIN = (
    "That answer could not be used: {complaint}. Answer the first message once more, with the one JSON object it asks "
    "for, whole, and nothing before or after it."
)
_REMEMBERED = 4096  # answers; a round of the loop asks what the one before asked
_WHY = "an agent of relexicalization got no answer that can be used; try again, name another model, or let the policy "
_REMEDY = 'take the embedded agents (models.on_failure = "embedded")'


def _untold(usage: Usage) -> None:
    """Nobody counts."""


def _never() -> bool:
    return False


@dataclass(slots=True)
class Asker:
    """Asks a model and accounts, on one event loop. Asked the same again, it gives the same answer, and nobody pays.

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
    _said: dict[str, str] = field(default_factory=dict, init=False, repr=False)

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
        place = Request(asked, schema, strict).address(self.model.name)
        if place in self._said and (before := read(self._said[place]).value) is not None:
            return before
        first, said = await self._once(asked, schema, read, system, strict=strict)
        if said.value is not None:
            return self._kept(place, _own(first, system), said.value)
        own = (Message("assistant", first),) if said.faults & _CONTENT else ()
        again = (*asked, *own, Message("user", AGAIN.format(complaint=said.complaint)))
        second, said = await self._once(again, schema, read, system, strict=strict)
        if said.value is not None:
            return self._kept(place, _own(second, system), said.value)
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
            raise _unread(BudgetExhausted.code)
        try:
            reply = await self.model.complete(Request(messages, schema, strict, 0.0, self.max_tokens))
        except ContextTooLong:
            raise _unread("model-context") from None
        self.tally(reply.usage)
        if reply.finish in ("filter", "refusal"):
            raise _unread("model-declined")
        if reply.finish == "length":
            raise _unread("model-reply-cut")
        said = read(_own(reply.text, system))
        self.faults.update(said.faults)
        return reply.text, said

    def _kept(self, place: str, text: str, value: T) -> T:
        """The answer, remembered as long as there is room."""
        if len(self._said) >= _REMEMBERED:
            self._said.clear()
        self._said[place] = text
        return value


class Played:
    """What the agents share that a language model plays.

    Args:
        asker: of the run.
        prompt: a shipped prompt's name.
    """

    def __init__(self, asker: Asker, prompt: str) -> None:
        self._asker, self._prompt = asker, relex_prompt(prompt)
        self.name = asker.model.name
        self.version = f"{prompt} {self._prompt.version}"


def windows(identities: Iterable[Identity], most: int) -> list[list[list[Identity]]]:
    """Identities by whose notes speak of them, in pieces for a request each; staff are the first patient's.

    Returns:
        In waves: the first pieces of all patients, which can be asked about at once, then the second ones, and so on.
        What a request shows of notes is for `near` to say.
    """
    by_owner: dict[tuple[str, str], list[Identity]] = {}
    for one in named(list(identities)).values():
        by_owner.setdefault(_owner(one), []).append(one)
    cut = [[own[at : at + most] for at in range(0, len(own), most)] for _, own in sorted(by_owner.items())]
    return [[pieces[n] for pieces in cut if n < len(pieces)] for n in range(max(map(len, cut), default=0))]


def _owner(identity: Identity) -> tuple[str, str]:
    return min((v.domain, v.owner) for v in identity.variants)


def near(identities: Iterable[Identity], notes: Iterable[Note]) -> list[Note]:
    """Of the notes those of the patient whose piece it is (`windows`): a request shows nobody else's."""
    owner = min(map(_owner, identities))
    return [note for note in notes if any((v.domain, v.owner) == owner for v in note.variants)]


_CONTENT = frozenset(("twice", "left-out", "invented", "mixed", "count", "type", "repeats", "original", "kin"))
"""Faults of a reply that could be read: then the model sees it again, beside what is wrong with it."""


def _own(text: str, system: str) -> str:
    """A reply without the instructions it echoes, whose examples would count as answers."""
    return text.replace(system, "")


def _unread(code: str) -> Unread:
    return Unread.of(code, _WHY + _REMEDY)
