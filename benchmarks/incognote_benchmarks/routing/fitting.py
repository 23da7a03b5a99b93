"""Fit the router's constants: the weights of the signals, the tokens of a call, and the value for each share.

A text counts as gained if rules and encoder leave an identifier in it, and if it is whole after the model has read it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.intervals import interval
from incognote.extraction.chunks import length
from incognote.extraction.routing import SHARES, SHORT, TOKENS, VALUES, WEIGHTS, signals
from incognote_benchmarks.routing.curves import Outcomes, by_value, by_words
from incognote_benchmarks.routing.material import Read

Floats = NDArray[np.float64]
NAMES = ("constant", "doubts", "disagreements", "words")
FOLDS = 10
_PRIOR = 0.5  # of a ridge on the standardized weights, so that a fit on few texts is finite
_ROUNDS = 50


def table(reads: Sequence[Read]) -> Floats:
    """The signals of each text as a whole (texts × `NAMES`)."""
    return np.array([signals(read.chances, length(read.gold.text)) for read in reads])


def targets(outcomes: Outcomes, reads: Sequence[Read]) -> Floats:
    """For each text, 1 if sending it makes it whole, and otherwise 0."""
    return np.array([float(outcomes.gained(read) > 0) for read in reads])


def weights(x: Floats, y: Floats) -> Floats:
    """The weights of a logistic model, by Newton's method. The first column of x is the constant 1.

    Raises:
        UsageError: all texts are gained, or none.
    """
    if y.min() == y.max():
        raise UsageError("the router cannot be fitted: sending makes all of the texts whole, or none. Give more texts")
    mean, spread = x[:, 1:].mean(axis=0), x[:, 1:].std(axis=0) + 1e-9
    z = np.column_stack([x[:, 0], (x[:, 1:] - mean) / spread])
    ridge = np.diag([0.0, *[_PRIOR] * len(mean)])
    w = np.zeros(z.shape[1])
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(-z @ w))
        w += np.linalg.solve((z.T * (p * (1 - p))) @ z + ridge, z.T @ (y - p) - ridge @ w)
    slopes = w[1:] / spread
    return np.array([w[0] - slopes @ mean, *slopes])


def out_of_fold(reads: Sequence[Read], y: Floats) -> list[list[float]]:
    """For each text, the weights that are fitted on the texts of the other folds. A hash of the id chooses the fold."""
    x = table(reads)
    fold = np.array([hashlib.sha256(read.gold.id.encode()).digest()[0] % FOLDS for read in reads])
    by_fold = {n: weights(x[fold != n], y[fold != n]).tolist() for n in set(fold.tolist())}
    return [by_fold[n] for n in fold.tolist()]


def tokens(reads: Sequence[Read]) -> list[float]:
    """The tokens of a call: a constant, and for each word, by least squares over all chunks with recorded replies."""
    parts = [(len(read.gold.text[p.chunk.start : p.chunk.end].split()), p.tokens)
             for read in reads if read.recorded for p in read.parts]  # fmt: skip
    words, spent = np.array(parts, float).T
    solved, *_ = np.linalg.lstsq(np.column_stack([np.ones_like(words), words]), spent, rcond=None)
    return [float(value) for value in solved]


def least_values(reads: Sequence[Read], *, short: bool) -> list[float]:
    """For each of `SHARES`, the value of the last chunk that is sent with that share of all tokens."""
    order = by_value({})
    rated: list[tuple[float, float, int]] = []
    for read in reads:
        rated += zip(order(read), by_words(read), (part.tokens for part in read.parts), strict=True)
    chosen = sorted(((worth, cost) for worth, words, cost in rated if (words <= SHORT) == short), reverse=True)
    spent = np.cumsum([cost for _, cost in chosen]) / sum(cost for _, cost in chosen)
    return [*(chosen[int(np.searchsorted(spent, share))][0] for share in SHARES[:-1]), 0.0]


def fitted(reads: Sequence[Read], y: Floats, resamples: int) -> dict[str, Any]:
    """The fitted constants and those in use. The weights have intervals (texts drawn with replacement)."""
    x = table(reads)
    found = weights(x, y)
    random = np.random.default_rng(0)
    draws = [at for at in random.integers(len(x), size=(resamples, len(x))) if 0 < y[at].mean() < 1]
    drawn = np.array([weights(x[at], y[at]) for at in draws])
    return {
        "texts": len(reads),
        "recorded": sum(read.recorded for read in reads),
        "gained": int(y.sum()),
        "weights": {
            name: {"value": float(found[i]), **dict(zip(("low", "high"), interval(drawn[:, i]), strict=True))}
            for i, name in enumerate(NAMES)
        },
        "tokens": tokens(reads),
        "shares": list(SHARES),
        "values": [least_values(reads, short=short) for short in (True, False)],
        "in_use": {
            "weights": dict(zip(NAMES, WEIGHTS, strict=True)),
            "tokens": list(TOKENS),
            "values": [list(each) for each in VALUES],
        },
    }
