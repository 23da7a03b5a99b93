"""Compare cells on the same documents, by McNemar's test with Bonferroni and by paired bootstraps.

The gate decides whether a candidate loses more than is allowed: pass, fail, or cannot tell, which is not a pass.

Documents are drawn with replacement, the same ones for both systems (the paired bootstrap; Efron and Tibshirani 1993,
ch. 13). `fail` means that the one-sided 95% lower bound of the loss is above the allowed loss: it is shown to lose too
much. `pass` means that the upper bound is at or below it: it is shown not to (non-inferiority). Otherwise the answer is
`cannot tell`.

Losses in few documents are the hard case: if three of 250 were lost completely, no resample contains a fourth. Neither
the percentile bound nor the normal one (spread s, quantile z) covers that. In measurements, 18 in 100 losses just above
the allowed one passed both. So a bound is widened like Wilson's (1927) for a share. Losses beyond the observed are
assumed to be in documents like the worst one seen, which moves the score by m, and to spread accordingly:
d = z sqrt(s² + m d). If every document moves little, that is the normal bound. If the percentile bound is wider, it is
used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.counts import Scheme
from incognote.evaluation.experiments.tallies import METRICS, Sides
from incognote.evaluation.intervals import Counts, resampled
from incognote.evaluation.metrics.paired import Difference, McNemar, bonferroni, mcnemar, paired_difference
from incognote.evaluation.metrics.redactor import hits
from incognote.evaluation.metrics.tally import RESAMPLES

COMPARED = ("recall", "precision")


@dataclass(frozen=True, slots=True)
class Versus:
    """One pair of cells.

    Attributes:
        first, second: the names of the cells.
        differences: the first's metric minus the second's, by character, type-blind; the same documents are drawn for
            both.
        spans: McNemar's test over gold spans found or not, untyped (`redactor.hits`).
        adjusted: its p times the number of pairs (Bonferroni), at most 1.
    """

    first: str
    second: str
    differences: dict[str, Difference]
    spans: McNemar
    adjusted: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare(sides: Sides, *, seed: int = 0) -> list[Versus]:
    """Compare every pair of cells.

    Raises:
        UsageError: there is no gold.
    """
    scheme = Scheme.of(sides.sides[0].pairs)
    return each_pair(
        [(side.name, [hit for pair in side.pairs for hit in hits(pair, scheme)], side.counts) for side in sides.sides],
        seed=seed,
    )


def each_pair(
    systems: Iterable[tuple[str, Sequence[bool], Counts]], *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Versus]:
    """Compare every pair of systems. A metric that is NaN for one of them (it found nothing) has no difference.

    Args:
        systems: for each, its name; per gold span, whether it was found; documents × `tallies.COLUMNS`.

    Raises:
        UsageError: there is no gold span.
    """
    made = []
    pairs = list(combinations(systems, 2))
    for (one, here, first), (other, there, second) in pairs:
        test = mcnemar(here, there)
        differences = {
            name: paired_difference(first, second, METRICS[name], resamples=resamples, seed=seed)
            for name in COMPARED
            if not any(np.isnan(METRICS[name](counts.sum(axis=0, keepdims=True))[0]) for counts in (first, second))
        }
        made.append(Versus(one, other, differences, test, bonferroni(test.p, len(pairs))))
    return made


LEVEL = 0.95
RESAMPLES = 2000
LEAST = 20
"""The minimum number of documents with anything to count. With fewer, a bootstrap over them is not reliable."""
_Z = NormalDist().inv_cdf(LEVEL)

Answer = Literal["pass", "fail", "cannot tell"]


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The gate's answer. Losses are in points (hundredths) of the metric, and a gain is below zero.

    Attributes:
        loss, low, high: the observed loss, and its one-sided 95% bounds, each on its own.
        detectable: the smallest true loss that this number of documents answers with `fail` 95 times in 100.
        needed: the number of documents with which a candidate as good as this one would pass. None if no number is
            enough, because the observed loss is not below the allowed one.
        why: the reason in words.
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
) -> GateVerdict:
    """Judge a candidate against a baseline.

    Args:
        baseline, candidate: documents × `tallies.COLUMNS`, the same documents in the same order.
        allowed: points that may be lost, 0 to 100.
        metric: recall, precision or f1, by character.

    Raises:
        UsageError: the tables differ in shape, the metric is NaN on these documents, or `allowed` is out of range.
    """
    if not 0 <= allowed <= 100:
        raise UsageError("--allow must be from 0 to 100 points.")
    if metric not in METRICS:
        raise UsageError(f"--metric must be one of {', '.join(METRICS)}.")
    if baseline.shape != candidate.shape or not len(baseline):
        raise UsageError("A gate needs the same documents in both cells. Run the experiment again.")
    both = np.hstack([baseline, candidate])
    sums = np.vstack([both.sum(axis=0), resampled(both, resamples, seed)])
    half = baseline.shape[1]
    losses = 100 * (METRICS[metric](sums[:, :half]) - METRICS[metric](sums[:, half:]))
    loss, drawn = float(losses[0]), losses[1:][~np.isnan(losses[1:])]
    if math.isnan(loss):
        raise UsageError(f"No gold, no score: {metric} is undefined on these documents.")
    spread = float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
    without = both.sum(axis=0) - both  # leave one document out
    moved = loss - 100 * (METRICS[metric](without[:, :half]) - METRICS[metric](without[:, half:]))
    moved = moved[~np.isnan(moved)]  # NaN without the only document that has anything to count
    worst, best = float(moved.max(initial=0.0)), -float(moved.min(initial=0.0))
    low = min(float(np.quantile(drawn, 1 - LEVEL)), loss - _reach(spread, best))
    high = max(float(np.quantile(drawn, LEVEL)), loss + _reach(spread, worst))
    counted = int(both.any(axis=1).sum())
    detectable = allowed + (loss - low) + _Z * spread
    room = allowed - loss
    needed = math.ceil(counted * _Z**2 * (spread**2 + worst * room) / room**2) if room > 0 else None
    answer, why = _answered(low, high, allowed, counted)
    return GateVerdict(answer, metric, allowed, len(baseline), loss, low, high, detectable, needed, why)


def gate(sides: Sides, allowed: float, *, metric: str = "recall", seed: int = 0) -> GateVerdict:
    """Judge the second of two cells against the first."""
    baseline, candidate = sides.sides
    return judge(baseline.counts, candidate.counts, allowed, metric=metric, seed=seed)


def _reach(spread: float, one: float) -> float:
    """The distance of a bound from the observed value: the d of d = z sqrt(spread² + one · d)."""
    return _Z**2 * one / 2 + math.hypot(_Z * spread, _Z**2 * one / 2)


def _answered(low: float, high: float, allowed: float, counted: int) -> tuple[Answer, str]:
    if counted < LEAST:
        return "cannot tell", f"only {counted} documents hold anything to count; at least {LEAST} are needed"
    if low > allowed:
        return "fail", f"it loses at least {low:.2f} points, and {allowed:g} are allowed"
    if high <= allowed:
        return "pass", f"it loses at most {max(high, 0):.2f} points, and {allowed:g} are allowed"
    return "cannot tell", f"the loss may be anything from {low:.2f} to {high:.2f} points, and {allowed:g} are allowed"
