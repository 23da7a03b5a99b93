"""Ask a language model what was said where a recognizer wrote no words, or doubted words (RedactOR §A.5, Algorithm 2).

One request is made for each chunk of a transcript. Each model is asked once, and a second time if its reply cannot be
read. A place without an answer has no verdict, so what the embedded judge found there stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from incognote.errors import BudgetExhausted, ContextTooLong
from incognote.extraction.asking import ChunkAsker
from incognote.extraction.chunks import Chunk
from incognote.llm.base import LanguageModel, Message, Request, Usage, gather_all
from incognote.nouns import Span, Text
from incognote.prompts.verdicts import messages, read, schema, united
from incognote.schemas.policy import Policy
from incognote.text.gaps import TOKEN, clock

DOUBT, GAP = "doubt", "gap"
"""The sources of findings in doubted words, and in speech without words."""
_ATTEMPTS = 2
TimeOf = Callable[[int, int], tuple[float, float] | None]
"""A function that returns the time of a stretch of a text in seconds, or None."""


@dataclass(frozen=True, slots=True)
class GapPlace:
    """A place of a transcript that is judged.

    Args:
        start, end: in code points of the text.
        key: its time, as `00:02.85 - 00:02.95`.
        heard: the doubted words; "" for speech without words.
    """

    start: int
    end: int
    key: str
    heard: str = field(default="", repr=False)

    @property
    def shown(self) -> str:
        """What the model sees in its place."""
        if not self.heard:
            return f"<human_timestamp_({self.key})>"
        words = " ".join(self.heard.replace('"', "'").split())
        return f'<doubted_timestamp_({self.key}) heard "{words}">'


def gap_places(text: Text, evidence: Sequence[Span], time_of: TimeOf) -> list[GapPlace]:
    """Return the places of a text that are judged, in order. They do not overlap.

    Args:
        evidence: the findings in the text, as its spans. Those of the source `doubt` are places.
        time_of: the time of doubted words. Without a time, they are not judged.
    """
    if "<human_timestamp_(" not in text.content and not any(DOUBT in span.sources for span in evidence):
        return []
    found = [GapPlace(*m.span(), m[0][m[0].index("(") + 1 : -2]) for m in TOKEN.finditer(text.content)]
    taken = [(place.start, place.end) for place in found]
    for span in sorted((s for s in evidence if DOUBT in s.sources), key=lambda s: (s.start, -s.end)):
        time = time_of(span.start, span.end)
        if time is None or any(span.start < end and start < span.end for start, end in taken):
            continue
        taken.append((span.start, span.end))
        found.append(GapPlace(span.start, span.end, f"{clock(time[0])} - {clock(time[1])}", span.text))
    return sorted(found, key=lambda place: place.start)


def within(places: Sequence[GapPlace], chunk: Chunk) -> list[GapPlace]:
    """Return the places that are wholly in a chunk."""
    return [place for place in places if chunk.start <= place.start and place.end <= chunk.end]


def shown(text: Text, chunk: Chunk, places: Sequence[GapPlace]) -> str:
    """Return a chunk of a transcript as the model sees it."""
    parts: list[str] = []
    at = chunk.start
    for place in places:
        parts += [text.content[at : place.start], place.shown]
        at = place.end
    return "".join([*parts, text.content[at : chunk.end]])


async def judge(
    asker: ChunkAsker, text: Text, chunk: Chunk, places: Sequence[GapPlace], policy: Policy,
    tally: Callable[[Usage], None],
) -> dict[tuple[int, int], str]:  # fmt: skip
    """Return the verdicts about places of a chunk, by their stretch of the text.

    A verdict is an entity type, `NON_PHI`, or `UNKNOWN`. The result is empty if a model declined, was cut short, gave
    no readable answer, or if the budget is exhausted.

    Raises:
        ModelUnavailable, ModelRejected, EgressRefused: the model failed.
    """
    terms = asker.terms
    keys = list(dict.fromkeys(place.key for place in places))
    system, user = messages(shown(text, chunk, places), keys, terms.types)
    request = Request(
        (Message("system", system), Message("user", user)), schema(keys, terms.types), True, 0.0, terms.max_tokens
    )

    async def asked(model: LanguageModel) -> dict[str, str] | None:
        for attempt in range(_ATTEMPTS):
            if asker.budget.exhausted:
                return None
            try:
                reply = await model.complete(_again(request, attempt))
            except (ContextTooLong, BudgetExhausted):
                return None
            asker.budget.take(reply.usage)
            tally(reply.usage)
            if reply.finish != "stop":
                return None
            verdicts = read(reply.text.replace(system, ""), keys, policy)
            if verdicts.usable:
                return dict(verdicts.by_key)
        return None

    answers = await gather_all([asked(model) for model in terms.models])
    if not all(answers):
        return {}
    votes = {key: united([answer[key] for answer in answers if answer]) for key in keys}
    return {(place.start, place.end): votes[place.key] for place in places}


def _again(request: Request, attempt: int) -> Request:
    """Return the request of an attempt. A recording tells them apart by the number of the sample."""
    return Request(
        request.messages, request.schema, request.strict, request.temperature, request.max_tokens, attempt
    )
