"""Shares with intervals over patients, who are drawn whole: mentions of one patient stand and fall together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from incognote.evaluation.intervals import Figure, interval, resampled

RESAMPLES = 1000


def share_of(counted: Iterable[tuple[str, float, float]], resamples: int = RESAMPLES, seed: int = 0) -> Figure:
    """Σ hits / Σ tries with a bootstrap interval over units.

    Args:
        counted: (unit, hits, tries), any number per unit.
    """
    rows: dict[str, list[float]] = {}
    for unit, hits, tries in counted:
        row = rows.setdefault(unit, [0.0, 0.0])
        row[0] += hits
        row[1] += tries
    counts = np.array([rows[unit] for unit in sorted(rows)], dtype=np.float64).reshape(-1, 2)
    hits, tries = counts.sum(axis=0)
    if not tries:
        return Figure(None, None, None, 0)
    if len(counts) == 1:
        return Figure(float(hits / tries), None, None, int(tries))
    drawn = resampled(counts, resamples, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Figure(float(hits / tries), *interval(drawn[:, 0] / drawn[:, 1]), int(tries))
