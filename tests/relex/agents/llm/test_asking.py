"""A request is repeated once with the error. After that, the embedded agent is used or an error leads to review."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from incognote.errors import ModelUnavailable, Unread
from incognote.llm.base import Reply, Request, Usage
from incognote.relex.agents.base import EmbeddedClusterer, RelexNote
from incognote.relex.agents.llm import LlmClusterer, ModelAsker
from incognote.relex.nouns import Identity
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.scripted import ScriptedLLM
from incognote.testing.trouble import Trouble

Make = Callable[..., RelexNote]
Grouping = Callable[..., Callable[[Request], str]]
MARKED = "[PATIENT Ada Okafor] saw Dr. [CLINICIAN Wilson]; Ms. [PATIENT Okafor] thanks [CLINICIAN Adam Wilson]."
PAIRS = ({"Ada Okafor", "Okafor"}, {"Wilson", "Adam Wilson"})


def words(identities: Sequence[Identity]) -> list[set[str]]:
    return sorted(({v.words for v in one.variants} for one in identities), key=sorted)


WANTED = [{"Ada Okafor", "Okafor"}, {"Adam Wilson", "Wilson"}]


@pytest.mark.parametrize("name", ["code_fence", "prose_around_json", "trailing_comma", "single_quotes"])
async def test_what_can_be_mended_is_asked_once(name: str, note: Make, grouping: Grouping) -> None:
    model = ScriptedLLM(grouping(*PAIRS), misbehaviour=Misbehaviour(name, share=1.0))
    found = await LlmClusterer(ModelAsker(model)).cluster([note(MARKED)])
    assert words(found) == WANTED
    assert model.calls == 1


@pytest.mark.parametrize("name", ["truncated_json", "not_json", "refusal_text", "empty", "duplicate_keys"])
async def test_a_bad_first_reply_is_asked_about_once_more(name: str, note: Make, grouping: Grouping) -> None:
    model = ScriptedLLM(grouping(*PAIRS), misbehaviour=_OnlyFirst(name))
    assert words(await LlmClusterer(ModelAsker(model)).cluster([note(MARKED)])) == WANTED
    assert model.calls == 2
    assert model.requests[1].messages[:2] == model.requests[0].messages


class _OnlyFirst(Misbehaviour):
    """Replies badly until a request reports an error."""

    def __init__(self, name: str) -> None:
        super().__init__(name, share=1.0)

    def choose(self, request: Request, attempt: int) -> str | None:
        return super().choose(request, attempt) if len(request.messages) == 2 else None


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ('{"PERSON": {"PERSON_1": [1, 2], "PERSON_2": [2, 3, 4]}}', "model-reply-unusable"),
        ('{"PERSON": {"PERSON_1": [1, 2]}}', "model-reply-unusable"),
        ('{"PERSON": {"PERSON_1": [1, 2, 3, 4, 5]}}', "model-reply-unusable"),
        ('{"PERSON": {"PERSON_1": [1, 2', "model-reply-cut"),
        (Reply("{", "length"), "model-reply-cut"),
        (Reply("", "refusal"), "model-declined"),
        (Reply("", "filter"), "model-declined"),
        ("I'm sorry, I cannot help with that.", "model-reply-unusable"),
        (Trouble("status", 400, "context_length_exceeded"), "model-context"),
    ],
)
async def test_without_an_answer_the_policy_decides_who_serves(bad: object, code: str, note: Make) -> None:
    model = ScriptedLLM(lambda request: bad)
    with pytest.raises(Unread) as caught:
        await LlmClusterer(ModelAsker(model)).cluster([note(MARKED)])
    assert caught.value.code == code
    assert "Okafor" not in str(caught.value)
    assert "on_failure" in str(caught.value)

    consenting = ModelAsker(ScriptedLLM(lambda request: bad), consents=True)
    found = await LlmClusterer(consenting).cluster([note(MARKED)])
    assert words(found) == words(await EmbeddedClusterer().cluster([note(MARKED)])) == WANTED
    assert consenting.stood_in == {code: 1}


async def test_a_model_that_does_not_serve_is_no_reason_to_stand_in(note: Make) -> None:
    model = ScriptedLLM(lambda request: Trouble("status", 503))
    with pytest.raises(ModelUnavailable):
        await LlmClusterer(ModelAsker(model, consents=True)).cluster([note(MARKED)])


async def test_the_second_question_is_about_the_rest_only_and_names_the_errors(note: Make, grouping: Grouping) -> None:
    def answer(request: Request) -> str:
        first = "An earlier answer" not in request.messages[1].content
        return grouping(*PAIRS)(request).replace("[2, 4]", "[2]") if first else grouping(*PAIRS)(request)

    model = ScriptedLLM(answer)
    asker = ModelAsker(model)
    assert words(await LlmClusterer(asker).cluster([note(MARKED)])) == WANTED
    second = model.requests[1].messages
    assert [message.role for message in second] == ["system", "user"]
    assert "An earlier answer about these could not be used: 4 are in no group." in second[1].content
    assert "4 CLINICIAN: Adam Wilson" in second[1].content
    assert "2 (known) CLINICIAN: Wilson" in second[1].content
    assert "Ada Okafor\n" not in second[1].content, "nobody asks again about groups that share no word beginning"
    assert asker.faults["left-out"] == 1


async def test_without_a_good_part_the_second_question_is_beside_the_first_answer(note: Make) -> None:
    model = ScriptedLLM(lambda request: '{"PERSON": {"PERSON_1": [1, 2, 2], "PERSON_2": [1, 3, 4, 3]}}')
    with pytest.raises(Unread):
        await LlmClusterer(ModelAsker(model)).cluster([note(MARKED)])
    assert [message.role for message in model.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert "occur more than once" in model.requests[1].messages[-1].content


async def test_every_call_is_tallied_and_a_spent_budget_asks_nobody(note: Make) -> None:
    spent: list[Usage] = []
    model = ScriptedLLM(lambda request: "{}")
    with pytest.raises(Unread):
        await LlmClusterer(ModelAsker(model, tally=spent.append)).cluster([note(MARKED)])
    assert sum(usage.calls for usage in spent) == model.calls == 2

    broke = ScriptedLLM(lambda request: "{}")
    with pytest.raises(Unread, match="budget-exhausted"):
        await LlmClusterer(ModelAsker(broke, exhausted=lambda: True)).cluster([note(MARKED)])
    assert broke.calls == 0
