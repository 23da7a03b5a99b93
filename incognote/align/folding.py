"""A text without what does not tell words apart, and the way back, code point by code point.

Folded away: case, accents, compatibility forms (full-width letters, ligatures), other digits, kinds of quotes and
dashes, invisible characters (soft hyphen, zero width, byte order mark, directions); every run of white space counts as
one space. Decomposed and composed spellings of one word fold to the same characters (Unicode NFKD, UAX #15).

A folding of its own beside the reading: what a model says is compared more loosely than anybody reads (case, accents,
quotes), in the text as it is and in what is seen, and each code point is folded by itself so that offsets lead back.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import cached_property, lru_cache

WORD = re.compile(r"[^\W_]+")
"""Runs of letters and digits, in folded text."""
# Visible ASCII but for the grave accent, with single spaces: folded by lower case alone.
_PLAIN = re.compile(r"[!-_a-~]+(?: [!-_a-~]+)*")
_ALIKE = {
    **dict.fromkeys("‘’‚‛ʼʹ′`´＇", "'"),
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    **dict.fromkeys("łŁ", "l"),
    **dict.fromkeys("øØ", "o"),
    **dict.fromkeys("đĐðÐ", "d"),
    **dict.fromkeys("æÆ", "ae"),
    **dict.fromkeys("œŒ", "oe"),
    **dict.fromkeys("þÞ", "th"),
    **dict.fromkeys("ıİ", "i"),
}


class Folded:
    """A text and its folded form.

    Attributes:
        text: as given.
        folded: as compared. Each of its characters came from one code point of `text`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded, self._from = _folded(text)

    def back(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of `text` that a non-empty stretch of `folded` came from."""
        return self._from[start], self._from[end - 1] + 1

    def forward(self, offset: int) -> int:
        """Where in `folded` the first character stands that came from `offset` of `text` or later."""
        return bisect_left(self._from, offset)

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        return [match.span() for match in WORD.finditer(self.folded)]

    @cached_property
    def word_starts(self) -> list[int]:
        """Where the words of `folded` begin, sorted."""
        return [start for start, _ in self._words]

    @cached_property
    def word_ends(self) -> list[int]:
        """Where the words of `folded` end, sorted."""
        return [end for _, end in self._words]


def _folded(text: str) -> tuple[str, list[int] | range]:
    pieces: list[str] = []
    origin: list[int] = []
    spaced = False
    at = 0
    runs = [run.span() for run in _PLAIN.finditer(text)]
    if runs == [(0, len(text))]:
        return text.lower(), range(len(text))
    for start, end in (*runs, (len(text), len(text))):
        for i in range(at, start):
            piece = _fold_one(text[i])
            if piece == " ":
                if spaced:
                    continue
                spaced = True
            elif piece:
                spaced = False
            pieces.append(piece)
            origin.extend([i] * len(piece))
        if end > start:
            pieces.append(text[start:end].lower())
            origin.extend(range(start, end))
            spaced = False
        at = end
    return "".join(pieces), origin


@lru_cache(maxsize=4096)
def _fold_one(c: str) -> str:
    """What one code point is compared as: a space for white space, nothing for marks and what is invisible."""
    if c in _ALIKE:
        return _ALIKE[c]
    if c.isspace():
        return " "
    if unicodedata.category(c) == "Cf":
        return ""
    digit = unicodedata.digit(c, None) if c.isdigit() else None
    if digit is not None:
        return str(digit)
    whole = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", c).casefold())
    kept = [_ALIKE.get(part, part) for part in whole if not _is_mark(part)]
    return "".join(kept) if any(not part.isspace() for part in kept) else ""


def _is_mark(c: str) -> bool:
    """Whether a code point only modifies the one before it: accents and points, not the vowels of Indic scripts."""
    return unicodedata.combining(c) != 0 or "\ufe00" <= c <= "\ufe0f"


def folded(words: str) -> str:
    """The folded form of a few words, without spaces at its ends."""
    return _folded(words)[0].strip()
