"""What counts as a text in an unsupported language. docs/measured/languages.json has the figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.rules import foreign_lexicon
from incognote.text.language import NAMES, foreign_words, names_of, unread

DATA = Path(__file__).parent.parent / "data"
ENGLISH = frozenset({"en"})
DEV = [json.loads(line) for line in (DATA / "languages_dev.jsonl").read_text("utf-8").splitlines()]
HELD = [pytest.param(one, id=one["id"]) for one in DEV if one["hold"]]
PASSED = [one for one in DEV if not one["hold"]]


@pytest.mark.parametrize("one", HELD)
def test_a_note_or_a_long_quotation_in_another_language_is_found(one: dict[str, str]) -> None:
    assert unread(one["text"], ENGLISH, foreign_lexicon())


@pytest.mark.parametrize("language", ["de", "es", "fr", "ru", "ar", "zh"])
def test_the_language_is_named(language: str) -> None:
    notes = [one["text"] for one in DEV if one["lang"] == language]
    named = [names_of(unread(note, ENGLISH, foreign_lexicon())) for note in notes]
    assert named == [NAMES[language]] * len(notes)


def test_a_note_is_readable_for_whoever_reads_its_language() -> None:
    for language in ("de", "es", "fr", "ru", "ar", "zh"):
        notes = [one["text"] for one in DEV if one["lang"] == language]
        assert [note for note in notes if unread(note, ENGLISH | {language}, foreign_lexicon())] == []


def test_abbreviations_drug_lists_laboratory_rows_names_and_short_quotations_are_of_no_language() -> None:
    held = [one["id"] for one in PASSED if unread(one["text"], ENGLISH, foreign_lexicon())]
    assert held == ["en-19", "en-35"]  # a list of French terms only; six Spanish words in a line of fifteen


def test_of_the_english_development_notes_at_most_one_in_a_hundred_is_held() -> None:
    names = ["notes", "dev_e", "dev_f", "dev_g", "dev_h", "hostile"]
    lines = [line for name in names for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    held = [one["id"] for one in map(json.loads, lines) if unread(one["text"], ENGLISH, foreign_lexicon())]
    assert len(held) <= 0.01 * len(lines)


@pytest.mark.parametrize("text", ["", "12.5", "---", "neg", "[PERSON]", "HTN, DM2", "Hb 10.2 WBC 12.4", "García López"])
def test_a_text_without_evidence_is_readable(text: str) -> None:
    assert unread(text, ENGLISH, foreign_lexicon()) == []


def test_a_field_of_a_record_needs_more_evidence_than_a_note() -> None:
    words = "Dolor de cabeza desde ayer"
    assert unread(words, ENGLISH, foreign_lexicon())
    assert not unread(words, ENGLISH, foreign_lexicon(), part=True)


def test_capitals_hide_no_language() -> None:
    spanish = "PACIENTE DE 45 AÑOS QUE ACUDE A URGENCIAS POR DOLOR ABDOMINAL DE 24 HORAS DE EVOLUCIÓN."
    assert names_of(unread(spanish, ENGLISH, foreign_lexicon())) == "Spanish"
    assert not unread("PATIENT SEEN BY DR GARCIA LOPEZ FOR FOLLOW UP OF HER HIP FRACTURE.", ENGLISH, foreign_lexicon())


def test_english_is_foreign_where_nobody_reads_it() -> None:
    english = "The patient was seen today and was given the same treatment as before."
    assert names_of(unread(english, frozenset({"es"}), foreign_lexicon())) == "English"


def test_words_of_another_script_are_found_one_by_one() -> None:
    text = "seen by Иванов Пётр, not α or β"
    assert [text[a:b] for a, b in foreign_words(text, ENGLISH)] == ["Иванов Пётр"]
    assert foreign_words(text, frozenset({"ru"})) == []


def test_a_look_alike_letter_in_a_latin_word_is_not_a_word_of_its_own() -> None:
    assert foreign_words("Jоhn Smith", ENGLISH) == []  # the o is Cyrillic


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x30FF), max_size=200))
def test_stretches_lie_in_the_text_and_in_order(text: str) -> None:
    found = [*unread(text, ENGLISH, foreign_lexicon())]
    assert all(0 <= s.start < s.end <= len(text) for s in found)
    assert [s.start for s in found] == sorted(s.start for s in found)
    words = foreign_words(text, ENGLISH)
    assert all(0 <= a < b <= len(text) for a, b in words)


def test_a_title_of_another_language_before_a_name_makes_a_telegram_foreign() -> None:
    telegram = "EPOC GOLD 3 D. Vac neumo. Sra Demetria Candelas"
    assert [s.language for s in unread(telegram, ENGLISH, foreign_lexicon())] == ["es"]
    assert not unread("Labs ok, BP 120/80. John Smith Sr Room 4.", ENGLISH, foreign_lexicon())
    long = "Seen with her interpreter for follow-up of the left knee. Frau Meier is doing well and has no pain at rest."
    assert not unread(long, ENGLISH, foreign_lexicon())


@pytest.mark.parametrize(
    "text",
    [
        "Odontología: ext. 3.8 semiincl., art. c/ epi 2 carp. Sutura 3-0. Amoxi 750 c/8. Retiro pts 7 d.",
        "Knie-TEP re., Wunde reizlos, Flex. 90, Ext. 0. Clexane 40 s.c., AHB Bad Krozingen ab 14.05.",
    ],
)
def test_a_telegram_is_foreign_by_a_foreign_letter_or_by_much_likelier_words(text: str) -> None:
    assert unread(text, ENGLISH, foreign_lexicon())


@pytest.mark.parametrize("text", ["Labor: Na 131 K 5,4 CRP 167 Leuko 17,8", "Hb 9,4 / Plq 388 / GB 12,4 / K 5,3"])
def test_two_decimal_commas_and_no_english_are_foreign_numbers(text: str) -> None:
    assert unread(text, ENGLISH, foreign_lexicon())


@pytest.mark.parametrize(
    "text", ["Plan: CT at levels L4,5 and CN 3,4,6 normal.", "Paid 1,250 and 2,300 for it.", "Grade 2,3 toxicity"]
)
def test_commas_in_lists_and_thousands_are_english(text: str) -> None:
    assert not unread(text, ENGLISH, foreign_lexicon())


def test_a_blank_before_a_colon_among_unknown_words_is_french() -> None:
    note = "Rapport : polyhandicape, gastrostomie, Micropakine 200, Urbanyl 5. IME Les Tilleuls."
    (found,) = unread(note, ENGLISH, foreign_lexicon())
    assert found.language == "fr"
