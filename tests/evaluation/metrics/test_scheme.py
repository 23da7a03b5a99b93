"""Which labels are scored, and which are refused."""

from __future__ import annotations

import pytest

from incognote.errors import ImpossibleSpan, UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan, Pair
from incognote.evaluation.counts import UNTYPED, Scheme


def test_the_scored_names_are_those_the_gold_uses(notes: list[Pair], scheme: Scheme) -> None:
    assert scheme.scored == {"PERSON", "AGE", "LOCATION", "DATE", "CONTACT", "ID"}
    assert Scheme.of(notes, by=str).scored >= {"PATIENT", "CLINICIAN"}
    assert Scheme.of(notes, only=["AGE", "PROFESSION"]).scored == {"AGE"}


def test_a_finding_of_a_type_the_gold_lacks_is_left_out(notes: list[Pair], scheme: Scheme) -> None:
    assert [label.type for label in scheme.found(notes[1])] == ["PERSON", "PERSON", "CONTACT"]


def test_a_finding_without_a_type_is_kept(scheme: Scheme) -> None:
    assert scheme.found(Pair("1", "Ann", (), (LabeledSpan(0, 3, UNTYPED),))) == [LabeledSpan(0, 3, UNTYPED)]


def test_labels_that_become_the_same_count_once(scheme: Scheme) -> None:
    pair = Pair("1", "Ann", (LabeledSpan(0, 3, "PATIENT"), LabeledSpan(0, 3, "PERSON")), ())
    assert scheme.gold(pair) == [LabeledSpan(0, 3, "PERSON")]


@pytest.mark.parametrize("gold", [[], [Gold("1", "no fever", ())]])
def test_no_gold_is_no_score(gold: list[Gold]) -> None:
    with pytest.raises(UsageError, match="No gold, no score"):
        Scheme.of(gold)


def test_nothing_left_of_the_asked_names_is_no_score(notes: list[Pair]) -> None:
    with pytest.raises(UsageError, match="of PROFESSION"):
        Scheme.of(notes, only=["PROFESSION"])


@pytest.mark.parametrize(("start", "end"), [(0, 4), (-1, 2), (2, 2), (3, 2)])
def test_a_gold_label_that_does_not_fit_is_refused_without_the_words(start: int, end: int) -> None:
    pair = Pair("1", "Ann", (LabeledSpan(start, end, "PERSON"),), ())
    with pytest.raises(ImpossibleSpan, match=f"{start}..{end}") as caught:
        Scheme.of([pair]).gold(pair)
    assert "Ann" not in str(caught.value)


def test_a_gold_label_of_blanks_is_refused_and_a_finding_of_blanks_is_not(scheme: Scheme) -> None:
    blank = (LabeledSpan(3, 4, "PERSON"),)
    assert scheme.found(Pair("1", "Ann 42", (), blank)) == list(blank)
    with pytest.raises(ImpossibleSpan, match="only blanks"):
        scheme.gold(Pair("1", "Ann 42", blank, ()))
