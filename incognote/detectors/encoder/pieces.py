"""Units as WordPieces: medical words kept whole, likely identifiers split finely (Guan §3.1, Algorithm 1).

The vocabulary of the base model is fixed, so a medical word it lacks cannot get an entry of its own. Kept whole, it is
its first piece alone, marked as a medical word by a feature: which one does not matter, as it is no identifier, and the
text gets shorter. A number of five digits or more is split into its digits: pieces like "##718" hide a number's form.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.units import Units, units

FINE = 5
LONGEST = 16
"""No unit has more pieces; those beyond are left out."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One text, ready for windows. Units that have no piece (control characters) are left out.

    Attributes:
        units: of the text.
        ids: the pieces.
        first: per unit, the place of its first piece; one more entry says how many pieces there are.
    """

    units: Units
    ids: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def of(self) -> NDArray[np.int64]:
        """Per piece, its unit."""
        return np.repeat(np.arange(len(self.units)), np.diff(self.first))


_AT_ONCE = 50_000
"""Units that the tokenizer is given at once: it takes some 500 bytes for each."""
_HALVES = re.compile("[\ud800-\udfff]")
"""Halves of UTF-16 pairs that stand alone, as JSON may bring them."""


class Pieces:
    """Thread-safe.

    Args:
        path: a `tokenizer.json` of a WordPiece vocabulary; its truncation and padding are turned off.
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
        """The pieces of a text, without [CLS] and [SEP]."""
        text = _HALVES.sub("\ufffd", text)  # the tokenizer takes UTF-8
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
        """The pieces of some units, and the unit of each."""
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
    """A tokenizer file without truncation and padding, in its shortest form."""
    read = json.loads(path.read_text(encoding="utf-8"))
    read["truncation"] = read["padding"] = None
    return json.dumps(read, ensure_ascii=False, separators=(",", ":"))
