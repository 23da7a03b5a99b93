"""Which type was taken for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incognote.errors import UsageError
from incognote.evaluation.corpus import Label, Pair
from incognote.evaluation.metrics.scheme import UNTYPED, Scheme
from incognote.evaluation.metrics.spans import match

MISSED, SPURIOUS = "missed", "spurious"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Spans by what they are (rows) and what they were found as (columns).

    Spans are paired as the `type` matching of `spans` pairs them: the diagonal is what it calls correct, the rest
    between types what it calls incorrect.

    Attributes:
        rows: the scored types, then "spurious": found, and no gold.
        columns: the scored types (and "PHI" where a finding names none), then "missed": gold, and not found.
        cells: the counts, by row and column.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]

    def at(self, is_: str, taken_for: str) -> int:
        """How many spans of one type were found as another (or "missed"; or "spurious" and found as a type)."""
        return self.cells[self.rows.index(is_)][self.columns.index(taken_for)]

    def worst(self, n: int = 10) -> list[tuple[str, str, int]]:
        """The most frequent errors, as (what it is, what it was found as, how often); never one that did not occur."""
        errors = [
            (row, column, count)
            for row, counts in zip(self.rows, self.cells, strict=True)
            for column, count in zip(self.columns, counts, strict=True)
            if count and row != column
        ]
        return sorted(errors, key=lambda error: (-error[2], error))[:n]


def confusion(pairs: Iterable[Pair], scheme: Scheme) -> Confusion:
    """The confusion of a corpus.

    Raises:
        UsageError: there is no document.
        ImpossibleSpan: a label does not fit its text.
    """
    counts: Counter[tuple[str, str]] = Counter()
    documents = 0
    for pair in pairs:
        documents += 1
        counts += count_confusion(scheme.gold(pair), scheme.found(pair))
    if not documents:
        raise UsageError("no gold, no score: there is no document to score")
    return confusion_of(counts, scheme)


def confusion_of(counts: Counter[tuple[str, str]], scheme: Scheme) -> Confusion:
    """The confusion from what `count_confusion` counts, summed over the documents."""
    rows = (*sorted(scheme.scored), SPURIOUS)
    untyped = (UNTYPED,) if any(column == UNTYPED for _, column in counts) and UNTYPED not in scheme.scored else ()
    columns = (*sorted(scheme.scored), *untyped, MISSED)
    return Confusion(rows, columns, tuple(tuple(counts[row, column] for column in columns) for row in rows))


def count_confusion(
    gold: list[Label], found: list[Label], partner: Sequence[int | None] | None = None
) -> Counter[tuple[str, str]]:
    """The pairs of one document; the labels are in the order of the text.

    Args:
        partner: what `match` gives when `typed`, where it is known already.
    """
    if partner is None:
        partner = match(gold, found, typed=True)
    counts = Counter(
        (SPURIOUS if i is None else gold[i].type, label.type) for i, label in zip(partner, found, strict=True)
    )
    counts.update((gold[i].type, MISSED) for i in set(range(len(gold))).difference(p for p in partner if p is not None))
    return counts
