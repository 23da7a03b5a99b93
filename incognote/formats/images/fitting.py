"""Fit the boxes of words to their ink: an engine often cuts off strokes of handwriting, letters, and accents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from incognote.pages.nouns import Box, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_INSIDE = 0.35  # the share of a connected part of ink that belongs to a word if it is in the word's box
_MOST = 0.6  # heights of a line by which a box grows at most
_GAP = 0.2  # heights of a word within which ink that no word holds belongs to it
_ABOVE = 0.3  # the same for accents and underlines
_FARTHER = 0.5  # heights of a word by which its underline is longer than the words
_ROUNDS = 2
_WHOLE = 0.9  # the share of a part of ink that is in a box if the box does not cut it
_WIDE = 0.5  # the share of the width of a word that its ink takes at least
_DPI = 200.0


def fitted(words: Sequence[Word], pixels: Pixels) -> list[Word]:
    """Return words whose boxes also hold the ink that belongs to them.

    This is ink that is mostly in a box, ink beside it that is in no box, and a line under it that is no longer.

    Args:
        pixels: of the page, gray or RGB.
    """
    import numpy as np

    labels, parts, areas, lines = _ink_of(pixels)
    boxes, held = [], np.zeros(len(parts), bool)
    for word in words:
        left, top, right, bottom = word.box
        counts = np.bincount(labels[top:bottom, left:right].ravel(), minlength=len(parts))
        own = counts >= np.maximum(1, _INSIDE * areas)
        own[0] = False
        held |= own
        boxes.append(_grown(word.box, parts[own], _MOST * min(right - left, bottom - top)))
    loose = parts[~held & (areas >= 4)][1:]
    for _ in range(_ROUNDS):
        boxes = [_with_loose(box, word, loose) for box, word in zip(boxes, words, strict=True)]
    return _underlined([replace(word, box=box) for word, box in zip(words, boxes, strict=True)], lines)


def tight(words: Sequence[Word], pixels: Pixels) -> list[Box]:
    """Return the boxes of words without the letters of the lines above and below that they cut.

    Args:
        pixels: of the page, gray or RGB.
    """
    import numpy as np

    labels, parts, areas, _ = _ink_of(pixels)
    found: list[Box] = []
    for word in words:
        along, across = (0, 1) if word.turn in (0, 180) else (1, 0)
        box, (left, top, right, bottom) = list(word.box), word.box
        counts = np.bincount(labels[top:bottom, left:right].ravel(), minlength=len(parts))
        counts[0] = 0
        middle = (box[across] + box[across + 2]) // 2
        crossing = (parts[:, across] <= middle) & (middle < parts[:, across + 2])
        own = crossing & (counts >= np.maximum(1, _INSIDE * areas))
        size = np.minimum(parts[own, along + 2], box[along + 2]) - np.maximum(parts[own, along], box[along])
        if own.any() and size.sum() >= _WIDE * word.along:
            own |= counts >= np.maximum(1, _WHOLE * areas)
            box[across] = max(box[across], int(parts[own, across].min()) - 1)
            box[across + 2] = min(box[across + 2], int(parts[own, across + 2].max()) + 1)
        found.append((box[0], box[1], box[2], box[3]))
    return found


def _ink_of(pixels: Pixels) -> tuple[Any, Any, Any, Any]:
    """Return the labels of connected parts of ink, their boxes and areas, and 255 at ruled lines."""
    import cv2
    import numpy as np

    from incognote.formats.images.files import gray_of
    from incognote.pages.lines import ink, ruled

    gray = gray_of(pixels)
    mask = ink(255 - gray if float(gray.mean()) < 100 else gray)
    lines = ruled(mask, _DPI)
    mask[lines > 0] = 0
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    parts = np.hstack([stats[:, :2], stats[:, :2] + stats[:, 2:4]])
    parts[0] = 0
    return labels, parts, stats[:, cv2.CC_STAT_AREA], lines


def _grown(box: Box, parts: Any, most: float) -> Box:
    """Return a box that reaches to parts of ink, but at most so many pixels farther than it did."""
    if not len(parts):
        return box
    by = round(most)
    return (
        max(min(box[0], int(parts[:, 0].min())), box[0] - by),
        max(min(box[1], int(parts[:, 1].min())), box[1] - by),
        min(max(box[2], int(parts[:, 2].max())), box[2] + by),
        min(max(box[3], int(parts[:, 3].max())), box[3] + by),
    )


def _with_loose(box: Box, word: Word, loose: Any) -> Box:
    """Return a box with the letters beside it and the accents at it that no word holds."""
    import numpy as np

    along, across = (0, 1) if word.turn in (0, 180) else (1, 0)
    high = word.across
    if not len(loose) or not any(map(str.isalnum, word.text)):
        return box
    size = loose[:, 2:] - loose[:, :2]
    gap = np.maximum(loose[:, along] - box[along + 2], box[along] - loose[:, along + 2])
    apart = np.maximum(loose[:, across] - box[across + 2], box[across] - loose[:, across + 2])
    beside = (gap < _GAP * high) & (-apart > 0.6 * size[:, across]) & (size[:, across] < 1.5 * high)
    beside &= (size[:, across] > 0.25 * high) & (size[:, along] < 2 * high)
    accents = (apart < _ABOVE * high) & (gap < -0.5 * size[:, along]) & (size.max(1) < 0.5 * high)
    return _grown(box, loose[beside | accents], _MOST * high)


def _underlined(words: Sequence[Word], lines: Any) -> list[Word]:
    """Return words whose boxes hold the lines under them, unless a line goes on where no word is."""
    import cv2

    count, _, stats, _ = cv2.connectedComponentsWithStats(lines, connectivity=8)
    found = list(words)
    level = [at for at, word in enumerate(words) if word.turn == 0]
    for left, top, wide, high, _ in stats[1:count].tolist():
        above = [
            at for at in level
            if -0.3 < (top - words[at].box[3]) / max(1, words[at].across) < _ABOVE
            and words[at].box[0] < left + wide and left < words[at].box[2]
        ]  # fmt: skip
        if not above:
            continue
        usual = median(words[at].across for at in above)
        first, last = min(words[at].box[0] for at in above), max(words[at].box[2] for at in above)
        if high > 0.25 * usual or left < first - _FARTHER * usual or left + wide > last + _FARTHER * usual:
            continue
        for at in above:
            box = found[at].box
            found[at] = replace(found[at], box=(*box[:3], max(box[3], top + high)))
    return found
