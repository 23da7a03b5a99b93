"""What of the planted identifiers was found: an identifier counts as missed where its words still stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from incognote.errors import NotReleased
from incognote.evaluation.intervals import Figure, share
from incognote.nouns import Result
from incognote.schemas.policy import Policy
from incognote.service.sentinels.drawing import Sentinel


@dataclass(frozen=True, slots=True)
class Score:
    """One batch's notes, or several batches' together.

    Args:
        notes: how many ran; `failed` of them gave no output at all and are in no other number.
        planted, found: identifiers that the policy replaces.
        leaked: those that were left in a note whose verdict was `release`: in the lab, had it been a patient's.
        missed: how many were left, by type.
    """

    notes: int = 0
    failed: int = 0
    planted: int = 0
    found: int = 0
    leaked: int = 0
    missed: Mapping[str, int] = field(default_factory=dict)

    @property
    def recall(self) -> Figure:
        """Found of planted, with Wilson's interval; values are drawn apart, notes share their sentences."""
        return share(self.found, self.planted)

    def __add__(self, other: Score) -> Score:
        return Score(
            self.notes + other.notes,
            self.failed + other.failed,
            self.planted + other.planted,
            self.found + other.found,
            self.leaked + other.leaked,
            dict(Counter(self.missed) + Counter(other.missed)),
        )


def score(drawn: Iterable[Sentinel], results: Iterable[Result], policy: Policy) -> Score:
    """Compare notes with their results, in the same order.

    Types that the policy does not replace do not count.
    """
    total = Score()
    for sentinel, result in zip(drawn, results, strict=True):
        try:
            output = result.output(even_if_unreleased=True).casefold()
        except NotReleased:
            total += Score(notes=1, failed=1)
            continue
        counted = [(kind, words) for kind, words in sentinel.planted if policy.replaces(kind)]
        missed = Counter(kind for kind, words in counted if words.casefold() in output)
        left = missed.total()
        total += Score(1, 0, len(counted), len(counted) - left, left if result.verdict.released else 0, missed)
    return total
