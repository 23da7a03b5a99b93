"""Precision, recall, and F1 of regions of pages: one is right if its class is and the boxes overlap enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incognote.evaluation.boxes.classes import taken_columns
from incognote.pages.boxes import boxes_of, overlaps
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Region

PAPER = KINDS[:9]
"""The classes that the image paper prints."""


@dataclass(frozen=True, slots=True)
class RegionScore:
    """Counts of one class, or of several. Precision, recall, and F1 are 0 where there is nothing to count.

    Args:
        right: regions found.
        wrong: findings that match no region.
        missed: regions not found.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    def __add__(self, other: RegionScore) -> RegionScore:
        return RegionScore(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)


def matched(found: Sequence[Region], gold: Sequence[Region], least: float = 0.5) -> list[int | None]:
    """Return, for each finding, the place in `gold` that it matches, or None.

    By falling score, a finding takes the region of its class that it overlaps most and that is still free.

    Args:
        least: the intersection over union from which boxes match, more than 0.
    """
    if not gold:
        return [None] * len(found)
    same = np.array([[each.kind == region.kind for region in gold] for each in found]).reshape(-1, len(gold))
    return taken_columns(overlaps(boxes_of(found), boxes_of(gold)) * same, [each.score for each in found], least)


def scored(pages: Iterable[tuple[Sequence[Region], Sequence[Region]]], least: float = 0.5) -> dict[str, RegionScore]:
    """Return the counts of each class over pages of findings and gold, and under `all` and `paper` their sums.

    `paper` counts the nine classes that the image paper prints.
    """
    counts = {kind: [0, 0, 0] for kind in KINDS}
    for found, gold in pages:
        places = matched(found, gold, least)
        for region, place in zip(found, places, strict=True):
            counts[region.kind][0 if place is not None else 1] += 1
        taken = {place for place in places if place is not None}
        for place, region in enumerate(gold):
            if place not in taken:
                counts[region.kind][2] += 1
    made = {kind: RegionScore(*each) for kind, each in counts.items()}
    return {
        **made,
        "paper": sum((made[kind] for kind in PAPER), RegionScore()),
        "all": sum((made[kind] for kind in KINDS), RegionScore()),
    }


def rows(scores: dict[str, RegionScore]) -> list[dict[str, Any]]:
    """Return the figures as rows for JSON: kind, regions in the gold, precision, recall, and F1 to three places."""
    return [
        {
            "kind": kind,
            "regions": score.right + score.missed,
            "precision": round(score.precision, 3),
            "recall": round(score.recall, 3),
            "f1": round(score.f1, 3),
        }
        for kind, score in scores.items()
    ]
