"""The mixture: a model is asked only about mentions that the embedded clusterer doubts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from incognote.errors import Unread
from incognote.llm.base import Request
from incognote.relex.agents.base import EmbeddedClusterer, RelexNote
from incognote.relex.agents.llm import DoubtfulClusterer, LlmClusterer, ModelAsker
from incognote.relex.nouns import Identity
from incognote.testing.scripted import ScriptedLLM
from incognote.testing.trouble import text_of

Make = Callable[..., RelexNote]
Grouping = Callable[..., Callable[[Request], str]]
TWO = "Dr. [CLINICIAN Adam Wilson] and [CLINICIAN Beth Wilson], NP. [CLINICIAN Wilson] called. [PATIENT Ada Moss] left."


def words(identities: Sequence[Identity]) -> list[set[str]]:
    return sorted(({v.words for v in one.variants} for one in identities), key=sorted)


def mixture(model: ScriptedLLM, *, consents: bool = False) -> DoubtfulClusterer:
    return DoubtfulClusterer(LlmClusterer(ModelAsker(model, consents=consents)))


async def test_without_a_doubt_the_partition_is_the_embedded_one_and_nobody_is_asked(note: Make) -> None:
    notes = [note("[PATIENT Ada Moss] saw Dr. [CLINICIAN Wilson], that is [CLINICIAN Adam Wilson].")]
    model = ScriptedLLM(lambda request: "{}")
    assert await mixture(model).cluster(notes) == await EmbeddedClusterer().cluster(notes)
    assert model.calls == 0


async def test_a_surname_with_two_bearers_is_the_models_to_decide(note: Make, grouping: Grouping) -> None:
    model = ScriptedLLM(grouping({"Beth Wilson", "Wilson"}))
    found = words(await mixture(model).cluster([note(TWO)]))
    assert found == [{"Ada Moss"}, {"Adam Wilson"}, {"Beth Wilson", "Wilson"}]
    shown = text_of(model.requests[0])
    assert "CLINICIAN: Wilson" in shown
    assert "(known) CLINICIAN: Adam Wilson" in shown
    assert "PATIENT: Ada Moss" not in shown


async def test_a_mention_that_is_typed_patient_and_relative_is_doubted(note: Make, grouping: Grouping) -> None:
    model = ScriptedLLM(grouping())
    await mixture(model).cluster([note("[PATIENT Ana Reyes] came. Caller: [PATIENT Luis Holt], husband.")])
    assert model.calls == 1


async def test_a_mention_that_was_placed_earlier_is_asked_about_no_more(note: Make, grouping: Grouping) -> None:
    model = ScriptedLLM(grouping({"Beth Wilson", "Wilson"}))
    clusterer = mixture(model)
    earlier = await clusterer.cluster([note(TWO)])
    later = await clusterer.cluster([note("[PATIENT Ada Moss] is well.", "r2")], earlier)
    assert {"Beth Wilson", "Wilson"} in words(later)
    assert model.calls == 1


async def test_without_an_answer_the_embedded_partition_stays_if_the_policy_allows_it(note: Make) -> None:
    model = ScriptedLLM(lambda request: "no")
    with pytest.raises(Unread):
        await mixture(model).cluster([note(TWO)])
    found = await mixture(ScriptedLLM(lambda request: "no"), consents=True).cluster([note(TWO)])
    assert words(found) == words(await EmbeddedClusterer().cluster([note(TWO)]))
