"""Parsing a model's reply under each contract, well-formed or not."""

from __future__ import annotations

import json
import time

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.prompts import PAIRS, fence, marks, sendable
from incognote.prompts.loader import Contract
from incognote.prompts.reply import STRAY, ParsedReply, most_phrases, read, read_several, trimmed

TYPES = {"PERSON": "a name", "AGE": "an age", "DATE": "a date", "GUID": "a number", "TELEPHONE_NUMBER": "a phone"}


TEXT = "word " * 40


def said(reply: str, contract: Contract = 2) -> ParsedReply:
    return read(reply, TEXT, TYPES, contract, ("<<", ">>"))


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
        ("<<John>> and <<Mary", "John and Mary"),
        ("Ann>> and <<Bo>>", "Ann and Bo"),
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
        ("PERSON", "the patient", "the patient"),
        ("PERSON", "spoke with imani: he declines", "imani: he declines"),
        ("PERSON", "smith, john", "smith, john"),
        ("PERSON", "an nguyen", "an nguyen"),
        ("PERSON", "Ward: 4 pm", "Ward: 4 pm"),
        ("PERSON", "imani [DATE] said", "imani [DATE] said"),
        ("PERSON", "[IMANI]", "[IMANI]"),
        ("PERSON", "Referring physician: Abara, the patient", "Abara"),
        ("LOCATION", "Ward: 4B", "4B"),
        ("DATE", "Date of birth: 3 May 1950", "3 May 1950"),
        ("DATE", "DOB:03/04/1950", "03/04/1950"),
        ("GUID", "Medical record number # 4821", "4821"),
        ("GUID", "login jsmith", "login jsmith"),
        ("TELEPHONE_NUMBER", "555-0142 or jo@ward.example", "555-0142 or jo@ward.example"),
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


AROUND = st.lists(
    st.one_of(
        st.sampled_from(["Mr.", "the patient", "[DATE]", "[person]", "MRN:", "Patient:", "name", "of", ",", "says"]),
        st.text(max_size=8),
    ),
    max_size=6,
).map(" ".join)
NAMES = st.from_regex(r"[A-Za-z]{1,3}zq[a-z]{0,3}( [A-Za-z]{1,2}zq[a-z]?)?", fullmatch=True)


@given(AROUND, NAMES, AROUND, st.sampled_from(["", " ", ": ", ", "]), st.sampled_from([*TYPES, STRAY, "LOCATION"]))
def test_what_is_kept_of_a_phrase_contains_the_name_whatever_is_around_it(
    before: str, name: str, after: str, between: str, type_: str
) -> None:
    phrase = before + " " + name + between + after
    start, end = trimmed(type_, phrase)
    assert start <= len(before) + 1
    assert len(before) + 1 + len(name) <= end


def test_every_word_that_is_cut_is_in_a_closed_list() -> None:
    """The control of the property above: hints are cut."""
    phrase = "seen by Dr. Abara, who is"
    assert phrase[slice(*trimmed("PERSON", phrase))] == "Abara"


def test_marks_inside_a_phrase_are_no_reasoning() -> None:
    """A note may contain such tags. They must not hide the findings before them."""
    hostile = '```json\n{"PERSON": ["<<Ada>>", "</think>{}", "<think>"], "DATE": ["</think>"]}\n```'
    assert ("PERSON", "Ada") in words(said(hostile))
    cut = '```json\n{"PERSON": ["<<Ada>>", "</think>{}"'
    assert said(cut).cut or not said(cut).usable


