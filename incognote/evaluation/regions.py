"""Precision, recall, and F1 of regions of pages: one is right if its class is and the boxes overlap enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incognote.pages.boxes import overlaps
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Region

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAPER = KINDS[:9]
"""The classes that the image paper prints."""


@dataclass(frozen=True, slots=True)
class RegionScore:
    """Counts of one class, or of several.

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

    By falling score, a finding takes the region of its class that it overlaps most, if by `least` and not yet taken.
    """
    import numpy as np

    made: list[int | None] = [None] * len(found)
    if not found or not gold:
        return made
    shared = overlaps(_array(found), _array(gold))
    taken: set[int] = set()
    for place in sorted(range(len(found)), key=lambda each: -found[each].score):
        for other in np.argsort(-shared[place], kind="stable").tolist():
            if shared[place, other] < least:
                break
            if other not in taken and gold[other].kind == found[place].kind:
                taken.add(other)
                made[place] = other
                break
    return made


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
    """Return the figures as rows with plain numbers."""
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


def _array(regions: Sequence[Region]) -> NDArray[np.float32]:
    import numpy as np

    return np.array([region.box for region in regions], np.float32)
