"""Counts per document, summed over a corpus and over resamples of its documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.intervals import Counts, Figure, interval, resampled

Column = tuple[str, ...]
"""The name of a count, from general to particular: ("strict", "PERSON", "correct")."""
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Precision, recall, and F1 of a slice, with intervals. `of` counts findings for precision, gold for the others."""

    precision: Figure
    recall: Figure
    f1: Figure


class DocumentTally:
    """The counts of the documents, stored sparsely: per document the nonzero columns, and no text."""

    def __init__(self) -> None:
        self._at: dict[Column, int] = {}
        self._rows: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, counts: Mapping[Column, int]) -> None:
        """Add one document."""
        some = {self._at.setdefault(column, len(self._at)): n for column, n in counts.items() if n}
        self._rows.append((np.array(list(some.keys()), np.int32), np.array(list(some.values()), np.int32)))

    def table(self, columns: Iterable[Column] | None = None) -> Counts:
        """Return documents × columns (all columns by default). A column that no document has is zero."""
        table: Counts = np.zeros((len(self._rows), len(self._at) + 1))  # the last one stays zero
        for row, (at, values) in zip(table, self._rows, strict=True):
            row[at] = values
        if columns is None:
            return table[:, :-1]
        return table[:, [self._at.get(column, -1) for column in columns]]

    def sums(self, resamples: int, seed: int) -> Sums:
        """The sums over the corpus and over bootstrap resamples of its documents.

        Raises:
            UsageError: there is no document.
        """
        if not self._rows:
            raise UsageError("No gold, no score: there is no document to score.")
        table = self.table()
        drawn = np.vstack([table.sum(axis=0), resampled(table, resamples, seed)])
        return Sums(drawn, dict(self._at), [np.flatnonzero(column)[:2].tolist() for column in table.T])


class Sums:
    """The columns of all documents: the sums over the corpus (first) and per resample (the rest).

    Args:
        sums: 1 + resamples × columns.
        at: maps each column to its place in `sums`.
        having: per column, the first two documents in which it is not zero, or all if there are fewer.
    """

    def __init__(self, sums: Counts, at: Mapping[Column, int], having: Sequence[Sequence[int]]) -> None:
        self._sums, self._at, self._having = sums, at, having

    @property
    def columns(self) -> Collection[Column]:
        """The columns that any document has."""
        return self._at.keys()

    def of(self, *columns: Column) -> Counts:
        """The sum of some columns: 1 + resamples values."""
        total: Counts = np.zeros(len(self._sums))
        for column in columns:
            if column in self._at:
                total = total + self._sums[:, self._at[column]]
        return total

    def total(self, *columns: Column) -> int:
        """The sum of some columns over the corpus."""
        return int(self.of(*columns)[0])

    def figure(self, values: Counts, *whole: Column) -> Figure:
        """The first value, with the interval of the others if more than one document contributes to `whole`."""
        if np.isnan(values[0]):
            return Figure(None, None, None, self.total(*whole))
        having = [self._having[self._at[column]] for column in whole if column in self._at]
        many = len(set[int]().union(*having)) > 1
        low, high = interval(values[1:]) if many else (None, None)
        return Figure(float(values[0]), low, high, self.total(*whole))

    def share(self, part: Iterable[Column], whole: Iterable[Column]) -> Figure:
        """The ratio of two sums."""
        whole = tuple(whole)
        return self.figure(ratio(self.of(*part), self.of(*whole)), *whole)

    def score(
        self, right: Iterable[Column], found: Iterable[Column], gold: Iterable[Column], half: Iterable[Column] = ()
    ) -> PrecisionRecall:
        """Precision, recall, and F1 from the columns for right, half right, found, and gold."""
        found, gold = tuple(found), tuple(gold)
        credit = self.of(*right) + 0.5 * self.of(*half)
        precision, recall = ratio(credit, self.of(*found)), ratio(credit, self.of(*gold))
        return PrecisionRecall(
            precision=self.figure(precision, *found),
            recall=self.figure(recall, *gold),
            f1=self.figure(f1(precision, recall), *gold),
        )


def ratio(part: Counts, whole: Counts) -> Counts:
    """part / whole, NaN where `whole` is 0."""
    values: Counts = np.full(len(whole), np.nan)
    np.divide(part, whole, out=values, where=whole > 0)
    return values


def f1(precision: Counts, recall: Counts) -> Counts:
    """The harmonic mean. It is 0 if only one of the two is a number: then nothing was found, or there was no gold."""
    p, r = np.nan_to_num(precision), np.nan_to_num(recall)
    product: Counts = 2 * (p * r)
    np.divide(product, p + r, out=product, where=p + r > 0)
    product[np.isnan(precision) & np.isnan(recall)] = np.nan
    return product
