"""Words as numbers, for a model of several languages: each word's id in a vocabulary, and its characters.

The model (papers/001 §4.1.2: BiLSTM-CNN-Char) has one position per unit, not per WordPiece. The row of a unit holds the
id of its word, then the ids of its characters. A long word is represented by its first and last characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from incognote.detectors.encoder.units import Encoded, units
from incognote.detectors.rules import foreign_lexicon
from incognote.text.language import spoken
from incognote.text.lexicon import beside, fold, lexicon

FIRST, LAST = 10, 6
"""The number of characters at the start and at the end of a word that the model sees."""
WIDTH = 1 + FIRST + LAST
_RESERVED = 4
"""The ids of padding, the start and the end of a window, and an unknown word or character."""
_BLOCKS = 0x700  # Latin to Arabic: each character has its own id
CHARACTERS = _RESERVED + _BLOCKS


class WordRows:
    """Splits texts into units, and returns the numbers of each unit. Thread-safe.

    Args:
        vocabulary: a file of `key`s, one per line.
        codes: the languages whose lexicons give the features; if there are several, those that a text is written in.

    Raises:
        MissingLanguage: one of the languages is not installed.
    """

    special = 0, 1, 2
    unknown = 3

    def __init__(self, vocabulary: Path, codes: Iterable[str]) -> None:
        self._ids = _vocabulary(vocabulary)
        self._codes = frozenset(codes)
        self.size = _RESERVED + len(self._ids)
        """The number of ids of words."""

    def __call__(self, text: str) -> Encoded:
        """Return the numbers of a text's units: units × `WIDTH`."""
        codes = self._codes
        if len(codes) > 1:
            codes = codes & spoken(text, codes | {"en"}, foreign_lexicon()) or codes
        found = units(text, known(codes))
        rows = np.zeros((len(found), WIDTH), np.int64)
        get = self._ids.get
        for row, start, end in zip(rows, found.starts.tolist(), found.ends.tolist(), strict=True):
            word = text[start:end]
            row[0] = get(key(word), self.unknown)
            shown = word if len(word) <= FIRST + LAST else word[:FIRST] + word[-LAST:]
            row[1 : 1 + len(shown)] = [_RESERVED + n if n < _BLOCKS else self.unknown for n in map(ord, shown)]
        return Encoded(found, rows, np.arange(len(found) + 1))


def key(word: str) -> str:
    """Return the form of a word in the vocabulary: folded, each digit as 0."""
    return "0" * min(len(word), 9) if word[0].isdigit() else fold(word)


@cache
def _vocabulary(path: Path) -> dict[str, int]:
    words = path.read_text(encoding="utf-8").split("\n")
    return {word: _RESERVED + i for i, word in enumerate(word for word in words if word)}


class Lexicons:
    """Looks words up in the lexicons of several languages."""

    def __init__(self, codes: frozenset[str]) -> None:
        self._tables = [lexicon(code) for code in sorted(codes)]

    def get(self, word: str, default: int) -> int:
        """Return what any of the lexicons says about a folded word: the larger weights, and all kinds."""
        entries = [table[word] for table in self._tables if word in table]
        if len(entries) < 2:
            return entries[0] if entries else default
        weights = (max(entry >> at & mask for entry in entries) << at for at, mask in ((0, 7), (3, 7), (6, 3)))
        kinds = 0
        for entry in entries:
            kinds |= entry & ~0xFF
        return sum(weights) | kinds


@cache
def known(codes: frozenset[str]) -> Lexicons:
    """Return the lexicons of languages, and of those whose words their texts also hold (`beside` in bundle.toml).

    Raises:
        MissingLanguage: one of them is not installed.
    """
    return Lexicons(codes.union(*map(beside, codes)))
