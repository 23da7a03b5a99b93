"""What an embedder promises, and the sums all of them share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity (-1 to 1).

    A text of any length is read whole: one that is longer than the model's window is read window by window, and the
    windows' vectors are averaged, each by its tokens. Equal texts have equal vectors, up to float32 rounding, whatever
    stands beside them in the call. Safe to be asked from several threads at once.
    """

    @property
    def name(self) -> str:
        """By which `open_embedder` opens it."""
        ...

    @property
    def version(self) -> str:
        """A hash of all that decides the vectors: those of two versions are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Of the vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Texts × dimension, in the order of the texts.

        Each row has length 1; that of a text in which there is nothing to read (blank, or without a character the
        model knows) is zero, and so unlike everything.
        """
        ...


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """Rows of length 1; a zero row stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0).astype(np.float32)
    return rows


def by_tokens(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Batches of indices, short rows first, each of at most `most` tokens with its padding (or of one row)."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and (len(batch) + 1) * lengths[index] > most:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
