"""What stands around a worker's round, and what it says of itself at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from incognote.service.worker.hands import Reviews


@dataclass(frozen=True)
class Around:
    """What others of the service do at their places in the round.

    Args:
        tell: an event and its facts, of the closed vocabulary.
        refused: which of some patients opted out; asked with every batch.
        counted: the counts by type of what was served, with every settlement.
        settled: awaited after every settlement.
        span: a context that is traced under an event's name, with its facts.
        reviews: where records wait for a person; None: in the quarantine.
    """

    tell: Callable[..., object] = lambda event, **facts: None
    refused: Callable[[Iterable[str]], set[str]] = lambda patients: set()
    counted: Callable[[Sequence[Mapping[str, int]]], object] = lambda counts: None
    settled: Callable[[], Awaitable[object]] | None = None
    span: Callable[..., AbstractContextManager[object]] = lambda event, **facts: nullcontext()
    reviews: Reviews | None = None


@dataclass
class Done:
    """What one worker did; nothing in it is PHI.

    Attributes:
        states: records that it settled, by state.
        skipped: records that were settled before, or are another's.
        unread: files that were not read to their end, by why.
    """

    states: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    shards: int = 0
    pauses: int = 0
    unread: Counter[str] = field(default_factory=Counter)
