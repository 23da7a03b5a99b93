"""Measure whether scores can be read as probabilities: compare mean scores with the share of findings that is right.

Two systems are measured on each corpus: rules and encoder together, as the policy settles them, and the encoder alone.
The encoder's findings include candidates that were not taken, because only they have scores down to 0. A finding is
right if it is paired with gold of any type (`incognote.evaluation.metrics.stream`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from incognote.evaluation.intervals import interval
from incognote.evaluation.metrics.stream import Calibration, calibration, outcomes
from incognote.nouns import Span
from incognote_benchmarks.routing.material import Read, Reading

SYSTEMS = ("rules + encoder", "encoder")
Outcomes = list[tuple[float, bool]]
"""For each finding of a text, its score and whether it is right."""


def reliability(reading: Reading, corpora: Mapping[str, Sequence[Read]], resamples: int) -> dict[str, dict[str, Any]]:
    """Per corpus and system: findings, bins (bounds, mean score, share right with Wilson's interval, n), expected
    calibration error with its bootstrap interval over texts, the largest gap of a bin, and the Brier score.
    """
    return {
        name: {system: _measured([_outcomes(reading, read, system) for read in texts], resamples) for system in SYSTEMS}
        for name, texts in corpora.items()
    }


def _outcomes(reading: Reading, read: Read, system: str) -> Outcomes:
    scored: Sequence[Span] = reading.combined(read)
    if system == "encoder":
        scored = [span for span in read.raw if any(source.startswith("encoder") for source in span.sources)]
    return outcomes(read.gold.labels, scored)


def _measured(texts: Sequence[Outcomes], resamples: int) -> dict[str, Any]:
    whole = _calibration(texts)
    random = np.random.default_rng(0)
    drawn = random.integers(len(texts), size=(resamples, len(texts)))
    some = [[texts[i] for i in at if texts[i]] for at in drawn]
    low, high = interval(np.array([_calibration(each).error if each else np.nan for each in some]))
    return {
        "texts": len(texts),
        "findings": whole.findings,
        "bins": [
            {"low": one.low, "high": one.high, "score": one.mean, "right": one.right.as_dict()} for one in whole.bins
        ],
        "error": {"value": whole.error, "low": low, "high": high},
        "largest": whole.largest,
        "brier": whole.brier,
    }


def _calibration(texts: Sequence[Outcomes]) -> Calibration:
    every = [each for text in texts for each in text]
    return calibration([score for score, _ in every], [right for _, right in every])
