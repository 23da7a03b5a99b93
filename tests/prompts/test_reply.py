"""Parsing a model's reply under each contract, well-formed or not."""

from __future__ import annotations

import json

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.prompts import PAIRS, fence, marks, sendable
from incognote.prompts.loader import Contract
from incognote.prompts.reply import STRAY, ParsedReply, read, read_several

TYPES = {"PERSON": "a name", "AGE": "an age", "DATE": "a date", "GUID": "a number", "TELEPHONE_NUMBER": "a phone"}


def said(reply: str, contract: Contract = 2) -> ParsedReply:
    return read(reply, TYPES, contract, ("<<", ">>"))


def words(reading: ParsedReply) -> list[tuple[str, str]]:
    return [(m.type, m.words) for m in reading.mentions]


def test_marks_set_the_identifier_apart_from_its_hint() -> None:
    reading = said('{"PERSON": ["Mr. <<John Smith>>, the patient"], "AGE": ["is <<76 years old>> and"]}')
    assert words(reading) == [("PERSON", "John Smith"), ("AGE", "76 years old")]
    assert [m.phrase for m in reading.mentions] == ["Mr. John Smith, the patient", "is 76 years old and"]
    assert not reading.faults


def test_two_marked_stretches_of_one_phrase_are_two_mentions() -> None:
    assert words(said('{"DATE": ["from <<3 May>> to <<9 May>>"]}')) == [("DATE", "3 May"), ("DATE", "9 May")]


@pytest.mark.parametrize(
    ("phrase", "identifier"),
    [
        ("John Smith", "John Smith"),
        ("<<John Smith", "John Smith"),
        ("John Smith>>", "John Smith"),
        ("Dr. John Smith, the patient", "John Smith"),
        ("<<>>John", "John"),
    ],
)
def test_a_phrase_without_whole_marks_is_trimmed_by_its_type_and_told(phrase: str, identifier: str) -> None:
    reading = said(json.dumps({"PERSON": [phrase]}))
    assert words(reading) == [("PERSON", identifier)]
    assert reading.faults == {"marks"}


@pytest.mark.parametrize(
    ("type_", "phrase", "identifier"),
    [
        ("PERSON", "Mr. John Smith, the patient", "John Smith"),
        ("PERSON", "seen by Dr. Abara", "Abara"),
        ("PERSON", "Patient: Doe, Jane", "Doe, Jane"),
        ("PERSON", "Dr. The", "The"),
        ("AGE", "a 76 years old man", "76 years old"),
        ("AGE", "76", "76"),
        ("DATE", "on 03/04/2020", "03/04/2020"),
        ("GUID", "case number B-0517733 was", "B-0517733"),
        ("TELEPHONE_NUMBER", "Tel: (330) 555-0142", "(330) 555-0142"),
        ("TELEPHONE_NUMBER", "mail jo@ward.example today", "jo@ward.example"),
        ("PERSON", "the patient", "patient"),
        ("PERSON", "P Hollis): [TELEPHONE_NUMBER]", "P Hollis)"),
        ("AGE", "[PERSON] is 76 years old", "76 years old"),
        ("PERSON", "[person], re: Tavay Dawyne, Gade [person]", "Tavay Dawyne, Gade"),
        ("PERSON", "person], anneliese person]", "person], anneliese person]"),
        ("AGE", "76 years [Age]", "76 years"),
        ("GUID", "plate KDX 688Z", "KDX 688Z"),
        ("GUID", "MRN 123-4", "123-4"),
    ],
)
def test_contract_1_leaves_to_the_hint_what_surely_is_no_identifier(type_: str, phrase: str, identifier: str) -> None:
    reply = {name: [] for name in TYPES} | {type_: [phrase]}
    reading = said(json.dumps(reply), 1)
    assert words(reading) == [(type_, identifier)]
    assert not reading.faults


