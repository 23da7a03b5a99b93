"""Queries, decisions, and substitutes from a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import pytest

from incognote.errors import Unread
from incognote.keys import Keyring
from incognote.llm.base import Request
from incognote.relex.agents.base import HitQuestion, RelexNote
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


def about(one: Identity, *hits: IndexHit, query: str = "") -> HitQuestion:
    return HitQuestion(one, query, hits)


async def test_all_questions_about_a_patient_are_in_one_request_that_repeats_no_text(note: Make) -> None:
    at_hand = note("Dr. [CLINICIAN Abbott] called back with Dr. [CLINICIAN Moss].")
    by_words = {one.fullest: one for one in identities(at_hand)}
    model = ScriptedLLM(lambda request: '{"Q1": ["Y", "N"], "Q2": ["N"]}')
    abbotts = (hit("Adam Abbott", gender="male"), hit("Alice Abbott", gender="female"))
    questions = [about(by_words["Abbott"], *abbotts, query="Abbott, doctor"), about(by_words["Moss"], hit("Ida Moss"))]
    assert await LlmValidator(ModelAsker(model)).validate(questions, [at_hand]) == [[True, False], [False]]
    assert model.calls == 1
    shown = text_of(model.requests[0])
    assert "Q1: CLINICIAN: Abbott\n  query: Abbott, doctor" in shown
    assert "  1 CLINICIAN: Adam Abbott (guessed: gender male)\n  2 CLINICIAN: Alice Abbott" in shown
    assert "Dr. <<Q1|Abbott>> called back with Dr. <<Q2|Moss>>." in shown
    assert shown.count("called back") == 1


async def test_only_the_questions_without_a_usable_answer_are_asked_again(note: Make) -> None:
    at_hand = note("Dr. [CLINICIAN Adam Wilson] and Dr. [CLINICIAN Bo Ade].")
    first, second = identities(at_hand)
    model = ScriptedLLM(lambda request: '{"Q1": ["Y", "Y", "Y"], "Q2": ["N"]}')
    questions = [about(first, hit("Eve Stone"), hit("Adam Wilson")), about(second, hit("Bo Adeyemi"))]
    with pytest.raises(Unread):
        await LlmValidator(ModelAsker(model)).validate(questions, [at_hand])
    again = model.requests[1].messages[-1].content
    assert "Q1 have more or fewer answers than hits" in again
    assert "Q2" not in again
    asker = ModelAsker(model, consents=True)
    decided = await LlmValidator(asker).validate(questions, [at_hand])
    assert decided[0] == [False, True], "the embedded validator's"


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
        again = len(request.messages) > 2 or "An earlier answer" in request.messages[1].content
        table = GOOD | (words if not again or asked_again is None else asked_again)
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


@pytest.mark.parametrize(
    ("text", "table"),
    [
        (
            "[PATIENT Aleksandr Sokolov], wife [RELATIVE Natalia Sokolova]",
            {"Aleksandr Sokolov": "Viktor Morozov", "Natalia Sokolova": "Larisa Morozova"},
        ),
        (
            "[PATIENT Jo van der Velde-de Wit], father [RELATIVE Adriaan de Wit], spouse [RELATIVE Cor van der Velde]",
            {
                "Jo van der Velde-de Wit": "Wil van der Berg-de Kok", "Adriaan de Wit": "Jacobus de Kok",
                "Cor van der Velde": "Gerard van der Berg",
            },
        ),
    ],
)  # fmt: skip
async def test_the_surnames_of_a_family_may_be_inflected_and_double(
    note: Make, text: str, table: dict[str, str]
) -> None:
    model = ScriptedLLM(naming(**{key.replace(" ", "_"): value for key, value in table.items()}))
    assert await replaced(model, note(text)) == table
    assert model.calls == 1


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


async def test_a_relative_is_asked_for_a_given_name_only_and_a_reply_in_full_is_fine_too(note: Make) -> None:
    first, later = note("[PATIENT Adam Wilson]", "r1"), note("wife [RELATIVE Beth Wilson]", "r2")
    for reply in ("Grace", "Grace Chang"):
        taken, replacer = UsedSurrogates(), LlmReplacer(ModelAsker(model := ScriptedLLM(naming(Beth_Wilson=reply))))
        await replacer.replace(identities(first), DRAW, taken, [first])
        other = identities(later)
        said = await replacer.replace(other, DRAW, taken, [later])
        assert _written(other, said)["Beth Wilson"] == "Grace Chang"
        assert "surname only: Chang" in text_of(model.requests[1])
        assert model.calls == 2


async def test_namesakes_each_get_the_name_that_the_model_gave_them(note: Make) -> None:
    at_hand = note("[PATIENT Adam Wilson] lives with his grandson, also [RELATIVE Adam Wilson].")
    given = identities(at_hand)
    assert len(given) == 2, "two people"
    told = {"PERSON_1": "Kevin Chang", "PERSON_2": "Peter Chang"}
    model = ScriptedLLM(
        lambda request: json.dumps({name: {"replacement": w, "type": "PERSON"} for name, w in told.items()})
    )
    replacer = LlmReplacer(ModelAsker(model))
    taken = UsedSurrogates()
    said = await replacer.replace(given, DRAW, taken, [at_hand])
    shown = text_of(model.requests[0])
    assert "PERSON_2: RELATIVE: Adam Wilson" in shown or "PERSON_2: PATIENT: Adam Wilson" in shown
    assert "namesake of PERSON_1" in shown
    by_name = {f"PERSON_{at}": one for at, one in enumerate(sorted(given, key=lambda i: (i.scope, i.variants)), 1)}
    wholes = {name: Generators().whole(one, said[one.id]) for name, one in by_name.items()}
    assert {name: whole.partition(" (namesake ")[0] for name, whole in wholes.items()} == told
    assert wholes["PERSON_2"].startswith("Peter Chang (namesake "), "a mark for the index, which no note shows"
    assert set(_written(given, said).values()) <= {*told.values()}
    assert not replacer.refused
    for one in given:  # as after a refused claim: a repeated draw swaps nothing
        Generators().again(one, taken)
    assert await replacer.replace(given, DRAW, taken, [at_hand]) == said


async def test_a_name_that_cannot_be_used_is_asked_for_again_and_the_others_are_kept(note: Make) -> None:
    model = ScriptedLLM(naming(Chidi_Okafor="Adam Okafor", asked_again={"Chidi Okafor": "Emeka Balogun"}))
    made = await replaced(model, note(FAMILY))
    assert {words: made[words] for words in GOOD} == GOOD
    again = text_of(model.requests[1])
    assert "PERSON_3: CLINICIAN: Chidi Okafor" in again or "CLINICIAN: Chidi Okafor" in again
    assert "PATIENT: Adam Wilson" not in again
    assert "Kevin Chang" in again, "the names that were accepted must not be given again"
