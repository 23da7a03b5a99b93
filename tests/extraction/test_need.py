"""A chunk is read a second time only where the first reply missed something certain, or is dense and doubtful."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from incognote import Deidentifier
from incognote.extraction.asking import AskingTerms, ChunkAsker
from incognote.extraction.chunks import Chunk
from incognote.extraction.extractor import Extractor, TextChunk
from incognote.extraction.need import more_masks
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM, text_of

POLICY = load_policy("strict")
NOTE = "Mr. John Smith saw Dr. Mary Abara on 3 May at Mercy Hospital, and Smith slept well. RM 350 is free."
TYPES = {"PERSON": "a name", "DATE": "a date", "HOSPITAL": "a hospital"}
RULES, ENCODER = "rules:names.titled", "encoder:full"


def spans(kind: str, words: str, *sources: str, score: float = 0.95, note: str = NOTE) -> list[Span]:
    at = note.index(words)
    return [Span(Text(note), at, at + len(words), kind, score, (source,)) for source in sources]


def both(kind: str, words: str) -> list[Span]:
    return spans(kind, words, RULES, ENCODER)


EVIDENCE = [
    *both("PERSON", "John Smith"),
    *both("PERSON", "Mary Abara"),
    *both("DATE", "3 May"),
    *both("HOSPITAL", "Mercy Hospital"),
]


def asked(
    reply: str, evidence: Iterable[Span] = EVIDENCE, note: str = NOTE
) -> tuple[ScriptedLLM, Extractor, TextChunk]:
    model = ScriptedLLM(lambda request: reply)
    terms = AskingTerms((model,), load("extract/v2"), TYPES)
    piece = TextChunk(Text(note), Chunk(0, len(note)), list(evidence))
    return model, Extractor(ChunkAsker(terms), policy=POLICY), piece


async def calls(reply: str, evidence: Iterable[Span] = EVIDENCE) -> int:
    model, extractor, piece = asked(reply, evidence)
    await extractor.extract([piece])
    return model.calls


WHOLE = '{"PERSON": ["<<John Smith>>", "<<Mary Abara>>"], "DATE": ["<<3 May>>"], "HOSPITAL": ["<<Mercy Hospital>>"]}'


async def test_a_complete_reply_is_the_only_one() -> None:
    assert await calls(WHOLE) == 1
    parts = '{"PERSON": ["Mr. <<John>>", "<<Dr. Mary Abara>>"], "DATE": ["<<May>>"], "HOSPITAL": ["<<Mercy>>"]}'
    assert await calls(parts) == 1
    assert await calls(WHOLE, [*EVIDENCE, *spans("PERSON", "Smith slept", RULES, ENCODER)]) == 2
    assert await calls("{}", []) == 1


async def test_a_repetition_of_a_name_in_the_reply_is_not_missed() -> None:
    repeated = [
        Span(Text(NOTE), NOTE.rindex("Smith"), NOTE.rindex("Smith") + 5, "PERSON", 0.9, (s,)) for s in (RULES, ENCODER)
    ]
    assert await calls(WHOLE, [*EVIDENCE, *repeated]) == 1


@pytest.mark.parametrize("reply", ["{}", '{"PERSON": ["<<John Smith>>"]}'])
async def test_the_second_pass_sees_masks_of_both_the_reply_and_what_is_certain(reply: str) -> None:
    model, extractor, piece = asked(reply)
    (made,) = await extractor.extract([piece])
    assert model.calls == len(made.by_pass) == 2
    masked = NOTE.replace("John Smith", "[PERSON]").replace("Mary Abara", "[PERSON]").replace("3 May", "[DATE]")
    assert text_of(model.requests[1]) == masked.replace("Mercy Hospital", "[HOSPITAL]")


@pytest.mark.parametrize(
    "evidence",
    [
        spans("HOSPITAL", "Mercy Hospital", RULES),
        spans("HOSPITAL", "Mercy Hospital", ENCODER),
        spans("HOSPITAL", "Mercy Hospital", RULES, score=0.4) + spans("HOSPITAL", "Mercy Hospital", ENCODER),
        spans("HOSPITAL", "Mercy Hospital", "rules:residue.abbreviation", ENCODER),
        spans("HOSPITAL", "Mercy Hospital", RULES, ENCODER, "known"),
    ],
    ids=["rules alone", "encoder alone", "below the threshold", "a weak rule", "known beforehand"],
)
async def test_what_one_detector_holds_or_was_known_needs_no_second_pass(evidence: list[Span]) -> None:
    assert await calls("{}", evidence) == 1


async def test_a_type_that_the_policy_keeps_needs_no_second_pass() -> None:
    assert not POLICY.replaces("RACE")
    assert await calls("{}", both("RACE", "Mercy Hospital")) == 1


async def test_under_need_no_chunk_is_read_a_third_time() -> None:
    assert await calls('{"DATE": ["<<3 May>>"]}') == 2


async def test_of_a_composite_request_only_the_text_in_need_is_read_again() -> None:
    notes = ("Pt John Smith is here.", "BP 120/76, no change.")
    model = ScriptedLLM(
        lambda request: '{"1": {}, "2": {}}' if "Several texts" in request.messages[0].content else "{}"
    )
    extractor = Extractor(ChunkAsker(AskingTerms((model,), load("extract/v2"), TYPES)), policy=POLICY)
    first = spans("PERSON", "John Smith", RULES, ENCODER, note=notes[0])
    pieces = [TextChunk(Text(n), Chunk(0, len(n)), e) for n, e in zip(notes, (first, []), strict=True)]
    made = await extractor.extract(pieces)
    assert [len(each.by_pass) for each in made] == [2, 1]
    assert text_of(model.requests[1]) == "Pt [PERSON] is here."


@pytest.mark.parametrize(
    ("mentions", "doubts", "needed"), [(10, 8, True), (9, 8, False), (10, 6, False), (0, 8, False)]
)
def test_a_dense_chunk_is_read_again_if_missed_identifiers_are_expected(
    mentions: int, doubts: int, needed: bool
) -> None:
    text = Text(" ".join(f"Word{i:03}" for i in range(100)))
    named = [Span(text, 8 * i, 8 * i + 7, "PERSON", 0.9, ("llm:pass1",)) for i in range(mentions)]
    alone = [Span(text, 8 * i, 8 * i + 7, "PERSON", 0.9, (ENCODER,)) for i in range(50, 50 + doubts)]
    assert (more_masks(100, alone, named, POLICY) is not None) == needed


def test_a_name_that_the_model_leaves_out_is_asked_about_again() -> None:
    note = "Dr. Mary Abara saw Mr. John Smith on 3 May 2024 for a cough. He lives in Springfield, Ohio."
    model = ScriptedLLM(lambda request: '{"PERSON": ["<<Mary Abara>>"]}' if "John" in text_of(request) else "{}")
    with Deidentifier(model=model) as deid:
        result = deid.deidentify(note)
    assert result.manifest["models"]["passes"] == "need"
    assert result.manifest["models"]["passes_made"] == model.calls == 2
    assert "John Smith" not in text_of(model.requests[1])
