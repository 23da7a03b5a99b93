"""Ask a model about mentions: build the excerpts of notes, and repeat a question until there is an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NoReturn, TypeVar, cast

from incognote.errors import BudgetExhausted, ContextTooLong, Unread
from incognote.llm.base import LanguageModel, Message, Request, Usage
from incognote.prompts import marks
from incognote.prompts.loader import relex_prompt
from incognote.relex.agents.base import RelexNote
from incognote.relex.agents.llm.contracts import ReadReply
from incognote.relex.nouns import Identity, MentionVariant

REACH = 120
"""Characters of a note shown on either side of a mention."""
LEFT_OUT = "[...]"
_SHORT = 80
_PLACES, _FORMS = 2, 8
_FACTS = ("gender", "kin", "role", "kind")


class Excerpts:
    """The texts that contain the mentions.

    Args:
        notes: the available notes. Of a mention in another record, only its words are shown.
    """

    def __init__(self, notes: Iterable[RelexNote]) -> None:
        self._texts = {(note.record, field): text for note in notes for field, text in note.texts.items()}

    def marks(self, variants: Iterable[MentionVariant]) -> tuple[str, str]:
        """Delimiters that occur neither in the texts of these mentions nor in their words."""
        seen = list(variants)
        places = {(v.record, v.field) for v in seen}
        return marks("\n".join([*(self._texts.get(place, "") for place in sorted(places)), *(v.words for v in seen)]))

    def excerpts(
        self, labels: Mapping[MentionVariant, int | str], around: tuple[str, str], reach: int = REACH
    ) -> str:
        """The parts of the notes around the mentions, record by record, with each mention as `<<7|Wilson>>`.

        Args:
            labels: the mentions with their numbers or names. Of two that overlap, only the first is marked.
            around: the delimiters.
            reach: the characters shown on either side of a mention.
        """
        by_place: dict[tuple[str, str], list[MentionVariant]] = {}
        for variant in sorted(labels, key=lambda v: (v.record, v.field, v.start, v.end)):
            by_place.setdefault((variant.record, variant.field), []).append(variant)
        records = {record: at for at, record in enumerate(sorted({record for record, _ in by_place}), 1)}
        parts = []
        for (record, place), mentions in by_place.items():
            if text := self._texts.get((record, place)):
                head = f"Note {records[record]}" + (f", {place}" if place else "") + ":"
                parts.append(f"{head}\n{_excerpt(text, [(v, f'{labels[v]}|') for v in mentions], around, reach)}")
        return "\n\n".join(parts)

    def of(self, names: Mapping[str, Identity], around: tuple[str, str]) -> str:
        """The excerpts around some mentions of each identity, at most one per record. Text is never repeated."""
        labels: dict[MentionVariant, int | str] = {}
        for name, identity in names.items():
            places: dict[str, MentionVariant] = {}
            for variant in sorted(identity.variants, key=lambda v: (-len(v.words), v.record, v.field, v.start)):
                if (variant.record, variant.field) in self._texts:
                    places.setdefault(variant.record, variant)
            labels |= dict.fromkeys(list(places.values())[:_PLACES], name)
        return self.excerpts(labels, around, _SHORT)


def listed(name: str, identity: Identity) -> str:
    """An identity as a line of a list: its name, the ways it is written, and what is known of it."""
    known = known_facts(identity.attributes)
    return f"{name}: {written(identity.variants)}" + (f"\n  guessed: {known}" if known else "")


def written(variants: Iterable[MentionVariant]) -> str:
    """The distinct ways something is written, longest first, after its types."""
    seen = list(variants)
    forms = sorted({_one_line(v.words) for v in seen}, key=lambda words: (-len(words), words))
    more = f"; and {len(forms) - _FORMS} more" if len(forms) > _FORMS else ""
    return f"{'/'.join(sorted({v.type for v in seen}))}: {'; '.join(forms[:_FORMS])}{more}"


def known_facts(attributes: Mapping[str, str]) -> str:
    """Attributes that may help to distinguish an identity. The locale is left out, because it is only a guess."""
    return "; ".join(f"{key} {attributes[key]}" for key in _FACTS if attributes.get(key))


def headed(lines: Sequence[tuple[str, str]]) -> str:
    """Put (heading, line) pairs under their headings, ordered by the first line of each heading."""
    blocks: dict[str, list[str]] = {}
    for heading, line in lines:
        blocks.setdefault(heading, []).append(line)
    return "\n\n".join("\n".join([heading, *block]) for heading, block in blocks.items())


def named(identities: Sequence[Identity]) -> dict[str, Identity]:
    """Name identities PERSON_1 and so on, independent of their order."""
    counts: dict[str, int] = {}
    names: dict[str, Identity] = {}
    for one in sorted(identities, key=lambda i: (i.group, i.domain, i.scope, i.variants)):
        counts[one.group] = counts.get(one.group, 0) + 1
        names[f"{one.group}_{counts[one.group]}"] = one
    return names


def _excerpt(text: str, found: Sequence[tuple[MentionVariant, str]], around: tuple[str, str], reach: int) -> str:
    """The parts of a text around mentions, cut between words. Each mention is delimited, and its label precedes it."""
    out: list[str] = []
    done = 0
    for variant, label in found:
        if variant.start < done:  # it overlaps the previous mention; the list shows it anyway
            continue
        out.append(_gap(text, done, variant.start, reach if out else 0, reach))
        out.append(f"{around[0]}{label}{text[variant.start : variant.end]}{around[1]}")
        done = variant.end
    return "".join([*out, _gap(text, done, len(text), reach, 0)])


def _gap(text: str, start: int, end: int, after: int, before: int) -> str:
    """The text between two mentions. The part beyond the reach of both is left out if that saves enough."""
    if end - start <= after + before + _SHORT // 2:
        return text[start:end]
    left, right = start + after, end - before
    while left < right and after and not text[left].isspace():
        left += 1
    while right > left and before and not text[right - 1].isspace():
        right -= 1
    return f"{text[start:left]} {LEFT_OUT} {text[right:end]}" if left < right else text[start:end]


def _one_line(text: str) -> str:
    return " ".join(text.split())


T = TypeVar("T")
AGAIN = (
    "That answer could not be used: {complaint}. Answer the first message again, with the one JSON object that it asks "
    "for, and nothing before or after it."
)
REST = "\nAn earlier answer about these could not be used: {complaint}."


@dataclass(frozen=True, slots=True)
class Rest(Generic[T]):
    """A smaller question, and a function that joins its answer with the good part of the first."""

    question: Question[T]
    joined: Callable[[T], T]


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A question to a model.

    Args:
        messages: the system message and the user message.
        schema: JSON schema of the reply. With `strict`, it must require every property.
        read: parses and checks a reply.
        rest: for a reply with a good part, a question about the rest only. None if the good part lacks nothing.
    """

    messages: tuple[str, str] = field(repr=False)
    schema: Mapping[str, Any] = field(repr=False)
    read: Callable[[str], ReadReply[T]]
    rest: Callable[[T], Rest[T] | None]
    strict: bool = True


