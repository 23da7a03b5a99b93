"""The pass loop masks, aligns, and merges findings. A missing answer never means "no PHI"."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ContextTooLong, ModelUnavailable
from incognote.extraction.asking import MOST_CALLS, AskingTerms, Budget, ChunkAsker
from incognote.extraction.chunks import Chunk, chunks
from incognote.extraction.extractor import Extraction, Extractor, TextChunk, TypedStretch, counted, masked
from incognote.llm.base import Reply, Request, Usage
from incognote.nouns import Text
from incognote.prompts.loader import load
from incognote.testing import Misbehaviour, ScriptedLLM, text_of
from incognote_benchmarks.script import Script

TYPES = {"PERSON": "a name", "AGE": "an age", "DATE": "a date", "HOSPITAL": "a hospital", "GUID": "a number"}
NOTE = "Mr. John Smith is 76 years old and takes 76 mg of aspirin. Seen by Dr. Mary Abara on 3 May at Mercy Hospital."
FINDINGS = [
    (kind, phrase, NOTE.index(identifier), NOTE.index(identifier) + len(identifier))
    for kind, phrase, identifier in (
        ("PERSON", "Mr. John Smith is", "John Smith"),
        ("PERSON", "Mary Abara", "Mary Abara"),
        ("AGE", "76 years old", "76 years old"),
        ("DATE", "on 3 May at", "3 May"),
        ("HOSPITAL", "Mercy Hospital", "Mercy Hospital"),
    )
]


def extractor(*models: ScriptedLLM, passes: int = 2, masking: bool = True, **terms: object) -> Extractor:
    budget = terms.pop("budget", None)
    asked = AskingTerms(models, load(str(terms.pop("prompt", "extract/v2"))), TYPES, **terms)  # type: ignore[arg-type] # set by each test
    return Extractor(ChunkAsker(asked, budget if isinstance(budget, Budget) else Budget()), passes, masking)


def scripted(at_most: int | None = None) -> ScriptedLLM:
    return ScriptedLLM(Script({NOTE: FINDINGS}, at_most=at_most))


async def read(extractor: Extractor, note: str = NOTE, words: int = 256) -> Extraction:
    text = Text(note)
    made = Extraction()
    for chunk in chunks(note, words):
        made.join((await extractor.extract([TextChunk(text, chunk)]))[0])
    return made


def words(made: Extraction) -> list[tuple[str, str]]:
    return [(s.type, s.text) for s in made.spans]


ALL = [
    ("PERSON", "John Smith"),
    ("AGE", "76 years old"),
    ("PERSON", "Mary Abara"),
    ("DATE", "3 May"),
    ("HOSPITAL", "Mercy Hospital"),
]


@pytest.mark.parametrize("prompt", ["extract/v1", "extract/v2"])
async def test_the_findings_stand_where_they_stand_and_nowhere_else(prompt: str) -> None:
    made = await read(extractor(scripted(), prompt=prompt))
    assert words(made) == ALL  # not the 76 of 76 mg (RedactOR §A.4)
    assert not made.unsure
    assert not made.unanswered


async def test_a_second_pass_sees_masks_and_finds_what_the_first_left() -> None:
    model = scripted(at_most=3)
    made = await read(extractor(model))
    assert words(made) == ALL
    assert [s.sources for s in made.spans] == [("llm:pass1",)] * 3 + [("llm:pass2",)] * 2
    first, second = map(text_of, model.requests)
    assert first == NOTE
    assert second == NOTE.replace("John Smith", "[PERSON]").replace("Mary Abara", "[PERSON]").replace(
        "76 years old", "[AGE]"
    )


async def test_more_passes_help_because_of_the_masks() -> None:
    for passes, found in ((1, 2), (2, 4), (3, 5)):
        assert len((await read(extractor(scripted(at_most=2), passes=passes))).spans) == found
        assert len((await read(extractor(scripted(at_most=2), passes=passes, masking=False))).spans) == 2


async def test_passes_end_early_only_after_the_second() -> None:
    model = ScriptedLLM(lambda request: "{}")
    await read(extractor(model, passes=4))
    assert model.calls == 2


async def test_a_chunk_with_nothing_left_to_read_is_not_asked_about_again() -> None:
    model = ScriptedLLM(lambda request: '{"PERSON": ["<<John Smith>>"]}')
    await read(extractor(model), note="John Smith.")
    assert model.calls == 1


async def test_findings_of_overlapping_chunks_are_one_set() -> None:
    made = await read(extractor(scripted()), words=16)
    assert words(made) == ALL


async def test_a_hint_that_quotes_a_mask_finds_its_way_back() -> None:
    def answer(request: Request) -> str:
        if "[PERSON]" in text_of(request):
            return '{"AGE": ["[PERSON] is <<76 years old>>"]}'
        return '{"PERSON": ["<<John Smith>>"]}'

    made = await read(extractor(ScriptedLLM(answer)))
    assert words(made) == ALL[:2]


async def test_what_cannot_be_placed_is_told_and_never_dropped() -> None:
    made = await read(extractor(ScriptedLLM(lambda request: '{"PERSON": ["<<Bartholomew Quist>>"]}'), passes=1))
    assert not made.spans
    assert made.unsure == {("mention-unplaced", "PERSON"): 1}


async def test_a_type_nobody_knows_is_asked_about_again_and_then_a_doubt() -> None:
    model = ScriptedLLM(lambda request: '{"DOSAGE": ["<<76 mg>>"]}')
    made = await read(extractor(model, passes=1))
    assert model.calls == 2
    assert not made.spans
    assert [s.text for s in made.doubts] == ["76 mg"]
    assert made.unsure == {("mention-of-unknown-type", "GUID"): 1}


async def test_a_phrase_without_marks_is_asked_about_again_and_then_for_review() -> None:
    model = ScriptedLLM(lambda request: '{"PERSON": ["Mr. John Smith"]}')
    made = await read(extractor(model, passes=1))
    assert model.calls == 2
    assert "<<" in model.requests[1].messages[-1].content
    assert words(made) == ALL[:1]
    assert made.unsure == {("mention-unmarked", "PERSON"): 1}
    replies = iter(['{"PERSON": ["Mr. John Smith"]}', '{"PERSON": ["Mr. <<John Smith>>"]}'])
    made = await read(extractor(ScriptedLLM(lambda request: next(replies)), passes=1))
    assert words(made) == ALL[:1]
    assert not made.unsure


async def test_a_complete_answer_without_marks_is_kept_if_the_second_question_has_no_answer() -> None:
    def answer(request: Request) -> str | Reply:
        if len(request.messages) > 2:
            raise ModelUnavailable("503")
        return '{"PERSON": ["Mr. John Smith"]}'

    made = await read(extractor(ScriptedLLM(answer), passes=1))
    assert words(made) == ALL[:1]
    assert made.unsure == {("mention-unmarked", "PERSON"): 1}


async def test_a_bad_reply_is_asked_about_once_more() -> None:
    replies = iter(["I'd rather talk about the weather.", '{"PERSON": ["<<John Smith>>"]}'])
    model = ScriptedLLM(lambda request: next(replies))
    made = await read(extractor(model, passes=1))
    assert words(made) == ALL[:1]
    assert [len(request.messages) for request in model.requests] == [2, 3]


async def test_after_two_bad_replies_the_chunk_is_divided() -> None:
    long = NOTE + " " + " ".join(f"Word{i} follows." for i in range(20))
    script = Script({long: FINDINGS})

    def answer(request: Request) -> str:
        return script(request) if len(text_of(request).split()) < 45 else "no"

    made = await read(extractor(ScriptedLLM(answer)), note=long)
    assert words(made) == ALL
    assert not made.unanswered


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lambda request: "never mind", "model-reply-unusable"),
        (lambda request: '{"PERSON": [{"name": "John"}]}', "model-reply-unusable"),
        (lambda request: '{"PERSON": ["<<John Smith>>", "<<Mary', "model-reply-cut"),
        (lambda request: Reply('{"PERSON": []}', finish="length"), "model-reply-cut"),
        (lambda request: Reply("{}", finish="filter"), "model-declined"),
        (lambda request: Reply("", finish="refusal"), "model-declined"),
        (lambda request: "I'm sorry, I can't help with that.", "model-declined"),
    ],
)
@pytest.mark.parametrize("votes", [1, 3])
async def test_no_answer_is_never_no_phi(answer: Callable[[Request], str | Reply], code: str, votes: int) -> None:
    made = await read(extractor(ScriptedLLM(answer), votes=votes))
    assert made.unanswered[code] >= 1


async def test_a_text_too_long_for_the_model_is_divided() -> None:
    long = NOTE + " " + " ".join(f"Word{i} follows." for i in range(30))
    script = Script({long: FINDINGS})

    def answer(request: Request) -> str:
        if len(text_of(request).split()) > 40:
            raise ContextTooLong("too long")
        return script(request)

    made = await read(extractor(ScriptedLLM(answer)), note=long)
    assert words(made) == ALL
    assert not made.unanswered


async def test_of_a_cut_answer_the_unfinished_phrase_is_not_sought() -> None:
    replies = iter(['{"PERSON": ["<<John Smith>>"], "HOSPITAL": ["M', '{"PERSON": ["<<Mary Abara>>"]}'])
    made = await read(extractor(ScriptedLLM(lambda request: next(replies)), passes=1))
    assert words(made) == [("PERSON", "John Smith"), ("PERSON", "Mary Abara")]  # but no M of Mr., Mary, or mg
    assert not made.unsure


async def test_instructions_that_come_back_are_no_findings() -> None:
    model = ScriptedLLM(Script({NOTE: FINDINGS}), misbehaviour=Misbehaviour("echoed_instructions", 1.0))
    made = await read(extractor(model))
    assert words(made) == ALL
    assert not made.unsure


async def test_an_outage_is_an_error_and_no_answer() -> None:
    def answer(request: Request) -> str:
        raise ModelUnavailable("503")

    with pytest.raises(ModelUnavailable):
        await read(extractor(ScriptedLLM(answer), votes=2))


async def test_a_spent_budget_leaves_chunks_unread() -> None:
    model = scripted()
    made = await read(extractor(model, budget=Budget(tokens=1)), words=16)
    assert model.calls == 1
    assert made.unanswered["budget-exhausted"] >= 2


async def test_usage_is_what_all_calls_took() -> None:
    budget = Budget()
    made = await read(extractor(ScriptedLLM(lambda r: Reply("{}", usage=Usage(100, 5, 0, 1, 0.01))), budget=budget))
    assert made.usage == Usage(200, 10, 0, 2, 0.02) == budget.spent


async def test_several_votes_of_several_models_agree_or_do_not() -> None:
    sure = ScriptedLLM(lambda r: '{"PERSON": ["<<John Smith>>"]}', name="a/b")
    wild = ScriptedLLM(lambda r: '{"PERSON": ["<<John Smith>>", "<<aspirin>>"]}' if r.sample == 1 else "{}", name="c/d")
    made = await read(extractor(sure, wild, votes=2, rule="majority", passes=1))
    assert {s.text: s.score for s in made.spans} == {"John Smith": 0.75, "aspirin": 0.25}
    assert {request.temperature for request in sure.requests} == {0.7}


async def test_a_composite_request_gives_what_single_ones_give() -> None:
    notes = {
        "Pt John Smith is 76 years old.": [("PERSON", "John Smith", 3, 13), ("AGE", "is 76 years old", 17, 29)],
        "BP 120/76, no change.": [],
        "John Smith seen by Dr. Abara.": [("PERSON", "John Smith seen", 0, 10), ("PERSON", "Dr. Abara", 23, 28)],
    }
    script = Script(notes)
    pieces = [TextChunk(Text(note, str(i)), chunks(note)[0]) for i, note in enumerate(notes)]

    def composite(request: Request) -> str:
        asked = request.messages[-1].content.split("\nText ")[1:]
        members = {}
        for block in asked:
            number, _, rest = block.partition("\n")
            single = Request((request.messages[0], type(request.messages[1])("user", rest)), request.schema)
            members[number.strip()] = json.loads(script(single))
        return json.dumps({number: found for number, found in members.items() if found})

    model, single = ScriptedLLM(composite), ScriptedLLM(script)
    together = await extractor(model).extract(pieces)
    alone = [(await extractor(single).extract([piece]))[0] for piece in pieces]
    assert [words(one) for one in together] == [words(one) for one in alone]
    assert words(together[2]) == [("PERSON", "John Smith"), ("PERSON", "Abara")]
    assert model.calls < single.calls


async def test_a_composite_reply_nobody_can_assign_is_asked_for_text_by_text() -> None:
    notes = ["John Smith called.", "Mary Abara called."]
    pieces = [TextChunk(Text(note, str(i)), chunks(note)[0]) for i, note in enumerate(notes)]

    def answer(request: Request) -> str:
        if "Text 2" in request.messages[1].content:
            return '{"7": {"PERSON": ["<<John Smith>>"]}}'
        name = " ".join(text_of(request).split()[:2])
        return "{}" if "[" in name else json.dumps({"PERSON": [f"<<{name}>>"]})

    made = await extractor(ScriptedLLM(answer)).extract(pieces)
    assert [words(one) for one in made] == [[("PERSON", "John Smith")], [("PERSON", "Mary Abara")]]
    assert not any(one.unanswered for one in made)


async def test_nothing_of_a_note_shows_in_a_repr() -> None:
    made = await read(extractor(scripted()))
    assert "John" not in repr(made)
    assert "John" not in repr(TextChunk(Text(NOTE), chunks(NOTE)[0]))


NAME, NAME_LONGER, AGE = TypedStretch(0, 4, "PERSON"), TypedStretch(0, 9, "CLINICIAN"), TypedStretch(20, 22, "AGE")


def test_one_vote_is_sure_of_itself_under_either_rule() -> None:
    assert counted([[NAME]], "majority") == {NAME: 1.0}
    assert counted([[NAME]], "union") == {NAME: 1.0}


def test_a_majority_scores_by_share_and_a_union_keeps_every_find_above_one_half() -> None:
    votes = [[NAME, AGE], [NAME], [NAME]]
    assert counted(votes, "majority") == {NAME: 1.0, AGE: 1 / 3}
    assert counted(votes, "union") == {NAME: 1.0, AGE: 0.5 + 1 / 6}


def test_two_boundaries_of_one_name_agree_that_there_is_a_name() -> None:
    assert counted([[NAME], [NAME_LONGER]], "majority") == {NAME: 1.0, NAME_LONGER: 1.0}


def test_another_kind_of_identifier_at_the_same_place_does_not_agree() -> None:
    assert counted([[NAME], [TypedStretch(0, 4, "LOCATION")]], "majority")[NAME] == 0.5


def test_no_votes_found_nothing() -> None:
    assert counted([[], []], "union") == {}


def test_what_was_found_is_masked_by_its_type() -> None:
    view = masked("Mr. John Smith, 76", [(16, 18, "AGE"), (4, 14, "PERSON")])
    assert view.text == "Mr. [PERSON], [AGE]"
    assert [view.text[a:b] for a, b in view.masks] == ["[PERSON]", "[AGE]"]


@given(st.text(min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=8, unique=True))
def test_every_unmasked_stretch_finds_its_way_back(text: str, cuts: list[int]) -> None:
    edges = sorted(cut for cut in cuts if cut <= len(text))
    found = [(a, b, "PERSON") for a, b in zip(edges[::2], edges[1::2], strict=False)]
    view = masked(text, found)
    at = 0
    for start, end in (*view.masks, (len(view.text), len(view.text))):
        if at < start:
            a, b = view.back(at, start)
            assert text[a:b] == view.text[at:start]
        at = end


LONG = " ".join(f"{NOTE} Word{i} follows." for i in range(40))


@pytest.mark.parametrize("votes", [1, 3])
@pytest.mark.parametrize(
    ("answer", "calls", "codes"),
    [
        (lambda request: Reply('{"PERSON": []}', finish="length"), 7, {"model-reply-cut", "model-calls"}),
        (lambda request: '{"PERSON": ["<<John Smith>>", "<<Mary', 6, {"model-reply-cut", "model-calls"}),
        (lambda request: "never mind", 6, {"model-reply-unusable", "model-calls"}),
        (lambda request: Reply("", finish="refusal"), 1, {"model-declined"}),
        (lambda request: "I'm sorry, but I can't help with that. {}", 2, {"model-declined"}),
    ],
)
async def test_a_chunk_costs_at_most_eight_calls_for_each_vote(
    answer: Callable[[Request], str | Reply], calls: int, codes: set[str], votes: int
) -> None:
    model = ScriptedLLM(answer)
    piece = TextChunk(Text(LONG), chunks(LONG, 1024)[0])
    (made,) = await extractor(model, votes=votes, passes=8).extract([piece])
    assert model.calls == calls * votes
    assert calls <= MOST_CALLS
    assert set(made.unanswered) == codes


async def test_a_pass_that_would_be_the_ninth_call_is_left_out() -> None:
    names = iter(LONG.split())
    model = ScriptedLLM(lambda request: json.dumps({"PERSON": [f"<<{next(names)}>>"]}))
    piece = TextChunk(Text(LONG), chunks(LONG, 1024)[0])
    (made,) = await extractor(model, passes=9).extract([piece])
    assert model.calls == MOST_CALLS
    assert not made.unanswered


def test_only_a_chunk_that_is_mostly_in_another_language_has_its_additions() -> None:
    spanish = "El paciente ingresa por dolor torácico y presenta fiebre desde ayer por la noche según su familia. "
    english = "The patient was seen in the clinic for a routine visit and had no complaints at all today. "
    for text, codes in ((spanish * 3, {"es"}), (english * 5 + spanish, set()), (english, set())):
        assert TextChunk(Text(text), Chunk(0, len(text))).languages == codes
