"""Rules beside the encoder: what only a weak rule says stands where the encoder does not deny it.

Rule and encoder err in different places. A rule that is nearly always right keeps its word, the encoder's or not; one
that guesses (a capitalised word that nothing explains) is right too seldom to be believed alone and too often to be
dropped, so the encoder is asked how probable an identifier is there. What it denies is left as a doubt, not removed.
Which rules are weak is measured, not judged: weak.toml, by scripts/weak_rules.py.
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
