"""Measure sets of texts: the figures of each system, at shares of the tokens and at settings, and the curves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from incognote_benchmarks.routing.curves import (
    SYSTEMS,
    Order,
    Outcomes,
    by_doubts,
    by_value,
    by_words,
    figures,
    routed,
    within,
)
from incognote_benchmarks.routing.material import Read

SHARES = (0.1, 0.2, 0.3, 0.5)
_STEPS = 40


def sets(
    outcomes: Outcomes, reads: Sequence[Read], others: Mapping[str, Sequence[Read]], questions: frozenset[str]
) -> dict[str, Sequence[Read]]:
    """Divide the texts into the sets to measure. Sets without a text are left out."""
    bearing = [read for read in reads if read.gold.labels]
    wrong = [read for read in bearing if outcomes.counts(read, frozenset())["leaking"]]
    right = sorted((read for read in bearing if read not in wrong), key=_hashed)[: len(wrong)]
    made: dict[str, Sequence[Read]] = {
        "all texts": reads,
        "texts with identifiers": bearing,
        "questions": [read for read in reads if read.gold.id in questions],
        "notes": [read for read in reads if read.gold.id not in questions],
        "half with errors": [*wrong, *right],
        "recorded replies": [read for read in reads if read.recorded],
        **others,
    }
    return {title: chosen for title, chosen in made.items() if chosen}


def measured(
    outcomes: Outcomes, reads: Sequence[Read], weights: Mapping[str, Sequence[float]], resamples: int
) -> dict[str, Any]:
    """Measure one set.

    Returns:
        counts of the texts, `systems` (see `curves.figures`), `orders` (by ordering and share of the tokens),
        `settings` (by `models.share`), and `curves` (by ordering: shares of tokens, characters, and whole documents).
    """
    value = by_value(weights)
    orders: dict[str, Order] = {
        "value": value, "doubts": by_doubts, "words": by_words,
        "gold": outcomes.oracle, "gold_characters": outcomes.oracle_by_characters,
    }  # fmt: skip
    plans = {f"{name} {share}": within(reads, order, share) for name, order in orders.items() for share in SHARES}
    plans |= {f"setting {share}": routed(reads, value, share) for share in SHARES}
    sums = outcomes.sums(reads, plans, resamples)
    curves = {}
    for name, order in orders.items():
        along = {str(step): within(reads, order, step / _STEPS) for step in range(_STEPS + 1)}
        points = outcomes.sums(reads, along, 1)
        each = [figures(points, step) for step in along]
        curves[name] = {what: [_rounded(of[what]["value"]) for of in each] for what in ("tokens", "of_all", "whole")}
    return {
        "texts": len(reads),
        "with_identifiers": sum(bool(read.gold.labels) for read in reads),
        "recorded": sum(read.recorded for read in reads),
        "chunks": sum(len(read.parts) for read in reads),
        "systems": {system: figures(sums, system) for system in SYSTEMS},
        "orders": {name: {str(share): figures(sums, f"{name} {share}") for share in SHARES} for name in orders},
        "settings": {str(share): figures(sums, f"setting {share}") for share in SHARES},
        "curves": curves,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _hashed(read: Read) -> str:
    return hashlib.sha256(read.gold.id.encode()).hexdigest()
