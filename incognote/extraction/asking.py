"""Ask about one piece of text until there is a readable answer, or a reason why there is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from incognote.errors import BudgetExhausted, ContextTooLong, ModelUnavailable, PromptCut
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

    def permit(self) -> None:
        """Check before each call, when a slot is free for it.

        Raises:
            BudgetExhausted: no further call may be made.
        """
        if self.exhausted:
            raise BudgetExhausted


MOST_CALLS = 8
"""The maximum number of calls about one chunk, for each vote: all passes, repeated questions, and smaller parts."""
CAPPED = "model-calls"
"""The code of a chunk that has no answer after so many calls."""


@dataclass(slots=True)
class Calls:
    """The calls about one chunk, or about a part of it.

    Args:
        most: the maximum for each vote.
        made: the number of calls of each vote, by model and sample.
    """

    most: int = MOST_CALLS
    made: Counter[tuple[str, int]] = field(default_factory=Counter)

    @property
    def left(self) -> int:
        """The number of calls that every vote may still make."""
        return self.most - max(self.made.values(), default=0)

    def divided(self, parts: int) -> list[Calls]:
        """Divide the calls that are left among parts that are read at the same time.

        Each part has its own share, so the answers do not depend on which part is read first.
        """
        return [Calls((self.left + i) // parts) for i in reversed(range(parts))]


Rule = Literal["union", "majority"]
_FENCED = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.DOTALL)
AGAIN = (
    "That answer could not be used. Answer the first message once more, with the one JSON object it asks for: only the "
    "listed types as keys, a list of phrases as each value, nothing before or after it."
)


@dataclass(frozen=True, slots=True)
class _Question:
    """What the votes about one piece have in common: its texts, the prompt, and the counts of usage and calls."""

    texts: Sequence[str] = field(repr=False)
    rendered: Rendered
    tally: Callable[[Usage], None]
    calls: Calls


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

    async def ask(
        self,
        texts: Sequence[str],
        tally: Callable[[Usage], None],
        calls: Calls,
        languages: frozenset[str] = frozenset(),
    ) -> list[list[ParsedReply]]:
        """Return the readings of all votes of all models, one list of votes per text.

        Args:
            texts: one text, or several small ones of one patient, which make one composite request.
            tally: receives the usage of each call.
            calls: counts the calls. At least one must be left.
            languages: the prompt is shown with the additions for these languages.

        Raises:
            NoAnswer: a model declined, was cut short or gave an unreadable answer. One vote without an answer is
                enough, since a missing vote does not mean "no PHI".
            ModelUnavailable, ModelRejected, EgressRefused: the model failed.
        """
        if self.budget.exhausted:
            raise NoAnswer(BudgetExhausted.code, smaller=False)
        rendered = self.terms.prompt.localized(languages).render(texts, self.terms.types)
        question = _Question(texts, rendered, tally, calls)
        votes = [(model, sample) for model in self.terms.models for sample in range(self.terms.votes)]
        if len(votes) == 1:
            answers = [await self._vote(*votes[0], question)]
        else:
            answers = await gather_all([self._vote(model, sample, question) for model, sample in votes])
        return [list(of_one_text) for of_one_text in zip(*answers, strict=True)]

    async def _vote(self, model: LanguageModel, sample: int, question: _Question) -> list[ParsedReply]:
        rendered, calls = question.rendered, question.calls
        asked = (Message("system", rendered.system), Message("user", rendered.user))
        first = await self._once(model, sample, question, asked)
        last = calls.made[model.name, sample] == calls.most or self.budget.exhausted
        if last or not any(reading.worth_asking_again for reading in first):
            return [_usable(reading) for reading in first]
        again = AGAIN
        if self.terms.prompt.contract > 1:
            again += " In each phrase, put only the identifier between {} and {}.".format(*rendered.marks)
        try:
            second = await self._once(model, sample, question, (*asked, Message("user", again)))
        except (NoAnswer, ModelUnavailable):
            if any(not reading.usable or reading.faults - {"marks", "mended", "shared"} for reading in first):
                raise
            return list(first)  # it is complete. Its phrases without marks make the verdict `review`
        both = (_usable(_both(*readings)) for readings in zip(first, second, strict=True))
        return [replace(reading, faults=reading.faults | {"again"}) for reading in both]

    async def _once(
        self, model: LanguageModel, sample: int, question: _Question, asked: Sequence[Message]
    ) -> list[ParsedReply]:
        terms, rendered = self.terms, question.rendered
        request = Request(
            tuple(asked),
            rendered.schema,
            rendered.strict,
            terms.spread if terms.votes > 1 else terms.temperature,
            terms.max_tokens,
            sample,
        )
        question.calls.made[model.name, sample] += 1
        try:
            reply = await model.complete(request)
        except ContextTooLong as problem:
            if isinstance(problem, PromptCut) and isinstance(problem.usage, Usage):  # there was a reply
                self._count(problem.usage, question)
            raise NoAnswer(problem.code, smaller=True) from None
        except BudgetExhausted:  # while the call waited for a slot
            raise NoAnswer(BudgetExhausted.code, smaller=False) from None
        self._count(reply.usage, question)
        if reply.finish in ("filter", "refusal"):
            raise NoAnswer("model-declined", smaller=False)
        if reply.finish == "length":
            raise NoAnswer("model-reply-cut", smaller=True)
        contract = terms.prompt.contract
        text = reply.text.replace(rendered.system, "")  # echoed instructions: their examples would count as findings
        if fenced := _FENCED.fullmatch(text):
            text = fenced[1]
        if rendered.several:
            return read_several(text, question.texts, terms.types, contract, rendered.marks)
        return [read(text, question.texts[0], terms.types, contract, rendered.marks)]

    def _count(self, usage: Usage, question: _Question) -> None:
        self.budget.take(usage)
        question.tally(usage)


def _both(first: ParsedReply, again: ParsedReply) -> ParsedReply:
    """Combine two answers to one question. The second does not withdraw anything of the first."""
    if not first.usable or not again.usable:
        return again if again.usable else first
    strays = again.strays and tuple(dict.fromkeys((*first.strays, *again.strays)))
    # a cut phrase may have only a single letter left, which occurs anywhere
    whole = first.mentions[:-1] if first.cut else first.mentions
    return replace(again, mentions=tuple(dict.fromkeys((*whole, *again.mentions))), strays=strays)


def _usable(reading: ParsedReply) -> ParsedReply:
    if reading.declined:
        raise NoAnswer("model-declined", smaller=False)
    if not reading.usable or "shape" in reading.faults:
        raise NoAnswer("model-reply-unusable", smaller=True)
    if reading.cut:
        raise NoAnswer("model-reply-cut", smaller=True)
    return reading
