"""Estimate what reviewers overlook, from planted leaks and from the overlap of two reviewers' findings.

It also measures how far two annotators agree beyond chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import fitting, group
from incognote.evaluation.intervals import LEVEL, Counts, Figure
from incognote.evaluation.metrics.tally import RESAMPLES, Column, DocumentTally, Sums, ratio
from incognote.evaluation.metrics.tokens import painted, tokens
from incognote.evaluation.sampling.bounds import both_sides, clopper_pearson
from incognote.evaluation.sampling.key import LeakMark

_FEWEST = 7


@dataclass(frozen=True, slots=True)
class PlantedFound:
    """Planted leaks that were found, with the exact two-sided 95% interval (Clopper and Pearson).

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
    """Chapman's estimate (1951) of the total number of leaks, from two independent reviewers.

    It assumes that one reviewer's chance to find a leak does not depend on the other's. If some leaks are hard for
    both, the estimate and the sensitivity look better than they are.

    Attributes:
        first, second, both: the leaks that each found.
        estimate: the total; low and high use Seber's variance (1970), and are never below the number found.
        sensitivity: of both together, with the interval that corresponds to the estimate's.
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


def found(hits: int, planted: int, confidence: float) -> PlantedFound:
    """The share of the planted leaks that were found, with its bounds."""
    low, high = both_sides(hits, planted, LEVEL)
    return PlantedFound(hits, planted, low, high, 1 - clopper_pearson(planted - hits, planted, confidence))


def recapture(first: int, second: int, both: int) -> Recapture | None:
    """The estimate, or None if both found fewer than seven: then it is not reliable (Robson and Regier 1964)."""
    if both < _FEWEST:
        return None
    seen = first + second - both
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * variance**0.5
    low, high = max(float(seen), total - half), max(float(seen), total + half)
    return Recapture(first, second, both, total, low, high, (seen / max(total, seen), seen / high, seen / low))


def together(marks: Sequence[Sequence[LeakMark]]) -> list[list[LeakMark | None]]:
    """Merge the marks of all reviewers into leaks. Marks that overlap are one leak.

    Returns:
        Per leak, for each reviewer, the first of that reviewer's marks that belong to it, or None.
    """
    every = sorted((mark, who) for who, own in enumerate(marks) for mark in own)
    leaks: list[list[LeakMark | None]] = []
    reach = -1
    for mark, who in every:
        if mark.start >= reach:
            leaks.append([None] * len(marks))
        leaks[-1][who] = leaks[-1][who] or mark
        reach = max(reach, mark.end)
    return leaks


_NONE = "O"


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Cohen's kappa (Cohen 1960) over tokens.

    Attributes:
        tokens: their number in all texts.
        kappa: over types and "nothing".
        blind: over marked and not marked.
        observed: the share of tokens on which the two agree, including types.

    A kappa is None if chance alone gives full agreement: both marked nothing, or both marked everything alike.
    """

    tokens: int
    kappa: Figure
    blind: Figure
    observed: Figure


def agreement(
    pairs: Iterable[Pair], *, by: Callable[[str], str] = group, resamples: int = RESAMPLES, seed: int = 0
) -> AnnotatorAgreement:
    """The agreement of two annotators (or systems): the `gold` and the `found` of each pair, treated alike.

    Tokens are those of `tokens`, cut at the boundaries of both. A token inside overlapping labels has the type of the
    shortest one.

    Args:
        by: maps types to the names that are compared, as in `Scheme`.

    Raises:
        UsageError: there is no document, or no token.
        ImpossibleSpan: a label does not fit its text, or holds only white space.
    """
    tally = DocumentTally()
    names = {_NONE}
    for pair in pairs:
        one, other = (
            sorted({LabeledSpan(s, e, by(t)) for s, e, t in fitting(labels, len(pair.text), "annotator's")})
            for labels in (pair.gold, pair.found)
        )
        names.update(label.type for label in (*one, *other))
        tally.add(count_agreement(pair.text, one, other))
    sums = tally.sums(resamples, seed)
    all_: list[Column] = [(a, b) for a in names for b in names]
    if not sums.total(*all_):
        raise UsageError("the texts hold no letters or digits, so there is no agreement to measure")
    n = sums.of(*all_)
    agree = sums.of(*((name, name) for name in names))
    chance = _chance(sums, names)
    marked = names - {_NONE}
    both, neither = sums.of(*((a, b) for a in marked for b in marked)), sums.of((_NONE, _NONE))
    first = sums.of(*((a, b) for a in marked for b in names))
    second = sums.of(*((a, b) for a in names for b in marked))
    blind_chance = first * second + (n - first) * (n - second)
    return AnnotatorAgreement(
        tokens=int(n[0]),
        kappa=sums.figure(_kappa(agree, chance, n), *all_),
        blind=sums.figure(_kappa(both + neither, blind_chance, n), *all_),
        observed=sums.figure(ratio(agree, n), *all_),
    )


def count_agreement(text: str, one: list[LabeledSpan], other: list[LabeledSpan]) -> Counter[Column]:
    """The tokens of one text, counted by the types that the two gave them, with "O" for none."""
    names = sorted({label.type for label in (*one, *other)})
    starts = tokens(text, (*one, *other)).starts
    first, second = (painted(len(text), labels, names)[starts] for labels in (one, other))
    pairs, n = np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True)
    spelled = [_NONE, *names]
    return Counter({(spelled[a], spelled[b]): count for (a, b), count in zip(pairs.tolist(), n.tolist(), strict=True)})


def _chance(sums: Sums, names: Iterable[str]) -> Counts:
    """n² times the agreement expected by chance."""
    names = list(names)
    total: Counts = np.zeros_like(sums.of())
    for name in names:
        total += sums.of(*((name, other) for other in names)) * sums.of(*((other, name) for other in names))
    return total


def _kappa(agree: Counts, chance: Counts, n: Counts) -> Counts:
    """(observed − chance) / (1 − chance), where `chance` is given times n²."""
    return ratio(agree * n - chance, n * n - chance)
