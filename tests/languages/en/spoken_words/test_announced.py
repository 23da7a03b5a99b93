"""What the words of a transcript announce (synthetic)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.languages import identifiers as of_language
from incognote_en.spoken_words import identifiers


def _heard(said: str) -> tuple[list[str], list[float]]:
    """Return the words and pauses of lines that are separated by a slash."""
    lines = [line.split() for line in said.split("/")]
    pauses = [pause for line in lines for pause in (*[0.1] * (len(line) - 1), 0.8)]
    return [word for line in lines for word in line], pauses


def _found(said: str) -> str:
    """Return the words that are identifiers, in order."""
    words, pauses = _heard(said)
    hidden = {i for first, last, _ in identifiers(words, pauses) for i in range(first, last)}
    return " ".join(word for i, word in enumerate(words) if i in hidden)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("and where does she work / she works at border feeds", "border feeds"),
        ("how old is he now / he's three", "three"),
        ("when was that / ninety eight or so", "ninety eight"),
        ("what's your date of birth / um the fourth of the second thirty one", "fourth of the second thirty one"),
        ("i'm uh seventy six now", "seventy six"),
        ("this is the desk calling from the willow tree center", "willow tree center"),
        ("the number is two one eight", "two one eight"),
        ("it goes in the letter to spiddal", "spiddal"),
        ("well he was a retired postmaster", "postmaster"),
        ("send it to front desk at willow dash lane dot ie please", "front desk at willow dash lane dot ie"),
    ],
)
def test_an_answer_and_what_is_announced_are_identifiers(said: str, found: str) -> None:
    assert set(found.split()) <= set(_found(said).split())


def test_figures_of_a_line_of_their_own_repeat_or_correct_a_number() -> None:
    assert _found("the address is fourteen mill lane / right / no sorry forty / okay then").endswith("forty")
    assert "forty" not in _found("how many steps did you walk / right / no sorry forty / okay then")


@pytest.mark.parametrize(
    "said",
    [
        "she takes five milligrams three times a day for two weeks",
        "the pressure was one forty over ninety and the pulse was one oh two",
        "i'm down to two tablets and he's on five milligrams",
        "the scan shows spondylolisthesis and hepatic steatosis",
        "give it some time and call us if the pain comes back",
    ],
)
def test_clinical_facts_stay(said: str) -> None:
    assert _found(f"well / okay then / {said}") == ""


def test_written_words_lose_their_punctuation() -> None:
    words = "Where do you live now? In Spiddal, near Barna.".split()
    assert {words[i] for first, last, _ in identifiers(words) for i in range(first, last)} >= {"Spiddal,"}


@given(st.lists(st.sampled_from("um i'm two five x april at spiddal number name is no dot jones the / years".split())))
def test_each_stretch_is_within_the_words(said: list[str]) -> None:
    words, pauses = _heard(" ".join(said).strip("/ ") or "yes")
    found = list(identifiers(words, pauses))
    assert all(0 <= first < last <= len(words) for first, last, _ in found)
    assert all(kind.isupper() for *_, kind in found)


def test_a_language_without_rules_of_speech_announces_nothing() -> None:
    assert list(of_language(["ich", "heiße", "huber"], [0.1] * 3, "de")) == []
    assert [each.type for each in of_language(["i", "live", "in", "spiddal"])]
