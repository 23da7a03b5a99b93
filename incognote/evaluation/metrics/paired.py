"""Compare two systems on the same texts: is one really better, or was it chance?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import Counts, interval, resampled
from incognote.evaluation.metrics.tally import RESAMPLES

EXACT_BELOW = 25
"""With fewer differing units than this, the exact test is used: the usual bound for the chi-square approximation."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test (1947) of two systems on the same units (Guan §4.2, Table 5).

    Attributes:
        only_first, only_second: the number of units that only this system got right.
        chi_square: with Edwards' continuity correction (1948), one degree of freedom; None if the exact test was used.
        p: two-sided.
    """

    only_first: int
    only_second: int
    chi_square: float | None
    p: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of the first system minus that of the second, with a 95% interval and a two-sided bootstrap p."""

    value: float
    low: float | None
    high: float | None
    p: float


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Compare two systems by the units that only one of them got right.

    Units are gold spans (`redactor.hits`), tokens, or documents. The test assumes that they are independent. Spans of
    one note are not quite independent, which makes p too small. So also look at `paired_difference`, which draws
    documents.

    Args:
        first, second: per unit, in the same order, whether the system was right.

    Raises:
        UsageError: there are no units, or the two systems have different numbers of units.
    """
    if len(first) != len(second) or not first:
        raise UsageError("McNemar's test needs the same units for both systems, and at least one.")
    b = sum(one and not other for one, other in zip(first, second, strict=True))
    c = sum(other and not one for one, other in zip(first, second, strict=True))
    n = b + c
    if n < EXACT_BELOW:
        tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
        return McNemar(b, c, None, min(1.0, 2 * tail / 2**n))
    chi_square = max(0, abs(b - c) - 1) ** 2 / n
    return McNemar(b, c, chi_square, math.erfc(math.sqrt(chi_square / 2)))


def bonferroni(p: float, comparisons: int) -> float:
    """Adjust p for the number of comparisons (Dunn 1961)."""
    return min(1.0, p * comparisons)


def paired_difference(
    first: Counts,
    second: Counts,
    metric: Callable[[Counts], Counts],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The difference of a metric between two systems, with the same documents drawn for both.

    The paired percentile bootstrap (Efron and Tibshirani 1993, ch. 13). p inverts its interval: it is twice the share
    of resamples on the other side of zero, including the observed sample.

    Args:
        first, second: documents × columns, the same documents and columns in the same order (`DocumentTally.table`).
        metric: maps sums (n × columns) to n values.

    Raises:
        UsageError: the tables differ in shape or are empty, or the metric is NaN on the whole corpus.
    """
    if first.shape != second.shape or not len(first):
        raise UsageError("A paired comparison needs the same documents and columns for both systems.")
    both = np.hstack([first, second])
    sums = np.vstack([both.sum(axis=0), resampled(both, resamples, seed)])
    columns = first.shape[1]
    values = metric(sums[:, :columns]) - metric(sums[:, columns:])
    if np.isnan(values[0]):
        raise UsageError("No gold, no score: the metric is undefined on these documents.")
    drawn = values[1:][~np.isnan(values[1:])]
    low, high = interval(drawn) if len(first) > 1 else (None, None)
    tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return Difference(float(values[0]), low, high, min(1.0, 2 * (tail + 1) / (len(drawn) + 1)))
