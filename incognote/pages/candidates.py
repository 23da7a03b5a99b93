"""Boxes of a page that may be its regions: groups of words, ruled tables, panels, and groups of ink.

Groups are made at several distances, so that a region is among them whatever its spacing. Which of them are regions is
decided afterwards, as in R-CNN (Girshick et al., Rich feature hierarchies for accurate object detection, CVPR 2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incognote.pages import lines
from incognote.pages.boxes import boxes_of
from incognote.pages.nouns import Region, Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incognote.pages.boxes import Boxes, Page

    Mask = NDArray[np.uint8]

SOURCES = ("code", "network", "words", "wide", "panel", "rules", "ink")
"""What makes candidates."""
_ACROSS = (0.9, 2.2, 5.0, 14.0)  # heights of a line between two words of a group
_DOWN = (0.45, 0.8, 1.3, 2.2)
_SCALE = 5.0  # pixels of a line's height where groups of words are found
_MOST = 500


@dataclass(frozen=True)
class LayoutPage:
    """A page with upright words.

    Args:
        gray: 8-bit, height × width.
        words: what was read on it, in its pixels.
        codes: its barcodes, in its pixels.
    """

    gray: Page = field(repr=False)
    words: Sequence[Word] = field(repr=False)
    codes: Sequence[Region] = ()

    @cached_property
    def boxes(self) -> Boxes:
        """The boxes of the words, words × 4."""
        return boxes_of(self.words)

    @cached_property
    def high(self) -> float:
        """The height of a line in pixels: the median of the words' heights."""
        import numpy as np

        longest = max(self.gray.shape)
        if len(self.words) < 3:
            return float(longest) / 90
        middle = float(np.median(self.boxes[:, 3] - self.boxes[:, 1]))
        return float(min(max(middle, 4.0, longest / 250), longest / 12))

    @cached_property
    def ground(self) -> int:
        """The gray level that most pixels have, within 2 levels."""
        import numpy as np

        return int(np.bincount((self.gray[::3, ::3] // 4).ravel(), minlength=64).argmax()) * 4 + 2

    @cached_property
    def ink(self) -> Mask:
        """255 where the page has ink, 0 elsewhere."""
        return lines.ink(self.gray if self.ground >= 110 else 255 - self.gray)

    @cached_property
    def parts(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The connected parts of the ink: their labels, and for each label left, top, width, height, and area."""
        import cv2
        import numpy as np

        _, labels, stats, _ = cv2.connectedComponentsWithStats(self.ink, connectivity=8)
        return np.asarray(labels, np.int32), np.asarray(stats, np.int32)

    @cached_property
    def rules(self) -> tuple[Mask, Mask]:
        """The straight horizontal and vertical lines: 255, and 0 elsewhere."""
        import cv2
        import numpy as np

        length, thick = max(12, round(2.2 * self.high)), max(3, round(0.5 * self.high))
        found = []
        for across in (True, False):
            # a line differs from what is on both of its sides
            side = np.ones((thick, 1) if across else (1, thick), np.uint8)
            dark, bright = (cv2.morphologyEx(self.gray, kind, side) for kind in (cv2.MORPH_BLACKHAT, cv2.MORPH_TOPHAT))
            change = cv2.max(dark, bright)
            noise = 3 * float(np.median(change[::3, ::3]))
            mask: Any = np.where(change > min(60.0, 12 + noise), np.uint8(255), np.uint8(0))
            mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((1, 5) if across else (5, 1), np.uint8))
            along = np.ones((1, length) if across else (length, 1), np.uint8)
            found.append(np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, along), np.uint8))
        return found[0], found[1]


def candidates(page: LayoutPage, proposals: Boxes) -> tuple[Boxes, NDArray[np.intp]]:
    """Return boxes that may be regions (candidates × 4), and the place in `SOURCES` of what made each.

    Args:
        proposals: boxes of a network, boxes × 4.
    """
    import numpy as np

    groups = _word_groups(page)
    families = (
        [region.box for region in page.codes],
        proposals,
        groups,
        _widened(page, groups),
        list(_panels(page)),
        list(_rule_groups(page)),
        list(_ink_groups(page)),
    )
    tables = [np.array(family, np.float32).reshape(-1, 4) for family in families]
    boxes = np.concatenate(tables)
    sources = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    height, width = page.gray.shape
    boxes = np.clip(boxes, 0, np.array([width, height, width, height], np.float32))
    large = (boxes[:, 2] - boxes[:, 0] >= 6) & (boxes[:, 3] - boxes[:, 1] >= 5)
    boxes, sources = boxes[large], sources[large]
    step = max(2.0, 0.35 * page.high)
    _, first = np.unique(np.rint(boxes / step).astype(int), axis=0, return_index=True)
    first = np.sort(first)[:_MOST]
    return boxes[first].astype(np.float32), sources[first].astype(np.intp)


def _word_groups(page: LayoutPage) -> Boxes:
    """Return the boxes of words that are near each other, at several distances, also where lines part them."""
    import cv2
    import numpy as np

    if not len(page.boxes):
        return page.boxes
    scale = min(1.0, _SCALE / page.high)
    shape = tuple(int(np.ceil(side * scale)) + 2 for side in page.gray.shape)
    cut = cv2.resize(page.rules[0], shape[::-1], interpolation=cv2.INTER_AREA) > 60
    middles = np.rint((page.boxes[:, :2] + page.boxes[:, 2:]) / 2 * scale).astype(int)
    middles = np.clip(middles, 0, np.array(shape)[::-1] - 1)
    out = np.array([-1, -1, 1, 1], np.float32)
    found = []
    for across in _ACROSS:
        for down in _DOWN:
            grown = (page.boxes + out * np.array([across, down, across, down], np.float32) * page.high / 2) * scale
            mask = np.zeros(shape, np.uint8)
            for left, top, right, bottom in np.maximum(np.rint(grown), 0).astype(int).tolist():
                mask[top:bottom, left:right] = 255
            for each in (mask, np.where(cut, np.uint8(0), mask)):
                labels = cv2.connectedComponents(each, connectivity=4)[1]
                found.append(_unions(page.boxes, labels[middles[:, 1], middles[:, 0]]))
    return np.concatenate(found)


def _unions(boxes: Boxes, labels: NDArray[np.intp]) -> Boxes:
    """Return the box around the boxes of each label but 0."""
    import numpy as np

    order = np.argsort(labels, kind="stable")
    order = order[labels[order] > 0]
    if not len(order):
        return boxes[:0]
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sorted_ = boxes[order]
    least = np.minimum.reduceat(sorted_[:, :2], starts)
    most = np.maximum.reduceat(sorted_[:, 2:], starts)
    return np.concatenate([least, most], axis=1).astype(np.float32)


def _widened(page: LayoutPage, groups: Boxes) -> Boxes:
    """Return groups of words, made as wide as the lines of the page; a few lines may stand out."""
    import numpy as np

    if not len(groups):
        return groups
    wide = page.boxes[page.boxes[:, 2] - page.boxes[:, 0] > 0.8 * (page.boxes[:, 3] - page.boxes[:, 1])]
    if not len(wide):
        return groups[:0]
    rows = np.rint((wide[:, 1] + wide[:, 3]) / (2 * page.high)).astype(int)
    ends = [(wide[rows == row, 0].min(), wide[rows == row, 2].max()) for row in np.unique(rows)]
    left, right = (float(np.percentile([end[side] for end in ends], share)) for side, share in ((0, 8), (1, 92)))
    size = groups[:, 2:] - groups[:, :2]
    made = groups[(size[:, 0] > 0.25 * (right - left)) & (size[:, 1] < 0.3 * page.gray.shape[0])].copy()
    made[:, 0], made[:, 2] = np.minimum(made[:, 0], left), np.maximum(made[:, 2], right)
    return np.asarray(made, np.float32)


def _panels(page: LayoutPage) -> Iterator[tuple[float, ...]]:
    """Yield areas of another gray than the page: bands, panels, pictures, the heads of tables."""
    import cv2
    import numpy as np

    side = max(3, round(0.5 * page.high)) | 1
    core = np.ones((side, side), np.uint8)
    change = cv2.absdiff(page.gray, np.full_like(page.gray, page.ground))
    for least in (6, 40):
        mask: Any = np.where(change > least, np.uint8(255), np.uint8(0))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, core)
        for box in _parts(cv2.morphologyEx(mask, cv2.MORPH_OPEN, core), page.high):
            if (box[2] - box[0]) * (box[3] - box[1]) < 0.9 * page.gray.size:
                yield box


def _rule_groups(page: LayoutPage) -> Iterator[tuple[float, ...]]:
    """Yield grids of lines, lines one below the other, and areas with lines on all sides."""
    import cv2
    import numpy as np

    joined = cv2.dilate(cv2.max(*page.rules), np.ones((3, 3), np.uint8))
    yield from _parts(joined, page.high)
    for gap in (1.5, 3.0, 5.0):
        reach = np.ones((max(3, round(gap * page.high)), 1), np.uint8)
        yield from _parts(cv2.morphologyEx(joined, cv2.MORPH_CLOSE, reach), page.high)
    for outline in cv2.findContours(joined, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)[0]:
        x, y, w, h = cv2.boundingRect(outline)
        if w > 8 * page.high and h > 2.5 * page.high and cv2.contourArea(outline) > 0.7 * w * h:
            yield x, y, x + w, y + h


def _ink_groups(page: LayoutPage) -> Iterator[tuple[float, ...]]:
    """Yield large connected parts of ink, and groups of ink that was not read."""
    import cv2
    import numpy as np

    high = page.high
    for box in _larger(page.parts[1], 2 * high):
        if box[3] - box[1] < 16 * high and box[2] - box[0] < 30 * high:
            yield box
    mask = cv2.subtract(page.ink, cv2.dilate(cv2.max(*page.rules), np.ones((3, 3), np.uint8)))
    labels, stats = cv2.connectedComponentsWithStats(mask, connectivity=8)[1:3]
    yield from _larger(stats, 1.5 * high)
    tall = (stats[:, 3] > 1.5 * high) & (stats[:, 2] > 0.6 * high)
    tall[0] = False
    for left, top, right, bottom in (word.box for word in page.words if word.confidence > 0.6):
        mask[top:bottom, left:right] = 0
    mask[tall[labels]] = 255
    for across, down in ((0.6, 0.4), (1.4, 0.9), (2.5, 1.6)):
        reach = np.ones((max(3, round(down * high)) | 1, max(3, round(across * high)) | 1), np.uint8)
        yield from _parts(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, reach), high)


def _parts(mask: Any, high: float) -> Iterator[tuple[float, ...]]:
    """Yield the boxes of a mask's connected parts whose sides are longer than 1.2 heights of a line."""
    import cv2

    yield from _larger(cv2.connectedComponentsWithStats(mask, connectivity=8)[2], 1.2 * high)


def _larger(stats: Any, least: float) -> Iterator[tuple[float, ...]]:
    """Yield the boxes of connected parts whose sides are longer than `least`."""
    for x, y, w, h, _ in stats[1:][(stats[1:, 2:4] > least).all(axis=1)].tolist():
        yield x, y, x + w, y + h
