"""Measure how close the student comes to its teacher on texts that the student has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote_training.embedder.teacher import Matrix

_RESAMPLES = 200  # each over up to millions of pairs, which takes minutes
Values = NDArray[np.float64]


def spearman(one: Values, other: Values) -> float:
    """The rank correlation of two sequences of numbers without many ties."""
    ranks = [np.argsort(np.argsort(values)).astype(np.float64) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def by_pairs(student: Matrix, teacher: Matrix, seed: int = 0) -> dict[str, Any]:
    """Spearman's correlation of the cosines of all pairs of texts, with a 95% interval from resampled texts."""
    here, there = (vectors.astype(np.float64) @ vectors.astype(np.float64).T for vectors in (student, teacher))
    chance = np.random.default_rng(seed)
    upper = np.triu_indices(len(student), 1)
    drawn = []
    for _ in range(_RESAMPLES):
        kept = np.unique(chance.integers(len(student), size=len(student)))  # a text with itself would tie at 1
        some = np.ix_(kept, kept)
        corner = np.triu_indices(len(kept), 1)
        drawn.append(spearman(here[some][corner], there[some][corner]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return _rounded(spearman(here[upper], there[upper]), low, high, texts=len(student), pairs=len(upper[0]))


def by_twins(student: tuple[Matrix, Matrix], teacher: tuple[Matrix, Matrix], seed: int = 0) -> dict[str, Any]:
    """Spearman's correlation of the cosines of given pairs (row by row), with an interval from resampled pairs."""
    here, there = ((a.astype(np.float64) * b).sum(1) for a, b in (student, teacher))
    chance = np.random.default_rng(seed)
    drawn = [
        spearman(here[k], there[k]) for k in (chance.integers(len(here), size=len(here)) for _ in range(_RESAMPLES))
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    means = {"mean_student": round(float(here.mean()), 3), "mean_teacher": round(float(there.mean()), 3)}
    return {**_rounded(spearman(here, there), low, high, pairs=len(here)), **means}


def found(queries: Matrix, store: Matrix, truth: Sequence[int], most: int) -> dict[str, Any]:
    """The share of queries whose own row of the store is among the `most` nearest, with a normal interval."""
    likeness = queries @ store.T
    own = likeness[np.arange(len(queries)), list(truth)]
    hits = (likeness > own[:, None] + 1e-6).sum(1) < most
    share, half = float(hits.mean()), 1.96 * float(hits.std()) / len(hits) ** 0.5
    return _rounded(share, share - half, share + half, queries=len(queries), store=len(store))


def _rounded(value: float, low: float, high: float, **n: int) -> dict[str, Any]:
    return {"value": round(value, 3), "low": round(float(low), 3), "high": round(float(high), 3), **n}
