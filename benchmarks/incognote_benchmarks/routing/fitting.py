"""Fit the router's constants: the weights of doubts and disagreements, and the threshold.

Only texts without a recorded reply are used, so that the figures of the other texts are independent of the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.counts import counted
from incognote.evaluation.intervals import interval, resampled
from incognote.extraction.routing import WORTH
from incognote_benchmarks.routing.curves import Curve, by_expectation
from incognote_benchmarks.routing.material import Read, Reading

BAR = {"recall": 0.99, "tokens": 0.20}
"""The target of routing: at least this share of a full run's recall, for at most this share of its tokens."""
SHARE = BAR["tokens"]
_ROUNDS = 500


def signals(reads: Sequence[Read]) -> NDArray[np.float64]:
    """For each text, the sum of its signals of each kind (texts × kinds, in the order of `WORTH`)."""
    return np.array([[sum(c.signal for c in read.chances if c.kind == kind) for kind in WORTH] for read in reads])


def missed(reading: Reading, reads: Sequence[Read]) -> NDArray[np.float64]:
    """For each text, the number of identifiers of which rules and encoder leave a letter or digit."""
    return np.array([float(_missed(reading, read)) for read in reads])


def weights(signals: NDArray[np.float64], missed: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight of each signal: the non-negative weights that maximize the likelihood of the counts under Poisson.

    They are found by expectation maximization (Shepp and Vardi 1982, equation 2.13, there for emission tomography).

    Raises:
        UsageError: no text has a signal of one of the kinds.
    """
    total = signals.sum(axis=0)
    if not total.all():
        raise UsageError("a signal that no text has cannot be fitted. Give more texts")
    worth = np.full(len(total), missed.sum() / total.sum())
    for _ in range(_ROUNDS):
        whole = signals @ worth
        share = np.divide(missed, whole, out=np.zeros_like(missed), where=whole > 0)
        worth *= (signals.T @ share) / total
    fitted: NDArray[np.float64] = worth
    return fitted


def fitted(reading: Reading, reads: Sequence[Read], resamples: int) -> dict[str, Any]:
    """The weight of each kind of signal, with intervals (texts drawn with replacement)."""
    x, y = signals(reads), missed(reading, reads)
    values = weights(x, y)
    random = np.random.default_rng(0)
    drawn = np.array([weights(x[at], y[at]) for at in random.integers(len(x), size=(resamples, len(x)))])
    return {
        "texts": len(reads),
        "missed": int(y.sum()),
        **{
            name: {"value": float(values[i]), **dict(zip(("low", "high"), interval(drawn[:, i]), strict=True))}
            for i, name in enumerate(WORTH)
        },
    }


def agreement(reading: Reading, reads: Sequence[Read], resamples: int) -> dict[str, Any]:
    """Expected and observed missed identifiers, in total and by thirds of the texts ordered by expected value."""
    values = np.array([sum(by_expectation(read, part) for part in read.parts) for read in reads])
    observed = missed(reading, reads)
    table = np.column_stack([values, observed])
    low, high = interval(resampled(table, resamples, seed=0)[:, 1])
    by_value = np.argsort(values, kind="stable")
    return {
        "expected": float(values.sum()),
        "observed": {"value": int(observed.sum()), "low": low, "high": high},
        "thirds": [
            {"texts": len(at), "expected": float(values[at].sum()), "observed": int(observed[at].sum())}
            for at in np.array_split(by_value, 3)
        ],
    }


def threshold(curve: Curve, share: float = SHARE) -> float:
    """The lowest threshold, with two significant digits, that sends no more than this share of all tokens."""
    points = curve.points(by_expectation, most=10_000)
    sums = curve.sums(by_expectation, points, resamples=1)
    low = 0.0
    for number, point in enumerate(points):
        if sums.of((str(number), "tokens"))[0] > share * sums.of(("all", "tokens"))[0]:
            low = point.threshold
            break
    digits = 10.0 ** (np.floor(np.log10(low)) - 1) if low > 0 else 0.01
    return float(round((np.floor(low / digits) + 1) * digits, 6))


def _missed(reading: Reading, read: Read) -> int:
    left = counted(read.gold.text)
    for span in reading.settled(read.text, read.raw):
        left[span.start : span.end] = False
    return sum(bool(left[label.start : label.end].any()) for label in read.gold.labels)
