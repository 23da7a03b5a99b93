"""What reviewers overlook: by leaks planted for them, and by how far two of them found the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

from incognote.evaluation.intervals import LEVEL
from incognote.evaluation.sampling.bounds import both_sides, clopper_pearson
from incognote.evaluation.sampling.key import Mark

_FEWEST = 7


@dataclass(frozen=True, slots=True)
class Found:
    """Planted leaks that were found, with the exact two-sided 95 % interval (Clopper and Pearson).

    Attributes:
        least: the one-sided lower bound at the draw's confidence.
    """

    found: int
    planted: int
    low: float
    high: float
    least: float

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "share": self.found / self.planted}


@dataclass(frozen=True, slots=True)
class Recapture:
    """Chapman's estimate (1951) of how many leaks there are, from two reviewers who looked apart.

    Assumes that who finds a leak does not depend on whether the other does; leaks that are hard for both make it, and
    the sensitivity, look better than they are.

    Attributes:
        first, second, both: leaks each found.
        estimate: of all there are; low and high by Seber's variance (1970), never fewer than were found.
        sensitivity: of the two together, with the interval that goes with the estimate's.
    """

    first: int
    second: int
    both: int
    estimate: float
    low: float
    high: float
    sensitivity: tuple[float, float, float]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def found(hits: int, planted: int, confidence: float) -> Found:
    """How many of the planted leaks were found."""
    low, high = both_sides(hits, planted, LEVEL)
    return Found(hits, planted, low, high, 1 - clopper_pearson(planted - hits, planted, confidence))


def recapture(first: int, second: int, both: int) -> Recapture | None:
    """The estimate, or None where both found fewer than seven: then it is worth nothing (Robson and Regier 1964)."""
    if both < _FEWEST:
        return None
    seen = first + second - both
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * variance**0.5
    low, high = max(float(seen), total - half), max(float(seen), total + half)
    return Recapture(first, second, both, total, low, high, (seen / max(total, seen), seen / high, seen / low))


def together(marks: Sequence[Sequence[Mark]]) -> list[list[Mark | None]]:
    """Leaks as all reviewers marked them: marks that overlap are one leak.

    Returns:
        Per leak, for each reviewer the first of the marks that belong to it, or None.
    """
    every = sorted((mark, who) for who, own in enumerate(marks) for mark in own)
    leaks: list[list[Mark | None]] = []
    reach = -1
    for mark, who in every:
        if mark.start >= reach:
            leaks.append([None] * len(marks))
        leaks[-1][who] = leaks[-1][who] or mark
        reach = max(reach, mark.end)
    return leaks
