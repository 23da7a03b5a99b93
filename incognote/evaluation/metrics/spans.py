"""Span scores under five definitions of a correct finding, and the confusion between types.

The outcomes are those of MUC-5 (Chinchor and Sundheim 1993) in the four schemes of SemEval-2013, task 9.1
(Segura-Bedmar, Martínez and Herrero-Zazo 2013), plus a fifth that gives an overlap full credit:

    strict    right: same boundaries and same type
    exact     right: same boundaries, any type
    partial   right: same boundaries, any type; an overlap is worth a half
    type      right: same type and any character shared
    overlap   right: any character shared, any type

    precision = credit / (correct + incorrect + partial + spurious)
    recall    = credit / (correct + incorrect + partial + missed)

Every finding is paired with at most one gold span, and vice versa. `strict` is the entity F1 of CoNLL-2003 (and of
`seqeval`). If labels do not overlap within their own side, the counts are also those of `nervaluate`. It asks for 1%
of the gold span where we ask for a character, which is the same for spans of up to 100 characters. If labels do
overlap, pairs with equal boundaries are made first here, so that no order of the lists can break one up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from incognote.evaluation.corpus import LabeledSpan
from incognote.evaluation.counts import UNTYPED, Scheme
from incognote.evaluation.metrics.tally import Column, PrecisionRecall, Sums

Matching = Literal["strict", "exact", "partial", "type", "overlap"]
MATCHINGS: tuple[Matching, ...] = ("strict", "exact", "partial", "type", "overlap")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Counts of span outcomes in a slice (MUC-5)."""

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int


@dataclass(frozen=True, slots=True)
class SpanRow:
    """The outcomes and scores of a slice under one matching."""

    outcomes: Outcomes
    score: PrecisionRecall


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Per matching, one row for "all" and one per scored type. A type's row uses only the labels of that type."""

    documents: int
    rows: Mapping[Matching, Mapping[str, SpanRow]]


def span_scores(sums: Sums, scheme: Scheme, documents: int) -> SpanScores:
    """Compute the scores from the sums of the columns that `count_spans` counts."""
    names = (ALL, *sorted(scheme.scored))
    return SpanScores(documents, {m: {name: _row(sums, m, name) for name in names} for m in MATCHINGS})


def count_spans(
    gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan], typed: Sequence[int | None] | None = None
) -> Counter[Column]:
    """Count the outcomes of one document, by (matching, "all" or type, outcome). Labels are in the order of the text.

    Args:
        typed: the result of `match` with `typed=True`, if it is known already.
    """
    counts: Counter[Column] = Counter()
    blind = match(gold, found)
    _count(counts, ALL, gold, found, blind, match(gold, found, typed=True) if typed is None else typed)
    here, there = _by_type(gold), _by_type(found)
    for name in here.keys() | there.keys():
        mine, theirs = here[name], there[name]
        blind = match(mine, theirs)
        same = all(i is not None and mine[i] == label for i, label in zip(blind, theirs, strict=True))
        # If labels of one type agree everywhere, both matchings pair them the same way.
        _count(counts, name, mine, theirs, blind, blind if same else match(mine, theirs, typed=True))
    return counts


def overlapping(gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan]) -> list[list[int]]:
    """For each finding, the gold labels (in the order of the text) that share a character with it."""
    starts = [label.start for label in gold]
    reach = list(accumulate((label.end for label in gold), max))
    return [
        [
            i
            for i in range(bisect_right(reach, label.start), bisect_left(starts, label.end))
            if gold[i].end > label.start
        ]
        for label in found
    ]


def match(gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan], *, typed: bool = False) -> list[int | None]:
    """The gold label that each finding is paired with, or None. Both lists are in the order of the text.

    Pairs equal in boundaries and type come first, then, unless `typed`, those equal in boundaries. The rest are paired
    from left to right. If `typed`, a finding prefers the overlapping gold label of its own type with the nearest
    boundaries. Otherwise it takes the first that overlaps.
    """
    partner: list[int | None] = [None] * len(found)
    free = [True] * len(gold)
    for kind in (slice(0, 3),) if typed else (slice(0, 3), slice(0, 2)):
        places = defaultdict(list)
        for i in reversed(range(len(gold))):
            if free[i]:
                places[gold[i][kind]].append(i)
        for j, label in enumerate(found):
            if partner[j] is None and places.get(label[kind]):
                partner[j] = i = places[label[kind]].pop()
                free[i] = False
        if None not in partner:
            return partner
    rest = [j for j, i in enumerate(partner) if i is None]
    if not rest or True not in free:
        return partner
    for j, candidates in zip(rest, overlapping(gold, [found[j] for j in rest]), strict=True):
        candidates = [i for i in candidates if free[i]]
        chosen = _nearest(found[j], gold, candidates) if typed else None
        if chosen is None and candidates:
            chosen = candidates[0]
        if chosen is not None:
            partner[j], free[chosen] = chosen, False
    return partner


