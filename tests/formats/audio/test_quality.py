"""When a recording counts as hard to hear."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incognote.formats.audio.quality import LEAST_CONFIDENCE, confidence, is_poor
from incognote.speech.nouns import Interval

from . import made


def test_a_recording_that_was_heard_well_is_not_poor() -> None:
    assert not is_poor(made.heard(confidence=0.9))


def test_low_confidence_is_poor() -> None:
    assert is_poor(made.heard(confidence=LEAST_CONFIDENCE - 0.01))


def test_much_voice_without_words_is_poor() -> None:
    heard = made.heard(gaps=[(1.0, 5.0)])
    assert is_poor(replace(heard, voiced=(Interval(0.5, 6.0),)))


def test_a_recording_without_words_is_poor() -> None:
    assert is_poor(made.heard(""))


def test_long_words_weigh_more() -> None:
    heard = made.heard("one two", confidence=1.0)
    long = replace(heard.words[0], end=heard.words[0].end - 0.3, confidence=0.0)
    assert confidence(replace(heard, words=(long, heard.words[1]))) == pytest.approx(0.8)