DRAFT, ANSWER = '{"PERSON": ["<<draft>>"]}', '{"PERSON": ["<<Ada>>"]}'


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>First {DRAFT}, or so.</think>{ANSWER}",
        f"<think>\n\n</think>\n\n{ANSWER}",
        f"I looked for names: {DRAFT}. </think>\n```json\n{ANSWER}\n```",
        f"I looked for {{names, dates}}. </think> {ANSWER}",
        f"<think>First {DRAFT} <think>again</think> done</think>{ANSWER}",
        f"<THINKING>{DRAFT}</THINKING> Here it is: {ANSWER}",
        f"[THINK]{DRAFT}[/THINK]{ANSWER}",
        f"\u25c1think\u25b7{DRAFT}\u25c1/think\u25b7{ANSWER}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
        f"analysisWe need {DRAFT}.assistantfinal{ANSWER}",
        f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f"<think>{DRAFT}</think>{ANSWER}<think>Was that right? {DRAFT}</think>",
        f"<think>All names: {ANSWER}",
    ],
)
def test_a_draft_in_the_models_reasoning_is_not_its_answer(reply: str) -> None:
    assert words(said(reply)) == [("PERSON", "Ada")]


@pytest.mark.parametrize("reply", ["<think>Names?", f"<think>{DRAFT}</think>", f"<think>{DRAFT}, but wait", "</think>"])
def test_a_reasoning_without_an_answer_is_not_usable(reply: str) -> None:
    reading = said(reply)
    assert not reading.usable
    assert not reading.declined


@pytest.mark.parametrize("empty", ["", " {}", '\n```json\n{"PERSON": []}\n```'])
@pytest.mark.parametrize(
    "refusal",
    [
        "I'm sorry, but I can't help with that.", "I cannot assist with this request.", "I must respectfully decline.",
        "As an AI language model, I do not handle medical records.", "I'm just an AI.", "My apologies, no.",
        "This would violate our content policy.", "I can\u2019t identify real people in documents.",
        "I don't feel comfortable with that.", "Patient data should not be shared with me.",
        "It is not appropriate for me to list personal data.",
        "I won't be able to process health information.", "I'd rather not: that is outside my scope.",
        "Lo siento, no puedo ayudar con eso.", "Desculpe, não posso ajudar.", "Je suis désolé, mais je ne peux pas.",
        "Es tut mir leid, dabei kann ich nicht helfen.", "Mi dispiace, non posso aiutarti.", "抱歉，我无法处理。",
        "申し訳ありませんが、お手伝いできません。", "죄송하지만 도와드릴 수 없습니다.",
        "К сожалению, я не могу помочь.", "Het spijt me, dat kan ik niet.", "عذراً، لا أستطيع المساعدة", "क्षमा करें",
    ],
)  # fmt: skip
def test_a_refusal_in_words_is_recognized(refusal: str, empty: str) -> None:
    reading = said(refusal + empty)
    assert reading.declined
    assert not reading.usable
    assert said(f"<think>{refusal}</think>{{}}").usable  # a doubt that the model overcame
    assert said(f'{refusal} {{"PERSON": ["<<Ada>>"]}}').usable


@pytest.mark.parametrize(
    "words_", ["I could not find any identifiers.", "There is no protected health information here.", "Unable to find."]
)
def test_the_statement_that_there_is_nothing_is_no_refusal(words_: str) -> None:
    assert said(words_ + " {}").usable


@pytest.mark.parametrize("closing", ["]}", ",]}", "", "</think>]}"])
def test_a_reply_of_400_000_phrases_is_not_usable_and_is_read_in_linear_time(closing: str) -> None:
    def seconds(count: int) -> float:
        reply = '{"PERSON": [' + ", ".join(f'"<<p{i}>>"' for i in range(count)) + closing
        began = time.process_time()
        reading = said(reply)
        assert not reading.usable
        assert "flood" in reading.faults
        assert not reading.mentions
        return time.process_time() - began

    seconds(50_000)
    assert seconds(400_000) < 40 * max(seconds(50_000), 0.01)  # linear is 8; quadratic is 64


def test_as_many_phrases_as_a_text_may_hold_are_read() -> None:
    reply = json.dumps({"PERSON": ["<<Ada>>"] * most_phrases(TEXT)})
    assert said(reply).usable
    assert said(reply.replace("]", ', "<<Ada>>"]')).faults == {"flood"}


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
    assert words(read_several(numbered, [TEXT, TEXT], TYPES, 2, ("<<", ">>"))[0]) == both


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
