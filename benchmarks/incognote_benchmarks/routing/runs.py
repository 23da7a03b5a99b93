"""Measure one set of texts: the figures of each system, at each threshold, and the curves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from incognote_benchmarks.routing.curves import (
    SYSTEMS,
    Curve,
    by_expectation,
    by_scores,
    by_words,
    figures,
    line,
)
from incognote_benchmarks.routing.fitting import agreement, threshold
from incognote_benchmarks.routing.material import Read, Reading

SWEEP = (2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.02)


@dataclass(frozen=True, slots=True)
class Runs:
    """Measures sets of texts.

    Args:
        default: the threshold in use.
        resamples: for every bootstrap.
    """

    reading: Reading
    default: float
    resamples: int

    def run(self, title: str, reads: Sequence[Read], whole: Sequence[Read] | None = None) -> dict[str, Any]:
        """The texts and the figures of each system (`curves.figures`), routed at the threshold in use.

        Args:
            whole: as for `Curve`.
        """
        curve = Curve(self.reading, reads, whole)
        points = [curve.point(by_expectation, self.default)]
        sums = curve.sums(by_expectation, points, self.resamples)
        everything = sum(part.tokens for read in reads for part in read.parts)
        return {
            "title": title,
            "texts": len(reads),
            "with_phi": sum(bool(read.gold.labels) for read in reads),
            "passes": {n: sum(read.passes == n for read in reads) for n in sorted({read.passes for read in reads})},
            "chunks": {"all": sum(len(read.parts) for read in reads), "sent": points[0].chunks},
            "tokens": everything,
            "instructions": sum(part.instructions for read in reads for part in read.parts) / everything,
            "systems": {**{system: figures(sums, system) for system in SYSTEMS}, "routed": figures(sums, "0")},
            "missed": agreement(self.reading, reads, self.resamples),
        }

    def swept(self, title: str, reads: Sequence[Read]) -> dict[str, Any]:
        """Like `run`, with the figures at each threshold of `SWEEP` and the curve of each ordering."""
        curve = Curve(self.reading, reads)
        points = [curve.point(by_expectation, threshold) for threshold in SWEEP]
        sums = curve.sums(by_expectation, points, self.resamples)
        orders = {"expectation": by_expectation, "scores": by_scores, "words": by_words, "gold": curve.oracle}
        curves = {}
        for name, order in orders.items():
            along = curve.points(order)
            curves[name] = line(curve.sums(order, along, resamples=1), along)
        sweep = [
            {"threshold": point.threshold, "chunks": point.chunks, **figures(sums, str(number))}
            for number, point in enumerate(points)
        ]
        return {**self.run(title, reads), "sweep": sweep, "curves": curves}

    def halves(self, reads: Sequence[Read]) -> Iterator[dict[str, Any]]:
        """Choose the threshold on half of the texts, split by a hash of their ids, and measure on the other half."""
        parts = [[read for read in reads if _half(read) == side] for side in (0, 1)]
        for chosen, other in (parts, parts[::-1]):
            limit = threshold(Curve(self.reading, chosen))
            curve = Curve(self.reading, other)
            sums = curve.sums(by_expectation, [curve.point(by_expectation, limit)], self.resamples)
            yield {"chosen_on": len(chosen), "texts": len(other), "threshold": limit, **figures(sums, "0")}


def _half(read: Read) -> int:
    return hashlib.sha256(read.gold.id.encode()).digest()[0] % 2
