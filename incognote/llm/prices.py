"""The cost of calls, from the usage that the provider reports and a price table."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.errors import SettingError
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request, Usage

_RELEASE = re.compile(r"[-@:](?:latest|preview|v?\d+)(?:[-.:@](?:preview|v?\d+))*")
"""The suffixes allowed after a row's name: a date or version.

`gpt-4o-ultra` is another model than `gpt-4o`, with another price.
"""


@dataclass(frozen=True, slots=True)
class Price:
    """Prices in US dollars per million tokens.

    Args:
        input, output: tokens read and written.
        cached: tokens read from the provider's cache.
        as_of: the date on which the vendor published this; None for a free model.
    """

    input: float
    output: float
    cached: float
    as_of: date | None = None

    def of(self, usage: Usage) -> float:
        """Return the US dollars for the tokens of a call."""
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * self.cached + usage.output * self.output) / 1_000_000


FREE = Price(0.0, 0.0, 0.0)
"""The price of a model on this machine."""


class Prices:
    """Prices by model name. If several rows match, the longest name wins.

    Args:
        rows: prices by vendor and model.
    """

    def __init__(self, rows: Mapping[str, Price]) -> None:
        self._rows = dict(rows)

    @classmethod
    def load(cls, own: Path | None = None) -> Prices:
        """Load the shipped table, overridden row by row by the user's file.

        Raises:
            SettingError: the file cannot be read, or a row is malformed. The message names the row.
        """
        rows = _rows((files("incognote.llm") / "prices.toml").read_text(encoding="utf-8"))
        if own is not None:
            try:
                rows |= _rows(own.expanduser().read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
                raise SettingError("prices: the file cannot be read as TOML.") from None
        return cls(rows)

    def of(self, model: str) -> Price | None:
        """Return the price of a model; None if it is unknown. A wrong price would be worse than none."""
        fitting = [
            name for name in self._rows if model == name or (
                model.startswith(name) and _RELEASE.fullmatch(model, len(name))
            )
        ]  # fmt: skip
        return self._rows[max(fitting, key=len)] if fitting else None

    def __len__(self) -> int:
        return len(self._rows)


class Priced(ModelWrapper):
    """Adds the cost to each reply.

    Args:
        model: the inner model.
        price: its price; None leaves the cost unknown.
    """

    def __init__(self, model: LanguageModel, price: Price | None) -> None:
        super().__init__(model)
        self._price = price

    async def complete(self, request: Request) -> Reply:
        """Answer, with the cost."""
        reply = await self._model.complete(request)
        usd = None if self._price is None else self._price.of(reply.usage)
        return replace(reply, usage=replace(reply.usage, usd=usd))


def _rows(text: str) -> dict[str, Price]:
    models = tomllib.loads(text).get("models", {})
    if not isinstance(models, dict):
        raise SettingError("prices: [models] must be a table of rows.")
    return {name: _price(name, row) for name, row in models.items()}


def _price(name: str, row: Any) -> Price:
    try:
        charged = float(row["input"]), float(row["output"]), float(row.get("cached", row["input"]))
        as_of = row["as_of"]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise SettingError(f"prices: {name}: a row needs input, output, and as_of; cached is optional.") from None
    if not isinstance(as_of, date) or min(charged) < 0:
        raise SettingError(f"prices: {name}: as_of must be a date, and prices must not be negative.")
    return Price(*charged, as_of)
