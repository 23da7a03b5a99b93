"""Robust Z-scores, outliers, and stratified selection."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote_training.selection import outliers, robust_z, select


def test_the_score_is_the_distance_from_the_median_in_deviations() -> None:
    values = np.array([[1.0], [2.0], [3.0], [4.0], [100.0]])  # median 3; deviations 2 1 0 1 97, with median 1
    np.testing.assert_allclose(robust_z(values)[:, 0], [-1.349, -0.6745, 0.0, 0.6745, 65.4265])
    assert outliers(values).tolist() == [False, False, False, False, True]


def test_where_most_are_alike_the_mean_deviation_stands() -> None:
    values = np.array([[0.0], [0.0], [0.0], [0.0], [5.0]])  # MAD 0, mean deviation 1
    np.testing.assert_allclose(robust_z(values)[4, 0], 5 / 1.253314)
    assert robust_z(np.ones((3, 1))).tolist() == [[0.0], [0.0], [0.0]]


def test_any_feature_makes_an_outlier() -> None:
    values = np.array([[1.0, 9.3], [2.0, 9.1], [3.0, 9.2], [4.0, 9.0], [5.0, 99.0]])  # MADs 1 and 0.1
    assert outliers(values).tolist() == [False, False, False, False, True]


def test_a_tenth_are_outliers_and_strata_keep_their_shares() -> None:
    ordinary = np.arange(200.0) % 10
    values = np.concatenate([ordinary, np.full(40, 1000.0)])[:, None]
    strata = ["a"] * 120 + ["b"] * 80 + ["c"] * 40
    chosen = select(values, strata, 100, seed=3)
    assert len(chosen) == len(set(chosen)) == 100
    counts = Counter(strata[number] for number in chosen)
    # 10 of the 40 outliers, then 90 from a 120, b 80, c 30: 46.96, 31.30, 11.74
    assert counts == {"a": 47, "b": 31, "c": 10 + 12}


def test_the_same_seed_chooses_the_same() -> None:
    values, strata = np.arange(50.0)[:, None], ["x"] * 50
    assert select(values, strata, 10, seed=1) == select(values, strata, 10, seed=1)
    assert select(values, strata, 10, seed=1) != select(values, strata, 10, seed=2)


def test_without_outliers_the_strata_fill_up() -> None:
    assert len(select(np.ones((20, 1)), ["a"] * 20, 10)) == 10


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="there are only 2"):
        select(np.ones((2, 1)), ["a", "b"], 3)


@given(st.integers(0, 30), st.lists(st.sampled_from("abc"), min_size=30, max_size=30), st.floats(0, 1))
def test_as_many_are_chosen_as_were_asked(n: int, strata: list[str], share: float) -> None:
    values = np.arange(30.0)[:, None] ** 3
    chosen = select(values, strata, n, share=share)
    assert len(chosen) == n
    assert chosen == sorted(set(chosen))
