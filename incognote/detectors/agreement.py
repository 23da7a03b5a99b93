"""Rules beside the encoder: what only a weak rule says stands where the encoder does not deny it.

Each alone would have to choose between recall and precision. A rule that is nearly always right keeps its word; one
that guesses (a capitalised word that nothing explains) is asked for a second opinion, which is an ensemble by
reliability as in the i2b2 systems that joined rules and a CRF.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Protocol

from incognote.nouns import Span

DENIED = 0.3
"""What the encoder gives less than this much of a chance, it denies."""


class Opinion(Protocol):
    """What else thinks of a stretch."""

    def sure(self, start: int, end: int) -> float:
        """How probable it is that the stretch holds an identifier, 0 to 1."""
        ...


@cache
def weak() -> frozenset[str]:
    """The rules that need a second opinion, as they stand in a span's `sources`."""
    written = tomllib.loads(files("incognote.detectors").joinpath("weak.toml").read_text(encoding="utf-8"))
    return frozenset(f"rules:{name}" for name in written["rules"])


def agreed(spans: Iterable[Span], opinion: Opinion) -> Iterator[Span]:
    """The spans of rules; of those that only a weak one says and the encoder denies, no more is left than its doubt."""
    for span in spans:
        if weak().issuperset(span.sources):
            chance = opinion.sure(span.start, span.end)
            yield span if chance >= DENIED else replace(span, score=min(span.score, chance))
        else:
            yield span
