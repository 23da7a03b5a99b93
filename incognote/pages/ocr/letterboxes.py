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
_LOW, _TALL = 1.05, 2.3  # the height of a box, in heights of a printed line
_NARROW, _WIDE = 0.5, 1.3  # its width, in its heights
_OFF, _UNEVEN = 0.2, 0.17  # by which the ends and distances of lines differ, in heights and in usual distances
_SLACK = 2.0  # pixels by which distances differ in any case
_THIN, _LEAST_WIDTH = 0.15, 6  # the most width of a line between boxes: a part of its height, or pixels if more
_LOST = 3  # boxes between two lines of which those between were not seen
_APART = 0.6  # the most space between separate boxes, as a part of their width
_RULED, _LINED = 0.8, 0.8  # the share of a horizontal line that is seen, and of boxes with such a line
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
    upright = cv2.morphologyEx(upright, cv2.MORPH_OPEN, np.ones((max(5, round(0.7 * _LOW * high)), 1), np.uint8))
    upright = cv2.morphologyEx(upright, cv2.MORPH_CLOSE, np.ones((5, 3), np.uint8))  # of a line with a slight slope
    count, _, stats, _ = cv2.connectedComponentsWithStats(upright, connectivity=8)
    boxes = [
        (x, y, x + wide, y + tall) for x, y, wide, tall, _ in stats[1:count].tolist()
        if _LOW * high < tall < _TALL * high and wide < max(_LEAST_WIDTH, _THIN * tall)
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
    while len(run := max((_chain(merged[at:], distance) for at in range(len(merged))), key=len, default=[])) > _LEAST:
        yield run
        merged = [each for each in merged if not run[0][0] <= each[0] <= run[-1][0]]


def _chain(ticks: Sequence[Box], distance: float) -> list[Box]:
    """Return the first line and those that follow it at multiples of a distance, without others between them."""
    run = [ticks[0]]
    for each in ticks[1:]:
        step = each[0] - run[-1][0]
        many = round(step / distance)
        if many > _LOST:
            break
        if many and abs(step - many * distance) < _UNEVEN * distance + _SLACK:
            run.append(each)
    return run


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
    return LetterBoxes(_extended(ink, (min(lefts), min(tops), max(rights), max(bottoms)), distance), tuple(filled))


def _extended(ink: Mask, box: Box, distance: float) -> Box:
    """Return the box of a row with one more box at each end where its horizontal lines go on."""
    left, top, right, bottom = box
    one, near = round(distance), max(3, round(0.12 * (bottom - top)))
    bands = [slice(max(0, edge - near), edge + near) for edge in (top, bottom)]
    if left >= one and all(_is_ruled(ink[band, left - one : left]) for band in bands):
        left -= one
    if right + one <= ink.shape[1] and all(_is_ruled(ink[band, right : right + one]) for band in bands):
        right += one
    return left, top, right, bottom


def _is_ruled(band: Mask) -> bool:
    """Whether there is a horizontal line all along a part of a page. It may be slightly sloped."""
    import cv2
    import numpy as np

    thick = cv2.dilate(band, np.ones((3, 1), np.uint8))
    return bool(((thick > 0).mean(1) > _RULED).any())
