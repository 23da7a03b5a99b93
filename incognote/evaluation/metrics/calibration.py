"""Whether the scores of findings can be read as the share that is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import Label
from incognote.evaluation.intervals import Figure, share
from incognote.evaluation.metrics.spans import match


class Scored(Protocol):
    """A finding with a score between 0 and 1; `incognote.nouns.Span` is one."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def type(self) -> str: ...
    @property
    def score(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Bin:
    """The findings with scores from `low` up to `high`: their mean score, and the share of them that is right."""

    low: float
    high: float
    mean: float
    right: Figure


@dataclass(frozen=True, slots=True)
class Calibration:
    """A reliability diagram and what it comes to.

    Attributes:
        findings: how many there are.
        bins: those that hold a finding, by score.
        error: expected calibration error: mean distance of mean score and share right, by findings (Naeini et al.
            2015; Guo et al. 2017, §2).
        largest: the largest such distance.
        brier: mean squared distance of score and outcome (Brier 1950).
    """

    findings: int
    bins: tuple[Bin, ...]
    error: float
    largest: float
    brier: float


def calibration(scores: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> Calibration:
    """Compare scores with outcomes, in bins of equal width; the last takes in a score of 1.

    Raises:
        UsageError: there is no finding, not an outcome for each, a score outside 0..1, or no bin.
    """
    if not scores or len(scores) != len(right) or bins < 1:
        raise UsageError("a calibration needs findings, an outcome for each, and a bin")
    values, outcomes = np.array(scores, float), np.array(right, bool)
    if not ((values >= 0) & (values <= 1)).all():
        raise UsageError("a score lies between 0 and 1")
    place = np.minimum((values * bins).astype(int), bins - 1)
    filled = []
    for i in np.unique(place).tolist():
        here = place == i
        mean = float(values[here].mean())
        filled.append(Bin(i / bins, (i + 1) / bins, mean, share(int(outcomes[here].sum()), int(here.sum()))))
    gaps = [(abs(one.mean - (one.right.value or 0.0)), one.right.of) for one in filled]
    return Calibration(
        findings=len(values),
        bins=tuple(filled),
        error=sum(gap * n for gap, n in gaps) / len(values),
        largest=max(gap for gap, _ in gaps),
        brier=float(((values - outcomes) ** 2).mean()),
    )


def outcomes(gold: Sequence[Label], found: Sequence[Scored], *, typed: bool = False) -> list[tuple[float, bool]]:
    """The score of each finding of one document (in the order of the text), and whether it is right.

    Right is a finding paired with a gold label that shares a character with it, of the same type when `typed`
    (`spans.match`).
    """
    gold = sorted(gold)
    ordered = sorted(found, key=lambda span: (span.start, span.end, span.type))
    labels = [Label(span.start, span.end, span.type) for span in ordered]
    partner = match(gold, labels, typed=typed)
    return [
        (span.score, i is not None and (not typed or gold[i].type == span.type))
        for span, i in zip(ordered, partner, strict=True)
    ]
