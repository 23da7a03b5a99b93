"""Cells against each other on the same documents: McNemar with Bonferroni, and paired bootstraps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from incognote.evaluation.experiments.tallies import METRICS, Sides
from incognote.evaluation.metrics.paired import Difference, McNemar, bonferroni, mcnemar, paired_difference
from incognote.evaluation.metrics.redactor import hits
from incognote.evaluation.metrics.scheme import Scheme

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
        UsageError: there is no gold, or a metric is no number on these documents.
    """
    scheme = Scheme.of(sides.sides[0].pairs)
    found = {side.name: [hit for pair in side.pairs for hit in hits(pair, scheme)] for side in sides.sides}
    pairs = list(combinations(sides.sides, 2))
    made = []
    for one, other in pairs:
        test = mcnemar(found[one.name], found[other.name])
        differences = {name: paired_difference(one.counts, other.counts, METRICS[name], seed=seed) for name in COMPARED}
        made.append(Versus(one.name, other.name, differences, test, bonferroni(test.p, len(pairs))))
    return made
