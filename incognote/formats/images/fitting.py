"""Fit the boxes of words to their ink: an engine often cuts off strokes of handwriting and accents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.pages.nouns import Box, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_INSIDE = 0.35  # the share of a connected part of ink that belongs to a word if it is in the word's box
_MOST = 0.6  # heights of a line by which a box grows at most
_DPI = 200.0


def fitted(words: Sequence[Word], pixels: Pixels) -> list[Word]:
    """Return words whose boxes also hold the parts of ink that are mostly in them.

    Args:
        pixels: of the page, gray or RGB.
    """
    import cv2
    import numpy as np

    from incognote.formats.images.files import gray_of
    from incognote.pages.lines import ink, ruled

    gray = gray_of(pixels)
    mask = ink(255 - gray if float(gray.mean()) < 100 else gray)
    mask[ruled(mask, _DPI) > 0] = 0
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found = []
    for word in words:
        left, top, right, bottom = word.box
        counts = np.bincount(labels[top:bottom, left:right].ravel(), minlength=1)
        parts = np.nonzero(counts)[0]
        parts = parts[(parts > 0) & (counts[parts] >= _INSIDE * stats[parts, cv2.CC_STAT_AREA])]
        box = word.box
        if len(parts):
            lefts, tops = stats[parts, cv2.CC_STAT_LEFT], stats[parts, cv2.CC_STAT_TOP]
            rights, bottoms = lefts + stats[parts, cv2.CC_STAT_WIDTH], tops + stats[parts, cv2.CC_STAT_HEIGHT]
            box = _grown(box, (int(lefts.min()), int(tops.min()), int(rights.max()), int(bottoms.max())))
        found.append(replace(word, box=box))
    return found


def _grown(box: Box, ink: Box) -> Box:
    """Return a box that reaches to the ink, but not much farther than it did."""
    most = round(_MOST * min(box[2] - box[0], box[3] - box[1]))
    return (
        max(min(box[0], ink[0]), box[0] - most),
        max(min(box[1], ink[1]), box[1] - most),
        min(max(box[2], ink[2]), box[2] + most),
        min(max(box[3], ink[3]), box[3] + most),
    )
