"""Annotated texts of another language from English ones: type words, native values, exact offsets, label sets."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ContextTooLong, ModelUnavailable, UsageError
from incognote.extraction.asking import Budget
from incognote.llm.base import Reply, Request, Usage
from incognote.llm.prices import FREE
from incognote.llm.recording import Recorded, Recording
from incognote.schemas.catalogue import catalogue
from incognote.testing import ScriptedLLM
from incognote_training.corpus import label_sets
from incognote_training.corpus.document import Document
from incognote_training.corpus.marked import unmarked
from incognote_training.corpus.native import native_values
from incognote_training.corpus.translation import (
    LANGUAGES,
    Masked,
    Translation,
    ask,
    cost,
    fill,
    mask,
    prompt_line,
    read_replies,
    request,
)
from incognote_training.corpus.translations import translation

NOTE = (
    "⟦PATIENT:Mary Abara⟧ is a ⟦AGE:61⟧ year old woman seen on ⟦DATE:03/16/2025⟧ by Dr. ⟦CLINICIAN:John Frey⟧. "
    "⟦PATIENT:Abara⟧ lives in ⟦CITY:Salem⟧. ⟦PATIENT:Mary Abara⟧ was sent home on ⟦DATE:03/17/2025⟧."
)


def document(marks: str = NOTE, name: str = "n1") -> Document:
    text, spans = unmarked(marks, "here")
    return Document(name, text, spans, "en", "letter", "handwritten")


def masked(marks: str = NOTE, name: str = "n1") -> Masked:
    made = mask(document(marks, name))
    assert made is not None
    return made


def words(one: Document | None) -> list[tuple[str, str]]:
    assert one is not None
    return [(kind, one.text[start:end]) for start, end, kind in one.spans]


def test_each_entity_becomes_its_type_and_a_number_that_the_same_words_share() -> None:
    made = masked()
    assert made.text == (
        "PATIENT1 is a AGE1 year old woman seen on DATE1 by Dr. CLINICIAN1. PATIENT2 lives in CITY1. "
        "PATIENT1 was sent home on DATE2."
    )
    assert made.order == ("PATIENT1", "AGE1", "DATE1", "CLINICIAN1", "PATIENT2", "CITY1", "PATIENT1", "DATE2")
    assert "Abara" not in repr(made)


@pytest.mark.parametrize("marks", ["See DATE1 of ⟦DATE:May⟧.", "age12 ⟦AGE:12⟧", "⟦DATE:May⟧3", "X⟦CITY:Salem⟧"])
def test_a_text_with_something_like_a_type_word_is_not_translated(marks: str) -> None:
    assert mask(document(marks)) is None
    assert mask(document("HbA1c, T2, B12, stage4, dosage5 ⟦AGE:12⟧yo")) is not None


def test_type_words_become_native_values_and_spans_are_where_these_are() -> None:
    reply = "PATIENT1، AGE1 سنة، DATE1، د. CLINICIAN1. تسكن PATIENT2 في CITY1. خرجت PATIENT1 في DATE2."
    made = fill(masked(), reply, "ar")
    found = words(made.document)
    assert [kind for kind, _ in found] == "PATIENT AGE DATE CLINICIAN PATIENT CITY PATIENT DATE".split()
    assert found[0] == found[6]
    assert found[0][1].split()[1] == found[4][1]  # the surname alone
    assert found[2] != found[7]
    assert all(not value.isascii() for kind, value in found if kind in ("PATIENT", "CLINICIAN"))
    assert made.document is not None
    assert (made.document.id, made.document.lang, made.document.source) == ("n1-ar", "ar", "handwritten+translation")
    assert +made.counts == Counter(expected=8)
    assert "n1" in repr(made)
    assert found[0][1] not in repr(made)


@pytest.mark.parametrize(
    ("reply", "reason", "counted"),
    [
        ("Seen DATE1 by CLINICIAN1", "lost type word", {"lost": 1}),
        ("Seen DATE1 by CLINICIAN1, CLINICIAN1 in CITY1", "doubled type word", {"doubled": 1}),
        ("Seen DATE1 by CLINICIAN1 in CITY1, DATE2", "unknown type word", {"unknown": 1}),
        ("Seen DATE1 by CLINICIAN1 in CITY1, MEDICAL_RECORD_NUMBER", "unknown type word", {"unknown": 1}),
        ("Seen DATE1 by Clinician1 in CITY1", "lost type word", {"lost": 1, "unknown": 1}),
        ("Seen DATE١ by CLINICIAN1 in CITY1", "lost type word", {"lost": 1, "unknown": 1}),
        ("Seen DATE12 by CLINICIAN1 in CITY1", "lost type word", {"lost": 1, "unknown": 1}),
        ("Seen BIRTH_DATE1 by CLINICIAN1 in CITY1", "lost type word", {"lost": 1, "unknown": 1}),
        ("Seen DATE1 by DATE1 in CITY1", "lost type word", {"lost": 1, "doubled": 1}),
        ("Was seen on DATE1 by CLINICIAN1 in CITY1", "not translated", {}),
        ("Gesehen in CITY1 von CLINICIAN1 am DATE1", "", {"reordered": 2}),
        ("Gesehen am DATE1 von CLINICIAN1s Vertretung in CITY1", "", {"inflected": 1}),
    ],
)
def test_a_lost_doubled_or_unknown_type_word_rejects_and_others_are_counted(
    reply: str, reason: str, counted: dict[str, int]
) -> None:
    note = masked("Was seen on ⟦DATE:May 3⟧ by ⟦CLINICIAN:Ann Frey⟧ in ⟦CITY:Salem⟧")
    made = fill(note, reply, "de")
    assert made.reason == reason
    assert (made.document is None) == bool(reason)
    assert +made.counts == Counter({"expected": 3} | counted)


def test_letters_attached_to_a_type_word_stay_outside_the_span() -> None:
    made = fill(masked("Letter to ⟦PATIENT:Mary⟧ from ⟦CITY:Salem⟧"), "رسالة لـPATIENT1 وCITY1ها", "ar")
    (_, name), (_, city) = words(made.document)
    assert made.document is not None
    assert made.document.text == f"رسالة لـ{name} و{city}ها"
    assert made.counts["inflected"] == 2


MARKS = st.sampled_from(
    [
        "⟦PATIENT:Mary Abara⟧",
        "⟦PATIENT:Abara⟧",
        "⟦DATE:May 3⟧",
        "⟦DATE:5/3/2020⟧",
        "⟦AGE:61⟧",
        "⟦GUID:A-77012⟧",
        "⟦ZIP:04401⟧",
    ]
)
PIECES = st.lists(st.tuples(st.text("ab é\u0301نـ🙂.,'\n", min_size=1), MARKS), max_size=12)


@given(PIECES, st.randoms(use_true_random=False), st.sampled_from(["ar", "de", "es", "fr"]), st.integers(0, 99))
def test_offsets_are_exact_in_any_order_with_anything_attached(
    pieces: list[tuple[str, str]], random: Random, code: str, seed: int
) -> None:
    note = masked(" ".join(before + mark for before, mark in pieces))
    order = list(note.order)
    random.shuffle(order)
    parts = [before + word for (before, _), word in zip(pieces, order, strict=True)]
    made = fill(note, "x" + "".join(parts) + "y", code, seed)
    assert made.document is not None
    values = native_values(note.source, code, seed)
    kinds = [note.entities[word] for word in order]
    assert words(made.document) == [(entity[0], values[entity]) for entity in kinds]
    expected = "".join(before + values[entity] for (before, _), entity in zip(pieces, kinds, strict=True))
    assert made.document.text == f"x{expected}y"


def test_native_names_keep_initials_order_case_and_the_words_of_a_person() -> None:
    names = ["FREY, JOHN", "John Frey", "J. Frey", "frey", "John van der Frey Jr."]
    note = document(" ".join(f"⟦CLINICIAN:{name}⟧" for name in names))
    for code in ("de", "es", "fr"):
        inverted, whole, initial, small, particles = (native_values(note, code, 3)["CLINICIAN", name] for name in names)
        given_name, surname = whole.split()
        assert inverted == f"{surname.upper()}, {given_name.upper()}"
        assert initial == f"{given_name[0]}. {surname}"
        assert small == surname.lower()
        assert particles == whole


def test_native_values_have_the_form_of_the_english_ones_and_new_digits() -> None:
    marks = "⟦DATE:2019⟧ ⟦DATE:May⟧ ⟦MEDICAL_RECORD_NUMBER:5512⟧ ⟦ZIP:SW1A 1AA⟧ ⟦MAC_ADDRESS:00:1B:44⟧ ⟦RACE:Black⟧"
    values = [native_values(document(marks, str(i)), "ar", 1) for i in range(9)]
    assert all(any(map(str.isdecimal, one["DATE", "2019"])) for one in values)
    assert not any(any(map(str.isdecimal, one["DATE", "May"])) for one in values)
    assert len({one["MEDICAL_RECORD_NUMBER", "5512"] for one in values}) == 9
    assert all(len(one["ZIP", "SW1A 1AA"]) == 5 for one in values)
    assert not any(("RACE", "Black") in one for one in values)
    assert values == [native_values(document(marks, str(i)), "ar", 1) for i in range(9)]


def test_a_type_without_native_values_rejects() -> None:
    assert fill(masked("⟦RACE:Black⟧ woman"), "RACE1 Frau", "de").reason == "no native value"


def test_the_prompt_explains_the_types_of_the_note_and_shows_no_identifier() -> None:
    row = json.loads(prompt_line(masked(), "ar"))
    system, user = (message.content for message in request(masked(), "ar").messages)
    assert row == {"id": "n1", "system": system, "user": user}
    assert "to Arabic" in system
    assert "- CITY: a city, town or village" in system
    assert "HOSPITAL" not in system
    assert "Abara" not in system + user


def test_replies_are_read_and_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"id": "a", "reply": "eins"}\n\n{"id": "b", "reply": "zwei"}\n', encoding="utf-8")
    assert read_replies(path) == {"a": "eins", "b": "zwei"}
    path.write_text('{"id": "a", "reply": "Abara"}\n{"id": "a", "reply": "Abara"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"replies\.jsonl line 2: id") as caught:
        read_replies(path)
    assert "Abara" not in str(caught.value)
    path.write_text('{"id": "a", "reply": 1}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: write an object"):
        read_replies(path)


def translator(request: Request) -> str:
    return "Gesehen: " + request.messages[-1].content


def test_all_documents_are_counted_translated_or_rejected() -> None:
    notes = [document(name="a"), document("⟦DATE:May⟧ DATE7", "b"), document(name="c"), document("Well.", "d")]
    french = Document("e", "Bonjour", (), "fr")
    work = Translation([*notes, french], "de")
    made = work.filled({"a": translator(request(work.notes[0], "de")), "d": "Gesund."})
    assert [one.id for one in made] == ["a-de", "d-de"]
    assert work.figures() == {
        "documents": 5,
        "translated": 2,
        "rejected": {"no complete reply": 1, "not English": 1, "type word in the source": 1},
        "type words": {"expected": 8, "lost": 0, "doubled": 0, "unknown": 0, "inflected": 0, "reordered": 0},
    }
    with pytest.raises(UsageError, match="line 2: id"):
        Translation(notes[:1] * 2, "de")
    with pytest.raises(UsageError, match="ar, de, es, fr"):
        Translation(notes, "xx")


def test_a_model_is_asked_and_a_cut_or_too_long_document_has_no_reply() -> None:
    def answer(request: Request) -> str | Reply:
        text = request.messages[-1].content
        if "long" in text:
            raise ContextTooLong("too long")
        return Reply("half", finish="length") if "cut" in text else translator(request)

    notes = [masked("Well.", "a"), masked("A cut.", "b"), masked("A long one.", "c")]
    seen: list[int] = []
    replies = asyncio.run(ask(notes, "de", ScriptedLLM(answer), concurrency=2, watch=seen.append))
    assert replies == {"a": "Gesehen: Well."}
    assert seen == [1, 2, 3]


def test_after_a_failure_recorded_replies_are_not_asked_again(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if "Two" in request.messages[-1].content:
            raise ModelUnavailable("down")
        return translator(request)

    notes = [masked("One.", "a"), masked("Two.", "b")]
    recording = Recording(tmp_path / "replies.jsonl", plain=True)
    with pytest.raises(ModelUnavailable, match="down"):
        asyncio.run(ask(notes, "de", Recorded(ScriptedLLM(failing), recording), concurrency=1))
    model = ScriptedLLM(translator)
    replies = asyncio.run(ask(notes, "de", Recorded(model, recording), concurrency=1))
    recording.close()
    assert model.calls == 1
    assert replies == {"a": "Gesehen: One.", "b": "Gesehen: Two."}


def test_a_spent_budget_stops_and_says_how_to_continue() -> None:
    model = ScriptedLLM(lambda request: Reply("Gut.", usage=Usage(10, 10, calls=1, usd=1.0)))
    with pytest.raises(ModelUnavailable, match="--budget-usd"):
        asyncio.run(ask([masked(name=name) for name in "abc"], "de", model, budget=Budget(usd=1.5), concurrency=1))
    assert model.calls == 2


def test_the_cost_is_known_before() -> None:
    guess = cost([masked(), masked("Well.")], "de", FREE)
    assert guess.calls == 2
    assert guess.usd == 0.0
    assert 0 < guess.tokens_out < guess.tokens_in
    assert cost([masked()], "de", None).usd is None


def test_the_label_sets_of_the_paper_hold_each_type_once() -> None:
    sizes: dict[label_sets.LabelSet, int] = {"generic": 8, "granular": 17, "all": 31}
    for name, count in sizes.items():
        kinds = [kind for each in label_sets.types(name).values() for kind in each]
        assert len(label_sets.types(name)) == count
        assert len(kinds) == len(set(kinds))
        assert set(kinds) <= set(catalogue())
        assert label_sets.unmarked(name) == ("GENDER",)
    worded = {kind for kind, each in catalogue().items() if not each.pixels}
    unlabeled = {kind for kind in worded if label_sets.label(kind, "all") is None}
    assert unlabeled == {"RACE", "ETHNICITY", "MARITAL_STATUS", "PARENTHOOD"}
    assert all(not catalogue()[kind].i2b2 for kind in unlabeled)


def test_a_type_has_its_label_in_each_set() -> None:
    sets: list[label_sets.LabelSet] = ["generic", "granular", "all"]
    labels = {kind: [label_sets.label(kind, name) for name in sets] for kind in catalogue()}
    assert labels["RELATIVE"] == ["NAME", "PATIENT", "PATIENT"]
    assert labels["PHARMACY"] == ["LOCATION", "ORGANIZATION", "ORGANIZATION"]
    assert labels["ROOM"] == ["LOCATION", None, "ROOM"]
    assert labels["FAX_NUMBER"] == ["CONTACT", None, "FAX"]
    assert labels["SSN_OR_TAXPAYER"] == ["ID", None, "SSN"]
    assert labels["RACE"] == [None, None, None]


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_each_recorded_translation_keeps_every_type_word_and_gives_a_document(code: str) -> None:
    made, documents = translation(code)
    assert len(documents) == made.documents == 76
    assert not made.rejected
    assert made.type_words["lost"] == made.type_words["doubled"] == made.type_words["unknown"] == 0
    assert {document.lang for document in documents} == {code}