def _nearest(label: LabeledSpan, gold: Sequence[LabeledSpan], candidates: Iterable[int]) -> int | None:
    same = [i for i in candidates if gold[i].type == label.type]
    return min(same, key=lambda i: abs(gold[i].start - label.start) + abs(gold[i].end - label.end), default=None)


def _count(
    counts: Counter[Column],
    name: str,
    gold: Sequence[LabeledSpan],
    found: Sequence[LabeledSpan],
    partner: Sequence[int | None],
    typed_partner: Sequence[int | None],
) -> None:
    blind = [(gold[i], found[j]) for j, i in enumerate(partner) if i is not None]
    typed = [(gold[i], found[j]) for j, i in enumerate(typed_partner) if i is not None]
    same = sum(g == f for g, f in blind)
    exact = sum(g[:2] == f[:2] for g, f in blind)
    agree = sum(g.type == f.type for g, f in typed)
    for matching, correct, short, pairs in (
        ("strict", same, "incorrect", blind),
        ("exact", exact, "incorrect", blind),
        ("partial", exact, "partial", blind),
        ("type", agree, "incorrect", typed),
        ("overlap", len(blind), "incorrect", blind),
    ):
        counts[matching, name, "correct"] = correct
        counts[matching, name, short] = len(pairs) - correct
        counts[matching, name, "missed"] = len(gold) - len(pairs)
        counts[matching, name, "spurious"] = len(found) - len(pairs)


def _by_type(labels: Iterable[LabeledSpan]) -> defaultdict[str, list[LabeledSpan]]:
    sorted_: defaultdict[str, list[LabeledSpan]] = defaultdict(list)
    for label in labels:
        sorted_[label.type].append(label)
    return sorted_


def _row(sums: Sums, matching: str, name: str) -> SpanRow:
    at = {what: (matching, name, what) for what in ("correct", "incorrect", "partial", "missed", "spurious")}
    paired = [at["correct"], at["incorrect"], at["partial"]]
    return SpanRow(
        Outcomes(**{what: sums.total(column) for what, column in at.items()}),
        sums.score([at["correct"]], [*paired, at["spurious"]], [*paired, at["missed"]], half=[at["partial"]]),
    )


MISSED, SPURIOUS = "missed", "spurious"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Spans by their gold type (rows) and the type they were found as (columns).

    Spans are paired as in the `type` matching of `spans`. The diagonal holds the pairs that it calls correct; the other
    cells between types hold those that it calls incorrect.

    Attributes:
        rows: the scored types, then "spurious": found, but not gold.
        columns: the scored types (and "PHI" if a finding names none), then "missed": gold, but not found.
        cells: the counts, by row and column.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]

    def at(self, is_: str, taken_for: str) -> int:
        """The number of spans of one type found as another. `is_` may be "spurious", and `taken_for` "missed"."""
        return self.cells[self.rows.index(is_)][self.columns.index(taken_for)]

    def worst(self, n: int = 10) -> list[tuple[str, str, int]]:
        """The most frequent errors as (gold type, type found, count). Errors that did not occur are left out."""
        errors = [
            (row, column, count)
            for row, counts in zip(self.rows, self.cells, strict=True)
            for column, count in zip(self.columns, counts, strict=True)
            if count and row != column
        ]
        return sorted(errors, key=lambda error: (-error[2], error))[:n]


def confusion_of(counts: Counter[tuple[str, str]], scheme: Scheme) -> Confusion:
    """Make the confusion from the columns of `count_confusion`, summed over the documents."""
    rows = (*sorted(scheme.scored), SPURIOUS)
    untyped = (UNTYPED,) if any(column == UNTYPED for _, column in counts) and UNTYPED not in scheme.scored else ()
    columns = (*sorted(scheme.scored), *untyped, MISSED)
    return Confusion(rows, columns, tuple(tuple(counts[row, column] for column in columns) for row in rows))


def count_confusion(
    gold: list[LabeledSpan], found: list[LabeledSpan], partner: Sequence[int | None] | None = None
) -> Counter[tuple[str, str]]:
    """Count the pairs of one document. The labels are in the order of the text.

    Args:
        partner: the result of `match` with `typed=True`, if it is known already.
    """
    if partner is None:
        partner = match(gold, found, typed=True)
    counts = Counter(
        (SPURIOUS if i is None else gold[i].type, label.type) for i, label in zip(partner, found, strict=True)
    )
    counts.update((gold[i].type, MISSED) for i in set(range(len(gold))).difference(p for p in partner if p is not None))
    return counts
