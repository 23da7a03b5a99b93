"""Links and marks that are annotations: they go where the new words are, and get their width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import cos, radians, sin
from typing import TYPE_CHECKING

from incognote.formats.pdf.marks import Box, MovedLine
from incognote.formats.pdf.values import array, decimal, is_dictionary, items

if TYPE_CHECKING:
    from pikepdf import Page

_KINDS = frozenset(("/Link", "/Highlight", "/Underline", "/Squiggly", "/StrikeOut", "/Square"))
_HIGHEST = 2.5  # the height of the highest mark of one line, in units of its font size


def follow_words(page: Page, lines: Sequence[MovedLine]) -> int:
    """Move the annotations of a page that are links or marks. Return how many moved.

    What draws a mark that moved is removed, because it has the old width. Programs draw it again.
    """
    moved = 0
    for annotation in items(page.obj, "/Annots"):
        if not is_dictionary(annotation) or str(annotation.get("/Subtype", "")) not in _KINDS:
            continue
        quads = [float(each) for each in items(annotation, "/QuadPoints")]
        old = list(_boxes(quads, 8)) or list(_boxes((float(each) for each in items(annotation, "/Rect")), 4))
        new = [_followed(box, lines) for box in old]
        if new == old:
            continue
        moved += 1
        if quads:
            annotation["/QuadPoints"] = array(
                decimal(each) for left, low, right, high in new
                for each in (left, high, right, high, left, low, right, low)
            )  # fmt: skip
        annotation["/Rect"] = array(map(decimal, _around(new)))
        if "/AP" in annotation:
            del annotation["/AP"]
    return moved


def _boxes(numbers: Iterable[float], size: int) -> Iterator[Box]:
    found = list(numbers)
    for at in range(0, len(found) - size + 1, size):
        x, y = found[at : at + size : 2], found[at + 1 : at + size : 2]
        yield min(x), min(y), max(x), max(y)


def _around(boxes: Sequence[Box]) -> Box:
    lefts, lows, rights, highs = zip(*boxes, strict=True)
    return min(lefts), min(lows), max(rights), max(highs)


def _followed(box: Box, lines: Sequence[MovedLine]) -> Box:
    """Return the place of a box after the lines under it have moved. Oblique lines have no boxes."""
    for line in lines:
        angle, level, size = line.segment.angle, line.segment.level, line.segment.size
        left, low, right, high = _turned(box, -angle)
        middle = level + 0.25 * size
        if angle % 90 or not low <= middle <= high or high - low > _HIGHEST * size:
            continue
        start, end = line.followed(left, is_start=True), line.followed(right, is_start=False)
        if (start, end) != (left, right):
            return _turned((start, low, max(start, end), high), angle)
    return box


def _turned(box: Box, angle: int) -> Box:
    c, s = round(cos(radians(angle))), round(sin(radians(angle)))
    left, low, right, high = box
    x, y = (left * c - low * s, right * c - high * s), (left * s + low * c, right * s + high * c)
    return min(x), min(y), max(x), max(y)
