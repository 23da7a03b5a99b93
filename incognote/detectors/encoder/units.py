"""A text as units: the words that tags are given to, each with what the uncased WordPieces lose.

A unit is a run of letters, a run of digits, or one other sign that is no white space; runs of letters and digits never
mix, so a span that ends between the two ("34F", "Rm512") cuts no unit. Chinese, Japanese and Korean signs stand alone.

Its features are 64 bits: case and shape, the white space before it (line breaks and columns tell a header from prose),
and what the lexicon of the rules knows of it (how usual a given name, surname or English word it is; whether medical, a
brand, an eponym, a place). They are added to the input embedding as one learned vector per bit.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.rules.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, ORGANIZATION, PLACE, fold, lexicon

BITS = 64
SHAPE_BITS = slice(0, 32)
LEXICON_BITS = slice(32, 62)
MEDICAL_BIT = 56
"""Set for medical words that are no names; the density of such words is what Guan's γ looks at."""

_MARKS = "\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0b3e-\u0bcd\u0e31\u0e34-\u0e4e"
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_UNIT = re.compile(rf"\d+|[{_CJK}]|(?:(?![{_CJK}])[^\W\d_])(?:(?![{_CJK}])[^\W\d_]|[{_MARKS}])*|[^\w\s]|_")
_BREAK = re.compile(r"\n[^\S\n]*\n")

# Bits of case and shape, then of the gap before the unit.
_LOWER, _TITLE, _UPPER, _LETTER, _CAMEL, _OTHER_SCRIPT = range(6)
_DIGITS = 6  # 6..11: of 1, 2, 3, 4, 5 to 7, and more digits
_YEAR, _SMALL, _ZERO = 12, 13, 14  # 1900..2099; at most 31; begins with 0
_STOP, _COMMA, _COLON, _SLASH, _HYPHEN, _OPEN, _CLOSE, _AT, _QUOTE, _HASH, _SIGN = range(15, 26)
_GLUED, _SPACED, _WIDE, _LINE, _PARAGRAPH = range(26, 31)
_MARKED = 31  # a letter with a diacritic
_GIVEN, _SURNAME, _COMMON = 32, 40, 48  # 8 weights, 8 weights, 4 degrees
_KINDS = {BRAND: 52, EPONYM: 53, PLACE: 54, ORGANIZATION: 55, EPONYM_NOUN: 57}
_KNOWN, _UNKNOWN = 58, 59

_SIGNS = {
    **dict.fromkeys(".!?;", _STOP), ",": _COMMA, ":": _COLON, **dict.fromkeys("/\\|", _SLASH),
    **dict.fromkeys("-–—_", _HYPHEN), **dict.fromkeys("([{<", _OPEN), **dict.fromkeys(")]}>", _CLOSE), "@": _AT,
    **dict.fromkeys("'\"’‘“”`", _QUOTE), **dict.fromkeys("#*=+~", _HASH),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one text, in order, disjoint.

    Attributes:
        starts, ends: code points, `end` exclusive.
        masks: the 64 features of each.
        whole: which are medical words that are kept whole.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    masks: NDArray[np.uint64]
    whole: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts)


def units(text: str) -> Units:
    """The units of a text."""
    known, folded = lexicon(), fold
    starts, ends, masks, whole = array("q"), array("q"), array("Q"), array("b")
    before = 0
    for found in _UNIT.finditer(text):
        start, end = found.span()
        word = found[0]
        mask = 1 << _gap(text, before, start)
        first = word[0]
        if first.isdigit():
            mask |= _of_digits(word)
            medical = False
        elif first.isalpha():
            entry = known.get(folded(word), -1) if len(word) > 1 else 0
            mask |= _of_letters(word) | _of_entry(entry)
            medical = bool(mask >> MEDICAL_BIT & 1)
        else:
            mask |= 1 << _SIGNS.get(word, _SIGN)
            medical = False
        starts.append(start)
        ends.append(end)
        masks.append(mask)
        whole.append(medical)
        before = end
    return Units(
        np.array(starts, np.int64), np.array(ends, np.int64), np.array(masks, np.uint64), np.array(whole, bool)
    )


def matrix(masks: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Features as numbers: units × 64, each 0 or 1."""
    octets = masks.astype("<u8").view(np.uint8).reshape(*masks.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little").astype(np.float32)


def _gap(text: str, end: int, start: int) -> int:
    if start == end and start:
        return _GLUED
    between = text[end:start]
    if not end or _BREAK.search(between):
        return _PARAGRAPH
    if "\n" in between:
        return _LINE
    return _WIDE if len(between) > 1 or between == "\t" else _SPACED


def _of_digits(word: str) -> int:
    n = len(word)
    mask = 1 << _DIGITS + (n - 1 if n <= 4 else 4 if n <= 7 else 5)
    if word[0] == "0":
        mask |= 1 << _ZERO
    if n == 4 and word[:2] in ("19", "20"):
        mask |= 1 << _YEAR
    if n <= 2 and word.isdecimal() and int(word) <= 31:
        mask |= 1 << _SMALL
    return mask


def _of_letters(word: str) -> int:
    mask = 0
    if not word.isascii():
        mask = 1 << _MARKED if any(c < "\u0250" for c in word) else 1 << _OTHER_SCRIPT
    if len(word) == 1:
        return mask | 1 << _LETTER | 1 << (_UPPER if word.isupper() else _LOWER)
    if word.islower():
        return mask | 1 << _LOWER
    if word.isupper():
        return mask | 1 << _UPPER
    if word[0].isupper() and word[1:].islower():
        return mask | 1 << _TITLE
    return mask | 1 << _CAMEL


@cache  # of lexicon entries, a few thousand numbers; never of words
def _of_entry(entry: int) -> int:
    if entry < 0:
        return 1 << _UNKNOWN
    given, surname, common = entry & 7, entry >> 3 & 7, entry >> 6 & 3
    mask = 1 << _KNOWN | 1 << _GIVEN + given | 1 << _SURNAME + surname | 1 << _COMMON + common
    for kind, bit in _KINDS.items():
        if entry & kind:
            mask |= 1 << bit
    if entry & MEDICAL and not given and not surname and not entry & (EPONYM | PLACE):
        mask |= 1 << MEDICAL_BIT
    return mask


def no_lexicon(features: NDArray[np.float32], rows: NDArray[np.bool_]) -> None:
    """Blank, in place, what the lexicon knows of some units: as if it did not hold them."""
    known = rows & (features[:, LEXICON_BITS].any(axis=1))
    features[known, LEXICON_BITS] = 0
    features[known, _UNKNOWN] = 1


def capitals(features: NDArray[np.float32], *, upper: bool) -> None:
    """Give, in place, every word the shape of ALL CAPS, or of no capitals."""
    shapes = (_LOWER, _TITLE, _UPPER, _CAMEL)
    words = features[:, shapes].any(axis=1)
    for shape in shapes:
        features[words, shape] = 0
    features[words, _UPPER if upper else _LOWER] = 1