_REMEMBERED = 4096  # answers; a round of the loop repeats the questions of the previous one
_WHY = "a relexicalization agent got no usable answer. Try again, choose another model, or set "
_REMEDY = 'models.on_failure = "embedded" in the policy to use the embedded agents'


def _untold(usage: Usage) -> None:
    """Ignore the usage."""


def _never() -> bool:
    return False


Value = TypeVar("Value")


def by_name(
    ask: Callable[[Mapping[str, Value]], Question[dict[str, T]]], names: Mapping[str, Value]
) -> Callable[[dict[str, T]], Rest[dict[str, T]] | None]:
    """The `rest` of a question whose answer has one value for each name: a question about the missing names.

    Args:
        ask: makes the question about some of the names.
    """

    def rest(good: dict[str, T]) -> Rest[dict[str, T]] | None:
        left = {name: value for name, value in names.items() if name not in good}
        return Rest(ask(left), lambda answer: good | answer) if left else None

    return rest


@dataclass(slots=True)
class ModelAsker:
    """Asks a model and counts the usage, on one event loop. A repeated question gets the stored answer at no cost.

    Args:
        model: the model.
        consents: the policy lets the embedded agent answer if the model gives no usable answer.
        tally: receives the usage of each call.
        exhausted: returns whether the run's budget is spent.
        max_tokens: the limit on the length of a reply.

    Attributes:
        faults: what was wrong with replies, by code.
        stood_in: how often an embedded agent answered instead, by reason.
    """

    model: LanguageModel
    consents: bool = False
    tally: Callable[[Usage], None] = _untold
    exhausted: Callable[[], bool] = _never
    max_tokens: int = 4096
    faults: Counter[str] = field(default_factory=Counter, init=False)
    stood_in: Counter[str] = field(default_factory=Counter, init=False)
    _answers: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    async def ask(self, question: Question[T]) -> T:
        """Ask the model and return its checked answer.

        A reply with faults is asked for once more. If a part of it is good, only the rest is asked for.

        Raises:
            Unread: the model declined, was cut off, gave two unusable replies, or there is no budget. The code says
                which.
            ModelUnavailable, ModelRejected, EgressRefused: the model did not serve.
        """
        place = Request(_messages(question), question.schema, question.strict).address(self.model.name)
        if place in self._answers:
            return cast(T, self._answers[place])
        first, parsed = await self._once(question, _messages(question))
        rest = question.rest(parsed.good) if parsed.value is None and parsed.good is not None else None
        if rest is not None:
            system, user = rest.question.messages
            smaller = replace(rest.question, messages=(system, user + REST.format(complaint=parsed.complaint)))
            _, parsed = await self._once(smaller, _messages(smaller))
            return self._kept(place, rest.joined(parsed.value)) if parsed.value is not None else _failed(parsed)
        if parsed.value is None:
            own = (Message("assistant", first),) if parsed.faults & _CONTENT else ()
            again = (*_messages(question), *own, Message("user", AGAIN.format(complaint=parsed.complaint)))
            _, parsed = await self._once(question, again)
        return self._kept(place, parsed.value) if parsed.value is not None else _failed(parsed)

    async def served(self, asked: Awaitable[T], otherwise: Callable[[], Awaitable[T]]) -> T:
        """The model's answer, or the embedded agent's answer if there is none and the policy consents.

        Raises:
            Unread: there is no answer and no fallback is allowed. The record is held for review.
        """
        try:
            return await asked
        except Unread as none:
            if not self.consents:
                raise
            self.stood_in[none.code] += 1
            return await otherwise()

    async def _once(self, question: Question[T], messages: tuple[Message, ...]) -> tuple[str, ReadReply[T]]:
        if self.exhausted():
            raise _unread(BudgetExhausted.code)
        request = Request(messages, question.schema, question.strict, 0.0, self.max_tokens)
        try:
            reply = await self.model.complete(request)
        except ContextTooLong as problem:
            raise _unread(problem.code) from None
        self.tally(reply.usage)
        if reply.finish in ("filter", "refusal"):
            raise _unread("model-declined")
        if reply.finish == "length":
            raise _unread("model-reply-cut")
        parsed = question.read(_own(reply.text, question.messages[0]))
        self.faults.update(parsed.faults)
        return reply.text, parsed

    def _kept(self, place: str, value: T) -> T:
        """Remember the answer. The memory is cleared when it is full."""
        if len(self._answers) >= _REMEMBERED:
            self._answers.clear()
        self._answers[place] = value
        return value


