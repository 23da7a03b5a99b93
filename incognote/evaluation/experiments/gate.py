"""Whether a candidate loses more than is allowed: pass, fail, or cannot tell, which is no pass.

Documents are drawn with replacement, the same ones for both systems (the paired bootstrap; Efron and Tibshirani 1993,
ch. 13). `fail` needs the one-sided 95 % lower bound of the loss above what is allowed: it is shown to lose too much.
`pass` needs the upper bound at or below it: it is shown not to (non-inferiority). Between lies `cannot tell`.

A bound is the wider of the bootstrap's percentile and its normal one: with few documents that differ the percentile
is too narrow, with skewed losses the normal one is.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.experiments.tallies import METRICS, Sides
from incognote.evaluation.intervals import Counts, resampled

LEVEL = 0.95
RESAMPLES = 2000
LEAST = 20
"""Fewer documents with anything to count, and no bootstrap over them is to be trusted."""
_Z = NormalDist().inv_cdf(LEVEL)

Answer = Literal["pass", "fail", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer; losses in points (hundredths) of the metric, a gain is below zero.

    Attributes:
        loss, low, high: observed, and its one-sided 95 % bounds, each on its own.
        detectable: the smallest true loss that is answered `fail` 95 times in 100 with so many documents.
        needed: with so many documents a candidate as good as this one was shown to be would pass; None where no number
            of them is enough, since the observed loss is not below what is allowed.
        why: in words.
    """

    answer: Answer
    metric: str
    allowed: float
    documents: int
    loss: float
    low: float
    high: float
    detectable: float
    needed: int | None
    why: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(
    baseline: Counts,
    candidate: Counts,
    allowed: float,
    *,
    metric: str = "recall",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Verdict:
    """Judge a candidate against a baseline.

    Args:
        baseline, candidate: documents × `tallies.COLUMNS`, the same documents in the same order.
        allowed: points that may be lost; 0 or more.
        metric: recall, precision or f1, by character.

    Raises:
        UsageError: the tables differ in shape, the metric is no number on these documents, or `allowed` is below 0.
    """
    if not allowed >= 0:
        raise UsageError("allow: 0 points or more")
    if metric not in METRICS:
        raise UsageError(f"metric: one of {', '.join(METRICS)}")
    if baseline.shape != candidate.shape or not len(baseline):
        raise UsageError("a gate needs the same documents of both cells")
    both = np.hstack([baseline, candidate])
    sums = np.vstack([both.sum(axis=0), resampled(both, resamples, seed)])
    half = baseline.shape[1]
    losses = 100 * (METRICS[metric](sums[:, :half]) - METRICS[metric](sums[:, half:]))
    loss, drawn = float(losses[0]), losses[1:][~np.isnan(losses[1:])]
    if math.isnan(loss):
        raise UsageError(f"no gold, no score: {metric} is no number on these documents")
    spread = float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
    low = min(float(np.quantile(drawn, 1 - LEVEL)), loss - _Z * spread)
    high = max(float(np.quantile(drawn, LEVEL)), loss + _Z * spread)
    counted = int(both.any(axis=1).sum())
    detectable = allowed + 2 * _Z * spread
    needed = math.ceil(counted * (_Z * spread / (allowed - loss)) ** 2) if loss < allowed else None
    answer, why = _answered(low, high, allowed, counted)
    return Verdict(answer, metric, allowed, len(baseline), loss, low, high, detectable, needed, why)


def gate(sides: Sides, allowed: float, *, metric: str = "recall", seed: int = 0) -> Verdict:
    """Judge the second of two cells against the first."""
    baseline, candidate = sides.sides
    return judge(baseline.counts, candidate.counts, allowed, metric=metric, seed=seed)


def _answered(low: float, high: float, allowed: float, counted: int) -> tuple[Answer, str]:
    if counted < LEAST:
        return "cannot tell", f"only {counted} documents hold anything to count; {LEAST} are needed at least"
    if low > allowed:
        return "fail", f"it loses {low:.2f} points or more, and {allowed:g} are allowed"
    if high <= allowed:
        return "pass", f"it loses {max(high, 0):.2f} points at most, and {allowed:g} are allowed"
    return "cannot tell", f"the loss may be anything from {low:.2f} to {high:.2f} points, and {allowed:g} are allowed"
