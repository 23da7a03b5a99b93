"""Ask about one piece of text until there is a readable answer, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from incognote.errors import BudgetExhausted, ContextTooLong
from incognote.llm.base import LanguageModel, Message, Request, Usage, gather_all
from incognote.prompts.loader import Prompt, Rendered
from incognote.prompts.reply import ParsedReply, read, read_several


@dataclass(slots=True)
class Budget:
    """A budget shared by all records of a run. It is used on one event loop, so it needs no lock.

    Attributes:
        spent: the total so far.
        closed: exhausted in another process that keeps the shared budget.
        listener: also receives each call's usage.

    Args:
        tokens: the maximum number of tokens, in and out together; None for no limit.
        usd: the maximum cost. It cannot limit a call with an unknown price, so such a model is refused beforehand.
    """

    tokens: int | None = None
    usd: float | None = None
    spent: Usage = field(default_factory=Usage)
    closed: bool = False
    listener: Callable[[Usage], None] | None = None

    @property
    def exhausted(self) -> bool:
        """Whether no further call may be made.

        Calls under way may finish, so a run may end a few calls above its limit.
        """
        total = self.spent.input + self.spent.output
        over_tokens = self.tokens is not None and total >= self.tokens
        return self.closed or over_tokens or (self.usd is not None and (self.spent.usd or 0.0) >= self.usd)

    def take(self, usage: Usage) -> None:
        self.spent += usage
        if self.listener is not None:
            self.listener(usage)


Rule = Literal["union", "majority"]
AGAIN = (
    "That answer could not be used. Answer the first message once more, with the one JSON object it asks for: only the "
    "listed types as keys, a list of phrases as each value, nothing before or after it."
)


class NoAnswer(Exception):
    """The model has no answer for this piece of text, and none may be invented.

    The extractor catches it. It never leaves this package.
    """

    def __init__(self, code: str, *, smaller: bool) -> None:
        super().__init__(code)
        self.code = code
        self.smaller = smaller
        """Whether a smaller piece of the text may succeed."""


@dataclass(frozen=True, slots=True)
class AskingTerms:
    """How models are asked.

    Args:
        models: each is asked. More than one make an ensemble.
        prompt: the instructions and the reply's contract.
        types: what to look for (`prompts.types.asked`).
        votes: how often each model is asked about each piece.
        rule: how several answers are combined.
        temperature: of a single vote.
        spread: the temperature for several votes of one model. At 0 they would all be the same.
        max_tokens: the maximum length of the reply.
    """

    models: tuple[LanguageModel, ...]
    prompt: Prompt
    types: Mapping[str, str] = field(repr=False)
    votes: int = 1
    rule: Rule = "union"
    temperature: float = 0.0
    spread: float = 0.7
    max_tokens: int = 4096


@dataclass(slots=True)
class ChunkAsker:
    """Asks models and counts usage. The cost of each reply goes to the run's budget and to the caller's own tally.

    Args:
        terms: how models are asked.
        budget: of the run, shared.
    """

    terms: AskingTerms
    budget: Budget = field(default_factory=Budget)

    async def ask(self, texts: Sequence[str], tally: Callable[[Usage], None]) -> list[list[ParsedReply]]:
        """Return the readings of all votes of all models, one list of votes per text.

        Args:
            texts: one text, or several small ones of one patient, which make one composite request.
            tally: receives the usage of each call.

        Raises:
            NoAnswer: a model declined, was cut short or gave an unreadable answer. One vote without an answer is
                enough, since a missing vote does not mean "no PHI".
            ModelUnavailable, ModelRejected, EgressRefused: the model failed.
        """
        if self.budget.exhausted:
            raise NoAnswer(BudgetExhausted.code, smaller=False)
        rendered = self.terms.prompt.render(texts, self.terms.types)
        votes = [(model, sample) for model in self.terms.models for sample in range(self.terms.votes)]
        if len(votes) == 1:
            answers = [await self._vote(*votes[0], rendered, tally)]
        else:
            answers = await gather_all([self._vote(model, sample, rendered, tally) for model, sample in votes])
        return [list(of_one_text) for of_one_text in zip(*answers, strict=True)]

    async def _vote(
        self, model: LanguageModel, sample: int, rendered: Rendered, tally: Callable[[Usage], None]
    ) -> list[ParsedReply]:
        asked = (Message("system", rendered.system), Message("user", rendered.user))
        first = await self._once(model, sample, rendered, asked, tally)
        if not any(reading.worth_asking_again for reading in first) or self.budget.exhausted:
            return [_usable(reading) for reading in first]
        again = await self._once(model, sample, rendered, (*asked, Message("user", AGAIN)), tally)
        return [_usable(_both(*readings)) for readings in zip(first, again, strict=True)]

    async def _once(
        self, model: LanguageModel, sample: int, rendered: Rendered, asked: Sequence[Message],
        tally: Callable[[Usage], None],
    ) -> list[ParsedReply]:  # fmt: skip
        terms = self.terms
        request = Request(
            tuple(asked),
            rendered.schema,
            rendered.strict,
            terms.spread if terms.votes > 1 else terms.temperature,
            terms.max_tokens,
            sample,
        )
        try:
            reply = await model.complete(request)
        except ContextTooLong:
            raise NoAnswer("model-context", smaller=True) from None
        self.budget.take(reply.usage)
        tally(reply.usage)
        if reply.finish in ("filter", "refusal"):
            raise NoAnswer("model-declined", smaller=False)
        if reply.finish == "length":
            raise NoAnswer("model-reply-cut", smaller=True)
        contract = terms.prompt.contract
        text = reply.text.replace(rendered.system, "")  # echoed instructions: their examples would count as findings
        if rendered.several:
            return read_several(text, rendered.several, terms.types, contract, rendered.marks)
        return [read(text, terms.types, contract, rendered.marks)]


def _both(first: ParsedReply, again: ParsedReply) -> ParsedReply:
    """Combine two answers to one question. The second does not withdraw anything of the first."""
    if not first.usable or not again.usable:
        return again if again.usable else first
    strays = again.strays and tuple(dict.fromkeys((*first.strays, *again.strays)))
    # a cut phrase may have only a single letter left, which occurs anywhere
    whole = first.mentions[:-1] if first.cut else first.mentions
    return ParsedReply(tuple(dict.fromkeys((*whole, *again.mentions))), strays, again.faults)


def _usable(reading: ParsedReply) -> ParsedReply:
    if not reading.usable or "shape" in reading.faults:
        raise NoAnswer("model-reply-unusable", smaller=True)
    if reading.cut:
        raise NoAnswer("model-reply-cut", smaller=True)
    return reading
