"""What is no record's fault: a model, the index, a budget that is spent; and how long to wait for it."""

from __future__ import annotations

from incognote.errors import IncognoteError
from incognote.nouns import Result

_INDEX = ("index", "index-unavailable", "index-rejected", "index-busy")
CODES = frozenset({"model-unavailable", "budget-exhausted", *_INDEX})
"""Reason codes of verdicts that say nothing of their record."""
_FIRST = 0.5


class Outage(IncognoteError):
    """Something that records need did not serve; they are returned as they were."""

    def __init__(self, code: str) -> None:
        super().__init__(f"{code}: records wait until it serves again")
        self.code = code


def is_outage(result: Result) -> str | None:
    """The code of what did not serve a record; None where its verdict is its own."""
    if result.verdict.released:
        return None
    codes = sorted(CODES & {reason.code for reason in result.verdict.reasons})
    return codes[0] if codes else None


class Pauses:
    """Seconds to wait, doubling up to the longest."""

    def __init__(self, longest: float) -> None:
        self._longest, self._next = longest, 0.0
        self.reset()

    def reset(self) -> None:
        """All serves again."""
        self._next = min(_FIRST, self._longest)

    def next(self) -> float:
        """How long to wait now."""
        now, self._next = self._next, min(2 * self._next, self._longest)
        return now
