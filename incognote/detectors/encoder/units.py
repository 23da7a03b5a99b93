"""Split a text into units, the words that get tags, with the features that uncased WordPieces lose.

A unit is a run of letters, a run of digits, or one other character that is not white space. Letters and digits never
share a unit, so a span that ends between the two ("34F", "Rm512") cuts no unit. Each Chinese, Japanese or Korean
character is a unit.

A unit has 64 feature bits: case and shape, the white space before it (line breaks and columns distinguish a header from
prose), and its entry in the rules' lexicon (how common it is as a given name, surname or English word; whether it is
medical, a brand, an eponym, a place). They are added to the input embedding as one learned vector per bit.

Units are cut into WordPieces: medical words are kept whole, likely identifiers are split finely (Guan §3.1,
Algorithm 1).

The vocabulary of the base model is fixed, so it cannot get new entries for medical words that it lacks. A medical word
that is kept whole is represented by its first piece alone, and a feature marks it as medical. The exact word does not
matter because it is not an identifier, and the text gets shorter. A number of five digits or more is split into its
digits, because pieces like "##718" hide a number's form.
"""

from __future__ import annotations

import json
import re
from array import array
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from incognote.text.escapes import LONE_SURROGATE
from incognote.text.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, ORGANIZATION, PLACE, fold, lexicon

BITS = 64
SHAPE_BITS = slice(0, 32)
LEXICON_BITS = slice(32, 62)
MEDICAL_BIT = 56
"""Set for medical words that are not names. Guan's γ is computed from the density of these words."""

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
FINE = 5
LONGEST = 16
"""The maximum number of pieces of a unit. Further pieces are dropped."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one text, in order, disjoint.

    Attributes:
        starts, ends: code points, `end` exclusive.
        masks: the 64 features of each unit.
        whole: whether each unit is a medical word that is kept whole.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    masks: NDArray[np.uint64]
    whole: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts)


class Lookup(Protocol):
    """What a dictionary and a lexicon of several languages have in common."""

    def get(self, word: str, default: int, /) -> int:
        """Return the entry of a folded word."""


def units(text: str, known: Lookup | None = None) -> Units:
    """Split a text into units.

    Args:
        known: the lexicon; that of English if None.
    """
    known, folded = lexicon() if known is None else known, fold
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
    """Return features as numbers: units × 64, each 0 or 1."""
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


@cache  # keyed by lexicon entries, a few thousand numbers; never by words
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
    """Clear the lexicon features of some units in place, as if the lexicon did not contain them."""
    known = rows & (features[:, LEXICON_BITS].any(axis=1))
    features[known, LEXICON_BITS] = 0
    features[known, _UNKNOWN] = 1


def capitals(features: NDArray[np.float32], *, upper: bool) -> None:
    """Give every word the shape of ALL CAPS, or of lower case. Changes the features in place."""
    shapes = (_LOWER, _TITLE, _UPPER, _CAMEL)
    words = features[:, shapes].any(axis=1)
    for shape in shapes:
        features[words, shape] = 0
    features[words, _UPPER if upper else _LOWER] = 1


@dataclass(frozen=True, slots=True)
class Encoded:
    """One text, ready for windows. Units without a piece (control characters) are left out.

    Attributes:
        units: the units of the text.
        ids: the ids of the pieces; for a model of words (`words.py`), one row of numbers per unit.
        first: for each unit, the position of its first piece; one more entry holds the number of pieces.
    """

    units: Units
    ids: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def of(self) -> NDArray[np.int64]:
        """The unit of each piece."""
        return np.repeat(np.arange(len(self.units)), np.diff(self.first))


_AT_ONCE = 50_000
"""The number of units passed to the tokenizer in one call. It uses about 500 bytes per unit."""


class Numbering(Protocol):
    """Turns texts into numbers: `Pieces`, or `WordRows` for a model of several languages."""

    special: tuple[int, int, int]
    unknown: int

    def __call__(self, text: str) -> Encoded:
        """Return the units of a text with their numbers."""


class Pieces:
    """Splits texts into WordPieces. Thread-safe.

    Args:
        path: a `tokenizer.json` with a WordPiece vocabulary; its truncation and padding are turned off.
        medical: whether medical words stay whole and long numbers are split into digits.
    """

    def __init__(self, path: Path, *, medical: bool = True) -> None:
        from tokenizers import Tokenizer

        tokenizer: Any = Tokenizer.from_str(plain(path))
        self._tokenizer = tokenizer
        self._medical = medical
        pad, cls, sep, unknown = (int(tokenizer.token_to_id(name)) for name in ("[PAD]", "[CLS]", "[SEP]", "[UNK]"))
        self.unknown = unknown
        self.special = pad, cls, sep
        """The ids of [PAD], [CLS] and [SEP]."""

    def __call__(self, text: str) -> Encoded:
        """Return the pieces of a text, without [CLS] and [SEP]."""
        text = LONE_SURROGATE.sub("\ufffd", text)  # the tokenizer takes UTF-8
        found = units(text)
        parts = [self._some(text, found, at, min(at + _AT_ONCE, len(found))) for at in range(0, len(found), _AT_ONCE)]
        if not parts:
            return Encoded(found, np.zeros(0, np.int64), np.zeros(1, np.int64))
        ids, unit = (np.concatenate(each) for each in zip(*parts, strict=True))
        there = np.unique(unit)
        first = np.concatenate([np.flatnonzero(np.diff(unit, prepend=-1)), [len(unit)]])
        if len(there) < len(found):
            found = Units(found.starts[there], found.ends[there], found.masks[there], found.whole[there])
        return Encoded(found, ids, first)

    def _some(self, text: str, found: Units, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pieces of some units, and the unit of each piece."""
        words: list[str] = []
        owner: list[int] = []
        places = zip(found.starts[begin:end].tolist(), found.ends[begin:end].tolist(), strict=True)
        for i, (start, stop) in enumerate(places, begin):
            word = text[start:stop]
            if self._medical and stop - start >= FINE and word[0].isdigit():
                words.extend(word)
                owner.extend([i] * len(word))
            else:
                words.append(word)
                owner.append(i)
        encoded = self._tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        ids = np.array(encoded.ids, np.int64)
        unit = np.array(owner, np.int64)[np.array(encoded.word_ids, np.int64)]
        fresh = np.flatnonzero(np.diff(unit, prepend=-1))
        sizes = np.diff(fresh, append=len(unit))
        rank = np.arange(len(unit)) - np.repeat(fresh, sizes)
        most = np.where(found.whole[unit], 1, LONGEST) if self._medical else LONGEST
        keep = rank < most
        return ids[keep], unit[keep]


def plain(path: Path) -> str:
    """Return the content of a tokenizer file as compact JSON, without truncation and padding."""
    read = json.loads(path.read_text(encoding="utf-8"))
    read["truncation"] = read["padding"] = None
    return json.dumps(read, ensure_ascii=False, separators=(",", ":"))
