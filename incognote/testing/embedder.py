"""An embedder without a model: hashed words and letter trigrams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import shake_128

import numpy as np

from incognote.embedding.base import Vectors, unit
from incognote.text.characters import without_marks

_WORDS = re.compile(r"\w+")
_GRAM = 3


class HashingEmbedder:
    """The public twin of an embedder: texts that share words and parts of words are alike, meaning is not known.

    The same everywhere: nothing in it is drawn, and no hash depends on the process.

    Each word and trigram has a direction of its own, of signs that its hash gives.

    Args:
        dimension: of the vectors; the smaller, the more is alike by chance.
    """

    name = "hashing"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.version = f"1-{dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, texts × dimension; of a text without letter or digit, zeros."""
        sums = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(sums, texts, strict=True):
            for part in _parts(text):
                drawn = shake_128(part.encode("utf-8", "surrogatepass")).digest(-(-self.dimension // 8))
                row += np.unpackbits(np.frombuffer(drawn, np.uint8))[: self.dimension].astype(np.float32) * 2 - 1
        return unit(sums)


def _parts(text: str) -> Iterator[str]:
    """Each word, without case and accents, and its trigrams with its ends marked."""
    for word in _WORDS.findall(without_marks(text.casefold())):
        yield word
        ended = f"<{word}>"
        yield from (ended[at : at + _GRAM] for at in range(len(ended) - _GRAM + 1))
