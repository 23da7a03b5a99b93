"""Tokens for known identifiers: runs of letters and runs of digits, folded, with offsets."""

from __future__ import annotations

import re
from typing import NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.detectors.rules.view import cut

# Letters with their combining marks, so that a decomposed accent cuts no word in two; digits apart from letters, so
# that MRN12345 holds 12345.
_TOKEN = re.compile("([^\\W\\d_](?:[^\\W\\d_]|[\u0300-\u036f])*|\\d+)")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Tokens(NamedTuple):
    """Parallel lists; `lows` are folded (lower case, no marks), `words` as written."""

    text: str
    words: list[str]
    lows: list[str]
    starts: list[int]
    ends: list[int]

    def gap(self, i: int) -> str:
        """What stands between token i-1 and token i."""
        return self.text[self.ends[i - 1] : self.starts[i]]


def tokens(text: str) -> Tokens:
    """The tokens of a text."""
    starts, ends, words, _ = cut(_TOKEN, text)
    folded = str.lower if text.isascii() else fold
    return Tokens(text, words, list(map(folded, words)), starts, ends)


def unspaced(value: str) -> bool:
    """The value is written in a script that puts no blanks between words (Han, Kana, Thai, …)."""
    return bool(_UNSPACED.search(value))
