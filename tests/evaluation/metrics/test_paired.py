"""McNemar's test by hand and against scipy, and the paired bootstrap against known results."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import Scheme
from incognote.evaluation.intervals import Counts
from incognote.evaluation.metrics.paired import bonferroni, mcnemar, paired_difference
from incognote.evaluation.metrics.redactor import hits


def differing(b: int, c: int, alike: int = 5) -> tuple[list[bool], list[bool]]:
    """Return outcomes of two systems: b units are correct only in the first, and c only in the second."""
    return [True] * b + [False] * c + [True] * alike, [False] * b + [True] * c + [True] * alike


def test_the_notes_by_hand(notes: list[Pair], scheme: Scheme) -> None:
    # The system is correct on Mary Smith, 76, Mercy Hospital, 555-0142 and wrong on the date, Lund, 88412. The other is
    # wrong on Mary Smith only: 1 against 3. Two-sided exact: 2 * (C(4,0) + C(4,1)) / 2^4 = 10/16.
    first = [hit for pair in notes for hit in hits(pair, scheme)]
    test = mcnemar(first, [False, *[True] * 6])
    assert (test.only_first, test.only_second, test.chi_square, test.p) == (1, 3, None, 0.625)


def test_many_differing_units_take_the_corrected_chi_square() -> None:
    test = mcnemar(*differing(121, 59))
    assert test.chi_square == 61**2 / 180  # (|121 - 59| - 1)² / (121 + 59)
    assert test.p == pytest.approx(chi2.sf(61**2 / 180, 1), rel=1e-12)


@pytest.mark.parametrize(("b", "c"), [(0, 1), (0, 6), (5, 5), (3, 12), (10, 14)])
def test_few_differing_units_take_the_binomial(b: int, c: int) -> None:
    assert mcnemar(*differing(b, c)).p == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-12)


def test_the_bound_between_the_two_is_25_units() -> None:
    assert mcnemar(*differing(10, 14)).chi_square is None
    assert mcnemar(*differing(10, 15)).chi_square == 16 / 25


def test_who_do_not_differ_have_p_one() -> None:
    assert mcnemar(*differing(0, 0)).p == 1
    assert mcnemar(*differing(13, 13)).p == 1


def test_p_is_adjusted_for_every_comparison_and_never_above_one() -> None:
    assert bonferroni(0.125, 3) == 0.375
    assert bonferroni(0.4, 3) == 1


@pytest.mark.parametrize(("first", "second"), [([], []), ([True], [True, False])])
def test_units_that_do_not_pair_are_refused(first: list[bool], second: list[bool]) -> None:
    with pytest.raises(UsageError, match="same units"):
        mcnemar(first, second)


def recall(sums: Counts) -> Counts:
    return sums[:, 0] / sums[:, 1]


def test_the_difference_of_two_systems_is_drawn_by_document() -> None:
    random = np.random.default_rng(0)
    gold = np.full(200, 10.0)
    second = random.binomial(8, 0.9, 200).astype(float)
    first = second + (random.random(200) < 0.5)  # one more span in about half of the notes
    difference = paired_difference(np.stack([first, gold], 1), np.stack([second, gold], 1), recall, resamples=2000)
    assert difference.value == pytest.approx((first - second).mean() / 10)
    assert difference.low is not None
    assert difference.high is not None
    half = 1.96 * (first - second).std() / 200**0.5 / 10
    assert difference.high - difference.low == pytest.approx(2 * half, rel=0.1)  # the width under a normal distribution
    assert difference.p == pytest.approx(2 / 2001)


def test_a_system_does_not_differ_from_itself() -> None:
    table = np.stack([np.arange(10.0), np.full(10, 10.0)], 1)
    difference = paired_difference(table, table, recall, resamples=200)
    assert (difference.value, difference.low, difference.high, difference.p) == (0, 0, 0, 1)


def test_a_difference_needs_the_same_documents_and_some_gold() -> None:
    table = np.ones((3, 2))
    with pytest.raises(UsageError, match="same documents"):
        paired_difference(table, table[:2], recall)
    with pytest.raises(UsageError, match="No gold, no score"):
        paired_difference(table, table, lambda sums: np.full(len(sums), np.nan))
