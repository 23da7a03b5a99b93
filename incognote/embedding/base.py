"""The interface of an embedder, and the calculations that all of them share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity (-1 to 1).

    A text of any length is read completely. If it is longer than the model's window, it is read window by window, and
    the windows' vectors are averaged, weighted by their tokens. Equal texts have equal vectors, up to float32 rounding,
    independent of the other texts in the call. Safe for calls from several threads at once.
    """

    @property
    def name(self) -> str:
        """The name for `open_embedder`."""
        ...

    @property
    def version(self) -> str:
        """A hash of everything that decides the vectors. Vectors of two versions are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an array, texts × dimension, in the order of the texts.

        Each row has length 1. If a text has nothing to read (blank, or without a character that the model knows), its
        row is zero, and so similar to nothing.
        """
        ...


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """Scale rows to length 1. A zero row stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0).astype(np.float32)
    return rows


def by_tokens(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield batches of indices, short rows first, each of at most `most` tokens with its padding (or of one row)."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and (len(batch) + 1) * lengths[index] > most:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
