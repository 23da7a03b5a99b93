"""Counts per document of several cells over the same gold, and the metrics over sums of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan, Pair, read_gold
from incognote.evaluation.counts import count
from incognote.evaluation.experiments.cell import hash_of_path
from incognote.evaluation.experiments.results import CellResult
from incognote.evaluation.experiments.seal import Seal
from incognote.evaluation.intervals import Counts, Figure, interval, resampled
from incognote.evaluation.metrics.tally import RESAMPLES, f1, ratio

COLUMNS = ("gold", "covered", "found", "right")
"""Letters and digits of one document, type-blind: gold, gold that was found, findings, findings in gold (`counts`)."""

Metric = Callable[[Counts], Counts]
"""Maps sums (n × `COLUMNS`) to n values."""


def recall(sums: Counts) -> Counts:
    """The share of the gold characters that was found."""
    return ratio(sums[:, 1], sums[:, 0])


def precision(sums: Counts) -> Counts:
    """The share of the characters found that gold marks."""
    return ratio(sums[:, 3], sums[:, 2])


METRICS: Mapping[str, Metric] = {
    "recall": recall,
    "precision": precision,
    "f1": lambda sums: f1(precision(sums), recall(sums)),
}


def table(gold: Sequence[Gold], found: Sequence[Sequence[LabeledSpan]]) -> Counts:
    """Return documents × `COLUMNS`."""
    counts = (
        count(Pair(document.id, document.text, document.labels, tuple(labels)), lambda _: True)
        for document, labels in zip(gold, found, strict=True)
    )
    rows = [[each["all", column] for column in COLUMNS] for each in counts]
    return np.array(rows, np.float64).reshape(len(rows), len(COLUMNS))


def figures(counts: Counts, seed: int = 0) -> dict[str, Figure]:
    """Each metric with its 95% interval from the bootstrap over documents."""
    sums = np.vstack([counts.sum(axis=0), resampled(counts, RESAMPLES, seed)])
    made = {}
    for name, metric in METRICS.items():
        values = metric(sums)
        of = int(sums[0, 2 if name == "precision" else 0])
        if np.isnan(values[0]):
            made[name] = Figure(None, None, None, of)
        else:
            low, high = interval(values[1:]) if len(counts) > 1 else (None, None)
            made[name] = Figure(float(values[0]), low, high, of)
    return made


@dataclass(frozen=True, slots=True)
class Side:
    """One cell among several over the same documents."""

    result: CellResult
    pairs: Sequence[Pair]
    counts: Counts

    @property
    def name(self) -> str:
        return f"{self.result.head.label} ({self.result.head.key[:6]})"


@dataclass(frozen=True, slots=True)
class Sides:
    """Cells over the same documents.

    Attributes:
        openings: how often the corpus was opened, including this time; None if it is not a test split.
    """

    corpus: str
    synthetic: bool
    documents: int
    openings: int | None
    sides: tuple[Side, ...]


def sides(results: Sequence[CellResult], purpose: str, who: str | None = None) -> Sides:
    """Put cells side by side. Their gold is read once, and its opening is logged if it is a test split.

    Raises:
        UsageError: the cells are on different texts, or the corpus has changed since.
        IncognoteError: the log of its openings was altered.
    """
    first = results[0]
    if len({str(result.head.facts["corpus"]) for result in results}) > 1:
        raise UsageError("The cells have different corpora. Only cells with the same texts can be compared.")
    opened = None
    tests = [result for result in results if result.head.corpus["split"] == "test"]
    seal = Seal(first.corpus)
    if tests or seal.sealed:
        for result in tests:
            if result.head.opening is not None:
                seal.remembers(*result.head.opening)
        opened = seal.open(first.head.spec, purpose, who).number
    gold = documents(first.corpus, str(first.head.facts["corpus"]))
    made = []
    for result in results:
        if set(result.found) != {document.id for document in gold}:
            raise UsageError(f"{result.path.name} does not belong to these documents. Remove it and run again.")
        pairs = [Pair(d.id, d.text, d.labels, result.found[d.id], result.scores.get(d.id, ())) for d in gold]
        made.append(Side(result, pairs, table(gold, [pair.found for pair in pairs])))
    return Sides(str(first.head.corpus["name"]), bool(first.head.corpus["synthetic"]), len(gold), opened, tuple(made))


def documents(corpus: Path, expected: str) -> list[Gold]:
    """Read the gold of a corpus. Documents whose gold does not fit are left out.

    Raises:
        UsageError: the hash of the corpus is not the expected one, nothing in it can be scored, or two documents have
            the same id.
    """
    if hash_of_path(corpus) != expected:
        raise UsageError(f"{corpus.name} has changed since the cells were run. Run the experiment again.")
    gold = [each for each in read_gold(corpus) if isinstance(each, Gold)]
    if not gold:
        raise UsageError(f"No gold, no score: no document of {corpus.name} can be scored.")
    if len({each.id for each in gold}) < len(gold):
        raise UsageError(f"{corpus.name}: two documents have the same id.")
    return gold
