"""Identifiers by their place: what stands beside or below a label, and ink where a value or a signature stands.

A value beside "Patient" is a name whatever the OCR engine read there. So these findings do not depend on correct words,
only on the label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from incognote.formats.images.digits import misread_numbers
from incognote.formats.images.doubtful import doubtful
from incognote.formats.images.ink import InkMap, filled_boxes
from incognote.formats.images.labelvalues import LabeledWords, is_sure, taken
from incognote.formats.images.marks import marks
from incognote.formats.images.page import cells, shared, union
from incognote.formats.images.reading import PageReading
from incognote.formats.images.vocabulary import label_of
from incognote.formats.xlsx.vocabulary import ColumnLabel
from incognote.pages.nouns import Box, Region, Word
from incognote.pages.ocr.combs import COMB

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_LONGEST_LABEL = 5  # words
_BESIDE = 14.0  # heights of a label within which its value begins
_BELOW = 2.6  # heights of a label within which a value below it begins
_ROWS = 60  # of a column
_REACH = 40  # heights of a label within which ink belongs to it
_WITHIN = 0.6  # the share of a word or region in another region above which it is a part of it
_LEGIBLE = 0.85  # the confidence of a word that is kept although it is in a region without words
_ILLEGIBLE = frozenset(("Signature", "Handwriting", "Seal_Stamp", "Face", "Logo", "Unread"))
_COLON = re.compile(r"[:：]")
_SIGNED = re.compile(
    r"\b(?:signature|signed|sign here|initials)\b|\bfirma(?:do)?\b|unterschrift|\bgez\.|\bsigné|توقيع",
    re.IGNORECASE,
)


class Located(NamedTuple):
    """What is on a page, and what is identifying by its place.

    Args:
        words: all words, without marks that an engine took for words, such as the bars of a barcode.
        values: words. regions: without words.
    """

    words: list[Word]
    values: list[LabeledWords]
    regions: list[Region]


class PlacedLabel(NamedTuple):
    """A label in a cell: the words `start:end`, and how many characters of the last one's token belong to it."""

    said: ColumnLabel
    start: int
    end: int
    inside: int
    colon: bool


class PageCell:
    """Neighboring words of a line.

    Attributes:
        box: around its words, in pixels of the page.
    """

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.box = union(word.box for word in words)
        self.text = " ".join(word.text for word in words)

    @property
    def height(self) -> int:
        return int(median(word.box[3] - word.box[1] for word in self.words))

    @property
    def is_rtl(self) -> bool:
        return any(word.is_rtl for word in self.words)

    @cached_property
    def labels(self) -> list[PlacedLabel]:
        """The labels in this cell, in order."""
        found: list[PlacedLabel] = []
        at = self._first
        while at < len(self.words):
            label = self._label_at(at)
            if label is None:
                at += 1
                continue
            found.append(label)
            at = label.end + (1 if label.inside else 0)
        return found

    @cached_property
    def _first(self) -> int:
        """The place of the first word that is no rule or speck."""
        return next((at for at, word in enumerate(self.words) if any(map(str.isalnum, word.text))), 0)

    def _label_at(self, at: int) -> PlacedLabel | None:
        for n in range(min(_LONGEST_LABEL, len(self.words) - at), 0, -1):
            tokens = [word.text for word in self.words[at : at + n]]
            last = tokens[-1]
            inner = _COLON.search(last)
            if any(_COLON.search(token) for token in tokens[:-1]):
                continue
            if inner and inner.end() < len(last):  # a value follows the colon without a space
                said = label_of(" ".join([*tokens[:-1], last[: inner.start()]]))
                if said and not last[: inner.start()].isdecimal():
                    return PlacedLabel(said, at, at + n - 1, inner.end(), True)
                continue
            rest = self.words[at + n : at + n + 1]
            colon = bool(inner) or bool(rest and rest[0].text in (":", "：", "-", ":-"))
            if (colon or at == self._first) and (said := label_of(" ".join(tokens))):
                return PlacedLabel(said, at, at + n + (1 if colon and not inner else 0), 0, colon)
        return None

    def value(self, label: PlacedLabel) -> tuple[list[Word], int]:
        """Return the words after a label, up to the next one, and the characters of the first that are the label's."""
        following = next((each.start for each in self.labels if each.start >= label.end and each is not label), None)
        return list(self.words[label.end : following]), label.inside


def located(reading: PageReading, pixels: Pixels) -> Located:
    """Return what is identifying by its place on a page.

    Args:
        pixels: gray or RGB.
    """
    found = [*reading.codes, *marks(pixels, reading)]
    codes = [region.box for region in reading.codes]
    others = [region.box for region in found if region.kind in _ILLEGIBLE]
    words = [
        word for word in reading.words
        if not _is_in(word.box, codes) and not (word.confidence < _LEGIBLE and _is_in(word.box, others))
    ]  # fmt: skip
    found += doubtful(reading, words, pixels)
    found += misread_numbers(words, pixels)
    found += [Region("Unread", word.box, 0.8, (COMB,)) for word in words if word.source == COMB]
    found += filled_boxes(pixels, words)
    finder = _Finder(words, found, InkMap(pixels, [word.box for word in words]))
    return Located(words, finder.values(), finder.regions())


