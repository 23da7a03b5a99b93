"""Which words of a page were read well: printed words, and handwriting only if nothing speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from incognote.formats.images.page import is_apart, union
from incognote.pages.nouns import Box, Word
from incognote.text.lexicon import MEDICAL, commonness, fold, lexicon

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_EDGES = ".,:;()[]\"'-–—!?*"
_PRINTED = 0.85  # the mean confidence of words beside each other above which a poor one is printed, too
_MEASURE = re.compile(r"\d{1,3}[.,]\d|\d{1,2}")
_PLAIN = 0.955  # the confidence of most printed words
_WRITTEN = 2.0  # the score of handwriting
_BLUE = 40  # levels by which the ink of a pen is bluer than red


def legible(words: Sequence[Word], seen: Sequence[Word], ink: Any, pixels: Pixels) -> list[Word]:
    """Return the words that are likely what is on the page.

    Args:
        words: of the page, in reading order. seen: of all passes.
        ink: 255 where the page has ink without ruled lines, of shape (height, width).
        pixels: gray or RGB.
    """
    high = line_height(words) or 1
    agreed = _agreed(seen)
    found: list[Word] = []
    for cell in _cells(words):
        letters = [sum(map(str.isalnum, word.text)) for word in cell]
        mean = sum(n * word.confidence for n, word in zip(letters, cell, strict=True)) / max(1, sum(letters))
        written = _is_written(cell, mean, high, ink, pixels)
        sure = [
            _is_sure(word, (word.text, word.source) in agreed, mean, written) and not _has_gap(word, ink)
            for word in cell
        ]
        if written:
            _doubt_neighbors(cell, sure)
        found += [word for word, each in zip(cell, sure, strict=True) if each]
    return found


def line_height(words: Sequence[Word]) -> float | None:
    """Return the height of printed words in pixels, or None if there are few."""
    heights = [_across(word) for word in words if len(word.text) > 2 and word.confidence > 0.6]
    return float(median(heights)) if len(heights) >= 8 else None


def is_known(text: str) -> bool:
    """Whether letters are a usual or a medical word."""
    entry = lexicon().get(fold(text.strip(_EDGES)), 0)
    return bool(commonness(entry) or entry & MEDICAL)


def _is_sure(word: Word, agreed: bool, mean: float, written: bool) -> bool:
    letters = sum(map(str.isalnum, word.text))
    if 2 * letters < len(word.text) or not letters:
        return False
    known = len(word.text) > 2 and is_known(word.text)
    if written:
        if _MEASURE.fullmatch(word.text):
            return word.confidence >= 0.7
        return word.confidence >= (0.75 if known else 0.9)
    if mean >= _PRINTED and not any(map(str.isdigit, word.text)) and 0.2 < _pitch(word) < 0.9:
        return word.confidence >= 0.25
    return word.confidence >= (0.45 if known else 0.5 if agreed else 0.65)


def _is_written(cell: Sequence[Word], mean: float, high: float, ink: Any, pixels: Pixels) -> bool:
    """Whether words beside each other are handwriting: read poorly, tall, or in blue ink."""
    import numpy as np

    cell = [word for word in cell if any(map(str.isalnum, word.text))]
    if not cell:
        return False
    left, top, right, bottom = union(word.box for word in cell)
    tall = float(median(map(_across, cell))) / high
    score = 5 * (1 - mean) + 3.3 * (min(max(tall, 0.7), 1.8) - 1)
    if pixels.ndim == 3:
        colors = pixels[top:bottom, left:right][ink[top:bottom, left:right] > 0]
        if len(colors) and float(np.median(colors[:, 2].astype(int) - colors[:, 0])) > _BLUE:
            score += 2
    return score > _WRITTEN


def _has_gap(word: Word, ink: Any) -> bool:
    """Whether a box has a wide gap between its letters: it then covers more than its word."""
    import numpy as np

    left, top, right, bottom = word.box
    if word.turn not in (0, 180) or _pitch(word) < 0.7:
        return False
    columns = np.flatnonzero(ink[top:bottom, left:right].any(0))
    gaps = np.diff(columns)
    gaps = np.sort(gaps[gaps > 1])
    usual = float(np.median(gaps[:-1])) if len(gaps) > 1 else 1.0
    return len(gaps) > 0 and bool(gaps[-1] > max(0.5 * (bottom - top), 2.5 * usual))


def _doubt_neighbors(cell: Sequence[Word], sure: list[bool]) -> None:
    """Take words for misread that are beside misread ones, up to the next known word or measure."""
    for order in (range(1, len(cell)), range(len(cell) - 2, -1, -1)):
        step = order.step
        for at in order:
            before, word = cell[at - step].text, cell[at]
            if sure[at - step] or not any(map(str.isalnum, before)) or is_known(word.text):
                continue
            number = any(map(str.isdigit, word.text))
            longer = number and not _MEASURE.fullmatch(word.text)
            if longer or any(map(str.isdigit, before)) or (not number and word.confidence < _PLAIN):
                sure[at] = False


def _pitch(word: Word) -> float:
    left, top, right, bottom = word.box
    return (right - left if word.turn in (0, 180) else bottom - top) / max(1, _across(word) * len(word.text))


def _across(word: Word) -> int:
    """Return the height of a word's line, however it is turned."""
    left, top, right, bottom = word.box
    return bottom - top if word.turn in (0, 180) else right - left


def _agreed(seen: Sequence[Word]) -> set[tuple[str, str]]:
    """Return the words that another pass read, too: their letters and their pass."""
    by_text: dict[str, list[Word]] = {}
    for word in seen:
        by_text.setdefault(word.text, []).append(word)
    return {
        (one.text, one.source)
        for words in by_text.values() for one in words
        if any(two.source != one.source and _near(one.box, two.box) for two in words)
    }  # fmt: skip


def _near(one: Box, two: Box) -> bool:
    return abs(one[0] - two[0]) + abs(one[1] - two[1]) < one[3] - one[1]


def _cells(words: Sequence[Word]) -> Iterator[list[Word]]:
    group: list[Word] = []
    for word in words:
        if group and (word.line != group[-1].line or word.turn != group[-1].turn or is_apart(group[-1], word)):
            yield group
            group = []
        group.append(word)
    if group:
        yield group
