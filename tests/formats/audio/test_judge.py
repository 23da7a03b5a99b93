"""What is judged to be an identifier, although a recognizer heard it with doubt or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from incognote.formats.audio.cues import cued
from incognote.formats.audio.judge import findings
from incognote.formats.audio.transcript import transcript
from incognote.nouns import Known
from incognote.speech.nouns import Heard, HeardWord

from . import made

HARPER = tuple("HH AA R P ER".split())


def _judged(heard: Heard, known: Sequence[Known] = ()) -> list[tuple[str, str, str]]:
    said = transcript(heard, "en")
    return [(said.text[start:end].casefold(), kind, source)
            for start, end, kind, _, source in findings(said, known, "en")]  # fmt: skip


def _with(heard: Heard, word: str, **facts: object) -> Heard:
    words = (replace(each, **facts) if each.text == word else each for each in heard.words)
    return replace(heard, words=tuple(words))


def test_words_that_were_heard_well_and_follow_no_cue_stay() -> None:
    assert not _judged(made.heard("take the tablets with food and come back in the morning", confidence=0.98))


@pytest.mark.parametrize(
    ("words", "kind"),
    [("my name is", "PERSON"), ("he was born on", "BIRTH_DATE_TIME"), ("they live at", "ADDRESS"),
     ("my number is", "TELEPHONE_NUMBER"), ("i am calling from", "ORGANIZATION")],
)  # fmt: skip
def test_a_gap_after_a_cue_has_the_type_of_the_cue(words: str, kind: str) -> None:
    end = 0.5 + 0.5 * len(words.split())
    heard = made.heard(words, gaps=[(end, end + 0.15)])
    assert [(kind, source) for _, kind, source in _judged(heard) if source == "gap"] == [(kind, "gap")]


def test_a_long_gap_is_muted_without_a_cue_and_a_short_one_stays() -> None:
    words = "it hurts when he walks up the stairs"
    assert not _judged(made.heard(words, gaps=[(2.4, 2.5)], confidence=0.98))
    [(token, kind, source)] = _judged(made.heard(words, gaps=[(4.5, 5.0)], confidence=0.98))
    assert (token.startswith("<human"), kind, source) == (True, "PERSON", "gap")


def test_rare_words_of_low_confidence_after_a_title_are_doubted() -> None:
    heard = made.heard("i was seen by doctor poker for my knee", confidence=0.95)
    found = _judged(_with(heard, "poker", confidence=0.01))
    assert any("poker" in words and kind == "PERSON" for words, kind, source in found if source == "doubt")


def test_letters_that_are_said_one_by_one_are_a_name() -> None:
    found = _judged(made.heard("yes h a r p e r thank you", confidence=0.95))
    assert any("harper" in words for words, _, source in found if source == "spelled")


def test_figures_are_joined_over_a_pause_and_an_interruption() -> None:
    words = made.heard("the code five five yeah nine two goodbye", confidence=0.98).words
    later = [replace(each, start=each.start + 1, end=each.end + 1) for each in words[4:]]
    found = _judged(Heard((*words[:4], *later), (), (), 10))
    assert ("5592", "GUID", "spelled") in found


def test_a_known_name_is_found_by_its_sound() -> None:
    heard = _with(made.heard("then carter took the tablets", confidence=0.98), "carter", phones=HARPER)
    known = [Known("PATIENT", "Harper")]
    assert ("carter", "PATIENT", "sound") in _judged(heard, known)
    assert "sound" not in {source for _, _, source in _judged(heard)}


def test_a_name_that_was_spelled_out_is_found_by_its_sound() -> None:
    heard = _with(made.heard("h a r p e r and carter took it", confidence=0.98), "carter", phones=HARPER)
    assert any("carter" in text for text, _, source in _judged(heard) if source == "sound")


def test_the_longest_cue_counts_and_ends_after_its_seconds() -> None:
    words = [HeardWord(word, number * 0.5, number * 0.5 + 0.4) for number, word in enumerate(
        "her medical record number is one two three and then the cough was worse again today".split())]  # fmt: skip
    found = cued(words, "en")
    assert found[5] is not None
    assert (found[5].cue.type, found[5].away) == ("MEDICAL_RECORD_NUMBER", 0)
    assert found[-1] is None


def test_amounts_and_abbreviations_are_no_string_of_figures() -> None:
    said = "the t s h was six point one and the rate was ninety five over sixty two"
    assert _judged(made.heard(said)) == []
