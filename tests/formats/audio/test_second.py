"""The second reading of a muted recording: what it hears that the first one did not."""

from __future__ import annotations

from dataclasses import replace

from incognote.formats.audio.second import _faster, unheard
from incognote.formats.audio.transcript import Transcript, transcript
from incognote.speech.nouns import Heard, Interval

from . import made

FIRST = transcript(made.heard("then parker took the pills", confidence=0.7), "en")


def _again(words: str, confidence: float) -> Transcript:
    return transcript(made.heard(words, confidence=confidence), "en")


def test_words_that_were_heard_in_the_same_way_are_not_reported() -> None:
    assert not list(unheard(_again("then parker took the pills", 0.9), FIRST, ()))


def test_a_word_that_is_heard_otherwise_and_better_has_the_stretch_of_the_first_reading() -> None:
    [(line, parts)] = unheard(_again("then harper took the pills", 0.9), FIRST, ())
    [(start, end, stretch)] = parts
    assert line[start:end].casefold() == "harper"
    assert stretch is not None
    assert FIRST.text[slice(*stretch)].casefold() == "parker"


def test_a_word_that_is_heard_with_less_confidence_does_not_count() -> None:
    assert not list(unheard(_again("then harper took the pills", 0.65), FIRST, ()))


def test_what_is_muted_does_not_count() -> None:
    assert not list(unheard(_again("then harper took the pills", 0.9), FIRST, [Interval(0.8, 1.6)]))


def test_a_word_where_nothing_was_heard_has_no_stretch() -> None:
    first = transcript(made.heard("then", confidence=0.9), "en")
    [(_, parts)] = unheard(_again("then harper", 0.9), first, ())
    assert [stretch for _, _, stretch in parts] == [None]


def test_times_of_a_slower_copy_are_those_of_the_recording() -> None:
    heard = made.heard("one two")
    fast = _faster(replace(heard, gaps=(Interval(1.06, 2.12),), seconds=6.36), 6.0)
    assert isinstance(fast, Heard)
    assert (round(fast.gaps[0].start, 6), round(fast.gaps[0].end, 6), fast.seconds) == (1.0, 2.0, 6.0)