def _messages(question: Question[Any]) -> tuple[Message, ...]:
    system, user = question.messages
    return Message("system", system), Message("user", user)


def _failed(parsed: ReadReply[Any]) -> NoReturn:
    raise _unread("model-reply-cut" if "cut" in parsed.faults else "model-reply-unusable")


class ModelAgent:
    """What all language model agents share.

    Args:
        asker: the asker of the run.
        prompt: the name of a shipped prompt.
    """

    def __init__(self, asker: ModelAsker, prompt: str) -> None:
        self._asker, self._prompt = asker, relex_prompt(prompt)
        self.name = asker.model.name
        self.version = f"{prompt} {self._prompt.version}"


def windows(identities: Iterable[Identity], most: int) -> list[list[list[Identity]]]:
    """Split identities by patient into pieces of one request each. Staff go with their first patient.

    Returns:
        Waves of pieces. The first wave has the first piece of each patient, and all of a wave can be asked at once.
        `near` decides which notes a request shows.
    """
    by_owner: dict[tuple[str, str], list[Identity]] = {}
    for one in named(list(identities)).values():
        by_owner.setdefault(_owner(one), []).append(one)
    cut = [[own[at : at + most] for at in range(0, len(own), most)] for _, own in sorted(by_owner.items())]
    return [[pieces[n] for pieces in cut if n < len(pieces)] for n in range(max(map(len, cut), default=0))]


def _owner(identity: Identity) -> tuple[str, str]:
    return min((v.domain, v.owner) for v in identity.variants)


def near(identities: Iterable[Identity], notes: Iterable[RelexNote]) -> list[RelexNote]:
    """The notes of the patient whose piece it is (`windows`). A request shows no other patient's notes."""
    owner = min(map(_owner, identities))
    return [note for note in notes if any((v.domain, v.owner) == owner for v in note.variants)]


_CONTENT = frozenset(("twice", "left-out", "invented", "mixed", "count", "type", "repeats", "original", "kin"))
"""Faults of a readable reply. If no part of it is good, the model sees it again, with the complaint."""


def _own(text: str, system: str) -> str:
    """A reply without the instructions it echoes; their examples would count as answers."""
    return text.replace(system, "")


def _unread(code: str) -> Unread:
    return Unread.of(code, _WHY + _REMEDY)
