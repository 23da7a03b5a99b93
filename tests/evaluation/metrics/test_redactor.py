"""The strict protocol and all-or-nothing recall, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import UNTYPED, Scheme, count
from incognote.evaluation.metrics.redactor import count_redactor, hits, leaks, pairing, similarity
from incognote.evaluation.metrics.tally import PrecisionRecall

from .conftest import score_redactor


def values(score: PrecisionRecall | None) -> tuple[float | None, ...]:
    assert score is not None
    return score.precision.value, score.recall.value, score.f1.value


def test_the_notes_by_hand(notes: list[Pair], scheme: Scheme) -> None:
    # Similarity: Mary Smith 1; 76 1; "at Mercy Hospital" 1 - 3/17 = 0.82; "Dr. Lund" 1 - 4/8 = 0.5, too low;
    # 555-0142 1. So 4 of 7 gold spans and 4 of 7 findings are paired.
    scores = score_redactor(notes, scheme, resamples=50)
    assert scores.documents == 3
    assert values(scores.untyped) == (4 / 7, 4 / 7, pytest.approx(4 / 7))
    # The gold has 6 spans of the five types (without the date). The finding DATE "76" counts: its pair is an age.
    assert values(scores.direct) == (4 / 7, 4 / 6, pytest.approx(8 / 13))
    # With types, 76 is wrong: 3 of 7.
    assert values(scores.typed) == (3 / 7, 3 / 7, pytest.approx(3 / 7))
    assert values(scores.types["PERSON"]) == (1 / 4, 1 / 2, 1 / 3)
    assert values(scores.types["CONTACT"]) == (1.0, 1.0, 1.0)


def test_all_or_nothing_recall_by_hand(notes: list[Pair], scheme: Scheme) -> None:
    scores = score_redactor(notes, scheme, resamples=50)
    # 100-01: all of the five types are found (dates are not one of them); 100-02: Lund and 88412 are missed.
    assert scores.document_recall is not None
    assert (scores.document_recall.value, scores.document_recall.of) == (1 / 2, 2)
    # 100-01: PERSON 1, AGE 0 (found as a date), LOCATION 1, DATE 0; 100-02: PERSON 0, CONTACT 1, ID 0.
    assert {name: (figure.value, figure.of) for name, figure in scores.type_recall.items()} == {
        "AGE": (0, 1),
        "CONTACT": (1, 1),
        "DATE": (0, 1),
        "ID": (0, 1),
        "LOCATION": (1, 1),
        "PERSON": (1 / 2, 2),
    }
    assert (scores.pooled_recall.value, scores.pooled_recall.of) == (3 / 7, 7)
    # A date remains in 100-01 and a number in 100-02; 100-03 has nothing to leak.
    assert (scores.leaking.value, scores.leaking.of) == (1.0, 2)


def test_the_same_words_elsewhere_are_no_match() -> None:
    text = "aged 76, saturation 76"
    assert pairing(text, [LabeledSpan(5, 7, "AGE")], [LabeledSpan(20, 22, "AGE")]) == {}


def test_likeness_counts_from_three_fifths_on() -> None:
    text = "abcdefghij"
    assert similarity(text, LabeledSpan(0, 6, "A"), LabeledSpan(0, 10, "A")) == 0.6
    assert pairing(text, [LabeledSpan(0, 6, "A")], [LabeledSpan(0, 10, "A")]) == {0: 0}
    assert pairing(text, [LabeledSpan(0, 5, "A")], [LabeledSpan(0, 10, "A")]) == {}


def test_the_most_alike_are_paired_first() -> None:
    text = "Mrs. Mary Smith"
    gold = [LabeledSpan(5, 15, "PERSON")]
    assert pairing(text, gold, [LabeledSpan(0, 15, "PERSON"), LabeledSpan(5, 15, "PERSON")]) == {0: 1}


def test_a_finding_paired_with_gold_outside_the_five_types_counts_neither_way() -> None:
    text = "Ann, 3/5, 4/6"
    gold = [LabeledSpan(0, 3, "PERSON"), LabeledSpan(5, 8, "DATE")]
    counts = count_redactor(
        text, gold, [LabeledSpan(0, 3, UNTYPED), LabeledSpan(5, 8, UNTYPED), LabeledSpan(10, 13, "DATE")]
    )
    assert (counts["direct", "gold"], counts["direct", "right"], counts["direct", "found"]) == (1, 1, 1)
    assert (counts["untyped", "right"], counts["untyped", "found"]) == (2, 3)
    assert counts["typed", "right"] == 0


def test_a_false_alarm_without_a_type_counts_over_the_five_types() -> None:
    assert count_redactor("no fever", [], [LabeledSpan(3, 8, UNTYPED)])["direct", "found"] == 1


def test_a_corpus_of_dates_has_no_recall_over_the_five_types() -> None:
    pair = Pair("1", "on 3/5", (LabeledSpan(3, 6, "DATE"),), ())
    scores = score_redactor([pair], Scheme.of([pair]), resamples=2)
    assert scores.direct is None
    assert scores.document_recall is None
    assert scores.pooled_recall.value == 0


def test_hits_tell_each_gold_span_apart(notes: list[Pair], scheme: Scheme) -> None:
    assert [hits(pair, scheme) for pair in notes] == [[True, True, True, False], [False, True, False], []]
    assert hits(notes[0], scheme, typed=True) == [True, False, True, False]


spans = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 5)), max_size=4).map(
    lambda rows: sorted(LabeledSpan(s, min(12, s + n), "PERSON") for s, n in rows)
)


@given(st.text("ab .", min_size=12, max_size=12), spans, spans)
def test_a_leak_is_what_the_character_scores_call_one(
    text: str, gold: list[LabeledSpan], found: list[LabeledSpan]
) -> None:
    pair = Pair("1", text, tuple(gold), tuple(found))
    assert leaks(text, gold, found) == bool(count(pair, lambda _: True)["all", "leaking"])
