"""Rows of boxes for single letters are found by their lines, whatever is in them. Words and tables are no such rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incognote.pages.lines import ink
from incognote.pages.ocr.letterboxes import LetterBoxes, letter_boxes

from .drawn import NOTE, WHITE
from .drawn import page as drawn

cv2 = pytest.importorskip("cv2", reason="the extra `images` is not installed")
HIGH, WIDE, TALL = 32, 34, 44


def sheet() -> Any:
    return np.full((400, 1200), WHITE, np.uint8)


def row(page: Any, left: int, top: int, boxes: int, text: str = "", apart: int = 0) -> None:
    """Draw a row of boxes with a letter in each."""
    for at in range(boxes):
        x = left + at * (WIDE + apart)
        cv2.rectangle(page, (x, top), (x + WIDE, top + TALL), 90, 2)
        if at < len(text):
            cv2.putText(page, text[at], (x + 7, top + TALL - 10), cv2.FONT_HERSHEY_SIMPLEX, 0.9, 0, 2)


def found(page: Any) -> list[LetterBoxes]:
    return letter_boxes(ink(page), HIGH)


def is_around(box: tuple[int, ...], left: int, top: int, boxes: int, apart: int = 0) -> bool:
    right = left + boxes * WIDE + (boxes - 1) * apart
    return all(abs(one - two) <= 4 for one, two in zip(box, (left, top, right, top + TALL), strict=True))


def test_a_row_of_boxes_is_found_with_what_is_filled() -> None:
    page = sheet()
    row(page, 100, 60, 8, "OK A7")
    [one] = found(page)
    assert is_around(one.box, 100, 60, 8)
    assert one.filled == (True, True, False, True, True, False, False, False)


def test_an_empty_row_has_no_filled_box() -> None:
    page = sheet()
    row(page, 100, 60, 6)
    [one] = found(page)
    assert one.filled == (False,) * 6


def test_separate_boxes_at_equal_distances_are_a_row() -> None:
    page = sheet()
    row(page, 100, 60, 6, "904418", apart=8)
    [one] = found(page)
    assert is_around(one.box, 100, 60, 6, apart=8)
    assert all(one.filled)


def test_rows_beside_each_other_are_two() -> None:
    page = sheet()
    row(page, 100, 60, 6, "123456")
    row(page, 600, 60, 8, "AB")
    one, two = sorted(found(page), key=lambda each: each.box)
    assert is_around(one.box, 100, 60, 6)
    assert is_around(two.box, 600, 60, 8)


def test_letters_on_the_lines_do_not_hide_a_row() -> None:
    page = sheet()
    row(page, 100, 60, 8)
    for at, letter in enumerate("HIJLMNTU"):
        cv2.putText(page, letter, (102 + at * WIDE, 102), cv2.FONT_HERSHEY_SIMPLEX, 1.2, 0, 2)
    assert any(is_around(one.box, 100, 60, 8) for one in found(page))


def test_three_boxes_are_no_row() -> None:
    page = sheet()
    row(page, 100, 60, 3, "123")
    assert not found(page)


def test_words_are_no_rows() -> None:
    assert not found(drawn(*NOTE, (60, 340, "HHHHHH IIIIII LLLLLL EEEEEE"), letters=40))


def test_a_grid_of_several_rows_is_no_row() -> None:
    page = sheet()
    for line in range(5):
        row(page, 100, 60 + line * TALL, 10, "1234567890")
    assert not found(page)
