"""What a page shows beside words: signatures, handwriting, stamps, faces, logos, and text-like ink that no pass read.

Nothing here is learned. Connected parts of ink are grouped and measured in heights of a printed line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import hypot
from statistics import median
from typing import TYPE_CHECKING, Any

from incognote.formats.images import emblems, stamps
from incognote.formats.images.knownwords import is_known
from incognote.formats.images.legible import is_blue, legible, line_height
from incognote.formats.images.page import shared, union
from incognote.formats.images.parts import (
    InkPart,
    area_of,
    erase,
    is_dashed,
    is_grid,
    parts_of,
    pictures_of,
    stroke_of,
    strokes_across,
    whole_picture,
)
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Box, Region, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_SOURCES = ("ink",)
_MANY = 300  # parts of a group
_LATEST = 20  # boxes that another one is united with
_TILTED = 0.3  # the share of a word that letters of a tilted line cover
_CURVE, _FRAMED_CURVE = 1.06, 1.3  # strokes in a column of a curve with one value each, and in a frame
_LETTER, _PRINTED = 1.45, 1.25  # heights of a line that one letter has at most, and a printed one
_SHORT = 3  # letters of a word in the middle of a name
_SIGN = 2  # letters that may be read in a face
_TALL, _STRETCHED = 1.2, 1.3  # heights of a line of a signature; heights of its letters by which they are wide
_MOST = 6  # words in a logo
_SQUARE = 2.5  # heights of a line that a solid square with letters has at least
_TABLE = 12  # surely read words in a table
_NEXT = 4.0  # heights between two parts of a handwritten name


def marks(pixels: Pixels, reading: PageReading) -> list[Region]:
    """Return the regions of a page that identify without being read.

    Args:
        pixels: gray or RGB.
        reading: the words of the page; what they cover is not writing.

    Returns:
        Regions of the kinds Signature, Handwriting, Seal_Stamp, Face, Logo, and Unread.
    """
    page = _Page(pixels, reading)
    found = [*page.pictures(), *page.outlines()]
    found += page.logos([region.box for region in found])
    tilted = list(page.tilts([region.box for region in found]))
    written = list(page.writing([region.box for region in found]))
    return found + tilted + written + list(page.between(written))


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
        erase(mask, self.codes)
        self.good = legible(reading.words, reading.seen, mask, pixels)
        self.shown = pictures_of(self.raw, self.high)
        erase(mask, self.shown)
        self.good = self._without_scrawls(mask)
        self.good = self._without_tilted(mask)
        self.read = np.array([word.box for word in self.good], int).reshape(-1, 4)
        self.unread = mask
        erase(mask, (word.box for word in self.good), 1)

    def _without_scrawls(self, mask: Any) -> list[Word]:
        """Return the words that were read well, without those that a pass took a signature for."""
        _, parts = parts_of(mask, 0.9 * self.high)
        large = [part.box for part in parts if self._is_scrawl(mask, part) and not self._is_table(part.box)]
        found = []
        for word in self.good:
            own = [box for box in large if shared(word.box, box)]
            hidden = sum(shared(word.box, box) for box in own) >= 0.5 * area_of(word.box)
            if not (hidden and self._hides(union(own), word)) and not self._is_stretched(word):
                found.append(word)
        return found

    def _is_stretched(self, word: Word) -> bool:
        """Whether a word has too few letters for its width, as a signature that an engine took for a word."""
        wide, high = word.box[2] - word.box[0], word.box[3] - word.box[1]
        letters = word.text.isalpha() and len(word.text) > 1 and not word.turn
        return letters and high > _TALL * self.high and wide > _STRETCHED * high * len(word.text)

    def _is_scrawl(self, mask: Any, part: InkPart) -> bool:
        """Whether a part of ink is larger than a letter, thin, and winding."""
        high = self.high
        if part.high > 9 * high or part.wide > 24 * high or part.area > 0.4 * part.wide * part.high:
            return False
        wide, tall = part.wide / high, part.high / high
        if not ((tall > 1.5 and wide > 1.5) or (tall > 0.9 and wide > 3.5)):
            return False
        left, top, right, bottom = part.box
        stroke = stroke_of(mask[top:bottom, left:right])
        return stroke < 0.4 * high and part.area / stroke > 1.15 * hypot(part.wide, part.high)

    def _is_table(self, box: Box) -> bool:
        """Whether a box is around so many words that its ink is the lines of a table."""
        sure = (word.box for word in self.good if word.confidence > 0.9)
        return sum(shared(each, box) > 0.5 * area_of(each) for each in sure) >= _TABLE

    def _hides(self, box: Box, word: Word) -> bool:
        """Whether a word is only what a pass read in a scrawl."""
        known = len(word.text) > 2 and is_known(word.text)
        sure = (word.confidence > 0.9 and len(word.text) > 3) or (word.confidence > 0.8 and known)
        return not sure or word.box[3] - word.box[1] < 0.4 * (box[3] - box[1])

    def outlines(self) -> Iterator[Region]:
        """Yield stamps with an outline."""
        for box in stamps.outlined(self.ink, self.gray, self.high):
            yield Region("Seal_Stamp", box, 0.9, _SOURCES)

    def tilts(self, taken: Sequence[Box]) -> Iterator[Region]:
        """Yield stamps without an outline. Words that a pass read in tilted lines do not stay."""
        for boxes in self.tilted:
            if not any(shared(union(boxes), box) > 0.8 * area_of(union(boxes)) for box in taken):
                erase(self.unread, boxes)
                for box in self._cut(boxes):
                    yield Region("Seal_Stamp", box, 0.8, _SOURCES)

    def between(self, regions: Sequence[Region]) -> Iterator[Region]:
        """Yield the short words between two parts of handwriting in a row: the middle of a name or number."""
        boxes = sorted(region.box for region in regions if region.kind in ("Handwriting", "Signature"))
        for at, one in enumerate(boxes):
            for two in boxes[at + 1 :]:
                same = min(one[3], two[3]) - max(one[1], two[1])
                if not 0 < two[0] - one[2] < _NEXT * self.high or 2 * same < min(one[3] - one[1], two[3] - two[1]):
                    continue
                gap = one[2], max(one[1], two[1]), two[0], min(one[3], two[3])
                words = [word for word in self.good if shared(word.box, gap) > 0.5 * area_of(word.box)]
                if words and all(len(each.text) <= _SHORT and not each.text[0].islower() for each in words):
                    yield Region("Handwriting", self._padded(union(each.box for each in words)), 0.7, _SOURCES)

    def _without_tilted(self, mask: Any) -> list[Word]:
        """Return the words that were read well, without those in tilted lines."""
        level = mask.copy()
        erase(level, (word.box for word in self.good if word.turn), 2)
        self.tilted = stamps.tilted(level, self.high)
        letters = [box for boxes in self.tilted for box in boxes]
        return [
            word for word in self.good
            if sum(shared(word.box, box) for box in letters) < _TILTED * area_of(word.box)
        ]  # fmt: skip

    def pictures(self) -> Iterator[Region]:
        """Yield small pictures in the shape of a portrait."""
        wide, high = self.size
        for box in map(self._whole, self.shown):
            w, h = box[2] - box[0], box[3] - box[1]
            if 2.5 * self.high < w < 14 * self.high and 0.8 * w < h < 1.8 * w and w * h < 0.2 * wide * high:
                yield Region("Face", box, 0.6, _SOURCES)

    def _whole(self, box: Box) -> Box:
        whole = union((whole_picture(self.raw if self.color is None else self.color, box), box))
        words = (word.box for word in self.good if len(word.text) > _SIGN)
        return box if any(4 * shared(each, whole) > area_of(each) for each in words) else whole

    def logos(self, taken: Sequence[Box]) -> Iterator[Region]:
        """Yield solid blobs at the top of the page that are not text."""
        import numpy as np

        top = round(0.25 * self.size[1])
        if top < self.high:
            return
        color, without = None if self.color is None else self.color[:top], self.ruled[:top].copy()
        for box in self.codes:
            without[max(0, box[1]) : max(0, box[3]), max(0, box[0]) : max(0, box[2])] = 255
        panels: list[Box] = []
        solid = [emblems.solid(self.gray[:top], color, without, self.high)]
        if float(np.median(self.raw)) > 128:
            solid.append(emblems.solid(self.raw[:top], color, without, self.high))
            light, panels = emblems.light_on_dark(self.raw[:top], color, self.high)
            solid.append(light)
        boxes = (box for each in solid for box in emblems.emblems(each, self.high))
        few = (box for box in panels if len(self._words_in(box)) <= _MOST)
        found = dict.fromkeys((*few, *(box for box in boxes if not self._is_text(box))))
        for box in found:
            if not any(shared(box, other) > 0.5 * area_of(box) for other in taken):
                for each in (box, *emblems.wordmark(box, self.good)):
                    yield Region("Logo", self._padded(each), 0.6, _SOURCES)

    def _words_in(self, box: Box) -> list[Word]:
        return [word for word in self.good if word.confidence > 0.7 and shared(word.box, box)]

    def _is_text(self, box: Box) -> bool:
        """Whether a blob is mostly words, or a wide one has some, as a button of a screen."""
        words = self._words_in(box)
        if len(words) > _MOST:
            return True
        read = sum(shared(word.box, box) for word in words if len(word.text) > 1)
        wide, high = box[2] - box[0], box[3] - box[1]
        solid = float((self.ink[box[1] : box[3], box[0] : box[2]] > 0).mean()) > 0.8
        if solid and 0.7 * wide < high < 1.4 * wide and high > _SQUARE * self.high:
            return sum(len(word.text) > 1 for word in words) > 1
        return read > (0.12 if solid or wide > 2 * high else 0.5) * area_of(box)

    def writing(self, taken: Sequence[Box]) -> Iterator[Region]:
        """Yield groups of unread ink that look like writing."""
        import cv2
        import numpy as np

        high = self.high
        mask = self.unread.copy()
        erase(mask, taken)
        labels, parts = parts_of(mask, 0.25 * high)
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
        slanted = (each for each in parts_of(self.unread, self.high)[1] if self._is_line(each))
        parts = (*parts_of(self.ruled)[1], *slanted)
        return [each for each in parts if each.wide < 16 * self.high and each.high < 14 * self.high]

    def _is_line(self, part: InkPart) -> bool:
        """Whether a part of ink is a line that is not level, as the underline of a signature."""
        length = hypot(part.wide, part.high)
        return part.wide > 4 * part.high and part.area < 0.3 * self.high * length and part.high < 1.2 * self.high

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
            if is_grid(own, high):
                return False
            if w > 12 * high and self._is_curve(own, part.box):
                return False
            edge = max(1, round(0.12 * high))
            sides = (own[:edge].any(0), own[-edge:].any(0), own[:, :edge].any(1), own[:, -edge:].any(1))
            if all(float(np.mean(side)) > 0.85 for side in sides):
                return False
        return True

    def _is_curve(self, own: Any, box: Box) -> bool:
        """Whether ink has one value in each column, as the curve of a chart."""
        strokes = strokes_across(own)
        if strokes < _CURVE or strokes >= _FRAMED_CURVE:
            return strokes < _CURVE
        return self._is_framed(box)

    def _is_framed(self, box: Box) -> bool:
        """Whether ruled lines are at two sides of a box."""
        left, top, right, bottom = box
        by = round(2 * self.high)
        rules = self.ruled[max(0, top - by) : bottom + by, max(0, left - by) : right + by] > 0
        return bool(rules.mean(1).max() > 0.75 and rules.mean(0).max() > 0.6)

    def _is_alone(self, box: Box) -> bool:
        """Whether a printed letter has no words and no unread letters beside it."""
        left, top, right, bottom = box
        if bottom - top > _PRINTED * self.high:
            return False
        if self.color is not None and is_blue(self.color, self.ink, box):
            return False
        by, far = round(0.6 * self.high), round(2 * self.high)
        if 2 * sum(word.turn in (90, 270) for word in self.good) > len(self.good):
            near, row = (left, top - by, right, bottom + by), self.unread[max(0, top - far) : bottom + far, left:right]
        else:
            near, row = (left - by, top, right + by, bottom), self.unread[top:bottom, max(0, left - far) : right + far]
        beside = int((row > 0).sum()) - int((self.unread[top:bottom, left:right] > 0).sum())
        return beside < 5 and not any(shared(word.box, near) for word in self.good)

    def _kind(self, ink: Any, group: Sequence[InkPart]) -> str | None:
        """Return what a group of parts is, or None if it is no writing."""
        high = self.high
        left, top, right, bottom = union(each.box for each in group)
        w, h = right - left, bottom - top
        area = sum(each.area for each in group)
        tall = [each for each in group if each.high > 0.4 * high or each.wide > 0.6 * high]
        if max(w, h) < 0.8 * high or h < 0.4 * high or not tall or is_dashed(group, high):
            return None
        if max(w, h) < _LETTER * high and self._is_alone((left, top, right, bottom)):
            return None
        part = ink[top:bottom, left:right]
        long = w > 14 * high or (w > 8 * high and self._is_framed((left, top, right, bottom)))
        if long and strokes_across(part > 0) < _CURVE:
            return None
        stroke = stroke_of(part)
        if stroke > 0.55 * high:
            return None
        length = area / max(1.0, stroke)
        if len(tall) < 2 and length < 1.15 * hypot(w, h):
            return None
        largest = max(group, key=lambda each: each.wide * each.high)
        if largest.high > 1.6 * high and largest.wide > 2 * high:
            paper = stamps.is_paper(self.gray, self.ink, (left, top, right, bottom), round(0.5 * high))
            return "Signature" if paper else None
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

