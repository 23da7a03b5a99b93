"""Cells against each other on the same documents: McNemar with Bonferroni, and paired bootstraps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from incognote.evaluation.experiments.tallies import METRICS, Sides
from incognote.evaluation.intervals import Counts
from incognote.evaluation.metrics.paired import Difference, McNemar, bonferroni, mcnemar, paired_difference
from incognote.evaluation.metrics.redactor import hits
from incognote.evaluation.metrics.scheme import Scheme
from incognote.evaluation.metrics.tally import RESAMPLES

COMPARED = ("recall", "precision")


@dataclass(frozen=True, slots=True)
class Versus:
    """One pair of cells.

    Attributes:
        first, second: the names of the cells.
        differences: the first's metric less the second's, by character, type-blind; documents are drawn, the same ones
            for both.
        spans: McNemar's test over gold spans that were found, untyped (`redactor.hits`).
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
    """Every pair of cells.

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
    """Every pair of systems. A metric that is no number for one of them (it found nothing) has no difference.

    Args:
        systems: of each its name; per gold span, whether it was found; documents × `tallies.COLUMNS`.

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
