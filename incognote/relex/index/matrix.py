"""Vectors in memory, searched completely: exact, with any filter, and fast up to a few hundred thousand rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from incognote.relex.index.docs import Doc, NearestIdentities

_FEW = 8  # a filter that leaves less than one row in this many copies those rows; otherwise all rows are multiplied
N = TypeVar("N", bound=np.generic)
_FIELDS = ("scope", "type", "pool")


class Matrix:
    """The vectors of one domain and group (or of one scope in it).

    Args:
        dimension: the dimension of the vectors.
    """

    def __init__(self, dimension: int) -> None:
        self.seen = 0  # the version of the store up to which this holds
        self._rows: NDArray[np.float32] = np.zeros((64, dimension), np.float32)
        self._alive: NDArray[np.bool_] = np.zeros(64, bool)
        self._codes: dict[str, NDArray[np.int32]] = {name: np.zeros(64, np.int32) for name in _FIELDS}
        self._words: dict[str, dict[str, int]] = {name: {} for name in _FIELDS}
        self._tags: dict[str, set[int]] = {}
        self._ids: list[str] = []
        self._place: dict[str, int] = {}

    def put(self, doc: Doc, raw: bytes | None) -> None:
        """Store the current state of a document. Without a vector, or if not active, it is no longer found."""
        row = self._place.get(doc.id)
        if row is None:
            if raw is None:
                return
            row = self._place[doc.id] = len(self._ids)
            self._ids.append(doc.id)
            if row == len(self._alive):
                self._grow()
        for rows in self._tags.values():
            rows.discard(row)
        self._alive[row] = raw is not None and doc.state == "active"
        if raw is None:
            return
        vector = np.frombuffer(raw, "<f2").astype(np.float32)
        self._rows[row] = vector / np.linalg.norm(vector)
        for name in _FIELDS:
            word = getattr(doc, name)
            self._codes[name][row] = self._words[name].setdefault(word, len(self._words[name]))
        for tag in doc.tags:
            self._tags.setdefault(tag, set()).add(row)

    def near(self, asked: NearestIdentities) -> list[tuple[str, float]]:
        """The ids of the nearest and their cosines. For equal cosines, the smaller id comes first."""
        count = len(self._ids)
        mask = self._alive[:count].copy()
        for name in _FIELDS:
            if name in asked.where:
                mask &= self._codes[name][:count] == self._words[name].get(asked.where[name], -1)
        rows = np.flatnonzero(mask)
        for tag in asked.tags:
            rows = rows[np.isin(rows, list(self._tags.get(tag, ())))]
        if not rows.size:
            return []
        if rows.size * _FEW < count:
            scores = _dots(self._rows[rows], asked.vector)
        else:
            scores = _dots(self._rows[:count], asked.vector)[rows]
        k = min(asked.k, rows.size)
        if k < rows.size:
            least = np.partition(scores, rows.size - k)[rows.size - k]
            kept = scores >= least
            rows, scores = rows[kept], scores[kept]
        found = zip((self._ids[row] for row in rows), scores.tolist(), strict=True)
        return sorted(found, key=lambda one: (-one[1], one[0]))[:k]

    def _grow(self) -> None:
        self._rows = _doubled(self._rows)
        self._alive = _doubled(self._alive)
        self._codes = {name: _doubled(codes) for name, codes in self._codes.items()}


def matches(doc: Doc, where: Mapping[str, str | tuple[str, ...]], without: Mapping[str, str]) -> bool:
    """Whether a document's fields match; it has the same logic as the vendors' filters."""
    for name, wanted in where.items():
        value = getattr(doc, name)
        if value not in wanted if isinstance(wanted, tuple) else value != wanted:
            return False
    return all(getattr(doc, name) != value for name, value in without.items())


def filled(dimension: int, docs: Iterable[tuple[Doc, bytes | None]]) -> Matrix:
    """A matrix of documents and their vectors."""
    matrix = Matrix(dimension)
    for doc, raw in docs:
        matrix.put(doc, raw)
    return matrix


def _dots(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Dot products in this thread only.

    BLAS would use other threads even for small tasks, which is slow on a busy machine.
    """
    made: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return made


def _doubled(array: NDArray[N]) -> NDArray[N]:
    return np.concatenate([array, np.zeros_like(array)])
