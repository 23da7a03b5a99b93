"""Precision, recall, F1, and average precision of boxes by class, at a threshold of intersection over union.

Within a page and a class, the found boxes are taken by score, and each takes the free gold box that it overlaps most,
if their intersection over union reaches the threshold. Average precision is the area under the curve of precision over
recall, with precision made monotone: Everingham et al., The PASCAL Visual Object Classes Challenge, 2015, section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incognote.evaluation.boxes.nouns import LabeledBox, PageFile
from incognote.evaluation.intervals import Figure, interval
from incognote.evaluation.metrics.tally import Column, DocumentTally, PrecisionRecall, Sums
from incognote.pages.boxes import overlaps

ANY = "any class"
"""The row in which boxes match whatever their classes."""
ALL = "all"
"""The row of the sums over the classes."""


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The scores of a class. `average` is the average precision; None if no scores tell the found boxes apart."""

    score: PrecisionRecall
    average: Figure | None


class ClassTally:
    """Counts matches file by file.

    Args:
        least: the threshold of intersection over union, more than 0.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._tally = DocumentTally()
        self._gold: dict[str, list[tuple[int, int]]] = {}
        self._found: dict[str, list[tuple[float, bool, int]]] = {}

    def add(self, gold: PageFile, found: PageFile) -> None:
        """Add one file."""
        counts: dict[Column, int] = {}
        number = len(self._tally)
        for name in sorted({each.type for each in (*gold.boxes, *found.boxes)}):
            wanted, given = _of(gold, name), _of(found, name)
            right = [taken is not None for taken in taken_by(given, wanted, self._least)]
            counts |= {(name, "gold"): len(wanted), (name, "found"): len(given), (name, "right"): sum(right)}
            self._gold.setdefault(name, []).append((number, len(wanted)))
            pairs = zip(given, right, strict=True)
            self._found.setdefault(name, []).extend((box.score, hit, number) for box, hit in pairs)
        counts[ANY, "right"] = sum(taken is not None for taken in taken_by(found.boxes, gold.boxes, self._least))
        counts[ANY, "gold"], counts[ANY, "found"] = len(gold.boxes), len(found.boxes)
        self._tally.add(counts)

    def scores(self, resamples: int, seed: int) -> dict[str, ClassScores]:
        """Return the scores of each class, most gold first, then of all, and of boxes of any class."""
        sums = self._tally.sums(resamples, seed)
        names = sorted(self._gold, key=lambda name: (-sums.total((name, "gold")), name))
        means = self._averages(names, resamples, seed)
        rows = {name: ClassScores(_score(sums, [name]), means.get(name)) for name in names}
        rows[ALL] = ClassScores(_score(sums, names), means.get(ALL))
        rows[ANY] = ClassScores(_score(sums, [ANY]), None)
        return rows

    def _averages(self, names: Sequence[str], resamples: int, seed: int) -> dict[str, Figure]:
        """Return the average precision of each class that has gold, and their mean under `ALL`."""
        if len({score for found in self._found.values() for score, *_ in found}) < 2:
            return {}
        documents, random = len(self._tally), np.random.default_rng(seed)
        curves = {name: _curve(self._gold[name], self._found[name], documents) for name in names}
        curves = {name: curve for name, curve in curves.items() if curve.gold.any()}
        if not curves:
            return {}
        values = np.empty((1 + resamples, len(curves)))
        for row in range(1 + resamples):
            drawn = np.ones(documents) if row == 0 else np.bincount(
                random.integers(documents, size=documents), minlength=documents
            ).astype(np.float64)  # fmt: skip
            values[row] = [curve.area(drawn) for curve in curves.values()]
        made = {name: _figure(values[:, at], curve.gold) for at, (name, curve) in enumerate(curves.items())}
        mean = np.full(len(values), np.nan)
        known = ~np.isnan(values)
        np.divide(np.nansum(values, axis=1), known.sum(axis=1), out=mean, where=known.any(axis=1))
        return {**made, ALL: _figure(mean, sum((curve.gold for curve in curves.values()), np.zeros(documents)))}


@dataclass(frozen=True, slots=True)
class _Curve:
    """The found boxes of a class by score. `gold` counts its gold boxes per file."""

    gold: NDArray[np.float64]
    right: NDArray[np.bool_]
    files: NDArray[np.int64]

    def area(self, drawn: NDArray[np.float64]) -> float:
        """Return the average precision if each file occurs `drawn` times; NaN without gold."""
        total = float(drawn @ self.gold)
        if not total:
            return float("nan")
        weights = drawn[self.files]
        hits = weights * self.right
        seen = np.cumsum(weights)
        precision = np.divide(np.cumsum(hits), seen, out=np.zeros(len(seen)), where=seen > 0)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        return float((best * hits).sum() / total)


def taken_by(found: Sequence[LabeledBox], gold: Sequence[LabeledBox], least: float) -> list[int | None]:
    """Return for each found box the index of the gold box that it takes, whatever their classes, or None."""
    taken: list[int | None] = [None] * len(found)
    for page in {each.page for each in found}:
        wanted = [place for place, each in enumerate(gold) if each.page == page]
        given = [place for place, each in enumerate(found) if each.page == page]
        if not wanted:
            continue
        shared = overlaps(_array(found, given), _array(gold, wanted))
        for row, column in enumerate(taken_columns(shared, [found[place].score for place in given], least)):
            taken[given[row]] = None if column is None else wanted[column]
    return taken


def taken_columns(shared: NDArray[np.float32], scores: Sequence[float], least: float) -> list[int | None]:
    """Return for each found box the gold box that it takes, or None: by score, the free one that it overlaps most.

    Args:
        shared: intersection over union, found boxes × gold boxes.
        scores: of the found boxes.
        least: the threshold, more than 0.
    """
    free = shared.copy()
    taken: list[int | None] = [None] * len(scores)
    for row in sorted(range(len(scores)), key=lambda row: -scores[row]):
        best = int(free[row].argmax())
        if free[row, best] >= least:
            taken[row] = best
            free[:, best] = 0
    return taken


def _array(boxes: Sequence[LabeledBox], places: Sequence[int]) -> NDArray[np.float32]:
    return np.array([boxes[place].box for place in places], np.float32)


def _curve(gold: list[tuple[int, int]], found: list[tuple[float, bool, int]], documents: int) -> _Curve:
    counts = np.zeros(documents)
    for number, count in gold:
        counts[number] += count
    ordered = sorted(found, key=lambda each: -each[0])
    hits, files = [hit for _, hit, _ in ordered], [number for *_, number in ordered]
    return _Curve(counts, np.array(hits, np.bool_), np.array(files, np.int64))


def _figure(values: NDArray[np.float64], gold: NDArray[np.float64]) -> Figure:
    low, high = interval(values[1:]) if np.count_nonzero(gold) > 1 else (None, None)
    return Figure(float(values[0]), low, high, int(gold.sum()))


def _of(file: PageFile, name: str) -> list[LabeledBox]:
    return [each for each in file.boxes if each.type == name]


def _score(sums: Sums, names: Sequence[str]) -> PrecisionRecall:
    return sums.score(*([(name, part) for name in names] for part in ("right", "found", "gold")))
