"""How many records may wait for a person before a run stops: that many are a sign of something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from incognote.errors import ReviewCeiling
from incognote.ledger import State
from incognote.settings import ServiceSettings

_COUNTED: tuple[State, ...] = ("released", "review", "quarantined")


def check(counts: Mapping[State, int], *, settings: ServiceSettings, tell: Callable[..., object]) -> None:
    """Stop a run.

    Args:
        counts: of all records of its release, by state.

    Raises:
        ReviewCeiling: too large a share of them is in review.
    """
    settled = sum(counts.get(state, 0) for state in _COUNTED)
    share = counts.get("review", 0) / settled if settled else 0.0
    if settled < settings.review_least or share <= settings.review_ceiling:
        return
    tell("worker.ceiling", share=round(share, 4), ceiling=settings.review_ceiling)
    raise ReviewCeiling(
        f"{share:.0%} of {settled:,} records wait for a person, more than review_ceiling "
        f"({settings.review_ceiling:.0%}): look at them, mend policy or packs, and begin a new release"
    )
