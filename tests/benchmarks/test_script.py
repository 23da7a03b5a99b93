"""A script answers for any part of its notes, under either contract, masked or not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ModelRejected, UsageError
from incognote.llm.base import Message, Request
from incognote.prompts.loader import load
from incognote.prompts.reply import read
from incognote_benchmarks.script import Finding, Script

NOTE = "Mr. John Gray is 76 years old and takes 76 mg. Seen by Dr. Abara in Oslo, then by Dr. Abara again."


def finding(kind: str, phrase: str, words: str, note: str = NOTE, nth: int = 0) -> Finding:
    """Make a finding from its words within the nth occurrence of its phrase."""
    at = -1
    for _ in range(nth + 1):
        at = note.index(phrase, at + 1)
    start = at + phrase.index(words)
    return kind, phrase, start, start + len(words)


FINDINGS = [
    finding("AGE", "76 years old and", "76 years old"),
    finding("PERSON", "Mr. John Gray is", "John Gray"),
    finding("PERSON", "by Dr. Abara in Oslo", "Abara"),
    finding("CITY", "Abara in Oslo, then", "Oslo"),
    finding("PERSON", "then by Dr. Abara", "Abara"),
]
SCRIPT = Script({"Nothing here.": [], NOTE: FINDINGS})
TYPES = {"PERSON": "a name", "AGE": "an age", "CITY": "a town", "DATE": "a date"}


def seen(shown: str, script: Script = SCRIPT) -> list[tuple[str, str, str]]:
    return [(m.type, m.phrase, m.words) for m in script.visible(shown)]


def test_a_whole_note_is_answered_whole_in_its_order() -> None:
    assert seen(NOTE) == [
        ("AGE", "76 years old and", "76 years old"),
        ("PERSON", "Mr. John Gray is", "John Gray"),
        ("PERSON", "by Dr. Abara in Oslo", "Abara"),
        ("CITY", "Abara in Oslo, then", "Oslo"),
        ("PERSON", "then by Dr. Abara", "Abara"),
    ]
    assert seen("Nothing here.") == []


def test_a_chunk_is_answered_as_far_as_it_goes() -> None:
    assert seen(NOTE[: NOTE.index("Oslo")]) == [
        ("AGE", "76 years old and", "76 years old"),
        ("PERSON", "Mr. John Gray is", "John Gray"),
        ("PERSON", "by Dr. Abara in ", "Abara"),
    ]
    assert seen(NOTE[NOTE.index("Gray") : NOTE.index(" mg")]) == [("AGE", "76 years old and", "76 years old")]


def test_what_is_masked_is_not_found_again_and_a_hint_quotes_the_mask() -> None:
    shown = NOTE.replace("John Gray", "[PERSON]").replace("Oslo", "[CITY]").replace("76 years old", "[AGE]")
    assert seen(shown) == [
        ("PERSON", "by Dr. Abara in [CITY]", "Abara"),
        ("PERSON", "then by Dr. Abara", "Abara"),
    ]


def test_masks_may_touch_and_stand_at_the_edges() -> None:
    note = "Gray76 of Oslo"
    script = Script({note: [finding("PERSON", "Gray76 of", "Gray", note), finding("CITY", "of Oslo", "Oslo", note)]})
    assert seen("[PERSON][AGE] of Oslo", script) == [("CITY", "of Oslo", "Oslo")]
    assert seen("Gray[AGE] of [CITY]", script) == [("PERSON", "Gray[AGE] of", "Gray")]
    assert seen("[PERSON]", script) == []


def test_a_masked_chunk_of_a_later_part_is_found_in_its_place() -> None:
    chunk = NOTE[NOTE.index("Seen") :].replace("Abara in", "[PERSON] in")
    assert seen(chunk) == [
        ("CITY", "[PERSON] in Oslo, then", "Oslo"),
        ("PERSON", "then by Dr. Abara", "Abara"),
    ]


def test_a_note_that_holds_a_mask_already_is_known() -> None:
    note = "Seen by [PERSON] and Abara."
    script = Script({note: [finding("PERSON", "and Abara", "Abara", note)]})
    assert seen(note, script) == [("PERSON", "and Abara", "Abara")]
    assert seen("Seen by [PERSON] and [PERSON].", script) == []


def test_of_the_visible_only_the_most_obvious_may_be_named() -> None:
    script = Script({NOTE: FINDINGS}, write=lambda mentions, _: ",".join(m.words for m in mentions), at_most=2)
    assert script(Request((Message("user", NOTE),))) == "76 years old,John Gray"
    masked = NOTE.replace("76 years old", "[AGE]").replace("John Gray", "[PERSON]")
    assert script(Request((Message("user", masked),))) == "Abara,Oslo"


def test_an_unknown_text_is_refused() -> None:
    with pytest.raises(ModelRejected):
        SCRIPT(Request((Message("user", "Who is this?"),)))


@pytest.mark.parametrize("wrong", [("AGE", "77 years", 17, 19), ("AGE", "76 years", 0, 2), ("AGE", "76 years", 19, 19)])
def test_a_phrase_must_stand_around_its_identifier(wrong: Finding) -> None:
    with pytest.raises(UsageError):
        Script({NOTE: [wrong]})


@pytest.mark.parametrize("name", ["extract/v1", "extract/v2"])
@pytest.mark.parametrize("note", [NOTE, NOTE.replace("Seen", "<<Seen>>")])
def test_it_answers_our_prompts_in_their_contract(name: str, note: str) -> None:
    prompt = load(name)
    script = Script({note: [finding(k, p, NOTE[s:e], note) for k, p, s, e in FINDINGS]})
    rendered = prompt.render([note], TYPES)
    request = Request(
        (Message("system", rendered.system), Message("user", rendered.user)), rendered.schema, rendered.strict
    )
    reading = read(script(request), note, TYPES, prompt.contract, rendered.marks)
    assert reading.usable
    assert reading.faults == frozenset()
    assert sorted(m.phrase for m in reading.mentions) == sorted(p for _, p, _, _ in FINDINGS)
    if prompt.contract == 2:
        assert sorted(m.words for m in reading.mentions) == ["76 years old", "Abara", "Abara", "John Gray", "Oslo"]
        assert "DATE" not in json.loads(script(request))
    else:
        assert json.loads(script(request)).keys() == TYPES.keys()


def test_no_repr_shows_a_note() -> None:
    assert "Gray" not in repr(SCRIPT)


@given(st.data())
def test_whatever_is_masked_exactly_the_visible_rest_is_found(data: st.DataObject) -> None:
    """An invented note with any subset of its findings masked and any part of it shown."""
    drawn = data.draw(st.lists(st.sampled_from(["Ann", "saw", "mg", "in", "Rome"]), min_size=3, max_size=20))
    words = [f"{word}{place}." for place, word in enumerate(drawn)]
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    places = st.integers(0, len(words) - 1)
    picked = sorted(data.draw(st.sets(places, min_size=1)))
    masked = data.draw(st.sets(st.sampled_from(picked)))
    begin, end = sorted((data.draw(places), data.draw(places)))
    findings = [("PERSON", words[i], starts[i], starts[i] + len(words[i])) for i in picked]
    shown = " ".join("[PERSON]" if i in masked else words[i] for i in range(begin, end + 1))
    mentions = Script({" ".join(words): findings}).visible(shown)
    assert [m.words for m in mentions] == [words[i] for i in picked if begin <= i <= end and i not in masked]
