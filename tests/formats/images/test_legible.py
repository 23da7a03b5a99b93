"""Which words of a page were read well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incognote.formats.images.legible import is_blue, legible
from incognote.formats.images.reading import languages_of_pages
from incognote.pages.nouns import Word

np: Any = pytest.importorskip("numpy")

BLUE = (20, 30, 140)
PAPER = np.full((200, 600, 3), 255, np.uint8)


def line(*words: tuple[str, float], high: int = 20) -> list[Word]:
    """Return words beside each other, each with its confidence."""
    found, left = [], 10
    for text, confidence in words:
        right = left + 11 * len(text)
        found.append(Word(text, (left, 50, right, 50 + high), confidence))
        left = right + 8
    return found


def kept(words: list[Word], color: tuple[int, int, int] = (0, 0, 0)) -> list[str]:
    ink, pixels = np.zeros((200, 600), np.uint8), PAPER.copy()
    for left, top, right, bottom in (word.box for word in words):
        ink[top:bottom, left:right] = 255
        pixels[top:bottom, left:right] = color
    return [word.text for word in legible(words, words, ink, pixels)]


def test_printed_words_of_another_language_stay_although_they_are_read_poorly() -> None:
    words = line(("Ergebnis", 0.62), ("Qwxfp", 0.62))
    assert kept(words) == []
    with languages_of_pages(("en", "de")):
        assert kept(words) == ["Ergebnis"]


def test_a_heading_with_letters_that_reach_above_and_below_is_printed() -> None:
    body = [Word("was", (10, 100 + 25 * at, 40, 114 + 25 * at), 0.96, line=1 + at) for at in range(3)]
    heading = line(("Dapagliflozjn", 0.84), high=26)
    assert "Dapagliflozjn" in kept([*heading, *body])


def test_unknown_words_of_a_pen_do_not_stay() -> None:
    assert kept(line(("Pelican", 0.93), ("PPO", 0.93)), BLUE) == []
    assert kept(line(("Pelican", 0.93), ("PPO", 0.93))) == ["Pelican", "PPO"]


def test_known_words_of_a_pen_stay() -> None:
    assert kept(line(("with", 0.9), ("fever", 0.9)), BLUE) == ["with", "fever"]


def test_the_rest_of_a_misread_word_does_not_stay() -> None:
    one = Word("Frigovit", (10, 50, 98, 80), 0.4)
    two = Word("ice", (99, 50, 130, 80), 0.96)
    assert kept([one, two], BLUE) == []


def test_light_blue_letters_of_a_screen_are_not_of_a_pen() -> None:
    ink = np.full((10, 10), 255, np.uint8)
    for color, pen in (((20, 30, 140), True), ((140, 190, 255), False), ((0, 0, 0), False)):
        assert is_blue(np.full((10, 10, 3), color, np.uint8), ink, (0, 0, 10, 10)) is pen


def test_a_printed_label_beside_the_ink_of_a_pen_stays() -> None:
    words = line(("Date", 0.96), ("Dcc", 0.4), ("2o25", 0.5))
    ink, pixels = np.zeros((200, 600), np.uint8), PAPER.copy()
    for (left, top, right, bottom), color in zip((word.box for word in words), ((0, 0, 0), BLUE, BLUE), strict=True):
        ink[top:bottom, left:right] = 255
        pixels[top:bottom, left:right] = color
    assert [word.text for word in legible(words, words, ink, pixels)] == ["Date"]


def test_a_usual_word_of_a_pen_that_two_passes_read_stays_and_a_name_does_not() -> None:
    words = line(("fever", 0.6), ("Rose", 0.6))
    again = [replace(word, source="other") for word in words]
    ink, pixels = np.zeros((200, 600), np.uint8), PAPER.copy()
    for left, top, right, bottom in (word.box for word in words):
        ink[top:bottom, left:right] = 255
        pixels[top:bottom, left:right] = BLUE
    assert [word.text for word in legible(words, [*words, *again], ink, pixels)] == ["fever"]


@pytest.mark.parametrize("code", ["D/4409", "L118", "HA8OK4", "RSS1-B", "01978"])
def test_a_code_of_a_pen_does_not_stay_however_surely_it_was_read(code: str) -> None:
    assert kept(line((code, 1.0)), BLUE) == []


@pytest.mark.parametrize("measure", ["C5-C6", "T12/L1", "500MG", "2X500MG", "120/80"])
def test_vertebrae_doses_and_pressures_of_a_pen_stay(measure: str) -> None:
    assert kept(line((measure, 1.0)), BLUE) == [measure]


@pytest.mark.parametrize(("second", "stays"), [(0.95, ["RSS1-B"]), (0.7, [])])
def test_a_code_without_color_stays_only_if_a_second_pass_is_sure_of_it(second: float, stays: list[str]) -> None:
    words = line(("RSS1-B", 1.0))
    seen = [*words, *(replace(word, source="clean", confidence=second) for word in words)]
    assert [word.text for word in legible(words, seen, np.full((200, 600), 255, np.uint8), PAPER)] == stays
