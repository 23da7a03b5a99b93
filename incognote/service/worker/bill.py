"""What language models took for records: told with each settlement of a worker's, and foretold from a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incognote.llm.base import Usage

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier


class Bill:
    """Counts from one time it is asked to the next; a worker's sentinel notes are on it, too.

    Args:
        made: whose models are asked.
    """

    def __init__(self, made: Deidentifier) -> None:
        self._made, self._told = made, self._spent(made)

    def since(self) -> dict[str, int | float]:
        """Tokens, in and out together, and dollars where a price is known; nothing without a model."""
        if self._made.tools.models is None:
            return {}
        before, now = self._told, self._spent(self._made)
        self._told = now
        told: dict[str, int | float] = {"tokens": now.input + now.output - before.input - before.output}
        if now.usd is not None and before.usd is not None:
            told["usd"] = round(now.usd - before.usd, 6)
        return told

    @staticmethod
    def _spent(made: Deidentifier) -> Usage:
        models = made.tools.models  # those that read and those that play agents alike
        return Usage() if models is None else models.budget.spent
