"""Connected parts of the ink of a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from incognote.formats.images.page import shared
from incognote.pages.nouns import Box

_OTHER = 25  # gray levels between a picture and the ground around it
_LARGER = 2  # by which a picture is larger than its part of many gray levels, at most


class InkPart(NamedTuple):
    """A connected part of ink.

    Args:
        label: in the picture of labels. area: its pixels.
    """

    label: int
    box: Box
    area: int

    @property
    def wide(self) -> int:
        return self.box[2] - self.box[0]

    @property
    def high(self) -> int:
        return self.box[3] - self.box[1]


def parts_of(mask: Any, least: float = 0) -> tuple[Any, list[InkPart]]:
    """Return the connected parts of ink of more than 4 pixels, and the picture of their labels.

    Args:
        mask: 255 where the page has ink.
        least: their least width or height.
    """
    import cv2
    import numpy as np

    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found = 1 + np.flatnonzero((stats[1:, 4] > 4) & (stats[1:, 2:4].max(axis=1) >= least))
    rows = zip(found.tolist(), stats[found].tolist(), strict=True)
    return labels, [InkPart(at, (x, y, x + w, y + h), area) for at, (x, y, w, h, area) in rows]


def erase(mask: Any, boxes: Iterable[Box], by: int = 0) -> None:
    """Take the ink out of boxes, and `by` pixels around them."""
    for left, top, right, bottom in boxes:
        mask[max(0, top - by) : max(0, bottom + by), max(0, left - by) : max(0, right + by)] = 0


def stroke_of(mask: Any) -> float:
    """Return the mean width of strokes, in pixels."""
    import cv2
    import numpy as np

    mask = np.pad(mask, 1)
    distance = cv2.distanceTransform(mask, cv2.DIST_L2, 3)
    return max(1.0, 4 * float(distance.sum()) / max(1, cv2.countNonZero(mask)) - 2)


def strokes_across(own: Any) -> float:
    """Return how many strokes a column with ink has, on average.

    Args:
        own: booleans (height, width).
    """
    columns = int(own.any(0).sum())
    return (int(own[0].sum()) + int((own[1:] & ~own[:-1]).sum())) / max(1, columns)


def area_of(box: Box) -> int:
    """Return the pixels of a box, at least 1."""
    return max(1, (box[2] - box[0]) * (box[3] - box[1]))


def whole_picture(gray: Any, box: Box) -> Box:
    """Return the box of a picture with its even parts, up to the ground around it.

    Args:
        gray: the page. box: the part of the picture that has many gray levels.
    """
    import cv2
    import numpy as np

    wide, high = box[2] - box[0], box[3] - box[1]
    left, top = max(0, box[0] - wide // 2), max(0, box[1] - high // 2)
    around = gray[top : box[3] + high // 2, left : box[2] + wide // 2]
    edge = np.concatenate([around[0], around[-1], around[:, 0], around[:, -1]]).astype(int)
    other = np.where(np.abs(around.astype(int) - int(np.median(edge))) > _OTHER, np.uint8(255), np.uint8(0))
    other = np.asarray(cv2.morphologyEx(other, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)))
    for part in parts_of(other)[1]:
        found = part.box[0] + left, part.box[1] + top, part.box[2] + left, part.box[3] + top
        if shared(found, box) > 0.8 * area_of(box) and area_of(found) < _LARGER * area_of(box):
            return found
    return box
