"""The bootstrap over documents that are read once: sums are kept, documents are not.

It also checks calibration: whether the score of a finding matches the share of findings that are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan
from incognote.evaluation.intervals import Counts, Figure, share
from incognote.evaluation.metrics.spans import match
from incognote.evaluation.metrics.tally import Column, Sums

_BLOCK = 256


class Stream:
    """Counts per document, summed over the corpus and over resamples of its documents, in constant memory.

    This is the percentile bootstrap of Efron and Tibshirani (1993, ch. 13). Its draws with replacement are made block
    by block. The number of remaining draws that fall on a block is binomial, and each document of the block is equally
    likely. Together this is the multinomial of drawing all at once, so the distribution is that of `DocumentTally`,
    with other random numbers. Two streams with the same number of documents and the same seed draw the same documents.

    Args:
        documents: the number of documents that will be added.
        resamples, seed: for the bootstrap.
    """

    def __init__(self, documents: int, resamples: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._expected = self._left = documents
        self._draws = np.full(resamples, documents)
        self._sums: Counts = np.zeros((1 + resamples, 64))
        self._at: dict[str, dict[Column, int]] = {}
        self._having: list[list[int]] = []
        self._block: list[dict[int, int]] = []

    def __len__(self) -> int:
        return self._expected - self._left + len(self._block)

    def add(self, name: str, counts: Mapping[Column, int], *more: tuple[str, Mapping[Column, int]]) -> None:
        """Add one document: its counts, each mapping under its own name."""
        row: dict[int, int] = {}
        number = len(self)
        for key, values in ((name, counts), *more):
            places = self._at.setdefault(key, {})
            for column, n in values.items():
                if not n:
                    continue
                at = places.get(column)
                if at is None:
                    at = places[column] = len(self._having)
                    self._having.append([])
                row[at] = n
                if len(self._having[at]) < 2:
                    self._having[at].append(number)
        self._block.append(row)
        if len(self._block) == _BLOCK:
            self._flush()

    def sums(self, name: str) -> Sums:
        """The sums of the counts added under a name.

        Raises:
            UsageError: there were more or fewer documents than announced.
        """
        self._flush()
        if self._left:
            raise UsageError("The gold changed while it was read. Run the command again.")
        mine = self._at.get(name, {})
        places = list(mine.values())
        at = {column: number for number, column in enumerate(mine)}
        return Sums(self._sums[:, places], at, [self._having[place] for place in places])

    def _flush(self) -> None:
        size = len(self._block)
        if not size:
            return
        if size > self._left:
            raise UsageError("The gold changed while it was read. Run the command again.")
        if len(self._having) > self._sums.shape[1]:
            more = len(self._having) + 64 - self._sums.shape[1]
            self._sums = np.hstack([self._sums, np.zeros((len(self._sums), more))])
        table: Counts = np.zeros((size, self._sums.shape[1]))
        for row, counts in zip(table, self._block, strict=True):
            row[list(counts)] = list(counts.values())
        self._sums[0] += table.sum(axis=0)
        self._sums[1:] += self._multiplicities(size) @ table
        self._left -= size
        self._block = []

    def _multiplicities(self, size: int) -> Counts:
        """How often each document of the next block is drawn in each resample."""
        here = self._random.binomial(self._draws, size / self._left)
        self._draws = self._draws - here
        resample = np.repeat(np.arange(len(here)), here)
        document = self._random.integers(size, size=len(resample))
        drawn = np.bincount(resample * size + document, minlength=len(here) * size)
        return drawn.reshape(len(here), size).astype(np.float64)


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
    """The findings with scores from `low` up to `high`: their mean score and the share that is right."""

    low: float
    high: float
    mean: float
    right: Figure


@dataclass(frozen=True, slots=True)
class Calibration:
    """A reliability diagram and its summary figures.

    Attributes:
        findings: the number of findings.
        bins: the bins that hold a finding, by score.
        error: expected calibration error: the mean distance between mean score and share right, weighted by findings
            (Naeini et al. 2015; Guo et al. 2017, §2).
        largest: the largest such distance.
        brier: mean squared distance between score and outcome (Brier 1950).
    """

    findings: int
    bins: tuple[Bin, ...]
    error: float
    largest: float
    brier: float


def calibration(scores: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> Calibration:
    """Compare scores with outcomes, in bins of equal width. The last bin includes a score of 1.

    Raises:
        UsageError: there is no finding, an outcome is missing, a score is outside 0..1, or `bins` is below 1.
    """
    if not scores or len(scores) != len(right) or bins < 1:
        raise UsageError("a calibration needs findings, an outcome for each, and at least one bin")
    values, outcomes = np.array(scores, float), np.array(right, bool)
    if not ((values >= 0) & (values <= 1)).all():
        raise UsageError("a score must be between 0 and 1")
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


def outcomes(gold: Sequence[LabeledSpan], found: Sequence[Scored], *, typed: bool = False) -> list[tuple[float, bool]]:
    """The score of each finding of one document (in the order of the text), and whether it is right.

    A finding is right if it is paired with a gold label that shares a character with it, and, if `typed`, has the same
    type (`spans.match`).
    """
    gold = sorted(gold)
    ordered = sorted(found, key=lambda span: (span.start, span.end, span.type))
    labels = [LabeledSpan(span.start, span.end, span.type) for span in ordered]
    partner = match(gold, labels, typed=typed)
    return [
        (span.score, i is not None and (not typed or gold[i].type == span.type))
        for span, i in zip(ordered, partner, strict=True)
    ]
