"""Queries, decisions, and substitutes from a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import pytest

from incognote.errors import Unread
from incognote.keys import Keyring
from incognote.llm.base import Request
from incognote.relex.agents.base import RelexNote
from incognote.relex.agents.llm import LlmQuerier, LlmReplacer, LlmValidator, ModelAsker
from incognote.relex.cluster import cluster
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity, IndexHit
from incognote.relex.nouns import Identity, Surrogate
from incognote.testing.scripted import ScriptedLLM
from incognote.testing.trouble import text_of

Make = Callable[..., RelexNote]
DRAW = KeyedDraw(Keyring(bytes(32)))
NAME = re.compile(r"^([A-Z]+_\d+): ([A-Z_]+): (.+)$", re.MULTILINE)


def identities(note: RelexNote) -> list[Identity]:
    return cluster(note.variants)


def hit(original: str | None, type_: str = "CLINICIAN", **known: str) -> IndexHit:
    return IndexHit(IndexedIdentity("e", IdentityPlace("d", "", "PERSON"), type_, {}, "-", known, original), 0.5)


async def test_a_query_for_each_name_and_none_for_numbers(note: Make) -> None:
    given = identities(note("Dr. [CLINICIAN Adam Wilson] called [TELEPHONE_NUMBER 555-0100]."))
    model = ScriptedLLM(lambda request: '{"PERSON": {"PERSON_1": "Adam Wilson, doctor"}}')
    found = await LlmQuerier(ModelAsker(model)).query(given, [])
    assert {one.group: found[one.id] for one in given} == {"PERSON": "Adam Wilson, doctor", "CONTACT": ""}


async def test_a_bad_query_is_asked_again_and_then_the_embedded_one_stands(note: Make) -> None:
    given = identities(note("Dr. [CLINICIAN Adam Wilson]."))
    model = ScriptedLLM(lambda request: '{"PERSON": {"PERSON_2": "Eve"}}')
    asker = ModelAsker(model, consents=True)
    assert list((await LlmQuerier(asker).query(given, [])).values()) == ["Adam Wilson"]
    assert model.calls == 2
    with pytest.raises(Unread):
        await LlmQuerier(ModelAsker(model)).query(given, [])


async def test_a_decision_per_hit_and_none_about_hits_without_an_original(note: Make) -> None:
    at_hand = note("Dr. [CLINICIAN Wilson] called back.")
    (one,) = identities(at_hand)
    model = ScriptedLLM(lambda request: '{"result": ["Y", "N"]}')
    hits = [hit(None), hit("Adam Wilson", gender="male"), hit("Alice Wilson", gender="female")]
    assert await LlmValidator(ModelAsker(model)).validate(one, "Wilson, doctor", hits, [at_hand]) == [
        False,
        True,
        False,
    ]
    shown = text_of(model.requests[0])
    assert "1 CLINICIAN: Adam Wilson\n  guessed: gender male\n2 CLINICIAN: Alice Wilson" in shown
    assert "Dr. <<Wilson>> called back." in shown
    assert "query: Wilson, doctor" in shown


async def test_nobody_is_asked_about_no_hits(note: Make) -> None:
    (one,) = identities(note("Dr. [CLINICIAN Wilson]."))
    model = ScriptedLLM(lambda request: "{}")
    assert await LlmValidator(ModelAsker(model)).validate(one, "", [], []) == []
    assert await LlmValidator(ModelAsker(model)).validate(one, "", [hit(None)], []) == [False]
    assert model.calls == 0


async def test_another_count_of_answers_is_never_taken(note: Make) -> None:
    (one,) = identities(note("Dr. [CLINICIAN Adam Wilson]."))
    model = ScriptedLLM(lambda request: '{"result": ["Y", "Y", "Y"]}')
    with pytest.raises(Unread):
        await LlmValidator(ModelAsker(model)).validate(one, "", [hit("Eve Stone"), hit("Adam Wilson")], [])
    assert "there are 2 hits and 3 answers" in model.requests[1].messages[-1].content
    asker = ModelAsker(model, consents=True)
    decided = await LlmValidator(asker).validate(one, "", [hit("Eve Stone"), hit("Adam Wilson")], [])
    assert decided == [False, True], "the embedded validator's"


FAMILY = (
    "[PATIENT Adam Wilson], wife [RELATIVE Beth Wilson]; Dr. [CLINICIAN Chidi Okafor], [HOSPITAL Larkspur Clinic]; "
    "he is a [OCCUPATION plumber], born [BIRTH_DATE_TIME 1/2/1950], phone [TELEPHONE_NUMBER 555-0100]."
)
GOOD = {
    "Adam Wilson": "Kevin Chang", "Beth Wilson": "Grace Chang", "Chidi Okafor": "Emeka Balogun",
    "Larkspur Clinic": "Harrowgate Clinic", "plumber": "roofer",
}  # fmt: skip


def naming(*, asked_again: dict[str, str] | None = None, **changed: str) -> Callable[[Request], str]:
    """Reply with substitutes. `changed` ones replace the good ones, and `asked_again` those of a second reply."""
    words = {key.replace("_", " "): value for key, value in changed.items()}

    def answer(request: Request) -> str:
        table = GOOD | (words if len(request.messages) == 2 or asked_again is None else asked_again)
        return json.dumps(
            {
                name: {"replacement": table[forms.split(";")[0]], "type": name.split("_")[0]}
                for name, _, forms in NAME.findall(text_of(request))
            }
        )

    return answer


async def replaced(model: ScriptedLLM, at_hand: RelexNote, *, consents: bool = False) -> dict[str, str]:
    """Return original → replacement."""
    given = identities(at_hand)
    said = await LlmReplacer(ModelAsker(model, consents=consents)).replace(given, DRAW, UsedSurrogates(), [at_hand])
    assert said.keys() == {one.id for one in given}
    return _written(given, said)


def _written(given: Sequence[Identity], said: dict[str, Surrogate]) -> dict[str, str]:
    generators = Generators()
    made = {}
    for one in given:
        for variant in one.variants:
            rendered = generators.render(variant, one, said[one.id])
            made[variant.words] = rendered.text if rendered else ""
    return made


async def test_names_and_jobs_are_the_models_and_numbers_and_dates_are_drawn(note: Make) -> None:
    model = ScriptedLLM(naming())
    made = await replaced(model, note(FAMILY))
    assert {words: made[words] for words in GOOD} == GOOD
    shown = text_of(model.requests[0])
    assert "TELEPHONE_NUMBER" not in shown
    assert "BIRTH_DATE" not in shown
    drawn = Generators().generate_all(identities(note(FAMILY)), DRAW, UsedSurrogates())
    embedded = _written(identities(note(FAMILY)), drawn)
    assert {key: made[key] for key in ("1/2/1950", "555-0100")} == {
        key: embedded[key] for key in ("1/2/1950", "555-0100")
    }


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"Adam_Wilson": "Adam Wilson", "Beth_Wilson": "Grace Wilson"}, "original"),
        ({"Adam_Wilson": "Kevin Okafor", "Beth_Wilson": "Grace Okafor"}, "original"),
        ({"Larkspur_Clinic": "Larkspur Clinic"}, "original"),
        ({"plumber": "Plumber"}, "original"),
        ({"Beth_Wilson": "Kevin Chang"}, "repeats"),
        ({"Beth_Wilson": "Grace Ho"}, "kin"),
        ({"Adam_Wilson": "Dr. Kevin Chang"}, "form"),
        ({"Adam_Wilson": "Kevin"}, "form"),
        ({"Adam_Wilson": "K. Chang"}, "form"),
    ],
)
async def test_an_original_a_repetition_or_kin_torn_apart_is_asked_again_and_never_given(
    note: Make, changed: dict[str, str], fault: str
) -> None:
    mended = ScriptedLLM(naming(**changed, asked_again={}))
    made = await replaced(mended, note(FAMILY))
    assert {words: made[words] for words in GOOD} == GOOD
    assert mended.calls == 2
    with pytest.raises(Unread):
        await replaced(ScriptedLLM(naming(**changed)), note(FAMILY))
    asker = ModelAsker(ScriptedLLM(naming(**changed)), consents=True)
    given = identities(note(FAMILY))
    said = await LlmReplacer(asker).replace(given, DRAW, UsedSurrogates(), [note(FAMILY)])
    assert said == Generators().generate_all(given, DRAW, UsedSurrogates()), "drawn, as if nobody had been asked"
    assert asker.faults[fault] == 2


async def test_a_surname_given_before_stays_whatever_the_model_says(note: Make) -> None:
    first, later = note("[PATIENT Adam Wilson]", "r1"), note("wife [RELATIVE Beth Wilson]", "r2")
    taken, replacer = UsedSurrogates(), LlmReplacer(ModelAsker(model := ScriptedLLM(naming(Beth_Wilson="Grace Ho"))))
    one, other = identities(first), identities(later)
    await replacer.replace(one, DRAW, taken, [first])
    said = await replacer.replace(other, DRAW, taken, [later])
    assert _written(other, said)["Beth Wilson"] == "Grace Chang"
    assert "surname wilson became Chang" in text_of(model.requests[1])


async def test_who_has_a_surrogate_is_asked_about_no_more_and_a_refused_one_is_drawn(note: Make) -> None:
    at_hand = note("[PATIENT Adam Wilson]")
    given, taken = identities(at_hand), UsedSurrogates()
    replacer = LlmReplacer(ModelAsker(model := ScriptedLLM(naming())))
    first = await replacer.replace(given, DRAW, taken, [at_hand])
    assert await replacer.replace(given, DRAW, taken, [at_hand]) == first
    assert model.calls == 1
    taken.refuse(given[0].domain, given[0].scope, "Kevin Chang")
    again = await replacer.replace(given, DRAW, taken, [at_hand])
    assert Generators().whole(given[0], again[given[0].id]) != "Kevin Chang"
