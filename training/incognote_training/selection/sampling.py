"""Outliers by robust Z-scores, and a sample of them plus a stratified one (CIPHER: 10 % and 90 %, |Z| > 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from incognote.errors import UsageError
from incognote_training.selection.features import Floats

Z = 2.0
"""A note with a Z-score beyond this is an outlier."""
_NORMAL = 0.6745
"""The median absolute deviation of the standard normal distribution, which makes Z-scores comparable."""


def robust_z(values: Floats) -> Floats:
    """0.6745 (x - median) / MAD per column (Iglewicz and Hoaglin, 1993, §3.3).

    If more than half of a column has the same value, its MAD is 0 and not usable. Then the mean absolute deviation is
    used, as they advise (times 1.2533, the scale of the normal distribution). A column with a single value gives zeros.
    """
    apart = values - np.median(values, axis=0)
    mad = np.median(np.abs(apart), axis=0)
    mean = np.mean(np.abs(apart), axis=0)
    scale = np.where(mad > 0, mad / _NORMAL, 1.253314 * mean)
    return np.divide(apart, scale, out=np.zeros_like(apart), where=scale > 0)


def outliers(values: Floats, z: float = Z) -> npt.NDArray[np.bool_]:
    """A mask of the notes that are beyond ±z in any feature."""
    return np.asarray((np.abs(robust_z(values)) > z).any(axis=1))


def select(
    values: Floats, strata: Sequence[Hashable], n: int, *, share: float = 0.1, z: float = Z, seed: int = 1
) -> list[int]:
    """The indexes of the chosen notes, in order.

    `share` of them are drawn from the outliers. The others are drawn from all remaining notes, each stratum in
    proportion to its size (largest remainders). So an outlier may also be drawn through its stratum. If there are too
    few outliers, the strata fill the gap.

    Args:
        values: notes × features.
        strata: one per note, such as (document type, organization).
        n: how many to choose.

    Raises:
        UsageError: more notes are requested than there are, or the lengths differ.
    """
    if len(strata) != len(values):
        raise UsageError("select: there must be one stratum per note")
    if not 0 <= n <= len(values):
        raise UsageError(f"select: {n:,} notes are requested, but there are only {len(values):,}")
    random = np.random.default_rng(seed)
    beyond = np.flatnonzero(outliers(values, z)) if len(values) else np.array([], dtype=np.int64)
    extra = min(round(n * share), len(beyond))
    chosen = {int(i) for i in random.permutation(beyond)[:extra]}
    rest: dict[Hashable, list[int]] = defaultdict(list)
    for number, stratum in enumerate(strata):
        if number not in chosen:
            rest[stratum].append(number)
    for stratum, count in _quotas({s: len(m) for s, m in rest.items()}, n - extra).items():
        members = rest[stratum]
        chosen.update(members[int(i)] for i in random.permutation(len(members))[:count])
    return sorted(chosen)


def _quotas(sizes: dict[Hashable, int], n: int) -> dict[Hashable, int]:
    """The number for each stratum: in proportion, largest remainders rounded up, ties in the strata's order."""
    total = sum(sizes.values())
    exact = {stratum: n * size / total for stratum, size in sizes.items()} if total else {}
    quotas = {stratum: int(value) for stratum, value in exact.items()}
    short = n - sum(quotas.values())
    for stratum in sorted(exact, key=lambda s: quotas[s] - exact[s])[:short]:
        quotas[stratum] += 1
    return quotas
