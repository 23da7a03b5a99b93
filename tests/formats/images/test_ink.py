"""Rows of boxes for single letters go as a whole if something is in them, however it was read."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images.ink import filled_boxes
from incognote.pages.nouns import Word
from incognote.pages.ocr.combs import COMB

np: Any = pytest.importorskip("numpy")
cv2: Any = pytest.importorskip("cv2", reason="needs the extra images")

WORDS = [Word("printed", (20, 300 + 40 * at, 140, 330 + 40 * at), 0.95, at) for at in range(10)]


def form(letters: str) -> Any:
    """Return a page with eight boxes and letters in some of them."""
    page = np.full((800, 600, 3), 255, np.uint8)
    for at in range(8):
        cv2.rectangle(page, (100 + 34 * at, 60), (134 + 34 * at, 104), (90, 90, 160), 2)
    for at, letter in enumerate(letters):
        cv2.putText(page, letter, (107 + 34 * at, 94), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    return page


@pytest.mark.parametrize("letters", ["OKAFOR", "7", "    X"])
def test_a_row_with_a_letter_is_one_region(letters: str) -> None:
    [region] = filled_boxes(form(letters), WORDS)
    left, top, right, bottom = region.box
    assert left <= 102
    assert top <= 62
    assert right >= 100 + 8 * 34 - 2
    assert bottom >= 102
    assert (region.kind, region.sources) == ("Unread", (COMB,))


def test_an_empty_row_stays() -> None:
    assert not filled_boxes(form(""), WORDS)
