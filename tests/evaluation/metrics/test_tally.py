"""Counts, sums, and intervals over documents."""

from __future__ import annotations

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.evaluation.metrics.tally import DocumentTally, f1, ratio


def filled(*rows: tuple[int, int]) -> DocumentTally:
    tally = DocumentTally()
    for part, whole in rows:
        tally.add({("part",): part, ("whole",): whole})
    return tally


def test_a_share_is_the_ratio_of_the_sums_and_not_the_mean_of_the_ratios() -> None:
    figure = filled((1, 1), (0, 3)).sums(100, 0).share([("part",)], [("whole",)])
    assert (figure.value, figure.of) == (0.25, 4)


def test_one_document_has_no_interval() -> None:
    figure = filled((1, 2), (0, 0)).sums(100, 0).share([("part",)], [("whole",)])
    assert (figure.value, figure.low) == (0.5, None)


def test_the_interval_holds_the_value() -> None:
    figure = filled(*[(1, 2), (2, 2), (0, 2)] * 20).sums(500, 0).share([("part",)], [("whole",)])
    assert figure.low is not None
    assert figure.high is not None
    assert 0.35 < figure.low < 0.5 < figure.high < 0.65


def test_a_table_has_the_columns_asked_for_in_their_order() -> None:
    table = filled((1, 2), (3, 4)).table([("whole",), ("never",), ("part",)])
    assert table.tolist() == [[2, 0, 1], [4, 0, 3]]


def test_no_document_is_no_score() -> None:
    with pytest.raises(UsageError, match="No gold, no score"):
        DocumentTally().sums(10, 0)


def test_a_ratio_of_nothing_is_no_number() -> None:
    assert np.isnan(ratio(np.zeros(1), np.zeros(1))).all()


def test_f1_is_zero_when_nothing_was_found_and_no_number_when_nothing_was_there_either() -> None:
    nan = np.nan
    values = f1(np.array([nan, nan, 0.5, 0.0]), np.array([0.0, nan, 1.0, 0.0]))
    assert values[[0, 2, 3]].tolist() == [0.0, 2 / 3, 0.0]
    assert np.isnan(values[1])
