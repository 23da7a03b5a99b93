"""Lines of ink on a picture that look like letters that a program has drawn: of one height, thin, and side by side.

No letter is read here, so a line is found whatever its language, font, or contrast is. Thin ink is found with top-hat
transforms (Meyer 1979), and connected parts of one height are chained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from incognote.formats.images.page import shared, union
from incognote.pages.nouns import Box

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_STROKES = (9, 27)  # pixels of the squares that no stroke fills
_LEVELS = (12, 18, 27, 40, 60, 90, 130)  # gray levels of ink above or below its ground
_LEAST, _MOST = 5, 72  # height of a part
_PITCH = 0.75  # the width of a letter in heights
_WIDEST = 24.0  # heights of a part: letters that touch each other
_FULL = (0.10, 0.92)  # the share of its box that a part fills
_BESIDE, _PEAK, _FEW, _PEAKS = 4, 4.0, 60, 4  # values beside one, times they are rarer, pixels, and such values
_SHARE = 0.05  # of a picture that letters cover at most
_BRIGHT = 150  # the least of them: the ground of a picture has one value, too
_FLAT = 3  # the support of a line of one value
_GAP = 1.5  # heights between letters or words of a line
_HIGHER = 1.7  # of two letters of a line
_MANY = 5_000  # parts of a picture; more are noise
_LEAST_PARTS = 3
_THIN = 0.32  # the stroke of a letter in heights of it
_SURE = 3  # the support of a line that is surely written
_LONG, _VERY_LONG = 4, 8  # its parts, and its letters with which less support is enough
_TALLER = 1.3  # the height of a line within which others make it longer
_CERTAIN = 5  # the support of a line beside which others are likely, and the parts of a vertical one
_CROSSED = 0.2  # the share of a vertical line that horizontal ones may cover
_QUICK = 4  # the support of a line that is found in one frame
_ALIKE = 1.35  # heights of letters of one block
_TWICE = 1.6  # the height of a line that has another one within it
_SAME = 0.6  # the share of a line that a second one covers


@dataclass(frozen=True, slots=True)
class InkLine:
    """A line of ink.

    Args:
        box: of its ink.
        dark: whether it is darker than its ground.
        parts: the boxes of its connected parts, from left to right.
        height: of its letters.
        turned: whether it is vertical.
        support: at how many contrasts and sizes of strokes it was found.
    """

    box: Box
    dark: bool
    parts: tuple[Box, ...]
    height: float
    turned: bool = False
    support: int = 1


def ink_lines(gray: Pixels) -> list[InkLine]:
    """Return the lines on a gray picture, those with more parts first."""
    import numpy

    found: list[InkLine] = []
    if min(gray.shape) < _LEAST:
        return []
    for dark in (False, True):
        for mask in _masks(255 - gray if dark else gray):
            found += _lines(mask, dark)
            sideways = _lines(numpy.ascontiguousarray(mask.T), dark)
            found += [_turned(line) for line in sideways]
    return _united([*found, *_of_one_value(gray)])


def _of_one_value(gray: Pixels) -> Iterator[InkLine]:
    """Yield lines of parts that have one value which many pixels have: programs draw letters in one color."""
    import numpy

    counts = numpy.bincount(gray.ravel(), minlength=256).astype(float)
    padded = numpy.pad(counts, _BESIDE, mode="reflect")
    around = numpy.median([padded[at : at + 256] for at in range(2 * _BESIDE + 1) if at != _BESIDE], axis=0)
    peaks = [int(value) for value in numpy.argsort(-(counts - around)) if counts[value] > _PEAK * around[value] + _FEW]
    bright = [value for value in peaks if value >= _BRIGHT and counts[value] < _SHARE * gray.size]
    for value in bright[:_PEAKS]:
        for line in _lines((gray == value).astype(numpy.uint8), dark=False):
            if len(line.parts) >= _LEAST_PARTS:
                yield replace(line, support=_FLAT)


def _masks(gray: Pixels, strokes: Sequence[int] = _STROKES) -> Iterator[Pixels]:
    """Yield where a picture has thin bright ink, for some sizes of strokes and some contrasts."""
    import cv2
    import numpy

    soft = cv2.GaussianBlur(gray, (0, 0), 0.6)
    before: Any = None
    for stroke in strokes:
        top = cv2.morphologyEx(soft, cv2.MORPH_TOPHAT, numpy.ones((stroke, stroke), numpy.uint8))
        for level in _LEVELS:
            mask = (top > level).astype(numpy.uint8)
            if mask.any() and not (before is not None and numpy.array_equal(mask, before)):
                yield mask
            before = mask


def _lines(mask: Pixels, dark: bool) -> Iterator[InkLine]:
    import cv2
    import numpy

    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    x, y, wide, high, area = (stats[1:, column].astype(numpy.int64) for column in range(5))
    like = (high >= _LEAST) & (high <= _MOST) & (wide <= _WIDEST * high)
    full = area / (wide * high)
    like &= (full >= _FULL[0]) & ((full <= _FULL[1]) | (wide <= 0.35 * high))
    x, y, wide, high, area = (each[like] for each in (x, y, wide, high, area))
    if not 2 <= len(x) <= _MANY:
        return
    for group in _chained(x, y, wide, high):
        if sum(_letters(wide[each], high[each]) for each in group) < _LEAST_PARTS:
            continue
        tall = float(numpy.median(high[group]))
        thin = float(numpy.median(area[group] / (wide[group] + high[group])))  # about half of the stroke
        if thin > _THIN * tall + 0.6:
            continue
        boxes = [(int(x[i]), int(y[i]), int(x[i] + wide[i]), int(y[i] + high[i])) for i in group]
        box = union(boxes)
        if box[3] - box[1] <= 2.2 * tall and box[2] - box[0] > box[3] - box[1]:
            yield InkLine(box, dark, tuple(sorted(boxes)), tall)


def _letters(wide: float, high: float) -> int:
    """Return how many letters that touch each other are as wide."""
    return max(1, round(float(wide / (_PITCH * high))))


def _chained(x: Any, y: Any, wide: Any, high: Any) -> list[list[int]]:
    """Return the parts of each line, by their indices."""
    import numpy

    order = numpy.argsort(x, kind="stable")
    owner = list(range(len(x)))

    def root(each: int) -> int:
        while owner[each] != each:
            owner[each] = owner[owner[each]]
            each = owner[each]
        return each

    starts = x[order]
    for place, one in enumerate(order):
        reach = x[one] + wide[one] + _GAP * high[one]
        last = int(numpy.searchsorted(starts, reach, "right"))
        near = order[place + 1 : last]
        tall, low = numpy.maximum(high[near], high[one]), numpy.minimum(high[near], high[one])
        common = numpy.minimum(y[near] + high[near], y[one] + high[one]) - numpy.maximum(y[near], y[one])
        gap = x[near] - (x[one] + wide[one])
        for other in near[(tall <= _HIGHER * low) & (common >= 0.6 * low) & (gap <= _GAP * low) & (gap > -low)]:
            owner[root(int(other))] = root(int(one))
    groups: dict[int, list[int]] = {}
    for each in order:
        groups.setdefault(root(int(each)), []).append(int(each))
    return list(groups.values())


def _turned(line: InkLine) -> InkLine:
    def back(box: Box) -> Box:
        return box[1], box[0], box[3], box[2]

    return replace(line, box=back(line.box), parts=tuple(map(back, line.parts)), turned=True)


def _united(lines: Sequence[InkLine]) -> list[InkLine]:
    """Return lines without those that others mostly cover, those with more parts first."""
    import numpy

    if not lines:
        return []
    lines = sorted(lines, key=lambda each: (-len(each.parts), each.box))
    boxes = numpy.array([line.box for line in lines])
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    supports = numpy.array([line.support for line in lines])
    left = numpy.ones(len(lines), bool)
    found: list[InkLine] = []
    for at, line in enumerate(lines):
        if not left[at]:
            continue
        wide = numpy.minimum(boxes[:, 2], boxes[at, 2]) - numpy.maximum(boxes[:, 0], boxes[at, 0])
        high = numpy.minimum(boxes[:, 3], boxes[at, 3]) - numpy.maximum(boxes[:, 1], boxes[at, 1])
        common = numpy.clip(wide, 0, None) * numpy.clip(high, 0, None)
        within = left & (common > _SAME * areas)
        left &= ~within
        alike = within & (common > _SAME * areas[at])
        low = boxes[:, 3] - boxes[:, 1] <= _TALLER * (line.box[3] - line.box[1])
        around = boxes[alike if line.turned else within & low]
        box = union([line.box, *around.tolist()])
        found.append(replace(line, box=box, support=int(supports[alike].sum())))
    return found


def written_lines(gray: Pixels) -> list[InkLine]:
    """Return the lines that are surely drawn letters, and those beside, above, or below them with letters as high."""
    lines = ink_lines(gray)
    found = [line for line in lines if not line.turned and _is_sure(line)]
    rest = [line for line in lines if not line.turned and not _is_sure(line) and len(line.parts) > 1]
    fresh = [line for line in found if line.support > _SURE]
    while fresh and rest:
        near = [line for line in rest if any(_is_beside(line, other) for other in fresh)]
        rest = [line for line in rest if line not in near]
        found, fresh = found + near, [line for line in near if line.support > 1]
    turned = (line for line in lines if line.turned and line.support >= _CERTAIN and len(line.parts) >= _CERTAIN)
    found = _without_doubles(found)
    return found + [line for line in turned if not any(_inside(line.box, other.box) > _CROSSED for other in found)]


def _without_doubles(lines: Sequence[InkLine]) -> list[InkLine]:
    """Return lines without those within others that are hardly higher."""
    found: list[InkLine] = []
    for line in sorted(lines, key=lambda each: (each.box[0] - each.box[2]) * (each.box[3] - each.box[1])):
        high = line.box[3] - line.box[1]
        if not any(
            _inside(line.box, other.box) > _SAME and other.box[3] - other.box[1] <= _TWICE * high for other in found
        ):
            found.append(line)
    return found


def _is_sure(line: InkLine) -> bool:
    """Whether a horizontal line is surely drawn letters."""
    if len(line.parts) < _LEAST_PARTS:
        return line.support > _SURE and line.height <= _MOST / 2
    if line.support == _SURE - 1:
        return sum(_letters(part[2] - part[0], line.height) for part in line.parts) >= _VERY_LONG
    return line.support > _SURE or (line.support == _SURE and len(line.parts) >= _LONG)


def _is_beside(line: InkLine, other: InkLine) -> bool:
    """Whether two horizontal lines may be of one block of text."""
    low, high = sorted((line.height, other.height))
    if high > _ALIKE * low:
        return False
    apart = max(line.box[0], other.box[0]) - min(line.box[2], other.box[2])
    below = max(line.box[1], other.box[1]) - min(line.box[3], other.box[3])
    if below <= -0.6 * low:
        starts, ends = (abs(line.box[side] - other.box[side]) for side in (1, 3))
        return apart <= 3 * high and max(starts, ends) <= 0.5 * high
    is_likely = line.support > 1 or len(line.parts) >= _VERY_LONG
    return is_likely and line.dark == other.dark and apart <= 0 and below <= 1.5 * high


def _inside(one: Box, two: Box) -> float:
    """Return the share of the first box that is in the second."""
    return shared(one, two) / ((one[2] - one[0]) * (one[3] - one[1]))


def quick_lines(gray: Pixels) -> list[InkLine]:
    """Return the horizontal lines that are surely drawn letters. It takes a quarter of the time of `written_lines`."""
    found: list[InkLine] = []
    for dark in (False, True):
        for mask in _masks(255 - gray if dark else gray, _STROKES[:1]):
            found += _lines(mask, dark)
    return [
        line for line in _united([*found, *_of_one_value(gray)])
        if line.support >= _QUICK and len(line.parts) >= _LONG and line.height <= _MOST / 2
    ]  # fmt: skip