class _Finder:
    def __init__(self, words: Sequence[Word], regions: Sequence[Region], ink: InkMap) -> None:
        self._regions, self._ink = regions, ink
        self._cells = [PageCell(cell) for cell in cells(words) if cell[0].turn == 0]
        self._empty: list[tuple[PageCell, PlacedLabel]] = []  # labels without words as a value

    def values(self) -> list[LabeledWords]:
        found: list[LabeledWords] = []
        for cell in self._cells:
            for label in cell.labels:
                found += self._value(cell, label)
        return found

    def _value(self, cell: PageCell, label: PlacedLabel) -> Iterator[LabeledWords]:
        own, first = cell.value(label)
        if own:
            text = " ".join(word.text for word in own)[first:]
            if label.colon or is_sure(label.said, text):
                yield from taken(own, first, label.said, text)
            return
        beside = self._beside(cell)
        if beside is not None and not beside.labels:
            text = beside.text
            if label.said.takes(text):
                yield from taken(list(beside.words), 0, label.said, text)
                yield from self._more_lines(beside, label.said)
                return
        below = list(self._column(cell, label))
        for each in below:
            yield from taken(list(each.words), 0, label.said, each.text)
        if not below and beside is None:
            self._empty.append((cell, label))

    def _beside(self, cell: PageCell) -> PageCell | None:
        """Return the next cell in the same row, in the direction in which the label is written."""
        high = cell.height
        if cell.is_rtl:
            before = (
                each for each in self._cells
                if each.box[2] <= cell.box[0] + 2 and cell.box[0] - each.box[2] < _BESIDE * high
                and _shared(each.box, cell.box) > 0.5 * min(high, each.height)
            )  # fmt: skip
            return max(before, key=lambda each: each.box[2], default=None)
        row = (
            each for each in self._cells
            if each.box[0] >= cell.box[2] - 2 and each.box[0] - cell.box[2] < _BESIDE * high
            and _shared(each.box, cell.box) > 0.5 * min(high, each.height)
        )  # fmt: skip
        return min(row, key=lambda each: each.box[0], default=None)

    def _column(self, cell: PageCell, label: PlacedLabel) -> Iterator[PageCell]:
        """Yield the cells below a label that are its values."""
        above, high = cell, cell.height
        for _ in range(_ROWS):
            under = [
                each for each in self._cells
                if 0 < each.box[1] - above.box[3] + 0.4 * high < _BELOW * high and _overlaps(each.box, cell.box)
            ]  # fmt: skip
            found = min(under, key=lambda each: (each.box[1], abs(each.box[0] - cell.box[0])), default=None)
            if found is None or found.labels or not label.said.fits(found.text):
                return
            yield found
            above = found

    def _more_lines(self, value: PageCell, said: ColumnLabel) -> Iterator[LabeledWords]:
        """Yield the further lines of an address."""
        if said.type not in ("ADDRESS", "STREET", "LOCATION"):
            return
        above, high = value, value.height
        for _ in range(3):
            under = (
                each for each in self._cells
                if 0 < each.box[1] - above.box[3] + 0.4 * high < 1.2 * high and abs(each.box[0] - value.box[0]) < high
            )  # fmt: skip
            found = next(under, None)
            if found is None or found.labels:
                return
            yield from taken(list(found.words), 0, said, found.text)
            above = found

    def regions(self) -> list[Region]:
        found = list(self._regions)
        for cell, label in self._empty:
            left = cell.words[label.end - 1].box[2] if label.end else cell.box[0]
            found += self._unread(cell, left, "Unread", 0.6, 0.6)
        for cell in self._cells:
            if _SIGNED.search(cell.text):
                found += self._unread(cell, cell.box[0], "Signature", 3.5, 1.0)
        return _apart(found)

    def _unread(self, cell: PageCell, left: int, kind: str, above: float, below: float) -> Iterator[Region]:
        """Yield a region for unread ink beside or above a cell.

        Args:
            left: where the ink begins. above, below: how far it reaches, in heights of the cell.
        """
        high = cell.height
        row = [each.box for each in self._cells if _shared(each.box, cell.box) > 0.3 * high]
        if cell.is_rtl:
            right = cell.box[0]
            least = max(0, right - _REACH * high)
            left = max((box[2] for box in row if box[2] <= right), default=least)
            left = max(left, least)
        else:
            right = min((box[0] for box in row if box[0] > cell.box[2]), default=left + _REACH * high)
            right = min(right, left + _REACH * high)
        top, bottom = round(cell.box[1] - above * high), round(cell.box[3] + below * high)
        area = (left, top, right, bottom)
        box = self._ink.unread(area, high)
        if box is not None:
            yield Region(kind, box, 0.8, ("label",))


def _shared(one: Box, two: Box) -> int:
    """Return how many rows two boxes share."""
    return min(one[3], two[3]) - max(one[1], two[1])


def _overlaps(one: Box, two: Box) -> bool:
    """Whether two boxes share columns."""
    return min(one[2], two[2]) - max(one[0], two[0]) > 0


def _apart(regions: Sequence[Region]) -> list[Region]:
    """Return regions without those that are mostly inside another one."""
    found: list[Region] = []
    for each in sorted(regions, key=lambda each: -(each.box[2] - each.box[0]) * (each.box[3] - each.box[1])):
        if not any(_inside(each.box, other.box) > _WITHIN for other in found):
            found.append(each)
    return found


def _is_in(box: Box, others: Sequence[Box]) -> bool:
    return any(_inside(box, other) > _WITHIN for other in others)


def _inside(one: Box, two: Box) -> float:
    """Return the share of the first box that is in the second."""
    return shared(one, two) / max(1, shared(one, one))
