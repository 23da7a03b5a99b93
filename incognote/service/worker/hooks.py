"""Hooks through which other parts of the service take part in a worker's run, and the worker's counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incognote.errors import ReviewCeiling
from incognote.ledger import State
from incognote.llm.base import Usage
from incognote.service.worker.records import ReviewStore
from incognote.settings import ServiceSettings

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

@dataclass(frozen=True)
class Hooks:
    """Callbacks of other parts of the service.

    Args:
        tell: takes an event and its facts, from the closed vocabulary.
        refused: returns the patients who opted out. Called for every batch.
        counted: takes the counts by type of the served records. Called for every settlement.
        settled: awaited after every settlement.
        span: returns a context that is traced under an event's name, with its facts.
        reviews: the store for records in review; None for the quarantine.
    """

    tell: Callable[..., object] = lambda event, **facts: None
    refused: Callable[[Iterable[str]], set[str]] = lambda patients: set()
    counted: Callable[[Sequence[Mapping[str, int]]], object] = lambda counts: None
    settled: Callable[[], Awaitable[object]] | None = None
    span: Callable[..., AbstractContextManager[object]] = lambda event, **facts: nullcontext()
    reviews: ReviewStore | None = None


@dataclass
class WorkerCounts:
    """What one worker did. Nothing in it is PHI.

    Attributes:
        states: records that it settled, by state.
        skipped: records that were settled before, or belong to another worker.
        unread: files that were not read to their end, by reason.
    """

    states: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    shards: int = 0
    pauses: int = 0
    unread: Counter[str] = field(default_factory=Counter)


_COUNTED: tuple[State, ...] = ("released", "review", "quarantined")


def check(counts: Mapping[State, int], *, settings: ServiceSettings, tell: Callable[..., object]) -> None:
    """Stop a run if too many of its records are in review.

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
        f"{share:.0%} of {settled:,} records wait for review, more than review_ceiling "
        f"({settings.review_ceiling:.0%}). Check them, correct the policy or packs, and start a new release."
    )


class ModelCosts:
    """Counts costs between two calls. A worker's sentinel notes are included.

    Args:
        made: the Deidentifier whose models are used.
    """

    def __init__(self, made: Deidentifier) -> None:
        self._made, self._told = made, self._spent(made)

    def since(self) -> dict[str, int | float]:
        """Return the tokens, in and out together, and dollars if a price is known; nothing without a model."""
        if self._made.engine.models is None:
            return {}
        before, now = self._told, self._spent(self._made)
        self._told = now
        costs: dict[str, int | float] = {"tokens": now.input + now.output - before.input - before.output}
        if now.usd is not None and before.usd is not None:
            costs["usd"] = round(now.usd - before.usd, 6)
        return costs

    @staticmethod
    def _spent(made: Deidentifier) -> Usage:
        models = made.engine.models  # for both reading and agents
        return Usage() if models is None else models.budget.spent
