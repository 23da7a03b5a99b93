"""Calibrate a finished student: a temperature per class, and a bias for each operating point.

A temperature makes scores readable as probabilities (Guo et al. 2017, §4.2). It maximizes the likelihood that, of the
units given a class, those in gold are identifiers and the others are not. A class that was given to fewer than ENOUGH
units gets the common temperature of all units.

An operating point is a value added to the logit of O before decoding:

    balanced    0: the model as it was trained, unless the export names another value
    recall      the lowest value at which precision is at most GIVEN below that of `balanced`
    precision   the highest value at which recall is at most GIVEN below that of `balanced`

A window may take the early exit if that exit is sure enough that it holds no identifier. The limit is MARGIN beyond the
window about which it was most wrongly sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.bundle import POINTS, Exit, classes
from incognote.detectors.encoder.decoding import Finder, sureness
from incognote.detectors.encoder.units import Encoded
from incognote.detectors.encoder.viterbi import Decoder
from incognote.evaluation.corpus import Gold
from incognote.nouns import Text
from incognote_training.training.examples import tags_of
from incognote_training.training.judge import pair_of, ratios

Floats = NDArray[np.float32]
ENOUGH = 100
GIVEN = 0.05
MARGIN = 2.0
"""In log-odds: seven times less probable than in any window that would have been lost."""
_TEMPERATURES = np.round(np.geomspace(0.4, 4.0, 25), 4)
_BIASES = tuple(round(-4 + 0.5 * i, 1) for i in range(17))


@dataclass(frozen=True, slots=True)
class Asked:
    """Gold texts and the student's output for each: its pieces and the logits of its units."""

    gold: Sequence[Gold]
    encoded: Sequence[Encoded]
    logits: Sequence[Floats]


def calibrated(asked: Asked, transitions: Floats, balanced: float = 0.0) -> tuple[Exit, dict[str, tuple[float, float]]]:
    """The exit with its temperatures and biases, and character recall and precision at each operating point.

    Args:
        balanced: the bias of `balanced`. The other two points are relative to it.
    """
    way = Exit(transitions, _temperatures(asked, transitions), dict.fromkeys(POINTS, 0.0))
    scores = {bias: _score(asked, way, bias) for bias in sorted({*_BIASES, balanced})}
    recall, precision = scores[balanced]
    low = [bias for bias in scores if bias <= balanced and scores[bias][1] >= precision - GIVEN]
    high = [bias for bias in scores if bias >= balanced and scores[bias][0] >= recall - GIVEN]
    biases = {"recall": min(low), "balanced": balanced, "precision": max(high)}
    return Exit(transitions, way.temperatures, biases), {point: scores[bias] for point, bias in biases.items()}


def leaving(windows: Iterable[tuple[float, float]], way: Exit) -> float:
    """The log-odds of the early exit below which a window needs no further layers.

    Args:
        windows: per window, the largest log-odds of its pieces at the early exit and at the full one.
        way: the full exit. Its findings at the operating point `recall` must not be lost.
    """
    line = way.biases["recall"]
    return round(min((early for early, full in windows if full > line), default=0.0) - MARGIN, 2)


def _score(asked: Asked, way: Exit, bias: float) -> tuple[float, float]:
    texts = [Text(gold.text) for gold in asked.gold]
    found = Finder(way, bias, "student")(texts, asked.encoded, asked.logits)
    return ratios(
        pair_of(g.id, g.text, g.labels, [s for s in reading.spans if s.score >= 0.5])
        for g, reading in zip(asked.gold, found, strict=True)
    )


def _temperatures(asked: Asked, transitions: Floats) -> Floats:
    kinds, right, rows = [], [], []
    paths = Decoder(transitions)(asked.logits)
    for gold, one, logits, path in zip(asked.gold, asked.encoded, asked.logits, paths, strict=True):
        given = np.flatnonzero(path)
        kinds.append((path[given] - 1) // 2)
        right.append(tags_of(one.units, gold.labels)[given] > 0)
        rows.append(logits[given])
    kind, truth, picked = np.concatenate(kinds), np.concatenate(right), np.concatenate(rows)
    common = _likeliest(picked, truth) if len(picked) else 1.0
    of_classes = [
        _likeliest(picked[kind == i], truth[kind == i]) if (kind == i).sum() >= ENOUGH else common
        for i in range(len(classes()))
    ]
    return np.array(of_classes, np.float32)


def _likeliest(logits: Floats, truth: NDArray[np.bool_]) -> float:
    def likelihood(temperature: float) -> float:
        sure = sureness(logits, np.full(len(logits), temperature, np.float32)).clip(1e-4, 1 - 1e-4)
        return float(np.log(np.where(truth, sure, 1 - sure)).mean())

    return float(max(_TEMPERATURES, key=lambda t: likelihood(float(t))))
