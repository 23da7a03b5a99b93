"""What the cells that are still to be run would take, before anything is asked.

A token is four characters. Each vote of each pass over each chunk counts as one call; a pass that finds nothing is the
last, chunks are halved where a model balks, and what the recording holds is not paid again, so it is a guess that errs
on the high side where passes are many. A reply is taken for as long as those we recorded were on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incognote.evaluation.experiments.cell import Cell
from incognote.extraction.chunks import Chunk, chunks
from incognote.llm.base import Usage
from incognote.llm.opening import ModelSpec, price_of
from incognote.llm.prices import Price
from incognote.prompts.loader import load
from incognote.prompts.types import asked
from incognote.schemas.policy import Policy, load_policy

CHARACTERS = 4
REPLY = {1: 194, 2: 92}
"""Mean tokens of a reply by the prompt's contract (docs/measured/replies.md)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and US dollars; None where a price is unknown."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Estimate) -> Estimate:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Estimate(
            self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, usd
        )


def model_spec(cell: Cell) -> ModelSpec:
    """How the model of a cell is opened. No fallback: another model's answers would count as this one's."""
    assert cell.asking is not None
    own = cell.settings
    return ModelSpec(
        cell.asking.model.name,
        own.home,
        api_base=own.api_base,
        api_key=own.api_key.get_secret_value() if own.api_key else None,
        timeout=own.model_timeout,
        attempts=own.model_attempts,
        slots=own.model_slots,
        prices=own.prices,
    )


def estimate(cell: Cell, texts: Sequence[str]) -> Estimate:
    """What one cell would take; nothing where no model is asked."""
    if cell.asking is None:
        return Estimate()
    own = cell.settings
    pieces = [chunk for text in texts for chunk in chunks(text, own.chunk_words, own.chunk_overlap)]
    return reading(pieces, own.passes * own.votes, own.prompt, load_policy(own.policy), price_of(model_spec(cell)))


def reading(pieces: Sequence[Chunk], times: int, prompt: str, policy: Policy, price: Price | None) -> Estimate:
    """What it takes to ask about each chunk so many times; money None where no price is known."""
    made = load(prompt)
    rendered = made.render([""], asked(policy))
    around = len(rendered.system) + len(rendered.user)
    calls = len(pieces) * times
    tokens_in = (sum(piece.end - piece.start for piece in pieces) * times + calls * around) // CHARACTERS
    tokens_out = calls * REPLY[made.contract]
    return Estimate(calls, tokens_in, tokens_out, None if price is None else price.of(Usage(tokens_in, tokens_out)))


def unpriced(cell: Cell) -> bool:
    """Whether a cell asks a model of which nobody knows the price."""
    return cell.asking is not None and price_of(model_spec(cell)) is None
