"""Span scores by hand, and to the last digit against nervaluate and seqeval."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import f1_score, precision_score, recall_score

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import Scheme
from incognote.evaluation.metrics.spans import Outcomes, SpanRow, match, overlapping

from .conftest import score_spans

TYPES = ("A", "B", "C")


def values(row: SpanRow) -> tuple[float, float, float]:
    """Return precision, recall, and F1. An undefined value is 0, as in the other tools."""
    score = row.score
    return (score.precision.value or 0.0, score.recall.value or 0.0, score.f1.value or 0.0)


def test_the_notes_by_hand(notes: list[Pair], scheme: Scheme) -> None:
    # Paired: Mary Smith (exact), 76 (wrong type), Mercy Hospital and Lund (one word too many), 555-0142 (exact).
    # Missed: 03/04/2025, 88412. Spurious: call, Foley.
    rows = score_spans(notes, scheme, resamples=50).rows
    assert {matching: row["all"].outcomes for matching, row in rows.items()} == {
        "strict": Outcomes(correct=2, incorrect=3, partial=0, missed=2, spurious=2),
        "exact": Outcomes(correct=3, incorrect=2, partial=0, missed=2, spurious=2),
        "partial": Outcomes(correct=3, incorrect=0, partial=2, missed=2, spurious=2),
        "type": Outcomes(correct=4, incorrect=1, partial=0, missed=2, spurious=2),
        "overlap": Outcomes(correct=5, incorrect=0, partial=0, missed=2, spurious=2),
    }
    for matching, credit in {"strict": 2, "exact": 3, "partial": 4, "type": 4, "overlap": 5}.items():
        assert values(rows[matching]["all"]) == (credit / 7, credit / 7, pytest.approx(credit / 7))  # 7 found, 7 gold


def test_a_types_row_sees_that_type_alone(notes: list[Pair], scheme: Scheme) -> None:
    # PERSON: gold Mary Smith, Lund; found Mary Smith, Dr. Lund, call, Foley.
    rows = score_spans(notes, scheme, resamples=50).rows
    assert rows["strict"]["PERSON"].outcomes == Outcomes(correct=1, incorrect=1, partial=0, missed=0, spurious=2)
    assert values(rows["strict"]["PERSON"]) == (1 / 4, 1 / 2, 1 / 3)
    # DATE: gold 03/04/2025; found 76, which is not a date.
    assert rows["overlap"]["DATE"].outcomes == Outcomes(correct=0, incorrect=0, partial=0, missed=1, spurious=1)
    # AGE: no span was found as an age, so precision is undefined, and recall and F1 are 0.
    assert rows["overlap"]["AGE"].score.precision.value is None
    assert rows["overlap"]["AGE"].score.f1.value == 0
    assert "PROFESSION" not in rows["strict"]


def test_no_document_is_no_score(scheme: Scheme) -> None:
    with pytest.raises(UsageError, match="No gold, no score"):
        score_spans([], scheme)


def test_equal_boundaries_are_paired_whatever_stands_before_them() -> None:
    gold = [LabeledSpan(0, 10, "A")]
    found = [LabeledSpan(0, 4, "A"), LabeledSpan(0, 10, "A")]
    assert match(gold, found) == [None, 0]
    assert match(gold, found, typed=True) == [None, 0]
    assert match(gold, [LabeledSpan(0, 4, "A"), LabeledSpan(0, 10, "B")]) == [None, 0]


def test_labels_in_the_same_place_are_paired_in_their_order() -> None:
    assert match(
        [LabeledSpan(0, 4, "A"), LabeledSpan(0, 4, "B")], [LabeledSpan(0, 4, "C"), LabeledSpan(0, 4, "D")]
    ) == [0, 1]


def test_a_typed_pair_prefers_its_own_type_and_then_the_nearest() -> None:
    gold = [LabeledSpan(0, 4, "B"), LabeledSpan(5, 9, "A"), LabeledSpan(10, 20, "A")]
    assert match(gold, [LabeledSpan(2, 19, "A")], typed=True) == [2]
    assert match(gold, [LabeledSpan(2, 19, "A")]) == [0]
    assert match(gold, [LabeledSpan(2, 19, "C")], typed=True) == [0]


labels = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 12), st.sampled_from(TYPES)).map(
        lambda x: LabeledSpan(x[0], x[0] + x[1], x[2])
    ),
    max_size=8,
).map(sorted)


@given(labels, labels)
def test_overlaps_are_those_of_every_pair_looked_at(gold: list[LabeledSpan], found: list[LabeledSpan]) -> None:
    slow = [[i for i, g in enumerate(gold) if g.start < f.end and f.start < g.end] for f in found]
    assert overlapping(gold, found) == slow


@given(labels, labels)
def test_no_gold_label_is_paired_twice(gold: list[LabeledSpan], found: list[LabeledSpan]) -> None:
    for typed in (False, True):
        paired = [i for i in match(gold, found, typed=typed) if i is not None]
        assert len(paired) == len(set(paired))


@st.composite
def disjoint(draw: st.DrawFn) -> list[LabeledSpan]:
    """Labels that do not overlap, within 60 tokens."""
    cuts = sorted(draw(st.lists(st.integers(0, 60), max_size=24, unique=True)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [LabeledSpan(start, end, draw(st.sampled_from(TYPES))) for start, end in pairs]


documents = st.lists(st.tuples(disjoint(), disjoint()), min_size=1, max_size=5).filter(
    lambda rows: any(gold for gold, _ in rows)
)


@given(documents)
def test_the_counts_and_scores_are_those_of_nervaluate(rows: list[tuple[list[LabeledSpan], list[LabeledSpan]]]) -> None:
    scheme = Scheme(frozenset(TYPES), str)
    pairs = [Pair(str(n), "x" * 60, tuple(gold), tuple(found)) for n, (gold, found) in enumerate(rows)]
    ours = score_spans(pairs, scheme, resamples=2).rows
    # nervaluate's ends are inclusive
    true, pred = (
        [[{"label": t, "start": s, "end": e - 1} for s, e, t in row[side]] for row in rows] for side in (0, 1)
    )
    theirs = Evaluator(true, pred, tags=list(TYPES), loader="dict").evaluate()
    for matching, name in {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}.items():
        same(ours[matching]["all"], theirs["overall"][name])
        for type_, rows_ in theirs["entities"].items():
            same(ours[matching][type_], rows_[name])


def same(row: SpanRow, theirs: Any) -> None:
    outcomes = Outcomes(theirs.correct, theirs.incorrect, theirs.partial, theirs.missed, theirs.spurious)
    assert row.outcomes == outcomes
    assert values(row) == (theirs.precision, theirs.recall, theirs.f1)


@given(documents)
def test_strict_is_the_entity_f1_of_seqeval(rows: list[tuple[list[LabeledSpan], list[LabeledSpan]]]) -> None:
    pairs = [Pair(str(n), "x" * 60, tuple(gold), tuple(found)) for n, (gold, found) in enumerate(rows)]
    row = score_spans(pairs, Scheme(frozenset(TYPES), str), resamples=2).rows["strict"]["all"]
    true, pred = ([bio(row[side]) for row in rows] for side in (0, 1))
    theirs = [score(true, pred, zero_division=0) for score in (precision_score, recall_score, f1_score)]
    assert values(row) == tuple(theirs)


def bio(labels: list[LabeledSpan]) -> list[str]:
    tags = ["O"] * 60
    for start, end, type_ in labels:
        tags[start:end] = [f"B-{type_}"] + [f"I-{type_}"] * (end - start - 1)
    return tags
