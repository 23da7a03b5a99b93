"""Connected parts of the ink of a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from incognote.formats.images.page import shared
from incognote.pages.nouns import Box

_OTHER = 12, 25  # levels of gray or of a color between a picture and the ground around it
_OFTEN = 0.05  # the share of a page that has the gray of a ground, such as a filled band
_DASHES = 8  # of a dashed line
_RULED = 0.8  # the share of the ink of a grid that is in straight lines
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


def is_dashed(group: Sequence[InkPart], high: float) -> bool:
    """Whether most parts are short bars: a dashed line or frame.

    Args:
        high: of a line of text, in pixels.
    """
    bars = [
        each for each in group
        if each.area > 0.7 * each.wide * each.high and min(each.wide, each.high) < 0.35 * high
        and max(each.wide, each.high) < 0.85 * high
    ]  # fmt: skip
    return len(group) >= _DASHES and len(bars) > 0.8 * len(group)


def is_grid(own: Any, high: float) -> bool:
    """Whether a part of ink is mostly level and upright lines, as what is left of a table.

    Args:
        own: booleans (height, width). high: of a line of text, in pixels.
    """
    import cv2
    import numpy as np

    length = max(3, round(high))
    if max(own.shape) < 2 * length:
        return False
    ink = np.where(own, np.uint8(255), np.uint8(0))
    level = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    upright = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((length, 1), np.uint8))
    return cv2.countNonZero(cv2.bitwise_or(level, upright)) > _RULED * cv2.countNonZero(ink)


def pictures_of(gray: Any, high: float) -> list[Box]:
    """Return the boxes of pictures: areas of many gray levels.

    Args:
        gray: the page. high: of a line of text, in pixels.
    """
    import numpy as np

    step = max(4, round(0.5 * high))
    rows, columns = gray.shape[0] // step, gray.shape[1] // step
    if not rows or not columns:
        return []
    tiles = gray[: rows * step, : columns * step].reshape(rows, step, columns, step)
    low, top = (np.percentile(tiles, q, axis=(1, 3)) for q in (20, 80))
    counts = np.bincount((gray[::4, ::4] // 8).ravel(), minlength=32)
    # a tile of a picture has neither the ground's gray nor that of its neighbors
    other = [(np.abs(low - ground) > 14) & (np.abs(top - ground) > 14) for ground in range(4, 260, 8)]
    found = list(_toned(gray, other[counts.argmax()], step))
    grounds = [other[at] for at in np.flatnonzero(counts > _OFTEN * counts.sum())]
    for box in _toned(gray, np.logical_and.reduce(grounds), step) if len(grounds) > 1 else ():
        if not any(shared(box, each) for each in found):
            found.append(box)
    return found


def _toned(gray: Any, other: Any, step: int) -> Iterator[Box]:
    """Yield the boxes of areas of many gray levels.

    Args:
        other: booleans, where a tile has another gray than the ground. step: the side of a tile, in pixels.
    """
    import cv2
    import numpy as np

    mask = np.where(other, np.uint8(255), np.uint8(0))
    for part in parts_of(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)))[1]:
        left, top, right, bottom = part.box
        if part.wide < 5 or part.high < 5 or part.area < 0.55 * part.wide * part.high:
            continue
        middle = gray[top * step : bottom * step, left * step : right * step]
        levels = np.bincount((middle // 12).ravel(), minlength=22) / middle.size
        if levels.max() < 0.5 and (levels > 0.03).sum() >= 5:
            yield left * step, top * step, right * step, bottom * step


def whole_picture(pixels: Any, box: Box) -> Box:
    """Return the box of a picture with its even parts, up to the ground around it.

    Args:
        pixels: the page, gray or RGB. box: the part of the picture that has many gray levels.
    """
    import cv2
    import numpy as np

    wide, high = box[2] - box[0], box[3] - box[1]
    for share, least in product((2, 4, 8), _OTHER):
        left, top = max(0, box[0] - wide // share), max(0, box[1] - high // share)
        around = pixels[top : box[3] + high // share, left : box[2] + wide // share]
        smooth = np.atleast_3d(cv2.medianBlur(np.ascontiguousarray(around), 5)).astype(int)
        edge = np.concatenate([smooth[0], smooth[-1], smooth[:, 0], smooth[:, -1]])
        off = np.abs(smooth - np.median(edge, axis=0).astype(int)).max(axis=2)
        other = np.where(off > least, np.uint8(255), np.uint8(0))
        for part in parts_of(cv2.morphologyEx(other, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)))[1]:
            found = part.box[0] + left, part.box[1] + top, part.box[2] + left, part.box[3] + top
            if shared(found, box) > 0.8 * area_of(box) and area_of(found) < _LARGER * area_of(box):
                return found
    return box
