"""What a run may spend on language models, and what it has spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from incognote.llm.base import Usage


@dataclass(slots=True)
class Budget:
    """Shared by all records of a run; on one event loop, so no lock.

    Attributes:
        spent: so far.
        closed: spent elsewhere, where the budget of several processes is kept.
        listener: is given each call's usage, too.

    Args:
        tokens: the most tokens, in and out together; None for no bound.
        usd: the most money. A call whose price is unknown cannot be held to it, so such a model is refused beforehand.
    """

    tokens: int | None = None
    usd: float | None = None
    spent: Usage = field(default_factory=Usage)
    closed: bool = False
    listener: Callable[[Usage], None] | None = None

    @property
    def exhausted(self) -> bool:
        """No further call may be made; those under way are let finish, so a run may end a few calls above its bound."""
        total = self.spent.input + self.spent.output
        over_tokens = self.tokens is not None and total >= self.tokens
        return self.closed or over_tokens or (self.usd is not None and (self.spent.usd or 0.0) >= self.usd)

    def take(self, usage: Usage) -> None:
        self.spent += usage
        if self.listener is not None:
            self.listener(usage)
