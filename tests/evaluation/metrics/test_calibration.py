"""Calibration by hand."""

from __future__ import annotations

import pytest

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import Scheme
from incognote.evaluation.metrics.stream import calibration, outcomes
from incognote.nouns import Span, Text


def test_the_error_by_hand() -> None:
    # In [0.4, 0.6): 0.5 correct, 0.4 wrong: mean 0.45, 0.5 correct, gap 0.05 (2 of 5).
    # In [0.8, 1]: 0.9 correct, 1 correct, 0.8 wrong: mean 0.9, 2/3 correct, gap 7/30 (3 of 5).
    result = calibration([0.5, 0.9, 1.0, 0.4, 0.8], [True, True, True, False, False], bins=5)
    assert [(one.low, one.high, one.right.of) for one in result.bins] == [(0.4, 0.6, 2), (0.8, 1.0, 3)]
    assert [one.mean for one in result.bins] == pytest.approx([0.45, 0.9])
    assert [one.right.value for one in result.bins] == [1 / 2, 2 / 3]
    assert result.error == pytest.approx(0.05 * 2 / 5 + 7 / 30 * 3 / 5)
    assert result.largest == pytest.approx(7 / 30)
    # (0.25 + 0.01 + 0 + 0.16 + 0.64) / 5
    assert result.brier == pytest.approx(1.06 / 5)
    assert result.findings == 5


def test_scores_that_are_the_share_right_have_no_error() -> None:
    result = calibration([0.25] * 4 + [1.0] * 2, [True, False, False, False, True, True])
    assert result.error == 0


@pytest.mark.parametrize(
    ("scores", "right", "bins"), [([], [], 5), ([0.5], [], 5), ([0.5], [True], 0), ([1.5], [True], 5)]
)
def test_what_cannot_be_calibrated_is_refused(scores: list[float], right: list[bool], bins: int) -> None:
    with pytest.raises(UsageError):
        calibration(scores, right, bins=bins)


def test_a_finding_is_right_when_it_is_paired(notes: list[Pair], scheme: Scheme) -> None:
    gold = scheme.gold(notes[0])  # Mary Smith, 76, Mercy Hospital, 03/04/2025
    source = Text(notes[0].text)
    found = [
        Span(source, 21, 38, "LOCATION", 0.7),
        Span(source, 0, 10, "PERSON", 0.9),
        Span(source, 12, 14, "DATE", 0.6),
        Span(source, 16, 20, "PERSON", 0.5),
    ]
    assert outcomes(gold, found) == [(0.9, True), (0.6, True), (0.5, False), (0.7, True)]
    assert outcomes(gold, found, typed=True) == [(0.9, True), (0.6, False), (0.5, False), (0.7, True)]
