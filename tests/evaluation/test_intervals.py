"""Intervals against published values and known properties."""

from __future__ import annotations

import numpy as np
import pytest

from incognote.evaluation.intervals import interval, resampled, share


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(5, 10, 0.2366, 0.7634), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)  # the last row is from Newcombe (1998, table I, method 3); the others were computed by hand
def test_wilsons_interval(hits: int, n: int, low: float, high: float) -> None:
    figure = share(hits, n)
    assert figure.value == hits / n
    assert figure.low == pytest.approx(low, abs=5e-5)
    assert figure.high == pytest.approx(high, abs=5e-5)


def test_a_share_of_nothing_is_no_number() -> None:
    assert share(0, 0).value is None
    assert str(share(0, 0)) == "–"


def test_every_resample_draws_as_many_documents_as_there_are() -> None:
    sums = resampled(np.ones((7, 2)), 50, seed=3)
    assert sums.shape == (50, 2)
    assert (sums == 7).all()


def test_the_bootstrap_interval_of_a_mean_is_near_the_one_of_the_normal_law() -> None:
    values = np.random.default_rng(0).normal(10, 2, 400)
    means = resampled(values[:, None], 2000, seed=1)[:, 0] / 400
    low, high = interval(means)
    assert low is not None
    assert high is not None
    half = 1.96 * values.std() / 400**0.5
    assert low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_resamples_without_a_value_are_left_out() -> None:
    assert interval(np.array([np.nan, 1.0, 1.0])) == (1.0, 1.0)
    assert interval(np.array([np.nan])) == (None, None)
