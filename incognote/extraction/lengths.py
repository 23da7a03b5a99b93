"""Suspect that a request was too long, where a server rejects it in words that no pattern knows."""

from __future__ import annotations

from dataclasses import dataclass

from incognote.errors import ModelRejected, ModelUnavailable

FEWEST = 64
"""A request about so few words fits into any context."""
ALIKE = 3
"""If a third of what was suspected is rejected in the same way, the length is not the cause."""


@dataclass(slots=True)
class Lengths:
    """What one model answered and what it rejected, by the number of words asked about.

    While nothing is answered, the search for a shorter request is made only once.

    Attributes:
        answered: the most words that it answered about.
        suspected: the most words of a request that may have been too long.
        refuted: shorter requests were rejected in the same way, and none was answered since.
    """

    answered: int = 0
    suspected: int = 0
    refuted: bool = False

    def fit(self, words: int) -> None:
        """Record an answer."""
        self.answered = max(self.answered, words)
        self.refuted = False

    def suspicious(self, words: int, problem: ModelRejected | ModelUnavailable) -> bool:
        """Record a failure. Return whether a shorter request may succeed.

        A status 500 is usually an outage, so it is suspected only for longer requests than any that was answered.
        Dense texts have up to twice as many tokens for each word as others.
        """
        fits = self.answered if isinstance(problem, ModelUnavailable) else self.answered // 2
        if not problem.unclear or self.refuted or words <= max(fits, FEWEST) or words * ALIKE <= self.suspected:
            self.refuted |= problem.unclear and words > fits
            return False
        self.suspected = max(self.suspected, words)
        return True
