"""Suspect that a request was too long, where a server rejects it in words that no pattern knows."""

from __future__ import annotations

from dataclasses import dataclass

from incognote.errors import ContextTooLong, ModelProblem, ModelRejected, ModelUnavailable
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request

FEWEST = 100
"""A request with so few words besides its instructions fits into any context. They quote about 64 words of a text."""
ALIKE = 2.5
"""If a request with so much fewer words than a suspected one is rejected, too, the length is not the cause."""


@dataclass(slots=True)
class Lengths:
    """What one model answered and what it rejected, by the number of words besides the instructions.

    While nothing is answered, the search for a shorter request is made only once.

    Attributes:
        answered: the most words that it answered.
        suspected: the most words of a request that may have been too long.
        refuted: shorter requests were rejected in the same way, and none was answered since.
    """

    answered: int = 0
    suspected: int = 0
    refuted: bool = False

    def fit(self, request: Request) -> None:
        """Record an answer."""
        self.answered = max(self.answered, _words(request))
        self.refuted = False

    def judged(self, request: Request, problem: ModelProblem) -> ModelProblem:
        """Record a failure. Return the problem, or a ContextTooLong if a shorter request may succeed.

        A status 500 is usually an outage, so it is suspected only for longer requests than any that was answered.
        Dense texts have up to twice as many tokens for each word as others.
        """
        if not problem.unclear:
            return problem
        words = _words(request)
        fits = self.answered if isinstance(problem, ModelUnavailable) else self.answered // 2
        if self.refuted or words <= max(fits, FEWEST) or words * ALIKE <= self.suspected:
            self.refuted |= words > fits
            return problem
        self.suspected = max(self.suspected, words)
        return ContextTooLong(f"{problem} The request may also be longer than the model can read: lower chunk_words")


class Suspecting(ModelWrapper):
    """Takes a rejection in unknown words for a sign that the request is too long, until shorter ones are rejected.

    Put it outside `Retrying`, so that an outage is over or lasting before it is suspected.

    Args:
        model: the inner model.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._lengths = Lengths()

    async def complete(self, request: Request) -> Reply:
        """Answer.

        Raises:
            ContextTooLong: a shorter request may succeed.
        """
        try:
            reply = await self._model.complete(request)
        except (ModelRejected, ModelUnavailable) as problem:
            judged = self._lengths.judged(request, problem)
            if judged is problem:
                raise
            raise judged from None
        self._lengths.fit(request)
        return reply


def _words(request: Request) -> int:
    return sum(len(message.content.split()) for message in request.messages[1:2])
