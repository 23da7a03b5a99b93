"""The boxes of words hold the strokes of their letters."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images.fitting import fitted, tight
from incognote.pages.nouns import Word

np: Any = pytest.importorskip("numpy")
cv2: Any = pytest.importorskip("cv2", reason="needs the extra images")


def page() -> Any:
    return np.full((300, 600), 255, np.uint8)


def test_a_box_grows_to_the_strokes_that_are_mostly_in_it() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (110, 148), 0, -1)
    [word] = fitted([Word("l", (96, 104, 140, 136), 0.5)], pixels)
    assert word.box[1] <= 100
    assert word.box[3] >= 149


def test_a_box_does_not_grow_to_ink_beside_it() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (110, 130), 0, -1)
    cv2.rectangle(pixels, (150, 100), (160, 130), 0, -1)
    [word] = fitted([Word("l", (96, 98, 120, 134), 0.5)], pixels)
    assert word.box == (96, 98, 120, 134)


def test_a_box_does_not_follow_a_ruled_line() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (110, 130), 0, -1)
    cv2.line(pixels, (20, 140), (580, 140), 0, 2)
    [word] = fitted([Word("l", (96, 98, 120, 142), 0.5)], pixels)
    assert word.box == (96, 98, 120, 142)


def test_a_box_takes_in_a_letter_beside_it_that_no_word_holds() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (110, 130), 0, -1)
    cv2.rectangle(pixels, (124, 100), (134, 130), 0, -1)
    [word] = fitted([Word("l", (96, 98, 120, 134), 0.5)], pixels)
    assert word.box[2] >= 135


def test_a_box_does_not_take_in_a_letter_of_the_next_word() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (110, 130), 0, -1)
    cv2.rectangle(pixels, (124, 100), (134, 130), 0, -1)
    words = [Word("l", (96, 98, 120, 134), 0.5), Word("l", (123, 98, 140, 134), 0.5)]
    assert fitted(words, pixels)[0].box == (96, 98, 120, 134)


def test_a_box_takes_in_an_accent_above_it() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (110, 130), 0, -1)
    cv2.rectangle(pixels, (102, 88), (108, 93), 0, -1)
    [word] = fitted([Word("l", (96, 98, 120, 134), 0.5)], pixels)
    assert word.box[1] <= 88


def test_an_underline_of_words_belongs_to_them() -> None:
    pixels = page()
    for left in (100, 180):
        cv2.rectangle(pixels, (left, 100), (left + 60, 130), 0, 2)
    cv2.line(pixels, (100, 139), (240, 139), 0, 2)
    found = fitted([Word("ab", (98, 98, 164, 133), 0.9), Word("cd", (178, 98, 244, 133), 0.9)], pixels)
    assert all(word.box[3] >= 141 for word in found)


def test_a_rule_that_is_longer_than_the_words_above_does_not_belong_to_them() -> None:
    pixels = page()
    cv2.rectangle(pixels, (100, 100), (160, 130), 0, 2)
    cv2.line(pixels, (60, 139), (400, 139), 0, 2)
    [word] = fitted([Word("ab", (98, 98, 164, 133), 0.9)], pixels)
    assert word.box[3] < 137


def test_a_box_grows_by_at_most_a_part_of_its_height() -> None:
    pixels = page()
    cv2.line(pixels, (110, 100), (110, 250), 0, 5)
    [word] = fitted([Word("l", (100, 100, 140, 160), 0.5)], pixels)
    assert word.box[3] <= 160 + 0.6 * 40


def test_a_tight_box_leaves_out_the_letters_of_other_lines_that_it_cuts() -> None:
    pixels = page()
    for left in range(100, 200, 20):
        for top in (100, 140, 180):
            cv2.rectangle(pixels, (left, top), (left + 12, top + 24), 0, -1)
    [box] = tight([Word("roewi", (96, 112, 200, 194), 0.9)], pixels)
    assert (box[0], box[2]) == (96, 200)
    assert 130 < box[1] <= 140
    assert 165 <= box[3] < 175


def test_a_tight_box_keeps_accents_and_commas() -> None:
    pixels = page()
    for left in range(100, 200, 20):
        cv2.rectangle(pixels, (left, 140), (left + 12, 164), 0, -1)
    cv2.rectangle(pixels, (104, 128), (108, 133), 0, -1)
    cv2.rectangle(pixels, (196, 160), (199, 172), 0, -1)
    [box] = tight([Word("roéwi,", (96, 120, 202, 180), 0.9)], pixels)
    assert box[1] <= 128
    assert box[3] >= 173


def test_the_box_of_a_word_without_ink_stays() -> None:
    assert tight([Word("roe", (96, 112, 200, 194), 0.9)], page()) == [(96, 112, 200, 194)]
