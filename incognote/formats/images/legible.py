"""Which words of a page were read well: printed words, and handwriting only if nothing speaks against it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby
from math import inf
from statistics import median
from typing import TYPE_CHECKING, Any

from incognote.formats.images.knownwords import is_known, is_name
from incognote.formats.images.page import cells, shared
from incognote.pages.nouns import Box, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_PRINTED = 0.85  # the mean confidence of words beside each other above which a poor one is printed, too
_POOR = 0.25  # the confidence of such a word
_MEASURE = re.compile(r"\d{1,3}[.,]\d|\d{1,2}")
_COUNT = re.compile(r"\d{1,3}(?:[.,]\d{1,2})?")
_PLAIN = 0.955  # the confidence of most printed words
_WRITTEN = 2.0  # the score of handwriting
_CLEAR = 0.92  # the confidence of words that are read as print is
_TWICE = 0.5  # the confidence of a usual word that two passes read
_NUMBERED = re.compile(r"\d{1,2}[.)]")
_CODE = re.compile(
    r"(?=[^A-Z]*[A-Z])(?=(?:[-/]*[A-Z\d]){4})(?:(?=(?:\D*\d){2})|(?=.*[-/])(?=.*\d)(?=(?:[^\dSOIBZ]*[\dSOIBZ]){2}))"
    r"[A-Z\d/-]+|\d{5,}"
)
_FIRM = 0.85  # the confidence of a second pass that read a printed code
_LETTERS = re.compile(r"[A-Z]+(?=[-/]?\d)|(?<=-)[A-Z]+")
_LEVELS = re.compile(r"(?:[CTLSGPAMN]\d{1,2}[-/]?){2,}|Q\d{1,2}H|\d{1,2}X\d+[A-Z]*")
_SYMBOLS = 0.8  # the confidence of signs
_SIGN = 1.6  # heights of a line that a sign has at most
_GAPLESS = 0.9  # the confidence of a word whose letters stand apart
_HEIGHTS = (
    (re.compile(r"[^\W\d_acemnorsuvwxz]|[\d%&#]"), 0.28),
    (re.compile(r"[gjpqyQ,;µ()\[\]{}/|@]"), 0.28),
    (re.compile(r"[À-ÝĀ-Ž()\[\]{}/|]"), 0.18),
)
"""Letters that reach above or below small ones, and by how many heights of a capital letter."""
_FLUENT = 0.9  # the mean confidence of handwriting in which unknown words are right, too
_CLINICAL = 2  # how common a handwritten word is that stays
_SPLIT, _SPLIT_NUMBER = 0.15, 0.25  # heights between two pieces of a word, and of a number
_BETWEEN = 3  # letters of a word between two parts of a name
_SMALL = 0.72  # heights of a capital letter
_ARABIC = 1.28  # the height of Arabic words
_BLUE, _DARK = 40, 120  # levels by which the ink of a pen is bluer than red, and the most red it has
_FLOURISH = 2.0  # heights of a line: what one pass alone reads in higher ink is likely a signature


def legible(words: Sequence[Word], seen: Sequence[Word], ink: Any, pixels: Pixels) -> list[Word]:
    """Return the words that are likely what is on the page.

    Args:
        words: of the page, in reading order. seen: of all passes.
        ink: 255 where the page has ink without ruled lines, of shape (height, width).
        pixels: gray or RGB.
    """
    usual = line_height(words)
    high = usual or 1
    agreed, firm = _agreed(seen), _agreed(seen, _FIRM)
    upright = float(median([_capital(word) for word in words if _is_usable(word)] or [high]))
    found: list[Word] = []
    for cell, blue in _colored(cells(words), pixels, ink):
        letters = [sum(map(str.isalnum, word.text)) for word in cell]
        mean = sum(n * word.confidence for n, word in zip(letters, cell, strict=True)) / max(1, sum(letters))
        written = _is_written(cell, mean, upright, blue)
        fluent = mean >= (_PLAIN if blue else _FLUENT)
        sure = [
            (
                _is_sure_writing(word, fluent, (word.text, word.source) in agreed) if written
                else _is_sure(word, (word.text, word.source) in agreed, mean, high)
                and ((word.text, word.source) in firm or not _is_code(word.text))
            ) and not _has_gap(word, ink)
            for word in cell
        ]  # fmt: skip
        if written:
            _doubt_neighbors(cell, sure, [_is_plain(word, (word.text, word.source) in agreed) for word in cell])
        found += [word for word, each in zip(cell, sure, strict=True) if each]
    highest = _FLOURISH * (usual or inf)
    found = [
        word for word in found
        if word.across < highest or (word.text, word.source) in agreed or is_known(word.text)
    ]  # fmt: skip
    clear = set(found)
    poor = [word for word in words if not word.turn and any(map(str.isalnum, word.text)) and word not in clear]
    signs = _signs(seen, (*found, *poor), agreed, high)
    return found + [sign for sign in signs if not is_blue(pixels, ink, sign.box)]


def line_height(words: Sequence[Word]) -> float | None:
    """Return the height of printed words in pixels, or None if there are few."""
    heights = [word.across for word in words if _is_usable(word)]
    return float(median(heights)) if len(heights) >= 8 else None


def _is_usable(word: Word) -> bool:
    """Whether a word says how high printed words are."""
    return len(word.text) > 2 and word.confidence > 0.6


def _is_known_word(text: str, least: int) -> bool:
    """Whether a word is known; one of two letters only if it is very usual, and a letter never."""
    return len(text) > 1 and is_known(text, 3 if len(text) == 2 else least)


def _is_plain(word: Word, agreed: bool) -> bool:
    """Whether a word was read as surely as print, and is the number of a line or known and no name."""
    if not agreed or word.confidence < _CLEAR:
        return False
    return _NUMBERED.fullmatch(word.text) is not None or (_is_known_word(word.text, 1) and not is_name(word.text))


def _is_code(text: str) -> bool:
    """Whether a word is a long number, or capital letters and digits that are no measure, vertebrae, or stage."""
    if _CODE.fullmatch(text) is None or _LEVELS.fullmatch(text) is not None:
        return False
    return not is_known(text) or any(len(piece) == 1 for piece in _LETTERS.findall(text))


def _is_sure_writing(word: Word, fluent: bool, agreed: bool) -> bool:
    letters = sum(map(str.isalnum, word.text))
    if 2 * letters < len(word.text) or not letters:
        return False
    if _is_code(word.text):
        return False
    if _is_plain(word, agreed):
        return True
    if _MEASURE.fullmatch(word.text):
        return word.confidence >= 0.7
    if _COUNT.fullmatch(word.text) and word.confidence >= 0.9:
        return True
    twice = agreed and word.text[0].islower() and not is_name(word.text)
    if _is_known_word(word.text, _CLINICAL):
        return word.confidence >= (_TWICE if twice else 0.75)
    if twice and _is_known_word(word.text, 1):
        return word.confidence >= 0.75
    return fluent and word.confidence >= 0.9


def _is_sure(word: Word, agreed: bool, mean: float, high: float) -> bool:
    letters = sum(map(str.isalnum, word.text))
    if 2 * letters < len(word.text) or not letters:
        least = _POOR if letters and mean >= _PRINTED else _SYMBOLS
        return letters <= 2 and word.confidence >= least and word.across < _SIGN * high
    known = _is_known_word(word.text, 1)
    if mean >= _PRINTED and not any(map(str.isdigit, word.text)) and 0.2 < _pitch(word) < 0.9:
        return word.confidence >= _POOR
    return word.confidence >= (0.45 if known else 0.5 if agreed else 0.65)


def _signs(
    seen: Sequence[Word], others: Sequence[Word], agreed: Container[tuple[str, str]], high: float
) -> Iterator[Word]:
    """Yield what several passes read as signs with at most two digits, if no other word is near."""
    for word in seen:
        if (
            sum(map(str.isalnum, word.text)) <= 2 and not any(map(str.isalpha, word.text))
            and word.confidence >= _SYMBOLS and word.turn == 0
            and (word.text, word.source) in agreed and word.across < _SIGN * high and _pitch(word) < 1.2
            and not any(shared(_wider(word.box, high), each.box) for each in others)
        ):  # fmt: skip
            yield word


def _wider(box: Box, by: float) -> Box:
    return box[0] - round(by), box[1], box[2] + round(by), box[3]


def _is_written(cell: Sequence[Word], mean: float, upright: float, blue: bool) -> bool:
    """Whether words beside each other are handwriting: read poorly, tall, or in blue ink."""
    cell = [word for word in cell if any(map(str.isalnum, word.text))]
    if not cell:
        return False
    tall = float(median(map(_capital, cell))) / upright
    return 5 * (1 - mean) + 3.3 * (min(max(tall, 0.7), 1.8) - 1) + 2 * blue > _WRITTEN


def is_blue(pixels: Pixels, ink: Any, box: Box) -> bool:
    """Whether the ink in a box is that of a blue pen.

    Args:
        pixels: gray or RGB. ink: 255 where the page has ink.
    """
    import numpy as np

    left, top, right, bottom = box
    if pixels.ndim != 3:
        return False
    colors = pixels[top:bottom, left:right][ink[top:bottom, left:right] > 0]
    if not len(colors) or float(np.median(colors[:, 0])) > _DARK:
        return False
    return float(np.median(colors[:, 2].astype(int) - colors[:, 0])) > _BLUE


def _colored(cells: Iterable[Sequence[Word]], pixels: Pixels, ink: Any) -> Iterator[tuple[list[Word], bool]]:
    """Yield the parts of cells in one color of ink, and whether it is that of a blue pen."""
    for cell in cells:
        colors = [is_blue(pixels, ink, word.box) for word in cell]
        for blue, part in groupby(range(len(cell)), colors.__getitem__):
            yield [cell[at] for at in part], blue


def _has_gap(word: Word, ink: Any) -> bool:
    """Whether a box has a wide gap between its letters: it then covers more than its word."""
    import numpy as np

    left, top, right, bottom = word.box
    if word.turn not in (0, 180) or _pitch(word) < 0.7:
        return False
    columns = np.flatnonzero(ink[top:bottom, left:right].any(0))
    gaps = np.diff(columns)
    gaps = np.sort(gaps[gaps > 1])
    if word.confidence >= _GAPLESS and len(gaps) < len(word.text):  # no more strokes than letters
        return False
    usual = float(np.median(gaps[:-1])) if len(gaps) > 1 else 1.0
    return len(gaps) > 0 and bool(gaps[-1] > max(0.5 * (bottom - top), 2.5 * usual))


def _doubt_neighbors(cell: Sequence[Word], sure: list[bool], plain: Sequence[bool]) -> None:
    """Take words for misread that are beside misread ones, up to the next known word or measure.

    Short words between two misread ones are a part of a name or number, too, unless they are in small letters.
    """
    for order in (range(1, len(cell)), range(len(cell) - 2, -1, -1)):
        step = order.step
        for at in order:
            before, word = cell[at - step].text, cell[at]
            if plain[at] or sure[at - step] or not any(map(str.isalnum, before)):
                continue
            number = any(map(str.isdigit, word.text))
            if _gap(cell[at - step], word) < (_SPLIT_NUMBER if number else _SPLIT) * word.across:
                sure[at] = False
                continue
            if _is_known_word(word.text, _CLINICAL):
                continue
            longer = number and not _MEASURE.fullmatch(word.text)
            if longer or any(map(str.isdigit, before)) or (not number and word.confidence < _PLAIN):
                sure[at] = False
    for at in range(1, len(cell) - 1):
        text = cell[at].text
        between = not sure[at - 1] and not sure[at + 1] and not plain[at]
        if between and len(text) <= _BETWEEN and not text[0].islower():
            sure[at] = False


def _gap(one: Word, two: Word) -> int:
    """Return the pixels between two words of a line."""
    axis = 0 if one.turn in (0, 180) else 1
    return max(two.box[axis] - one.box[axis + 2], one.box[axis] - two.box[axis + 2])


def _pitch(word: Word) -> float:
    return word.along / max(1, word.across * len(word.text))


def _capital(word: Word) -> float:
    """Return how high a capital letter is in the line of a word, from the letters that the word has."""
    if word.is_rtl:
        return word.across / _ARABIC
    return word.across / (_SMALL + sum(by for letters, by in _HEIGHTS if letters.search(word.text)))


def _agreed(seen: Sequence[Word], least: float = 0.0) -> set[tuple[str, str]]:
    """Return the words that another pass read, too, with a least confidence: their letters and their pass."""
    by_text: dict[str, list[Word]] = {}
    for word in seen:
        by_text.setdefault(word.text, []).append(word)
    return {
        (one.text, one.source)
        for words in by_text.values() for one in words
        if any(two.source != one.source and two.confidence >= least and _near(one.box, two.box) for two in words)
    }  # fmt: skip


def _near(one: Box, two: Box) -> bool:
    return abs(one[0] - two[0]) + abs(one[1] - two[1]) < one[3] - one[1]
