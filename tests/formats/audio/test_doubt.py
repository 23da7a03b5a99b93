"""Which words are muted, by how likely each stands for an identifier."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.formats.audio.doubt import Weights, doubts, stretches, weights
from incognote.formats.audio.transcript import transcript
from incognote.speech.nouns import HeardWord

from . import made

SHARES = st.lists(st.floats(0, 1), max_size=30)


def _words(count: int, step: float = 0.5) -> list[HeardWord]:
    return [HeardWord("word", step * number, step * number + 0.4) for number in range(count)]


@given(SHARES)
def test_all_words_are_muted_at_a_high_ratio_and_none_at_zero(likely: list[float]) -> None:
    words = _words(len(likely))
    assert all(stretches(words, [max(each, 0.01) for each in likely], ratio=1e6))
    assert not any(stretches(words, likely, ratio=0))


@given(SHARES, st.floats(0, 10))
def test_more_is_muted_at_a_higher_ratio(likely: list[float], ratio: float) -> None:
    words = _words(len(likely), step=1.0)  # no margin reaches another word
    less, more = (stretches(words, likely, ratio=each) for each in (ratio, ratio + 1))
    assert all(later or not sooner for sooner, later in zip(less, more, strict=True))


def test_a_doubtful_word_between_two_sure_ones_is_muted_with_them_and_stays_elsewhere() -> None:
    assert stretches(_words(3, step=0.45), [0.9, 0.12, 0.9]) == [True, True, True]
    assert stretches(_words(3, step=0.45), [0.0, 0.12, 0.0]) == [False, False, False]


def test_a_word_counts_more_beside_what_is_muted_in_any_case() -> None:
    words = _words(3)
    likely = [0.02, 0.16, 0.02]
    assert stretches(words, likely) == [False, False, False]
    assert stretches(words, likely, {0, 2})[1]


def test_evidence_without_a_weight_counts_nothing() -> None:
    own = Weights(0.0, {"doubt": 1.0})
    assert own.likelihood({"other": 5.0}) == 0.5
    assert own.likelihood({"doubt": 2.0}) > own.likelihood({"doubt": 1.0}) > 0.5
    assert own.likelihood({"doubt": -1e9}) >= 0


def test_a_language_without_weights_doubts_every_word() -> None:
    assert weights("de").likelihood({"doubt": 0.0}) == 0.5


@pytest.mark.parametrize("confidence", [0.02, 0.98])
def test_a_word_after_a_title_is_likelier_than_one_in_a_symptom(confidence: float) -> None:
    def likely(said: str) -> float:
        heard = made.heard(said, confidence=0.95)
        words = [replace(each, confidence=confidence) if each.text == "barker" else each for each in heard.words]
        at = said.split().index("barker")
        return doubts(transcript(replace(heard, words=tuple(words)), "en"), "en")[at]

    assert likely("you will see doctor barker on friday") > likely("the pain is barker and it is worse at night")


def test_words_heard_worse_are_likelier() -> None:
    found = [
        sum(doubts(transcript(made.heard("she saw lint quest for it", confidence=each), "en"), "en"))
        for each in (0.9, 0.5, 0.1)
    ]
    assert all(one < two for one, two in pairwise(found))
