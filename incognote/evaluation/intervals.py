"""95% intervals: a document-level bootstrap for ratios of counts, Wilson's for shares of documents.

Documents are drawn, not characters. Characters of one note are correlated, so intervals over characters would be far
too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """One score: its value, its interval, and the count it is a share of. None if there was nothing to score."""

    value: float | None
    low: float | None
    high: float | None
    of: int

    def as_dict(self) -> dict[str, Any]:
        return {"value": self.value, "low": self.low, "high": self.high, "of": self.of}

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def resampled(counts: Counts, resamples: int, seed: int) -> Counts:
    """Column sums of `resamples` bootstrap samples of the rows of `counts` (documents × columns).

    The percentile bootstrap of Efron and Tibshirani (1993, ch. 13): each sample draws multiplicities of the rows.
    """
    documents = len(counts)
    random = np.random.default_rng(seed)
    sums = np.empty((resamples, counts.shape[1]))
    for i in range(resamples):
        drawn = np.bincount(random.integers(documents, size=documents), minlength=documents)
        sums[i] = drawn.astype(np.float64) @ counts
    return sums


def interval(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """The middle 95% of the resampled values; (None, None) if all are NaN."""
    kept = values[~np.isnan(values)]
    if not len(kept):
        return None, None
    low, high = np.quantile(kept, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def share(hits: int, n: int) -> Figure:
    """A share of independent documents with Wilson's score interval (1927), which has a width even for 0 of n."""
    if n == 0:
        return Figure(None, None, None, 0)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    p = hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return Figure(p, max(0.0, middle - half) if hits else 0.0, min(1.0, middle + half) if hits < n else 1.0, n)
