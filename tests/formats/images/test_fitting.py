"""The boxes of words hold the strokes of their letters."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images.fitting import fitted
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


def test_a_box_grows_by_at_most_a_part_of_its_height() -> None:
    pixels = page()
    cv2.line(pixels, (110, 100), (110, 250), 0, 5)
    [word] = fitted([Word("l", (100, 100, 140, 160), 0.5)], pixels)
    assert word.box[3] <= 160 + 0.6 * 40
