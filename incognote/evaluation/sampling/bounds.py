"""Exact upper bounds of a share, and the number of draws that a bound needs.

All bounds are one-sided: over repeated draws, the true share is above the bound in at most 1 − confidence of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, floor, lgamma, log, log1p

import numpy as np

from incognote.errors import UsageError

_STEPS = 200  # halvings of the unit interval, far below the precision of a float
_SLACK = 1e-9  # tolerance for the error of sums of logarithms


def clopper_pearson(hits: int, n: int, confidence: float) -> float:
    """The upper bound of a share with `hits` in `n` independent draws (Clopper and Pearson 1934).

    It holds for an unlimited process and, slightly too wide, for a finite set drawn without replacement.
    """
    if hits >= n:
        return 1.0
    if hits == 0:
        return 1 - exp(log1p(-confidence) / n)
    low, high = hits / n, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _binomial(hits, n, middle) > 1 - confidence else (low, middle)
    return high


def both_sides(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """The two-sided interval of Clopper and Pearson, or (0, 1) if nothing was drawn."""
    if n == 0:
        return 0.0, 1.0
    each = 1 - (1 - confidence) / 2
    return 1 - clopper_pearson(n - hits, n, each), clopper_pearson(hits, n, each)


def hypergeometric(hits: int, n: int, population: int, confidence: float) -> int:
    """The largest possible number of hits in a finite set, given `hits` in `n` draws without replacement.

    It is the largest count for which so few hits are still likelier than 1 − confidence (inverted test, exact).
    """
    low, high = hits, population - (n - hits)  # the drawn items are known
    while low < high:
        middle = (low + high + 1) // 2
        if _hypergeometric(hits, n, population, middle) > (1 - confidence) + _SLACK:
            low = middle
        else:
            high = middle - 1
    return low


def needed(bound: float, confidence: float, expect: int, population: int) -> int | None:
    """The fewest draws from a finite set that prove the bound even with `expect` hits; None if no number does."""
    allowed = floor(bound * population + _SLACK)
    if expect > allowed:
        return None
    return _fewest(lambda n: n > expect and hypergeometric(expect, n, population, confidence) <= allowed, 1, population)


def needed_in_strata(bound: float, confidence: float, expect: int, sizes: dict[str, int]) -> int | None:
    """Like `needed`, for a proportional draw from every stratum (`shares`). It needs more, up to the population."""
    population = sum(sizes.values())
    if expect > floor(bound * population + _SLACK):
        return None
    return _fewest(
        lambda n: stratified(expect, shares(n, sizes), sizes, confidence) <= bound + _SLACK, expect + 1, population
    )


def shares(n: int, sizes: dict[str, int]) -> dict[str, int]:
    """The number to draw from each stratum, in proportion and rounded up, so that they add up to at least `n`."""
    population = sum(sizes.values())
    return {name: min(size, ceil(n * size / population - _SLACK)) for name, size in sizes.items()}


def stratified(hits: int, drawn: dict[str, int], sizes: dict[str, int], confidence: float) -> float:
    """The upper bound for the whole population of a stratified draw.

    The number of hits is a sum of independent trials with unequal chances (a hypergeometric count is one: Vatutin and
    Mikhailov 1982). Few hits are then no likelier than under the binomial with the same mean (Hoeffding 1956), if that
    mean is larger than the number of hits by at least 1. If it is not, the bound is 1. If strata were drawn at
    different rates, the lowest rate is used for all.
    """
    population, n = sum(sizes.values()), sum(drawn.values())
    if n == population:
        return hits / population
    mean = n * clopper_pearson(hits, n, confidence)
    if mean < hits + 1:
        return 1.0
    return min(1.0, mean / min(drawn[name] * population / size for name, size in sizes.items()))


def checked(bound: float, confidence: float, expect: int) -> None:
    """Refuse values that no draw can be planned with.

    Raises:
        UsageError: a value is out of range. The message names the option.
    """
    if not 0 < bound < 1:
        raise UsageError("--bound must be between 0 and 1, such as 0.01 for one document in a hundred.")
    if not 0.64 <= confidence < 1:
        raise UsageError("--confidence must be between 0.64 and 1, such as 0.95.")
    if expect < 0:
        raise UsageError(
            "--expect must be 0 or more."
        )


def _fewest(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    if not enough(most):
        return None
    high = most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    while low > 1 and enough(low - 1):  # bounds of whole documents move in steps, so a shorter draw may suffice
        low -= 1
    return low


def _binomial(hits: int, n: int, p: float) -> float:
    """The probability of at most `hits` in `n`."""
    if p >= 1:
        return 0.0
    logs = [_choose(n, k) + k * log(p) + (n - k) * log1p(-p) for k in range(hits + 1)]
    return _sum(logs)


def _hypergeometric(hits: int, n: int, population: int, marked: int) -> float:
    """The probability of at most `hits` marked among `n` drawn from `population`, of which `marked` are marked."""
    least = max(0, n - (population - marked))
    logs = [
        _choose(marked, k) + _choose(population - marked, n - k) - _choose(population, n)
        for k in range(least, min(hits, marked, n) + 1)
    ]
    return _sum(logs)


def _choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _sum(logs: list[float]) -> float:
    if not logs:
        return 0.0
    most = max(logs)
    return float(np.exp(np.array(logs) - most).sum() * exp(most))
