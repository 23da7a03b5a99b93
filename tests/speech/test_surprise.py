"""How likely words follow each other."""

from __future__ import annotations

import pytest

from incognote.speech import surprise
from incognote.speech.surprise import UNHELPED, UNKNOWN, likelihoods

pytest.importorskip("pocketsphinx", reason="the language model comes with PocketSphinx")


def test_a_usual_phrase_is_likelier_than_its_words_in_another_order() -> None:
    usual, other = (sum(after for _, after in likelihoods(said.split())) for said in ("my name is", "is name my"))
    assert usual > other


def test_the_words_before_count_and_an_unknown_word_has_the_least() -> None:
    [_, (alone, after)] = likelihoods(["chest", "pain"])
    assert after > alone
    assert likelihoods(["zzyzzx"]) == [(UNKNOWN, UNKNOWN)]


def test_without_the_model_every_word_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surprise, "_model", lambda: None)
    assert likelihoods(["chest", "pain"]) == [(UNHELPED, UNHELPED)] * 2
