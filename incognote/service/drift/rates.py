"""Detect a change in the number of identifiers per record: today against the weeks before, by Welch's statistic.

Identifiers come in clusters (a letter holds twenty, a destination line none), so their variance is measured, not taken
from a Poisson law. An alarm needs both a difference that chance does not explain (z), and one that matters (a share of
the former rate). Welch, "The generalization of 'Student's' problem when several different population variances are
involved", Biometrika 34 (1947).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal

ALL = ""
"""The type that stands for identifiers of any type."""
_LEAST_RATE = (
    0.05  # lower rates are raised to 1 in 20 records, so that 1 -> 3 is no alarm
)


@dataclass(frozen=True, slots=True)
class Day:
    """The counts of one source on one day.

    Args:
        records: the number of records.
        totals: the number of identifiers, by type.
        squares: the sum over records of the square of that number, by type.
    """

    records: int = 0
    totals: Mapping[str, int] = field(default_factory=dict)
    squares: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: Iterable[Mapping[str, int]]) -> Day:
        """Make a Day from the identifiers of each record, by type. The sum of all types is added."""
        records, totals, squares = 0, {ALL: 0}, {ALL: 0}
        for record in counts:
            records += 1
            for kind, number in [*record.items(), (ALL, sum(record.values()))]:
                totals[kind] = totals.get(kind, 0) + number
                squares[kind] = squares.get(kind, 0) + number * number
        return cls(records, totals, squares)

    def __add__(self, other: Day) -> Day:
        return Day(self.records + other.records, _sum(self.totals, other.totals), _sum(self.squares, other.squares))


@dataclass(frozen=True, slots=True)
class Alarm:
    """A type whose rate has changed.

    Args:
        entity_type: `ALL` for identifiers of any type.
        outlook: `more` or `fewer`. Fewer can mean that they are no longer found.
        rate, expected: identifiers per record, now and before.
        z: the difference in standard errors.
    """

    entity_type: str
    outlook: Literal["more", "fewer"]
    rate: float
    expected: float
    z: float


def alarms(now: Day, before: Day, *, least: int, z: float, change: float) -> list[Alarm]:
    """Return the types whose rates differ.

    Args:
        least: the minimum number of records on either side.
        z: the minimum number of standard errors.
        change: the minimum difference, as a share of the former rate.
    """
    if min(now.records, before.records) < max(least, 2):
        return []
    found = []
    for kind in sorted(now.totals.keys() | before.totals.keys()):
        rate, variance = _moments(now, kind)
        expected, former = _moments(before, kind)
        error = sqrt(variance / now.records + former / before.records)
        difference = rate - expected
        if abs(difference) < change * max(expected, _LEAST_RATE) or not difference:
            continue
        score = abs(difference) / error if error else float("inf")
        if score >= z:
            found.append(Alarm(kind, "more" if difference > 0 else "fewer", rate, expected, score))
    return found


def _moments(day: Day, kind: str) -> tuple[float, float]:
    """Return mean and variance of the number per record."""
    n, total = day.records, day.totals.get(kind, 0)
    return total / n, max(0.0, (day.squares.get(kind, 0) - total * total / n) / (n - 1))


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in one.keys() | other.keys()}
