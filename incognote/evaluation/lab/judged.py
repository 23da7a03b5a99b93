"""Estimate the scores of variants from a reviewer's decisions, without gold.

An identifier is confirmed if a variant marked it, or the reviewer marked it at such a place, and no longer confirmed
one contains it. A variant found it if its marks cover all its letters and digits. Relative recall is the share of all
confirmed identifiers that a variant found: the recall against the pooled findings of all systems (Clarke and Willett
1997, after the pooling of Sparck Jones and van Rijsbergen 1975). It is an upper bound of recall, because it ignores
what all variants missed.

Units on which variants differ are all judged, and each counts once. Units on which they agree are sampled at random,
and the sample's rate is used for all N of them: N · (confirmed / sampled), the estimator of a stratum's total (Cochran
1977, ch. 5; Horvitz and Thompson 1952 with equal chances). The rate of stretches that no variant marked is estimated
the same way.

Intervals come from the bootstrap over texts (Efron and Tibshirani 1993, ch. 12 to 14). It resamples N and the sample
too, so the intervals hold for texts like these, not only for these. Shares near 1 are skewed. In simulations, their
percentile intervals contained the true value 90 to 95 times in 100. The normal interval on the logit scale, with its
spread from the draws, contained it 92 to 97 times, so this one is given. If a share is 0 or 1, and for stretches in
which all variants missed something, the interval is Wilson's: none found in a sample does not mean none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import LEVEL, Counts, Figure, interval, resampled, share
from incognote.evaluation.lab.review import ReviewPlan, UnitDecision
from incognote.evaluation.lab.units import ReviewNote, Unit
from incognote.evaluation.metrics.tally import RESAMPLES

FIXED = ("confirmed", "agreed", "agreed sampled", "agreed confirmed", "agreed right")
"""The columns of a text before the columns of each variant: found, marked, right."""
_EACH = 3
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class VariantScores:
    """The estimated scores of one variant.

    Attributes:
        recall: relative recall; `of` is the estimated number of confirmed identifiers.
        precision: the share of its marks that is right; `of` is their number.
        less: its relative recall minus that of the first variant, with a 95% interval from the same draws.
    """

    name: str
    recall: Figure
    precision: Figure
    less: tuple[float, float | None, float | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """The results of a review.

    Attributes:
        unmarked: of the reviewed stretches, the share in which all variants missed something (Wilson).
        stretches: the number of unmarked stretches.
    """

    texts: int
    items: int
    variants: tuple[VariantScores, ...]
    unmarked: Figure
    stretches: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judged(
    plan: ReviewPlan, decisions: Mapping[str, UnitDecision], notes: Sequence[ReviewNote], *, seed: int = 0
) -> Judged:
    """Compute the estimates from a finished review.

    Raises:
        UsageError: nothing was confirmed.
    """
    counts = table(plan, decisions, notes)
    names = [name for name, _ in plan.variants]
    looked = [decisions[item.name] for item in plan.items if item.unit.kind == "unmarked"]
    hits = sum(missed(decision) for decision in looked)
    return Judged(
        len(notes), len(plan.items), figures(counts, names, seed=seed), share(hits, len(looked)), plan.count("unmarked")
    )


def missed(decision: UnitDecision) -> bool:
    """Return True if there is an identifier in an unmarked stretch."""
    return decision.accept or bool(decision.spans)


def table(plan: ReviewPlan, decisions: Mapping[str, UnitDecision], notes: Sequence[ReviewNote]) -> Counts:
    """Texts × (`FIXED`, then per variant: confirmed identifiers found, differing units marked, and those right)."""
    many = len(plan.variants)
    made = np.zeros((len(notes), len(FIXED) + _EACH * many))
    asked = {id(item.unit): decisions[item.name] for item in plan.items}
    units: list[list[Unit]] = [[] for _ in notes]
    for unit in plan.units:
        units[unit.note].append(unit)
    for row, own, note in zip(made, units, notes, strict=True):
        marks = [[(u.start, u.end) for u in own if u.types[v] is not None] for v in range(many)]
        for start, end in confirmed(own, asked, note.text):
            row[0] += 1
            for v in range(many):
                row[len(FIXED) + _EACH * v] += _holds(marks[v], start, end, note.text)
        for unit in own:
            decision = asked.get(id(unit))
            if unit.kind == "agreed":
                row[1] += 1
                if decision is not None:
                    row[2] += 1
                    row[3] += 1 if decision.accept else len(_inside(unit, decision))
                    row[4] += decision.accept
            elif unit.kind == "differs" and decision is not None:
                for v in range(many):
                    if unit.types[v] is not None:
                        row[len(FIXED) + _EACH * v + 1] += 1
                        row[len(FIXED) + _EACH * v + 2] += decision.accept
    return made


def confirmed(units: Iterable[Unit], asked: Mapping[int, UnitDecision], text: str) -> list[tuple[int, int]]:
    """The identifiers of one text that count once each: not inside a longer one, and not from agreed units."""
    places: set[tuple[int, int]] = set()
    for unit in units:
        decision = asked.get(id(unit))
        if decision is None or unit.kind == "unmarked":
            continue
        inside = _inside(unit, decision) if unit.kind == "agreed" else []
        places.update((start, end) for start, end, _ in decision.spans if (start, end) not in inside)
        if unit.kind == "differs" and decision.accept:
            places.add((unit.start, unit.end))
    signs = {place: _signs(text, *place) for place in places}
    longest: list[tuple[int, int]] = []
    for place in sorted(places, key=lambda each: (-len(signs[each]), each)):
        if signs[place] and not any(signs[place] <= signs[other] for other in longest):
            longest.append(place)
    return sorted(longest)


def _inside(unit: Unit, decision: UnitDecision) -> list[tuple[int, int]]:
    return [(start, end) for start, end, _ in decision.spans if unit.start <= start and end <= unit.end]


def _signs(text: str, start: int, end: int) -> frozenset[int]:
    return frozenset(at for at in range(start, end) if text[at].isalnum())


def _holds(marks: Sequence[tuple[int, int]], start: int, end: int, text: str) -> bool:
    return all(any(a <= at < b for a, b in marks) for at in _signs(text, start, end))


def figures(
    counts: Counts, names: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[VariantScores, ...]:
    """Relative recall and precision of each variant.

    Args:
        counts: from `table`.

    Raises:
        UsageError: nothing was confirmed.
    """
    sums = np.vstack([counts.sum(axis=0), resampled(counts, resamples, seed)])
    recalls = [_recall(sums, v) for v in range(len(names))]
    if not len(names) or np.isnan(recalls[0][0]):
        raise UsageError("No identifier was confirmed, so there is nothing to compute recall from.")
    of = round(float(_pool(sums)[0]))
    made = []
    for v, name in enumerate(names):
        marked = round(float(sums[0, 1] + sums[0, len(FIXED) + _EACH * v + 1]))
        apart = recalls[v] - recalls[0]
        made.append(
            VariantScores(
                name,
                _figure(recalls[v], of, len(counts)),
                _figure(_precision(sums, v), marked, len(counts)),
                (float(apart[0]), *(interval(apart[1:]) if len(counts) > 1 else (None, None))),
            )
        )
    return tuple(made)


def _rate(sums: Counts, column: int) -> Counts:
    """The estimated number among all agreed units: their number times the sample's rate."""
    sampled = sums[:, 2]
    rate = np.divide(sums[:, column], sampled, out=np.zeros(len(sums)), where=sampled > 0)
    whole: Counts = sums[:, 1] * rate
    return whole


def _pool(sums: Counts) -> Counts:
    whole: Counts = sums[:, 0] + _rate(sums, 3)
    return whole


def _recall(sums: Counts, v: int) -> Counts:
    return _share(sums[:, len(FIXED) + _EACH * v] + _rate(sums, 3), _pool(sums))


def _precision(sums: Counts, v: int) -> Counts:
    first = len(FIXED) + _EACH * v
    return _share(sums[:, first + 2] + _rate(sums, 4), sums[:, first + 1] + sums[:, 1])


def _share(top: Counts, bottom: Counts) -> Counts:
    made: Counts = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return made


def _figure(values: Counts, of: int, texts: int) -> Figure:
    if np.isnan(values[0]):
        return Figure(None, None, None, of)
    value = float(values[0])
    if texts < 2:
        return Figure(value, None, None, of)
    if not 0 < value < 1:
        return share(round(value * of), of)
    least = 1 / (2 * of + 2)
    drawn = np.clip(values[1:][~np.isnan(values[1:])], least, 1 - least)
    spread = float(np.log(drawn / (1 - drawn)).std())
    low, high = (_share_of(math.log(value / (1 - value)) + sign * _Z * spread) for sign in (-1, 1))
    return Figure(value, low, high, of)


def _share_of(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
