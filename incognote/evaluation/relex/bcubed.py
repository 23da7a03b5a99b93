"""B-cubed precision, recall and F1 of a partition of mentions (Bagga and Baldwin, LREC workshop 1998).

For each mention, precision is the share of the mentions put together with it that belong with it, recall the share of
those that belong with it that were put together with it; the score is the mean over mentions. Low precision is people
merged, low recall is people split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import Counts, Figure, interval, resampled

Item = TypeVar("Item", bound=Hashable)
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class BCubed:
    """Three figures with intervals over the units that were drawn (patients)."""

    precision: Figure
    recall: Figure
    f1: Figure

    def as_dict(self) -> dict[str, Any]:
        return {"precision": self.precision.as_dict(), "recall": self.recall.as_dict(), "f1": self.f1.as_dict()}


def bcubed(
    gold: Mapping[Item, Hashable],
    found: Mapping[Item, Hashable],
    unit: Callable[[Item], str],
    *,
    scored: Iterable[Item] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> BCubed:
    """Score a partition against gold.

    Args:
        gold, found: item → its identity there; the same items.
        unit: what an item was drawn with (its patient): intervals are a bootstrap over units.
        scored: the items whose means are taken (of identities with two mentions or more, say); all by default. Every
            item counts as a companion of those scored, so what is wrongly put with them still costs precision.

    Raises:
        UsageError: an item stands on one side only.
    """
    if gold.keys() != found.keys():
        raise UsageError("gold and found must hold the same mentions")
    in_gold, in_found = Counter(gold.values()), Counter(found.values())
    both = Counter((gold[item], found[item]) for item in gold)
    rows: dict[str, list[float]] = {}
    for item in gold if scored is None else scored:
        shared = both[gold[item], found[item]]
        row = rows.setdefault(unit(item), [0.0, 0.0, 0.0])
        for at, value in enumerate((1.0, shared / in_found[found[item]], shared / in_gold[gold[item]])):
            row[at] += value
    return _figures(np.array([rows[one] for one in sorted(rows)], dtype=np.float64).reshape(-1, 3), resamples, seed)


def repeated(gold: Mapping[Item, Hashable]) -> list[Item]:
    """The items of identities with two mentions or more."""
    counts = Counter(gold.values())
    return [item for item in gold if counts[gold[item]] > 1]


def _figures(counts: Counts, resamples: int, seed: int) -> BCubed:
    total = counts.sum(axis=0)
    of = int(total[0])
    drawn = _scores(resampled(counts, resamples, seed)) if len(counts) > 1 else np.full((1, 3), np.nan)
    values: Sequence[float | None] = [float(v) for v in _scores(total[None, :])[0]] if of else [None] * 3
    precision, recall, f1 = (Figure(value, *interval(drawn[:, at]), of) for at, value in enumerate(values))
    return BCubed(precision, recall, f1)


def _scores(sums: Counts) -> Counts:
    """Columns n, Σ precision, Σ recall → precision, recall, F1 of each row."""
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
        return np.stack([precision, recall, 2 * precision * recall / (precision + recall)], axis=1)
