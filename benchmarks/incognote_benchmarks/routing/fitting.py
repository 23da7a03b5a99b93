"""The router's constants, fitted: what doubts and disagreements are worth, and the threshold.

Only texts without a recorded reply are fitted on, so that the figures of the others were tuned on nothing of theirs.
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
"""What routing is asked for: at least so much of a full run's recall, for at most so much of its tokens."""
SHARE = BAR["tokens"]
_ROUNDS = 500


def signals(reads: Sequence[Read]) -> NDArray[np.float64]:
    """Per text the sum of its signals of each kind (texts × kinds, in the order of `WORTH`)."""
    return np.array([[sum(c.signal for c in read.chances if c.kind == kind) for kind in WORTH] for read in reads])


def missed(reading: Reading, reads: Sequence[Read]) -> NDArray[np.float64]:
    """Per text the identifiers of which rules and encoder leave a letter or digit."""
    return np.array([float(_missed(reading, read)) for read in reads])


def weights(signals: NDArray[np.float64], missed: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each signal is worth: the non-negative weights under which the counts are likeliest as Poisson counts.

    Found by expectation maximisation (Shepp and Vardi 1982, equation 2.13, there for emission tomography).

    Raises:
        UsageError: no text has a signal of one kind.
    """
    total = signals.sum(axis=0)
    if not total.all():
        raise UsageError("the worth of a signal that no text gives cannot be fitted: give more texts")
    worth = np.full(len(total), missed.sum() / total.sum())
    for _ in range(_ROUNDS):
        whole = signals @ worth
        share = np.divide(missed, whole, out=np.zeros_like(missed), where=whole > 0)
        worth *= (signals.T @ share) / total
    fitted: NDArray[np.float64] = worth
    return fitted


def fitted(reading: Reading, reads: Sequence[Read], resamples: int) -> dict[str, Any]:
    """What each kind of signal is worth, with intervals (texts drawn with replacement)."""
    x, y = signals(reads), missed(reading, reads)
    told = weights(x, y)
    random = np.random.default_rng(0)
    drawn = np.array([weights(x[at], y[at]) for at in random.integers(len(x), size=(resamples, len(x)))])
    return {
        "texts": len(reads),
        "missed": int(y.sum()),
        **{
            name: {"value": float(told[i]), **dict(zip(("low", "high"), interval(drawn[:, i]), strict=True))}
            for i, name in enumerate(WORTH)
        },
    }


def agreement(reading: Reading, reads: Sequence[Read], resamples: int) -> dict[str, Any]:
    """Expected and observed: identifiers missed, in all and in thirds of the texts by what was expected."""
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
    """The lowest threshold, of two significant digits, from which on no more than this share of all tokens is sent."""
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
