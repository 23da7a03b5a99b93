"""What a page shows beside read words: signatures, handwriting, stamps, faces, logos, and text-like ink that no pass read.

Nothing here is learned. Connected parts of ink are grouped and measured in heights of a printed line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Box, Region, Word
from incognote.text.lexicon import MEDICAL, commonness, fold, lexicon

if TYPE_CHECKING:
    from incognote.formats.images.files import Pixels

_SOURCES = ("ink",)
_EDGES = ".,:;()[]\"'-–—!?*"


def marks(pixels: Pixels, reading: PageReading) -> list[Region]:
    """Return the regions of a page that identify without being read.

    Args:
        pixels: gray or RGB.
        reading: the words of the page; what they cover is not writing.

    Returns:
        Regions of the kinds Signature, Handwriting, Seal_Stamp, Face, Logo, and Unread.
    """
    page = _Page(pixels, reading)
    stamps = list(page.stamps())
    found = stamps + list(page.pictures(stamps))
    taken = [region.box for region in found]
    return found + list(page.writing(taken))


def is_read(word: Word, passes: int) -> bool:
    """Whether a word is likely what is printed.

    Args:
        passes: how many passes read the same letters there.
    """
    letters = sum(map(str.isalnum, word.text))
    if 2 * letters < len(word.text) or not letters:
        return False
    entry = lexicon().get(fold(word.text.strip(_EDGES)), 0)
    known = len(word.text) > 2 and bool(commonness(entry) or entry & MEDICAL)
    return word.confidence >= (0.35 if known else 0.5 if passes > 1 else 0.65)


class Part(NamedTuple):
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

        self.reading = reading
        view = prepare.view_of(pixels)
        self.size = view.size
        self.dark = float(view.gray.mean()) < 100
        self.good = [word for word in reading.words if is_read(word, _passes(word, reading.seen))]
        self.high = _line_height(self.good) or 1.7 * (prepare.letter_height(view.gray) or max(view.size) / 160)
        self.raw = view.gray
        gray = prepare.light(view, self.high / 1.7)[0].gray
        self.gray = cv2.medianBlur(gray, 3)
        self.ink = lines.ink(self.gray)
        self.ruled = lines.ruled(self.ink, 8.5 * self.high)
        self.color = pixels if pixels.ndim == 3 else None
        mask = self.ink.copy()
        mask[cv2.dilate(self.ruled, np.ones((3, 3), np.uint8)) > 0] = 0
        for left, top, right, bottom in (region.box for region in reading.codes):
            mask[max(0, top) : bottom, max(0, left) : right] = 0
        self.unread = mask.copy()
        for word in self.good:
            left, top, right, bottom = word.box
            self.unread[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1] = 0
        self.text = mask

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

    def pictures(self, taken: Sequence[Region]) -> Iterator[Region]:
        return iter(())

    def writing(self, taken: Sequence[Box]) -> Iterator[Region]:
        """Yield groups of unread ink that look like writing."""
        import cv2
        import numpy as np

        high = self.high
        mask = self.unread.copy()
        for left, top, right, bottom in taken:
            mask[max(0, top) : bottom, max(0, left) : right] = 0
        labels, parts = _parts(mask)
        parts = [each for each in parts if self._is_stroke(mask, labels, each)]
        kept = np.zeros(int(labels.max()) + 1, bool)
        kept[[each.label for each in parts]] = True
        ink = np.where(kept[labels], np.uint8(255), np.uint8(0))
        reach = np.ones((max(3, round(0.5 * high)) | 1, max(3, round(0.9 * high)) | 1), np.uint8)
        _, groups = cv2.connectedComponents(cv2.dilate(ink, reach), connectivity=8)
        by_group: dict[int, list[Part]] = {}
        for part in parts:
            rows, columns = np.nonzero(labels[part.box[1] : part.box[3], part.box[0] : part.box[2]] == part.label)
            by_group.setdefault(int(groups[part.box[1] + rows[0], part.box[0] + columns[0]]), []).append(part)
        for group in by_group.values():
            if (kind := self._kind(ink, group)) is not None:
                for box in self._cut([each.box for each in group]):
                    yield Region(kind, box, 0.7, _SOURCES)

    def _is_stroke(self, mask: Any, labels: Any, part: Part) -> bool:
        """Whether a part of ink can be of letters or of a signature: no speck, no solid area, no box."""
        import numpy as np

        high = self.high
        left, top, right, bottom = part.box
        w, h = part.wide, part.high
        if max(w, h) < 0.25 * high or min(w, h) < 0.08 * high and max(w, h) < 0.5 * high:
            return False
        if h > 10 * high or w > 26 * high:
            return False
        if part.area > 0.75 * w * h and max(w, h) > 0.3 * high and (min(w, h) > 0.45 * high or max(w, h) > 1.3 * high):
            return False
        if h < 0.18 * high and w > 0.7 * high:
            return False
        if min(w, h) > 0.45 * high:
            own = labels[top:bottom, left:right] == part.label
            edge = max(1, round(0.12 * high))
            sides = (own[:edge].any(0), own[-edge:].any(0), own[:, :edge].any(1), own[:, -edge:].any(1))
            if all(float(np.mean(side)) > 0.85 for side in sides):
                return False
        return True

    def _kind(self, ink: Any, group: Sequence[Part]) -> str | None:
        """Return what a group of parts is, or None if it is no writing."""
        import cv2

        high = self.high
        left, top, right, bottom = _around(each.box for each in group)
        w, h = right - left, bottom - top
        area = sum(each.area for each in group)
        tall = [each for each in group if each.high > 0.4 * high or each.wide > 0.6 * high]
        if max(w, h) < 0.8 * high or h < 0.4 * high or not tall:
            return None
        part = ink[top:bottom, left:right]
        distance = cv2.distanceTransform(part, cv2.DIST_L2, 3)
        stroke = 4 * float(distance.sum()) / max(1, area)  # the mean distance in a stroke is a quarter of its width
        if stroke > 0.55 * high:
            return None
        length = area / max(1.0, stroke)
        if len(tall) < 2 and length < 1.6 * max(w, h):
            return None
        largest = max(group, key=lambda each: each.wide * each.high)
        if largest.high > 1.6 * high and largest.wide > 2 * high:
            return "Signature"
        return "Unread"

    def _cut(self, boxes: Sequence[Box]) -> Iterator[Box]:
        """Yield boxes around boxes that leave read words out."""
        whole = _around(boxes)
        if not self._swallowed(whole):
            yield self._padded(whole)
            return
        rest = sorted(boxes, key=lambda box: (box[0], box[1]))
        found: list[Box] = []
        for box in rest:
            for at, other in enumerate(found):
                if not self._swallowed(union := _around((box, other))):
                    found[at] = union
                    break
            else:
                found.append(box)
        yield from map(self._padded, found)

    def _swallowed(self, box: Box) -> list[Word]:
        return [word for word in self.good if _shared(word.box, box) > 0.25 * _area(word.box)]

    def _padded(self, box: Box) -> Box:
        by = max(1, round(0.08 * self.high))
        wide, high = self.size
        return max(0, box[0] - by), max(0, box[1] - by), min(wide, box[2] + by), min(high, box[3] + by)


def _parts(mask: Any) -> tuple[Any, list[Part]]:
    import cv2

    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    rows = stats[1:count].tolist()
    return labels, [Part(at, (x, y, x + w, y + h), area) for at, (x, y, w, h, area) in enumerate(rows, 1) if area > 4]


def _passes(word: Word, seen: Sequence[Word]) -> int:
    return len({each.source for each in seen if each.text == word.text and _shared(each.box, word.box) > 0.5 * _area(word.box)})


def _line_height(words: Sequence[Word]) -> float | None:
    heights = [word.box[3] - word.box[1] for word in words if word.turn == 0 and len(word.text) > 2]
    return float(median(heights)) if len(heights) >= 8 else None


def _area(box: Box) -> int:
    return max(1, (box[2] - box[0]) * (box[3] - box[1]))


def _shared(one: Box, two: Box) -> int:
    wide, high = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    return max(0, wide) * max(0, high)


def _around(boxes: Iterable[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
