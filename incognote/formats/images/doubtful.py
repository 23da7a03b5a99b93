"""Doubtful words of poorly read lines: those that are not certainly usual or medical words may be identifiers.

They are covered. On a poorly read page, all ink in lines that no pass read with certainty is covered, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from incognote.formats.images.files import gray_of
from incognote.formats.images.knownwords import is_known, is_name
from incognote.formats.images.legible import line_height
from incognote.formats.images.page import DOUBT, POOR, UNREADABLE, cells, is_apart, union
from incognote.formats.images.reading import PageReading
from incognote.pages.noise import is_bilevel
from incognote.pages.nouns import Box, Region, Word
from incognote.pages.ocr.rapid import RapidOcr
from incognote.pages.ocr.unite import Grid

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_LINES = 110  # of letters that fit above each other on a page
_RANGED = 0.7  # the least confidence of a range of numbers that two passes read
_KNOWN, _AGREED = 0.5, 0.85  # the least confidence of a known word, and of one that two passes read
_MEASURED, _SIGN = 0.6, 2  # on a page that was read well: of a measure, and the letters of a sign
_UNKNOWN, _GUESSED = 4, 0.75  # letters of an unknown word; the confidence of a pass that is certain of its letters
_SEEN = 0.3  # the confidence of letters that are no specks
_MANY = 3  # short words of a line that are no signs
_MEASURE = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,2})?%?")
_RANGE = re.compile(r"[(\[<>=≤≥±~+*-]*\d{1,3}(?:[.,]\d{1,3})?(?:[-–/]\d{0,3}(?:[.,]\d{1,3})?)?[%)\],.;:]*")
_ENUMERATOR = re.compile(r"[(]?(?:[a-z]\)|\d{1,2}[.)])")
_ABBREVIATION = re.compile(r"[(]?[A-Z]{3,4}[):.,]*")
_SURE = 0.9  # on a page that was read well: the confidence of a word that one pass alone read
_GLYPH, _LARGE, _ROOM = 1.35, 1.5, 0.8  # the width of a single sign in its heights; its height and room in words'


def doubtful(reading: PageReading, words: Sequence[Word], pixels: Pixels) -> Iterator[Region]:
    """Yield a region for each run of doubtful words in the poorly read lines of a page. It reaches to the next words.

    Args:
        words: those that count, in reading order.
        pixels: gray or RGB.
    """
    if len({word.source for word in reading.seen}) < 2:
        return  # only one pass, so that no other one can agree with it
    grid = Grid(reading.seen)
    high = line_height(reading.words) or max(pixels.shape) / _LINES
    stays: list[Box] = []
    for _, group in groupby(words, lambda word: (word.line, word.turn)):
        line = list(group)
        sure = _judged(line, grid, high, well=reading.quality >= POOR)
        for stays_here, places in groupby(range(len(line)), sure.__getitem__):
            run = list(places)
            if not stays_here:
                box = union(line[at].box for at in run)
                beside = [line[at].box for at in (run[0] - 1, run[-1] + 1) if 0 <= at < len(line)]
                source = DOUBT if any(_is_word(line[at]) for at in run) else "ink"
                yield Region("Unread", _extended(box, beside), 0.6, (source,))
        yield from (Region("Unread", word.box, 0.6, (DOUBT,)) for word in line if _is_guessed(word, grid))
        stays += [word.box for word, each in zip(line, sure, strict=True) if each and _is_certain(word, grid)]
    if reading.quality < (POOR if is_bilevel(gray_of(pixels)) else UNREADABLE):
        yield from _lines_of_ink(pixels, stays)


def _lines_of_ink(pixels: Pixels, stays: Sequence[Box]) -> Iterator[Region]:
    """Yield a region for each stretch of ink as high as a line of text, without the boxes that stay."""
    import cv2
    import numpy as np

    from incognote.pages.lines import ink, ruled
    from incognote.pages.ocr import prepare

    view = prepare.view_of(pixels)
    high = max(view.size) / _LINES
    mask = ink(prepare.light(view, high / 1.7)[0].gray)
    mask[ruled(mask, 16 * high) > 0] = 0
    for left, top, right, bottom in stays:
        mask[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1] = 0
    near = np.ones((max(1, round(0.3 * high)), max(1, round(high))), np.uint8)
    joined = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, near)
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    for x, y, wide, tall, area in stats[1:count].tolist():
        small, large = sorted((wide, tall))
        if 0.4 * high < small < 4 * high and large > 0.7 * high and area > 0.3 * high * high:
            yield Region("Unread", (x, y, x + wide, y + tall), 0.6, (DOUBT,))


def _judged(line: Sequence[Word], grid: Grid, high: float, *, well: bool) -> list[bool]:
    """Return for each word of a line whether it stays.

    Args:
        high: the height of words, in pixels. well: whether the page as a whole was read well.
    """
    agreed = [_is_agreed(word, grid) for word in line]
    letters = [sum(map(str.isalnum, word.text)) for word in line]
    worth = (n * word.confidence * (1 if two else 0.5) for n, word, two in zip(letters, line, agreed, strict=True))
    if sum(worth) >= POOR * sum(letters):
        return [True] * len(line)
    few = [well and each < _MANY for each in _short(line)]
    sure = [_is_sure(word, agreed=two, well=each) for word, two, each in zip(line, agreed, few, strict=True)]
    for order in (range(len(line)), range(len(line) - 1, -1, -1)):
        for at in order:
            if any(map(str.isdigit, line[at].text)) and not all(sure[near] for near in _beside(line, at)):
                sure[at] = False
    return [each or _is_glyph(line, at, high) for at, each in enumerate(sure)]


def _short(line: Sequence[Word]) -> list[int]:
    """Return for each word how many words of its cell have one or two letters or digits."""
    found: list[int] = []
    for cell in cells(line):
        found += [sum(1 <= sum(map(str.isalnum, word.text)) <= _SIGN for word in cell)] * len(cell)
    return found


def _beside(line: Sequence[Word], at: int) -> Iterator[int]:
    """Yield the places of the words in the same cell that are next to one."""
    if at and not is_apart(line[at - 1], line[at]):
        yield at - 1
    if at + 1 < len(line) and not is_apart(line[at], line[at + 1]):
        yield at + 1


def _is_glyph(line: Sequence[Word], at: int, usual: float) -> bool:
    """Whether a word is a single letter or tick with no other word beside it.

    Args:
        usual: the height of words, in pixels.
    """
    word = line[at]
    first = 0 if word.turn in (0, 180) else 1
    if len(word.text) > _SIGN or any(map(str.isdigit, word.text)):
        return False
    if word.along > _GLYPH * word.across or word.across > _LARGE * usual:
        return False
    return not any(
        max(other.box[first] - word.box[first + 2], word.box[first] - other.box[first + 2]) < _ROOM * usual
        for other in (*line[max(0, at - 1) : at], *line[at + 1 : at + 2])
    )


def _extended(box: Box, beside: Sequence[Box]) -> Box:
    """Return a box that reaches to the boxes beside it that are less than two of its shorter sides away."""
    left, top, right, bottom = box
    near = 2 * min(right - left, bottom - top)
    for each in beside:
        if 0 < left - each[2] < near:
            left = each[2] + 1
        if 0 < each[0] - right < near:
            right = each[0] - 1
        if 0 < top - each[3] < near and right > each[0]:
            top = each[3] + 1
        if 0 < each[1] - bottom < near and right > each[0]:
            bottom = each[1] - 1
    return left, top, right, bottom


def _is_sure(word: Word, *, agreed: bool, well: bool) -> bool:
    letters = sum(map(str.isalnum, word.text))
    if well and word.confidence >= _SURE and _ENUMERATOR.fullmatch(word.text):
        return True
    if any(map(str.isdigit, word.text)):
        sure = word.confidence >= (_MEASURED if well else _AGREED) and (agreed or well)
        least = _RANGED if agreed else _AGREED
        certain = well and word.confidence >= least and _RANGE.fullmatch(word.text) is not None
        certain |= well and word.confidence >= _SURE and is_known(word.text)
        return certain or (sure and _MEASURE.fullmatch(word.text) is not None)
    if not letters:
        return True
    if well and letters <= _SIGN and word.text.isascii():
        return word.confidence >= _AGREED
    if well and _ABBREVIATION.fullmatch(word.text) and word.confidence >= _SURE and not is_name(word.text):
        return True
    return word.confidence >= (_KNOWN if agreed or well else _AGREED) and is_known(word.text)


def _is_certain(word: Word, grid: Grid) -> bool:
    """Whether a word that stays does so on a page that no pass read well, too."""
    letters = sum(map(str.isalnum, word.text))
    return letters > _SIGN or (letters > 0 and word.confidence >= _SURE and _is_agreed(word, grid))


def _is_guessed(word: Word, grid: Grid) -> bool:
    """Whether an unknown word in small letters was read with certainty by no pass of the engine that reads letters."""
    letters = word.text.strip(".,;:()")
    if len(letters) < _UNKNOWN or not (letters.isalpha() and letters.islower()) or is_known(letters):
        return False
    passes = [other.confidence for other in grid.near(word.box) if other.source != RapidOcr.name]
    return bool(passes) and max(passes) < _GUESSED


def _is_word(word: Word) -> bool:
    """Whether a word is more than a speck that an engine took for letters."""
    return word.confidence >= _SEEN and len(_letters(word)) > 1


def _is_agreed(word: Word, grid: Grid) -> bool:
    """Whether another pass read the same letters there, in one word or in several."""
    by_pass: dict[str, list[Word]] = {}
    for other in grid.near(word.box):
        if other.source != word.source:
            by_pass.setdefault(other.source, []).append(other)
    own = _letters(word)
    read = ("".join(map(_letters, sorted(each, key=lambda one: one.box[0]))) for each in by_pass.values())
    return any(own == one or (len(own) > 1 and own in one) for one in read)


def _letters(word: Word) -> str:
    return "".join(filter(str.isalnum, word.text)).casefold()
