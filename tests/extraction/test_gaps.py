"""Places of a transcript that a language model judges, and how it is asked."""

from __future__ import annotations

import json
import re

from incognote.extraction.asking import AskingTerms, Budget, ChunkAsker
from incognote.extraction.chunks import Chunk
from incognote.extraction.gaps import GapPlace, gap_places, judge, shown, within
from incognote.llm.base import Reply, Request, Usage
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM, text_of

TEXT = Text("I am mister harbor. <human_timestamp_(00:02.85 - 00:02.95)> The knee hurts.", "body")
TOKEN = (20, 59)
DOUBTED = Span(TEXT, 12, 18, "PERSON", 0.6, ("doubt", "encoder:full"))
ALL = Chunk(0, len(TEXT))
STRICT = load_policy("strict")


def times(start: int, end: int) -> tuple[float, float]:
    return start / 10, end / 10


def asker(*models: ScriptedLLM, budget: Budget | None = None) -> ChunkAsker:
    prompt = load("extract/v3")
    return ChunkAsker(AskingTerms(models, prompt, prompt.types(STRICT)), budget or Budget())


def says(value: str) -> ScriptedLLM:
    return ScriptedLLM(lambda request: json.dumps(dict.fromkeys(re.findall(r"_\((.*?)\)", text_of(request)), value)))


def test_places_are_tokens_and_doubted_words_in_order() -> None:
    assert gap_places(TEXT, [DOUBTED], times) == [
        GapPlace(12, 18, "00:01.20 - 00:01.80", "harbor"),
        GapPlace(*TOKEN, "00:02.85 - 00:02.95"),
    ]


def test_doubted_words_without_a_time_are_not_judged() -> None:
    assert [place.heard for place in gap_places(TEXT, [DOUBTED], lambda start, end: None)] == [""]


def test_a_text_without_gaps_has_no_places() -> None:
    note = Text("Seen by Dr. Harper.")
    assert gap_places(note, [Span(note, 12, 18, "PERSON", 0.9, ("encoder:full",))], times) == []


def test_a_chunk_shows_its_places_as_tokens() -> None:
    places = gap_places(TEXT, [DOUBTED], times)
    assert shown(TEXT, ALL, places) == (
        'I am mister <doubted_timestamp_(00:01.20 - 00:01.80) heard "harbor">. '
        "<human_timestamp_(00:02.85 - 00:02.95)> The knee hurts."
    )


def test_a_place_that_a_chunk_cuts_is_not_within_it() -> None:
    places = gap_places(TEXT, [DOUBTED], times)
    assert [place.heard for place in within(places, Chunk(0, 30))] == ["harbor"]


async def test_each_place_gets_the_verdict_of_its_time() -> None:
    model = ScriptedLLM(lambda request: '{"00:01.20 - 00:01.80": "PERSON", "00:02.85 - 00:02.95": "NON_PHI"}')
    used: list[Usage] = []
    verdicts = await judge(asker(model), TEXT, ALL, gap_places(TEXT, [DOUBTED], times), STRICT, used.append)
    assert verdicts == {(12, 18): "PERSON", TOKEN: "NON_PHI"}
    assert len(used) == model.calls == 1


async def test_all_models_must_agree_that_a_place_is_free_of_identifiers() -> None:
    places = gap_places(TEXT, [], times)
    both = asker(says("NON_PHI"), says("UNKNOWN"))
    assert await judge(both, TEXT, ALL, places, STRICT, lambda usage: None) == {TOKEN: "UNKNOWN"}


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more() -> None:
    replies = iter(["What?", '{"00:02.85 - 00:02.95": "PERSON"}'])
    model = ScriptedLLM(lambda request: next(replies))
    places = gap_places(TEXT, [], times)
    assert await judge(asker(model), TEXT, ALL, places, STRICT, lambda usage: None) == {TOKEN: "PERSON"}
    assert model.calls == 2


async def test_without_a_readable_reply_there_is_no_verdict() -> None:
    places = gap_places(TEXT, [], times)
    for reply in ("What?", Reply("{}", "refusal"), Reply('{"00:02.85 - 00:02.95": "NON_PHI"}', "length")):

        def answer(request: Request, reply: str | Reply = reply) -> str | Reply:
            return reply

        assert await judge(asker(ScriptedLLM(answer)), TEXT, ALL, places, STRICT, lambda usage: None) == {}


async def test_an_exhausted_budget_asks_nothing() -> None:
    model, budget = says("NON_PHI"), Budget(tokens=10)
    budget.take(Usage(10, 10, calls=1))
    places = gap_places(TEXT, [], times)
    assert await judge(asker(model, budget=budget), TEXT, ALL, places, STRICT, lambda usage: None) == {}
    assert model.calls == 0
