"""What the cells that are still to be run would take, before anything is asked.

A token is four characters. Each vote of each pass over each chunk counts as one call; a pass that finds nothing is the
last, chunks are halved where a model balks, and what the recording holds is not paid again, so it is a guess that errs
on the high side where passes are many. A reply is taken for as long as those we recorded were on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from incognote.evaluation.experiments.cell import Cell
from incognote.extraction.chunks import chunks
from incognote.llm.base import Usage
from incognote.llm.opening import ModelSpec, price_of
from incognote.prompts.loader import load
from incognote.prompts.types import asked
from incognote.schemas.policy import load_policy

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
    prompt, length = _prompt(own.prompt, own.policy)
    sizes = [c.end - c.start for text in texts for c in chunks(text, own.chunk_words, own.chunk_overlap)]
    times = own.passes * own.votes
    calls = len(sizes) * times
    tokens_in = (sum(sizes) * times + calls * length) // CHARACTERS
    tokens_out = calls * REPLY[prompt]
    price = price_of(model_spec(cell))
    usd = None if price is None else price.of(Usage(tokens_in, tokens_out))
    return Estimate(calls, tokens_in, tokens_out, usd)


@cache
def _prompt(name: str, policy: str) -> tuple[int, int]:
    """A prompt's contract, and the characters of a request around its text."""
    prompt = load(name)
    rendered = prompt.render([""], asked(load_policy(policy)))
    return prompt.contract, len(rendered.system) + len(rendered.user)


def unpriced(cell: Cell) -> bool:
    """Whether a cell asks a model of which nobody knows the price."""
    return cell.asking is not None and price_of(model_spec(cell)) is None
