"""Ink on a page that no OCR pass has read, and boxes for single letters that are filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incognote.formats.images.legible import line_height
from incognote.pages.nouns import Box, Region, Word
from incognote.pages.ocr.combs import COMB

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_LEAST_HEIGHT = 0.4  # heights of a line of text
_MOST_HEIGHT = 5.0
_LEAST_WIDTH = 1.0
_DPI = 200.0
_LINES = 110  # of letters that fit above each other on a page


class InkMap:
    """The ink of a page without ruled lines and without the words that were read.

    Args:
        pixels: gray or RGB.
        read: the boxes of words.
    """

    def __init__(self, pixels: Pixels, read: Sequence[Box]) -> None:
        from incognote.formats.images.files import gray_of
        from incognote.pages.lines import ink, ruled

        gray = gray_of(pixels)
        if float(gray.mean()) < 100:
            gray = 255 - gray
        mask = ink(gray)
        mask[ruled(mask, _DPI) > 0] = 0
        for left, top, right, bottom in read:
            mask[max(0, top - 2) : bottom + 2, max(0, left - 2) : right + 2] = 0
        self._mask = mask

    def unread(self, area: Box, height: int) -> Box | None:
        """Return the box of unread ink in an area that looks like writing, or None.

        Args:
            height: of a line of text, in pixels.
        """
        import cv2

        left, top, right, bottom = (max(0, side) for side in area)
        part = self._mask[top:bottom, left:right]
        if part.size == 0:
            return None
        count, _, stats, _ = cv2.connectedComponentsWithStats(part, connectivity=8)
        boxes = []
        for x, y, wide, high, area_ in stats[1:count]:
            if area_ >= 6 and high < _MOST_HEIGHT * height and high > 0.15 * height:
                boxes.append((left + x, top + y, left + x + wide, top + y + high))
        if not boxes:
            return None
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        box = (int(min(lefts)), int(min(tops)), int(max(rights)), int(max(bottoms)))
        if box[3] - box[1] < _LEAST_HEIGHT * height or box[2] - box[0] < _LEAST_WIDTH * height:
            return None
        return box


def filled_boxes(pixels: Pixels, words: Sequence[Word]) -> list[Region]:
    """Return a region for each row of boxes for single letters that is filled in part or as a whole.

    Args:
        pixels: gray or RGB.
        words: of the page.
    """
    from incognote.pages import lines
    from incognote.pages.ocr import prepare
    from incognote.pages.ocr.letterboxes import letter_boxes

    view = prepare.view_of(pixels)
    high = line_height(words) or max(view.size) / _LINES
    rows = letter_boxes(lines.ink(prepare.light(view, high / 1.7)[0].gray), high)
    return [Region("Unread", row.box, 0.9, (COMB,)) for row in rows if any(row.filled)]
