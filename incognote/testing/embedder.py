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
    """The test double of an embedder. Texts that share words and parts of words are similar. Meaning is not considered.

    The result is the same everywhere: it uses no random numbers, and no hash depends on the process.

    Each word and trigram has its own direction, from the signs that its hash gives.

    Args:
        dimension: of the vectors. With a smaller one, more texts are similar by chance.
    """

    name = "hashing"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.version = f"1-{dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, texts × dimension. A text without letter or digit has zeros."""
        sums = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(sums, texts, strict=True):
            for part in _parts(text):
                drawn = shake_128(part.encode("utf-8", "surrogatepass")).digest(-(-self.dimension // 8))
                row += np.unpackbits(np.frombuffer(drawn, np.uint8))[: self.dimension].astype(np.float32) * 2 - 1
        return unit(sums)


def _parts(text: str) -> Iterator[str]:
    """Yield each word, without case and accents, and its trigrams with its ends marked."""
    for word in _WORDS.findall(without_marks(text.casefold())):
        yield word
        ended = f"<{word}>"
        yield from (ended[at : at + _GRAM] for at in range(len(ended) - _GRAM + 1))
