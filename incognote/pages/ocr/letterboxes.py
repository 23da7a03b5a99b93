"""Find rows of boxes for one letter each on the picture of a form, by their ruled lines.

What is written in such boxes is often misread: the lines touch the letters. The lines are found whatever is in the
boxes: short vertical lines with the same ends, at equal distances, on a horizontal line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from incognote.pages.nouns import Box

if TYPE_CHECKING:
    from incognote.pages.lines import Mask

_LEAST = 4  # boxes of a row
_LOW, _TALL = 0.85, 2.8  # the height of a box, in heights of a printed line
_NARROW, _WIDE = 0.4, 1.3  # its width, in its heights
_OFF = 0.2  # by which the ends and distances of lines differ, as a part of the height and of the usual distance
_LOST = 3  # boxes between two lines of which those between were not seen
_APART = 0.6  # the most space between separate boxes, as a part of their width
_RULED, _LINED = 0.8, 0.7  # the share of a horizontal line that is seen, and of boxes with such a line
_INSET = 0.18  # the part of a box beside its lines that is not looked at
_INK = 0.02  # the share of the rest that is ink if the box is filled


@dataclass(frozen=True, slots=True)
class LetterBoxes:
    """A row of boxes for one letter each.

    Args:
        box: around the row, in pixels.
        filled: for each box from the left, whether something is in it.
    """

    box: Box
    filled: tuple[bool, ...]


def letter_boxes(ink: Mask, high: float) -> list[LetterBoxes]:
    """Return the rows of at least four boxes for one letter each on an upright page.

    Args:
        ink: 255 where the page has ink.
        high: the height of a printed line, in pixels.
    """
    found = []
    for row in _rows(_ticks(ink, high)):
        for run in _even(row):
            if (made := _boxes(ink, run)) is not None:
                found.append(made)
    return found


def _ticks(ink: Mask, high: float) -> list[Box]:
    """Return the vertical lines that are as high as a box, from the left."""
    import cv2
    import numpy as np

    upright = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((5, 1), np.uint8))
    upright = cv2.morphologyEx(upright, cv2.MORPH_OPEN, np.ones((max(5, round(0.8 * _LOW * high)), 1), np.uint8))
    upright = cv2.morphologyEx(upright, cv2.MORPH_CLOSE, np.ones((5, 3), np.uint8))  # of a line with a slight slope
    count, _, stats, _ = cv2.connectedComponentsWithStats(upright, connectivity=8)
    boxes = [
        (x, y, x + wide, y + tall) for x, y, wide, tall, _ in stats[1:count].tolist()
        if _LOW * high < tall < _TALL * high and wide < 0.3 * tall
    ]  # fmt: skip
    return sorted(boxes)


def _rows(ticks: Sequence[Box]) -> list[list[Box]]:
    """Return lines grouped by their ends, each group from the left."""
    rows: list[list[Box]] = []
    for each in ticks:
        tall = each[3] - each[1]
        for row in reversed(rows):
            last = row[-1]
            if each[0] - last[0] < _LOST * _WIDE * tall and all(abs(each[i] - last[i]) < _OFF * tall for i in (1, 3)):
                row.append(each)
                break
        else:
            rows.append([each])
    return [row for row in rows if len(row) > _LEAST]


def _even(row: Sequence[Box]) -> Iterator[list[Box]]:
    """Yield the runs of lines at equal distances, those between separate boxes in pairs as one."""
    tall = median(each[3] - each[1] for each in row)
    merged: list[Box] = []
    for each in row:
        if merged and each[0] - merged[-1][2] < _NARROW * tall * _APART:
            last = merged.pop()
            each = (last[0], min(last[1], each[1]), each[2], max(last[3], each[3]))
        merged.append(each)
    steps = [two[0] - one[0] for one, two in pairwise(merged)]
    usual = [step for step in steps if _NARROW * tall < step < _WIDE * tall]
    if len(usual) < _LEAST - 1:
        return
    distance = float(median(usual))
    run = [merged[0]]
    for step, each in zip(steps, merged[1:], strict=True):
        many = max(1, round(step / distance))
        if many > _LOST or abs(step - many * distance) > _OFF * distance * many:
            yield run
            run = []
        run.append(each)
    yield run


def _boxes(ink: Mask, run: Sequence[Box]) -> LetterBoxes | None:
    """Return the boxes between lines, or None if they are few or not on a horizontal line."""
    import numpy as np

    if len(run) <= _LEAST:
        return None
    filled: list[bool] = []
    lined = 0
    distance = median(two[0] - one[0] for one, two in pairwise(run))
    for one, two in pairwise(run):
        left, right = one[2], two[0]
        top, bottom = max(one[1], two[1]), min(one[3], two[3])
        if right - left < 4 or bottom - top < 4:
            return None
        near = max(3, round(0.12 * (bottom - top)))
        lined += any(_is_ruled(ink[max(0, edge - near) : edge + near, left:right]) for edge in (top, bottom))
        many = max(1, round((two[0] - one[0]) / distance))
        aside, above = (max(2, round(_INSET * side)) for side in ((right - left) / many, bottom - top))
        inner = ink[top + above : bottom - above, left:right]
        for part in np.array_split(inner, many, axis=1):
            middle = part[:, aside : part.shape[1] - aside]
            filled.append(bool(middle.size) and float((middle > 0).mean()) > _INK)
    if lined < _LINED * (len(run) - 1):
        return None
    lefts, tops, rights, bottoms = zip(*run, strict=True)
    return LetterBoxes((min(lefts), min(tops), max(rights), max(bottoms)), tuple(filled))


def _is_ruled(band: Mask) -> bool:
    """Whether there is a horizontal line all along a part of a page. It may be slightly sloped."""
    import cv2
    import numpy as np

    thick = cv2.dilate(band, np.ones((3, 1), np.uint8))
    return bool(((thick > 0).mean(1) > _RULED).any())
