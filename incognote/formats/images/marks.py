"""What a page shows beside words: signatures, handwriting, stamps, faces, logos, and text-like ink that no pass read.

Nothing here is learned. Connected parts of ink are grouped and measured in heights of a printed line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import hypot
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from incognote.formats.images.legible import is_known, legible, line_height
from incognote.formats.images.page import shared, union
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Box, Region, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_SOURCES = ("ink",)
_MANY = 300  # parts of a group
_LATEST = 20  # boxes that another one is united with


def marks(pixels: Pixels, reading: PageReading) -> list[Region]:
    """Return the regions of a page that identify without being read.

    Args:
        pixels: gray or RGB.
        reading: the words of the page; what they cover is not writing.

    Returns:
        Regions of the kinds Signature, Handwriting, Seal_Stamp, Face, Logo, and Unread.
    """
    page = _Page(pixels, reading)
    found = [*page.pictures(), *page.stamps()]
    found += page.logos([region.box for region in found])
    return found + list(page.writing([region.box for region in found]))


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


class _Page:
    def __init__(self, pixels: Pixels, reading: PageReading) -> None:
        import cv2
        import numpy as np

        from incognote.pages import lines
        from incognote.pages.ocr import prepare

        view = prepare.view_of(pixels)
        self.size = view.size
        self.high = line_height(reading.words) or 1.7 * (prepare.letter_height(view.gray) or max(view.size) / 160)
        self.raw = view.gray
        gray = prepare.light(view, self.high / 1.7)[0].gray
        self.gray = np.asarray(cv2.medianBlur(gray, 3), np.uint8)
        self.ink = lines.ink(self.gray)
        self.ruled = lines.ruled(self.ink, 16 * self.high)
        self.color = pixels if pixels.ndim == 3 else None
        self.codes = [region.box for region in reading.codes]
        mask = self.ink.copy()
        mask[cv2.dilate(self.ruled, np.ones((3, 3), np.uint8)) > 0] = 0
        _erase(mask, self.codes)
        self.good = legible(reading.words, reading.seen, mask, pixels)
        self.shown = self._tones()
        _erase(mask, self.shown)
        self.good = self._without_scrawls(mask)
        self.read = np.array([word.box for word in self.good], int).reshape(-1, 4)
        self.unread = mask
        _erase(mask, (word.box for word in self.good), 1)

    def _tones(self) -> list[Box]:
        """Return the boxes of pictures: areas of many gray levels."""
        import cv2
        import numpy as np

        step = max(4, round(0.5 * self.high))
        rows, columns = self.raw.shape[0] // step, self.raw.shape[1] // step
        if not rows or not columns:
            return []
        tiles = self.raw[: rows * step, : columns * step].reshape(rows, step, columns, step)
        low, high = (np.percentile(tiles, q, axis=(1, 3)) for q in (20, 80))
        ground = np.bincount((self.raw[::4, ::4] // 8).ravel(), minlength=32).argmax() * 8 + 4
        # a tile of a picture has neither the ground's gray nor that of its neighbors
        other = (np.abs(low - ground) > 14) & (np.abs(high - ground) > 14)
        toned = np.where(other, np.uint8(255), np.uint8(0))
        found = []
        for part in _parts(cv2.morphologyEx(toned, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)))[1]:
            left, top, right, bottom = part.box
            if part.wide < 5 or part.high < 5 or part.area < 0.55 * part.wide * part.high:
                continue
            middle = self.raw[top * step : bottom * step, left * step : right * step]
            levels = np.bincount((middle // 12).ravel(), minlength=22) / middle.size
            if levels.max() < 0.5 and (levels > 0.03).sum() >= 5:
                found.append((left * step, top * step, right * step, bottom * step))
        return found

    def _without_scrawls(self, mask: Any) -> list[Word]:
        """Return the words that were read well, without those that a pass took a signature for."""
        _, parts = _parts(mask, 0.9 * self.high)
        large = [part.box for part in parts if self._is_scrawl(mask, part)]
        return [word for word in self.good if not any(self._hides(box, word) for box in large)]

    def _is_scrawl(self, mask: Any, part: InkPart) -> bool:
        """Whether a part of ink is larger than a letter, thin, and winding."""
        high = self.high
        if part.high > 9 * high or part.wide > 24 * high or part.area > 0.4 * part.wide * part.high:
            return False
        wide, tall = part.wide / high, part.high / high
        if not ((tall > 1.5 and wide > 1.5) or (tall > 0.9 and wide > 3.5)):
            return False
        left, top, right, bottom = part.box
        stroke = _stroke(mask[top:bottom, left:right])
        return stroke < 0.4 * high and part.area / stroke > 1.15 * hypot(part.wide, part.high)

    def _hides(self, box: Box, word: Word) -> bool:
        """Whether a word is only what a pass read in a scrawl."""
        if shared(word.box, box) < 0.5 * _area(word.box):
            return False
        known = len(word.text) > 2 and is_known(word.text)
        sure = (word.confidence > 0.9 and len(word.text) > 3) or (word.confidence > 0.8 and known)
        return not sure or word.box[3] - word.box[1] < 0.4 * (box[3] - box[1])

    def stamps(self) -> Iterator[Region]:
        """Yield outlines that are tilted or round, with text inside."""
        import cv2
        import numpy as np

        joined = cv2.morphologyEx(self.ink, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        outlines, _ = cv2.findContours(joined, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        high = self.high
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
            ink = cv2.bitwise_and(self.ink[y : y + h, x : x + w], inside)
            if float(ink.sum()) / 255 > 0.5 * hulled:
                continue
            parts = [each for each in _parts(ink)[1] if 0.25 * high < each.high < 2.5 * high and each.wide < 4 * high]
            if len(parts) >= 4:
                yield Region("Seal_Stamp", (x, y, x + w, y + h), 0.9, _SOURCES)

    def pictures(self) -> Iterator[Region]:
        """Yield small pictures in the shape of a portrait."""
        wide, high = self.size
        for box in self.shown:
            w, h = box[2] - box[0], box[3] - box[1]
            if 2.5 * self.high < w < 14 * self.high and 0.8 * w < h < 1.8 * w and w * h < 0.2 * wide * high:
                yield Region("Face", box, 0.6, _SOURCES)

    def logos(self, taken: Sequence[Box]) -> Iterator[Region]:
        """Yield solid blobs at the top of the page that are not text."""
        import cv2
        import numpy as np

        high, top = self.high, round(0.25 * self.size[1])
        if top < high:
            return
        part = self.gray[:top]
        solid = np.where(part < np.percentile(part, 90) - 40, np.uint8(255), np.uint8(0))
        if self.color is not None:
            red, green, blue = cv2.split(self.color[:top])
            most, least = cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue)
            solid |= np.where(cv2.subtract(most, least) > 60, np.uint8(255), np.uint8(0))
        solid[cv2.dilate(self.ruled[:top], np.ones((3, 3), np.uint8)) > 0] = 0
        _erase(solid, self.codes)
        reach = max(3, round(0.25 * high)) | 1
        for each in _parts(cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8)), 1.6 * high)[1]:
            box = each.box
            if not (1.6 * high < each.high < 12 * high and 1.6 * high < each.wide < 16 * high):
                continue
            read = sum(shared(word.box, box) for word in self.good if word.confidence > 0.7)
            label = each.wide > 2 * each.high or each.area > 0.8 * _area(box)  # such as a button of a screen
            if read > (0.12 if label else 0.5) * _area(box) or each.area < 0.2 * _area(box):
                continue
            if _stroke(solid[box[1] : box[3], box[0] : box[2]]) < 0.3 * high:
                continue
            if not any(shared(box, other) > 0.5 * _area(box) for other in taken):
                yield Region("Logo", self._padded(box), 0.6, _SOURCES)

    def writing(self, taken: Sequence[Box]) -> Iterator[Region]:
        """Yield groups of unread ink that look like writing."""
        import cv2
        import numpy as np

        high = self.high
        mask = self.unread.copy()
        _erase(mask, taken)
        labels, parts = _parts(mask, 0.25 * high)
        parts = [each for each in parts if self._is_stroke(mask, labels, each)]
        kept = np.zeros(int(labels.max()) + 1, bool)
        kept[[each.label for each in parts]] = True
        ink = np.where(kept[labels], np.uint8(255), np.uint8(0))
        reach = np.ones((max(3, round(0.5 * high)) | 1, max(3, round(0.9 * high)) | 1), np.uint8)
        _, groups = cv2.connectedComponents(cv2.dilate(ink, reach), connectivity=8)
        by_group: dict[int, list[InkPart]] = {}
        for part in parts:
            rows, columns = np.nonzero(labels[part.box[1] : part.box[3], part.box[0] : part.box[2]] == part.label)
            by_group.setdefault(int(groups[part.box[1] + rows[0], part.box[0] + columns[0]]), []).append(part)
        for group in by_group.values():
            if (kind := self._kind(ink, group)) is not None:
                boxes = [each.box for each in group]
                if kind == "Signature":
                    boxes += self._flourishes(union(boxes))
                for box in self._cut(boxes):
                    yield Region(kind, box, 0.7, _SOURCES)

    def _flourishes(self, box: Box) -> Iterator[Box]:
        """Yield the short straight lines that touch a signature."""
        by = round(0.4 * self.high)
        near = box[0] - by, box[1] - by, box[2] + by, box[3] + by
        for each in self._short_lines:
            if shared(each.box, near):
                yield each.box

    @cached_property
    def _short_lines(self) -> list[InkPart]:
        return [each for each in _parts(self.ruled)[1] if each.wide < 9 * self.high and each.high < 9 * self.high]

    def _is_stroke(self, mask: Any, labels: Any, part: InkPart) -> bool:
        """Whether a part of ink can be of letters or of a signature: no speck, no solid area, no box."""
        import numpy as np

        high = self.high
        left, top, right, bottom = part.box
        w, h = part.wide, part.high
        if max(w, h) < 0.25 * high or (min(w, h) < 0.08 * high and max(w, h) < 0.5 * high):
            return False
        if h > 10 * high or w > 26 * high:
            return False
        if part.area > 0.75 * w * h and max(w, h) > 0.3 * high and (min(w, h) > 0.45 * high or max(w, h) > 1.3 * high):
            return False
        if h < 0.18 * high and w > 0.7 * high:
            return False
        if min(w, h) > 0.45 * high:
            own = labels[top:bottom, left:right] == part.label
            starts = int(own[0].sum()) + int((own[1:] & ~own[:-1]).sum())
            if w > 12 * high and starts < 1.3 * w:  # a curve with one value in each column
                return False
            edge = max(1, round(0.12 * high))
            sides = (own[:edge].any(0), own[-edge:].any(0), own[:, :edge].any(1), own[:, -edge:].any(1))
            if all(float(np.mean(side)) > 0.85 for side in sides):
                return False
        return True

    def _kind(self, ink: Any, group: Sequence[InkPart]) -> str | None:
        """Return what a group of parts is, or None if it is no writing."""
        high = self.high
        left, top, right, bottom = union(each.box for each in group)
        w, h = right - left, bottom - top
        area = sum(each.area for each in group)
        tall = [each for each in group if each.high > 0.4 * high or each.wide > 0.6 * high]
        if max(w, h) < 0.8 * high or h < 0.4 * high or not tall:
            return None
        part = ink[top:bottom, left:right]
        stroke = _stroke(part)
        if stroke > 0.55 * high:
            return None
        length = area / max(1.0, stroke)
        if len(tall) < 2 and length < 1.15 * hypot(w, h):
            return None
        largest = max(group, key=lambda each: each.wide * each.high)
        if largest.high > 1.6 * high and largest.wide > 2 * high:
            return "Signature"
        return "Handwriting" if median(each.high for each in tall) > 0.95 * high else "Unread"

    def _cut(self, boxes: Sequence[Box]) -> Iterator[Box]:
        """Yield boxes around boxes that leave read words out."""
        whole = union(boxes)
        if not self._swallowed(whole):
            yield self._padded(whole)
            return
        found: list[Box] = []
        for box in sorted(self._by_tile(boxes)):
            for at in range(len(found) - 1, max(-1, len(found) - 1 - _LATEST), -1):
                if not self._swallowed(joined := union((box, found[at]))):
                    found[at] = joined
                    break
            else:
                found.append(box)
        yield from map(self._padded, found)

    def _by_tile(self, boxes: Sequence[Box]) -> Sequence[Box]:
        """Return boxes, united within tiles if there are very many."""
        if len(boxes) < _MANY:
            return boxes
        side = max(1, round(3 * self.high))
        tiles: dict[tuple[int, int], list[Box]] = {}
        for box in boxes:
            tiles.setdefault((box[0] // side, box[1] // side), []).append(box)
        return [union(each) for each in tiles.values()]

    def _swallowed(self, box: Box) -> bool:
        """Whether a box covers more than a quarter of a word that was read well."""
        import numpy as np

        left, top, right, bottom = self.read.T
        wide = np.minimum(right, box[2]) - np.maximum(left, box[0])
        high = np.minimum(bottom, box[3]) - np.maximum(top, box[1])
        return bool((4 * np.maximum(wide, 0) * np.maximum(high, 0) > (right - left) * (bottom - top)).any())

    def _padded(self, box: Box) -> Box:
        by = max(1, round(0.12 * self.high))
        wide, high = self.size
        return max(0, box[0] - by), max(0, box[1] - by), min(wide, box[2] + by), min(high, box[3] + by)


def _parts(mask: Any, least: float = 0) -> tuple[Any, list[InkPart]]:
    """Return the connected parts of ink of more than 4 pixels, and the picture of their labels.

    Args:
        least: their least width or height.
    """
    import cv2
    import numpy as np

    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found = 1 + np.flatnonzero((stats[1:, 4] > 4) & (stats[1:, 2:4].max(axis=1) >= least))
    rows = zip(found.tolist(), stats[found].tolist(), strict=True)
    return labels, [InkPart(at, (x, y, x + w, y + h), area) for at, (x, y, w, h, area) in rows]


def _erase(mask: Any, boxes: Iterable[Box], by: int = 0) -> None:
    for left, top, right, bottom in boxes:
        mask[max(0, top - by) : max(0, bottom + by), max(0, left - by) : max(0, right + by)] = 0


def _stroke(mask: Any) -> float:
    """Return the mean width of strokes, in pixels."""
    import cv2
    import numpy as np

    mask = np.pad(mask, 1)
    distance = cv2.distanceTransform(mask, cv2.DIST_L2, 3)
    return max(1.0, 4 * float(distance.sum()) / max(1, cv2.countNonZero(mask)) - 2)


def _area(box: Box) -> int:
    return max(1, (box[2] - box[0]) * (box[3] - box[1]))
