"""What is known of each word that a recognizer heard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incognote.formats.audio.evidence import Evidence, evidence
from incognote.formats.audio.transcript import transcript
from incognote.speech.nouns import Heard, HeardWord

from . import made


def _of(heard: Heard, word: str) -> Evidence:
    at = [each.text for each in heard.words].index(word)
    return evidence(transcript(heard, "en"), "en")[at]


def test_each_word_has_evidence_and_nothing_has_none() -> None:
    assert len(evidence(transcript(made.heard(), "en"), "en")) == len(made.heard().words)
    assert evidence(transcript(Heard((), (), (), 3.0), "en"), "en") == []


def test_the_doubt_of_a_word_and_of_those_beside_it_is_one_less_the_posterior() -> None:
    heard = made.heard("so harbor came in", confidence=0.9)
    words = [replace(each, confidence=0.2) if each.text == "harbor" else each for each in heard.words]
    found = _of(replace(heard, words=tuple(words)), "came")
    assert found["doubt"] == pytest.approx(0.1)
    assert found["doubt-1"] == pytest.approx(0.8)
    assert found["doubt within 1"] == pytest.approx((0.1 + 0.8 + 0.1) / 3)


def test_phones_that_are_not_those_of_the_word_are_further_away() -> None:
    heard = made.heard("then carter left")

    def apart(phones: str) -> float:
        words = [replace(each, phones=tuple(phones.split())) if each.text == "carter" else each
                 for each in heard.words]  # fmt: skip
        return _of(replace(heard, words=tuple(words)), "carter")["phones"]

    assert apart("M AH G IH L IH") > apart("HH AA R P ER") > 0
    assert "phones" not in _of(replace(heard, words=tuple(
        replace(each, phones=tuple("K AA R T ER".split())) if each.text == "carter" else each
        for each in heard.words)), "carter")  # fmt: skip


def test_a_cue_a_number_of_a_unit_and_an_abbreviation_are_known() -> None:
    heard = made.heard("doctor barker gave twenty milligrams after the t s h")
    assert _of(heard, "barker")["sure cue 0"] == 1
    assert _of(heard, "twenty")["number of units"] == 1
    assert _of(heard, "s")["written letters"] == 1
    assert "sure cue 0" not in _of(heard, "gave")


def test_an_answer_knows_what_was_asked() -> None:
    asked = made.heard("what is your name").words
    answer = [HeardWord(word, 4 + 0.4 * at, 4.4 + 0.4 * at) for at, word in enumerate(["ray", "barker"])]
    heard = Heard((*asked, *answer), (), (), 6.0)
    assert _of(heard, "ray")["asked name early"] == 1
    assert "asked name" not in _of(heard, "what")
