"""Digits that an OCR engine read as letters, and numbers in Arabic lines.

Tesseract reads many Arabic digits as Latin letters, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING

from incognote.formats.images.ink import InkMap
from incognote.formats.images.knownwords import is_known
from incognote.formats.images.page import DOUBT
from incognote.pages.nouns import Region, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_ALIKE = str.maketrans("SsOoIl|Z", "55001112")
_MISREAD = re.compile(r"(?=.*\d)[\dSsOoIl|Z]{2,12}[.,;]?")
_ARABIC = re.compile("[\u0620-\u064a]")
_ALIKE_ALL = re.compile(r"[\dSsOoIl|Z]{2,12}[.,;]?")
_BOTH = 2  # numbers beside a word of letters that is a number of as many digits
_YEARS = frozenset(("سنة", "سنه", "عام", "عاما", "عاماً", "سنوات"))
_SURE_DIGITS = 2  # digits of a number, or of one next to it, whose letters are misread digits
_LONGEST = 4  # letters that a number is read as
_GAP = 0.5  # heights of a line between two words, in which a number can be
_POOR = 0.7  # the confidence of a word that may be a number
_LEAST = 2  # Arabic words of a line


def with_digits(words: Sequence[Word]) -> list[Word]:
    """Return words in which letters that look like digits are digits, in numbers: `SSS30` next to `94860` is `55530`.

    Of letters alone, this is so between two numbers of as many digits: `00 SS 21`.

    Args:
        words: in reading order.
    """
    found = list(words)
    for at, word in enumerate(words):
        if word.text.isdecimal() or not _ALIKE_ALL.fullmatch(word.text):
            continue
        if not _MISREAD.fullmatch(word.text):
            numbers = [each for each in _beside(words, at) if each.text.strip(".,;").isdecimal()]
            if len(numbers) == _BOTH and all(_digits(each.text) == len(word.text) for each in numbers):
                found[at] = replace(word, text=word.text.translate(_ALIKE))
            continue
        near = _beside(words, at)
        digits = max(_digits(each.text) if each.text.strip(".,;").isdecimal() else 0 for each in (*near, word))
        if max(digits, _digits(word.text) if len(word.text) > _LEAST + 1 else 0) >= _SURE_DIGITS:
            found[at] = replace(word, text=word.text.translate(_ALIKE))
    return found


def _beside(words: Sequence[Word], at: int) -> list[Word]:
    return [each for each in (*words[max(0, at - 1) : at], *words[at + 1 : at + 2]) if each.line == words[at].line]


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _is_arabic(word: Word) -> bool:
    return _ARABIC.search(word.text) is not None


def _is_short(word: Word) -> bool:
    return 0 < sum(map(str.isalnum, word.text)) <= _LONGEST and not _is_arabic(word)


def _is_guessed(word: Word) -> bool:
    """Whether a short word in Latin letters on an Arabic page was read with little confidence: it may be a number."""
    known = word.text.strip(".,:;()").isalpha() and is_known(word.text)
    return _is_short(word) and word.confidence < _POOR and any(map(str.isalpha, word.text)) and not known


def misread_numbers(words: Sequence[Word], pixels: Pixels) -> Iterator[Region]:
    """Yield a region for each short, unknown Latin word and for unread ink between words, in lines in Arabic.

    Args:
        words: of the page, in reading order.
        pixels: gray or RGB.
    """
    lines = [list(line) for _, line in groupby(words, lambda word: (word.line, word.turn))]
    if 2 * sum(map(_is_arabic, words)) > len(words):
        yield from (Region("Unread", word.box, 0.7, (DOUBT,)) for word in words if _is_guessed(word))
    arabic = [line for line in lines if line[0].turn == 0 and sum(map(_is_arabic, line)) >= _LEAST]
    if not arabic:
        return
    ink = InkMap(pixels, [word.box for word in words])
    for line in arabic:
        high = round(median(word.box[3] - word.box[1] for word in line))
        top, bottom = min(word.box[1] for word in line), max(word.box[3] for word in line)
        for word in line:
            if word.text in _YEARS:  # after an age, which is often not read
                yield Region("Unread", word.box, 0.7, (DOUBT,))
            if _is_short(word) and not word.text.isdecimal() and not is_known(word.text):
                yield Region("Unread", word.box, 0.7, (DOUBT,))
        for one, two in pairwise(sorted(line, key=lambda word: word.box[0])):
            left, right = one.box[2], two.box[0]
            if right - left > _GAP * high and (box := ink.unread((left, top, right, bottom), high // 2)):
                yield Region("Unread", box, 0.7, (DOUBT,))
