"""Exact bounds against independent arithmetic, and their coverage in simulations."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.sampling import bounds


def fewer(hits: int, n: int, population: int, marked: int) -> float:
    """P(at most `hits` marked among n drawn), in integers."""
    ways = sum(comb(marked, k) * comb(population - marked, n - k) for k in range(hits + 1))
    return ways / comb(population, n)


@pytest.mark.parametrize(("hits", "n", "upper"), [(0, 299, 0.009969), (1, 473, 0.009990), (0, 59, 0.049508), (5, 5, 1)])
def test_clopper_pearson_gives_the_published_figures(hits: int, n: int, upper: float) -> None:
    assert bounds.clopper_pearson(hits, n, 0.95) == pytest.approx(upper, abs=2e-6)


@given(st.integers(1, 3000), st.integers(0, 15), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_clopper_pearson_is_the_quantile_of_a_beta_distribution(n: int, hits: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats", reason="the extra `evaluation` is not installed")
    hits = min(hits, n - 1)
    wanted = stats.beta.ppf(confidence, hits + 1, n - hits)
    assert bounds.clopper_pearson(hits, n, confidence) == pytest.approx(wanted, abs=1e-9)


@given(st.integers(1, 120), st.integers(1, 120), st.integers(0, 5))
def test_the_bound_of_a_finite_set_is_the_largest_count_not_refuted(population: int, n: int, hits: int) -> None:
    n = min(n, population)
    hits = min(hits, n)
    possible = range(hits, population - (n - hits) + 1)
    wanted = max((m for m in possible if fewer(hits, n, population, m) > 0.05 + 1e-9), default=hits)
    assert bounds.hypergeometric(hits, n, population, 0.95) == wanted


@given(st.integers(1, 250), st.sampled_from([0.01, 0.03, 0.1]), st.integers(0, 3))
def test_no_smaller_draw_proves_the_bound(population: int, bound: float, expect: int) -> None:
    allowed = int(bound * population + 1e-9)
    proving = [
        n
        for n in range(expect + 1, population + 1)
        if expect <= allowed and bounds.hypergeometric(expect, n, population, 0.95) <= allowed
    ]
    assert bounds.needed(bound, 0.95, expect, population) == (proving[0] if proving else None)


def test_a_stratified_draw_in_which_nearly_all_leak_claims_nothing() -> None:
    assert bounds.stratified(2, {"a": 2, "b": 1}, {"a": 40, "b": 20}, 0.95) == 1


def test_a_large_release_takes_the_size_of_one_without_end() -> None:
    assert bounds.needed(0.01, 0.95, 0, 10**7) == 299


def test_all_of_a_release_proves_what_was_seen() -> None:
    assert bounds.hypergeometric(0, 40, 40, 0.95) == 0
    assert bounds.stratified(2, {"a": 30, "b": 10}, {"a": 30, "b": 10}, 0.95) == 2 / 40


@pytest.mark.parametrize("leaking", [3, 12, 40])
def test_the_bound_holds_in_as_many_draws_as_it_says(leaking: int) -> None:
    """2,000 seeded draws of 60 from 400. For a proportion of 0.05, three standard errors are 0.015."""
    seen = np.random.default_rng(leaking).hypergeometric(leaking, 400 - leaking, 60, 2000)
    upper = {hits: bounds.hypergeometric(hits, 60, 400, 0.95) for hits in set(seen.tolist())}
    assert np.mean([upper[hits] < leaking for hits in seen.tolist()]) < 0.05 + 0.015


@pytest.mark.parametrize("split", [(40, 0, 0), (0, 0, 40), (13, 13, 14)])
def test_the_bound_of_a_stratified_draw_holds_wherever_the_leaks_are(split: tuple[int, int, int]) -> None:
    sizes = {"a": 500, "b": 237, "c": 63}
    drawn = bounds.shares(60, sizes)
    chance = np.random.default_rng(sum(split[:2]))
    pairs = zip(sizes, split, strict=True)
    seen = sum(chance.hypergeometric(bad, sizes[name] - bad, drawn[name], 2000) for name, bad in pairs)
    upper = {hits: bounds.stratified(hits, drawn, sizes, 0.95) for hits in set(seen.tolist())}
    assert np.mean([upper[hits] < 40 / 800 for hits in seen.tolist()]) < 0.05 + 0.015


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 400), min_size=2, max_size=4), st.integers(1, 500))
def test_every_stratum_has_its_share_at_least(sizes: dict[str, int], n: int) -> None:
    population = sum(sizes.values())
    n = min(n, population)
    drawn = bounds.shares(n, sizes)
    assert n <= sum(drawn.values()) <= population
    assert all(drawn[name] * population >= n * size for name, size in sizes.items() if drawn[name] < size)


@given(st.integers(2, 3), st.integers(0, 2), st.data())
def test_a_stratified_draw_of_the_size_it_asks_for_proves_its_bound(
    kinds: int, expect: int, data: st.DataObject
) -> None:
    sizes = {str(k): data.draw(st.integers(1, 300)) for k in range(kinds)}
    n = bounds.needed_in_strata(0.05, 0.95, expect, sizes)
    if n is not None:
        assert bounds.stratified(expect, bounds.shares(n, sizes), sizes, 0.95) <= 0.05 + 1e-6
    else:
        assert expect > 0.05 * sum(sizes.values())


@pytest.mark.parametrize(
    ("bound", "confidence", "expect"), [(0, 0.95, 0), (1, 0.95, 0), (0.01, 0.5, 0), (0.01, 0.95, -1)]
)
def test_what_no_draw_can_be_planned_by_is_refused(bound: float, confidence: float, expect: int) -> None:
    with pytest.raises(UsageError, match="--"):
        bounds.checked(bound, confidence, expect)


def test_an_interval_of_nothing_is_everything() -> None:
    assert bounds.both_sides(0, 0, 0.95) == (0, 1)
    assert bounds.both_sides(10, 10, 0.95) == pytest.approx((0.69150, 1), abs=1e-5)
