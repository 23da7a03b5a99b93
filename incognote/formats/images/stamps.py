"""Stamps: outlines with letters inside that are round or tilted, and lines of letters that are tilted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import atan2, degrees
from statistics import median
from typing import Any, NamedTuple

from incognote.formats.images.page import union
from incognote.formats.images.parts import InkPart, parts_of
from incognote.pages.nouns import Box

_LETTERS, _ALONE = 6, 9  # of a tilted line, and of one that is alone
_TILTED = 5.0  # degrees by which a line is tilted
_SLIGHT = 1.8  # the same, of lines beside each other
_ALIKE = 1.5  # degrees between lines of one stamp
_OFF = 0.3  # heights by which letters are off their line
_GROUND = 25  # gray levels between the paper in a stamp and around it


def outlined(ink: Any, gray: Any, high: float) -> Iterator[Box]:
    """Yield the boxes of outlines that are tilted or round, with letters inside.

    Args:
        ink: 255 where the page has ink. gray: the page. high: of a line of text, in pixels.
    """
    import cv2
    import numpy as np

    joined = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    outlines, _ = cv2.findContours(joined, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    for outline in outlines:
        x, y, w, h = cv2.boundingRect(outline)
        if not (2.2 * high < h < 26 * high and 2.2 * high < w < 30 * high):
            continue
        hull = cv2.convexHull(outline)
        area, hulled = cv2.contourArea(outline), cv2.contourArea(hull)
        if hulled < 4 * high * high or area < 0.85 * hulled:
            continue
        (_, _), (wide, tall), angle = cv2.minAreaRect(hull)
        full = hulled / max(1.0, wide * tall)
        angle = min(angle % 90, 90 - angle % 90)
        round_ = 0.7 < full < 0.86 and min(wide, tall) > 0.4 * max(wide, tall)
        tilted = full > 0.88 and angle > 2.0
        if not (round_ or tilted):
            continue
        inside = np.zeros((h, w), np.uint8)
        cv2.drawContours(inside, [hull - np.array([[x, y]])], -1, 255, -1)
        own = cv2.bitwise_and(ink[y : y + h, x : x + w], inside)
        if float(own.sum()) / 255 > 0.5 * hulled or not is_paper(gray, ink, (x, y, x + w, y + h), round(high)):
            continue
        parts = [each for each in parts_of(own)[1] if 0.25 * high < each.high < 2.5 * high and each.wide < 4 * high]
        if len(parts) >= 4:
            yield x, y, x + w, y + h


def is_paper(gray: Any, ink: Any, box: Box, by: int) -> bool:
    """Whether the ground in a box is about as light as that around it, within `by` pixels."""
    import numpy as np

    left, top, right, bottom = box
    inside = gray[top:bottom, left:right][ink[top:bottom, left:right] == 0]
    a, b = max(0, top - by), max(0, left - by)
    around = (ink[a : bottom + by, b : right + by] == 0).copy()
    around[top - a : bottom - a, left - b : right - b] = False
    outside = gray[a : bottom + by, b : right + by][around]
    if not len(inside) or not len(outside):
        return True
    return abs(float(np.median(inside)) - float(np.median(outside))) < _GROUND


class TiltedLine(NamedTuple):
    """Letters beside each other in a line that is not level.

    Args:
        angle: by which it falls to the right, in degrees.
    """

    parts: Sequence[InkPart]
    angle: float

    @property
    def box(self) -> Box:
        return union(each.box for each in self.parts)


def tilted(ink: Any, high: float) -> list[list[Box]]:
    """Return the letters of each group of lines that are more tilted than the lines of the page.

    Lines that are only slightly tilted count if another one beside them is as much.

    Args:
        ink: 255 where the page has ink, without ruled lines and vertical words. high: of a line of text, in pixels.
    """
    letters = [
        each for each in parts_of(ink, 0.3 * high)[1]
        if 0.3 * high < each.high < 2.2 * high and each.wide < 2.5 * high
    ]  # fmt: skip
    lines = list(_lines(letters, high))
    if not lines:
        return []
    page = _skew(lines)
    off = [line for line in lines if abs(line.angle - page) > _SLIGHT]
    found = [
        line for line in off
        if (abs(line.angle - page) > _TILTED and len(line.parts) >= _ALONE)
        or (_is_long(line, high) and any(_beside(line, other, high) for other in off if other is not line))
    ]  # fmt: skip
    groups: list[list[Box]] = []
    for line in found:
        boxes = [each.box for each in line.parts]
        near = [group for group in groups if _touch(union(group), line.box, high)]
        groups = [group for group in groups if group not in near]
        groups.append([*boxes, *(box for group in near for box in group)])
    return groups


def _touch(one: Box, two: Box, by: float) -> bool:
    return max(one[0], two[0]) - min(one[2], two[2]) < by and max(one[1], two[1]) - min(one[3], two[3]) < by


def _is_long(line: TiltedLine, high: float) -> bool:
    return line.box[2] - line.box[0] > (8 if abs(line.angle) < _TILTED else 4) * high


def _beside(one: TiltedLine, two: TiltedLine, high: float) -> bool:
    """Whether two lines are above each other and equally tilted."""
    a, b = one.box, two.box
    return (
        abs(one.angle - two.angle) < _ALIKE
        and min(a[2], b[2]) - max(a[0], b[0]) > 4 * high
        and max(a[1], b[1]) - min(a[3], b[3]) < high
    )


def _skew(lines: Sequence[TiltedLine]) -> float:
    """Return the median angle of lines, by their letters."""
    angles = sorted((line.angle, len(line.parts)) for line in lines)
    half = sum(n for _, n in angles) / 2
    for angle, n in angles:
        half -= n
        if half <= 0:
            return angle
    return 0.0


def _lines(letters: Sequence[InkPart], high: float) -> Iterator[TiltedLine]:
    """Yield lines of letters that are each other's nearest neighbor to the left and right."""
    import numpy as np

    if len(letters) < _LETTERS:
        return
    letters = sorted(letters, key=lambda each: each.box[0] + each.box[2])
    boxes = np.array([each.box for each in letters], float)
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    tall = boxes[:, 3] - boxes[:, 1]
    ends = np.searchsorted(x, x + 3 * high)
    after, before = [-1] * len(letters), [(np.inf, -1)] * len(letters)
    for at, end in enumerate(ends.tolist()):
        window = slice(at + 1, end)
        across, down = x[window] - x[at], np.abs(y[window] - y[at])
        gap = boxes[window, 0] - boxes[at, 2]
        fits = (gap < 1.1 * high) & (gap > -0.4 * high) & (down < 0.85 * across) & (down < 0.7 * high)
        fits &= np.maximum(tall[window], tall[at]) < 2.2 * np.minimum(tall[window], tall[at])
        if not fits.any():
            continue
        far = np.where(fits, across + down, np.inf)
        nearest = int(far.argmin())
        after[at] = at + 1 + nearest
        if far[nearest] < before[after[at]][0]:
            before[after[at]] = (float(far[nearest]), at)
    for at in range(len(letters)):
        if before[at][1] >= 0 and after[before[at][1]] == at:
            continue
        chain = [at]
        while (following := after[chain[-1]]) >= 0 and before[following][1] == chain[-1]:
            chain.append(following)
        if len(chain) >= _LETTERS and (angle := _angle(x[chain], y[chain], high)) is not None:
            yield TiltedLine([letters[each] for each in chain], angle)


def _angle(x: Any, y: Any, high: float) -> float | None:
    """Return the angle of a line through the middles of letters (Theil and Sen), or None if they are in no line."""
    import numpy as np

    far = 0.4 * (x[-1] - x[0])
    slopes = [(y[b] - y[a]) / (x[b] - x[a]) for a, b in combinations(range(len(x)), 2) if x[b] - x[a] >= far]
    if not slopes or far <= 0:
        return None
    slope = float(median(slopes))
    off = y - slope * x
    if float(np.median(np.abs(off - np.median(off)))) > _OFF * high:
        return None
    return degrees(atan2(slope, 1))