def test_contract_1_misses_keys_that_are_absent_and_contract_2_does_not() -> None:
    assert said("{}", 1).faults == {"absent-types"}
    assert said("{}", 1).worth_asking_again
    assert said("{}", 2) == ParsedReply()


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"PERSON": ["<<Ada>>"]}\n```',
        'Here is what I found:\n\n{"PERSON": ["<<Ada>>"]}\n\nLet me know!',
        '{"PERSON": ["<<Ada>>",],}',
        "{'PERSON': ['<<Ada>>']}",
        '{"PERSON": ["<<Ada>>"]} {"PERSON": []}',
        'Many texts hold none, then the answer is {}. {"PERSON": ["<<Ada>>"]}',
        '```json\n{}\n```\nOn second thought:\n```json\n{"PERSON": ["<<Ada>>"]}\n```',
        'I looked for {names, dates} and found: {"PERSON": ["<<Ada>>"]} (Types without a finding are {}.)',
        "{'PERSON': ['<<Ada>>']} {'PERSON': [],}",
        "I'm sorry, I can't share all of it. {\"PERSON\": [\"<<Ada>>\"]}",
    ],
)
def test_what_can_be_mended_is_mended_and_told(reply: str) -> None:
    reading = said(reply)
    assert words(reading) == [("PERSON", "Ada")]
    assert reading.faults == {"mended"}
    assert not reading.worth_asking_again


@pytest.mark.parametrize(
    "reply", ['{"PERSON": ["<<Ada>>", "<<Gra', '{"PERSON": ["<<Ada>>"], "DA', '{"PERSON": ["<<Ada>>"']
)
def test_a_reply_that_ends_in_the_middle_keeps_what_it_said_and_is_told_to_be_cut(reply: str) -> None:
    reading = said(reply)
    assert words(reading)[0] == ("PERSON", "Ada")
    assert reading.cut
    assert reading.worth_asking_again


@pytest.mark.parametrize(
    "reply",
    [
        "", "I'm sorry, I can't help with that.", "[]", "null", "42", '"PERSON"', "[" * 100_000, "{[" * 100_000,
        "I'm sorry, but I can't help with that. {}", '{"PERSON": []}\nI am unable to process health information.',
        "I will not do that: I can\u2019t extract personal data.\n```json\n{}\n```",
    ],
)  # fmt: skip
def test_what_is_no_object_is_not_usable_and_never_counts_as_nothing_found(reply: str) -> None:
    reading = said(reply)
    assert not reading.usable
    assert reading.worth_asking_again


def test_repeated_keys_keep_all_their_phrases() -> None:
    both = [("PERSON", "Ada"), ("PERSON", "Bo")]
    assert words(said('{"PERSON": ["<<Ada>>"], "PERSON": ["<<Bo>>"]}')) == both
    assert words(said('{"PERSON": ["<<Ada>>"], "PERSON": "<<Bo>>"}')) == both
    assert words(said('{"PERSON": ["<<Ada>>"]} {"PERSON": ["<<Bo>>"]}')) == both
    numbered = '{"1": {"PERSON": ["<<Ada>>"]}, "1": {"PERSON": ["<<Bo>>"], "DATE": null}}'
    assert words(read_several(numbered, 2, TYPES, 2, ("<<", ">>"))[0]) == both


def test_a_bare_number_is_nobodys_name() -> None:
    reading = said('{"PERSON": [0, 7], "AGE": [76]}')
    assert words(reading) == [("AGE", "76")]
    assert reading.faults == {"marks", "shape"}


def test_a_lone_phrase_counts_as_a_list_of_one_and_a_nested_object_is_told() -> None:
    assert words(said('{"PERSON": "<<Ada>>", "GUID": 5521}')) == [("PERSON", "Ada"), ("GUID", "5521")]
    assert said('{"PERSON": [{"name": "Ada"}]}').faults == {"shape"}
    assert said('{"PERSON": null}') == ParsedReply()


@pytest.mark.parametrize(
    ("key", "type_"), [("person", "PERSON"), ("Phone Number", "TELEPHONE_NUMBER"), ("DOCTOR", "CLINICIAN")]
)
def test_another_systems_name_for_a_type_is_understood(key: str, type_: str) -> None:
    assert words(said(json.dumps({key: ["<<x1>>"]}))) == [(type_, "x1")]


def test_a_phrase_of_an_unknown_type_is_kept_for_a_person_to_see() -> None:
    reading = said('{"DOSAGE": ["<<76 mg>>"]}')
    assert not reading.mentions
    assert [(m.type, m.words) for m in reading.strays] == [(STRAY, "76 mg")]
    assert reading.faults == {"unknown-type"}
    assert reading.worth_asking_again


def test_neither_words_nor_faults_of_a_reply_show_in_a_repr() -> None:
    assert "Ada" not in repr(said('{"PERSON": ["<<Ada>>"], "DOSAGE": ["<<Ada>>"]}'))


REPLIES = st.lists(
    st.one_of(
        st.sampled_from(['{"PERSON": [', '"<<Ann>>"', ", ", "]}", '"Ann"', "```json\n", "\n```"]), st.text(max_size=9)
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("contract", [1, 2])
def test_the_drawn_replies_hold_mentions(contract: Contract) -> None:
    assert said(hypothesis.find(REPLIES, lambda reply: bool(said(reply, contract).mentions)), contract).mentions


@given(REPLIES, st.sampled_from([1, 2]))
def test_any_text_is_read_without_an_error(reply: str, contract: Contract) -> None:
    for mention in said(reply, contract).mentions:
        assert mention.words


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_read_without_an_error(value: object) -> None:
    said(json.dumps({"PERSON": value, "OTHER": [value]}))


@given(st.text())
def test_neither_fence_nor_marks_stand_in_the_text(text: str) -> None:
    assert fence(text) not in text
    assert not any(mark in text for mark in marks(text))


def test_a_text_with_every_pair_of_marks_gets_longer_ones() -> None:
    text = "".join(a + b for a, b in PAIRS) * 3
    assert not any(mark in text for mark in marks(text))


@given(st.text(st.characters(exclude_categories=())))
def test_what_is_sent_has_the_length_of_the_text_and_goes_through_utf_8(text: str) -> None:
    assert len(sendable(text)) == len(text)
    sendable(text).encode()
