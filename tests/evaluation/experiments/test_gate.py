"""The gate's three answers, and its error rates on simulated documents."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.evaluation.experiments.compare import LEAST, judge
from incognote.evaluation.intervals import Counts

DOCUMENTS, SPANS, LETTERS = 250, 20, 8


def counts(hit: np.ndarray) -> Counts:
    """Return documents × COLUMNS for a system that finds exactly these spans (documents × spans)."""
    found = hit.sum(axis=1) * LETTERS
    gold = np.full(len(hit), hit.shape[1] * LETTERS)
    return np.stack([gold, found, found, found], axis=1).astype(np.float64)


def population(lost: float, seed: int) -> tuple[Counts, Counts]:
    """Return a baseline whose misses cluster by document, and a candidate with other errors, `lost` points worse."""
    random = np.random.default_rng(seed)
    rates = random.beta(0.5, 4.5, (DOCUMENTS, 1))
    base = random.random((DOCUMENTS, SPANS)) >= rates
    candidate = base.copy()
    found, missed = np.flatnonzero(base), np.flatnonzero(~base)
    swapped = min(len(missed), base.size // 50)
    candidate.flat[random.choice(missed, swapped, replace=False)] = True
    worse = swapped + round(lost / 100 * base.size)
    candidate.flat[random.choice(found, worse, replace=False)] = False
    return counts(base), counts(candidate)


def answers(lost: float, allowed: float, trials: int) -> Counter[str]:
    base, candidate = population(lost, seed=3)
    random = np.random.default_rng(4)
    drawn = [random.integers(DOCUMENTS, size=DOCUMENTS) for _ in range(trials)]
    return Counter(judge(base[d], candidate[d], allowed, resamples=400, seed=i).answer for i, d in enumerate(drawn))


def test_two_points_lost_do_not_pass_where_one_is_allowed() -> None:
    assert answers(2, 1, 200)["pass"] <= 10


def test_nothing_lost_is_seldom_failed_even_where_nothing_is_allowed() -> None:
    found = answers(0, 0, 200)
    assert found["fail"] <= 10
    assert answers(0, 1, 200)["fail"] == 0


def test_nothing_lost_passes_mostly_where_one_point_is_allowed() -> None:
    assert answers(0, 1, 100)["pass"] >= 50


def test_with_few_documents_it_cannot_tell_and_says_from_which_loss_it_could() -> None:
    base, candidate = population(0.5, seed=3)
    verdict = judge(base[:30], candidate[:30], 0.25)
    assert verdict.answer == "cannot tell"
    assert verdict.detectable > 2
    assert judge(base, candidate, 0.25).detectable < verdict.detectable
    few = judge(base[: LEAST - 1], base[: LEAST - 1], 1)
    assert (few.answer, few.why) == ("cannot tell", "only 19 documents hold anything to count; at least 20 are needed")


def test_equal_systems_pass_and_a_gain_is_no_loss() -> None:
    base, candidate = population(3, seed=3)
    assert judge(base, base, 0).answer == "pass"
    gained = judge(candidate, base, 0)
    assert gained.answer == "pass"
    assert gained.loss < -2


def test_a_large_loss_fails_with_its_bounds() -> None:
    base, candidate = population(5, seed=3)
    verdict = judge(base, candidate, 1)
    assert verdict.answer == "fail"
    assert 1 < verdict.low < verdict.loss < verdict.high
    assert verdict.loss == pytest.approx(5, abs=0.01)
    assert verdict.needed is None


def test_precision_is_judged_too() -> None:
    base, _ = population(0, seed=3)
    noisy = base.copy()
    noisy[:, 2] += 20
    assert judge(base, noisy, 1).answer == "pass"
    assert judge(base, noisy, 1, metric="precision").answer == "fail"


def test_one_document_is_never_enough() -> None:
    one = np.array([[80.0, 80.0, 80.0, 80.0]])
    verdict = judge(one, one * [1, 0.5, 0.5, 0.5], 1)
    assert (verdict.answer, verdict.loss) == ("cannot tell", 50)


def test_what_cannot_be_judged_is_refused() -> None:
    base, _ = population(0, seed=3)
    with pytest.raises(UsageError, match="must be from 0 to 100 points"):
        judge(base, base, -1)
    with pytest.raises(UsageError, match="must be from 0 to 100 points"):
        judge(base, base, float("inf"))
    with pytest.raises(UsageError, match="metric must be one of recall"):
        judge(base, base, 1, metric="accuracy")
    with pytest.raises(UsageError, match="same documents"):
        judge(base, base[1:], 1)
    with pytest.raises(UsageError, match="No gold, no score"):
        judge(base * 0, base * 0, 1)
