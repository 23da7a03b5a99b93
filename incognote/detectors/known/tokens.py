"""Tokens for known identifiers: runs of letters and runs of digits, folded, with offsets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.detectors.rules.view import Shared, large, packed

# Letters with their combining marks, so that a decomposed accent cuts no word in two; digits apart from letters, so
# that MRN12345 holds 12345.
_TOKEN = re.compile("[^\\W\\d_](?:[^\\W\\d_]|[\u0300-\u036f])*|\\d+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Tokens(NamedTuple):
    """Parallel lists; `lows` are folded (lower case, no marks), `words` as written."""

    text: str
    words: list[str]
    lows: list[str]
    starts: Sequence[int]
    ends: Sequence[int]

    def gap(self, i: int) -> str:
        """What stands between token i-1 and token i."""
        return self.text[self.ends[i - 1] : self.starts[i]]


def tokens(text: str) -> Tokens:
    """The tokens of a text."""
    if large(text):
        return _of_large(text)
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(text):
        words.append(match.group())
        starts.append(match.start())
        ends.append(match.end())
    lows = [w.lower() for w in words] if text.isascii() else [fold(w) for w in words]
    return Tokens(text, words, lows, starts, ends)


def _of_large(text: str) -> Tokens:
    starts, ends, words, _ = packed(_TOKEN, text)
    lows = list(map(Shared(str.lower if text.isascii() else fold).__getitem__, words))
    return Tokens(text, words, lows, starts, ends)


def unspaced(value: str) -> bool:
    """The value is written in a script that puts no blanks between words (Han, Kana, Thai, …)."""
    return bool(_UNSPACED.search(value))
