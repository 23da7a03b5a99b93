"""Rules beside the encoder: what only a weak rule says stands where the encoder does not deny it; who names what.

Rule and encoder err in different places. A rule that is nearly always right keeps its word, the encoder's or not; one
that guesses (a capitalised word that nothing explains) is right too seldom to be believed alone and too often to be
dropped, so the encoder is asked how probable an identifier is there. What it denies is left as a doubt, not removed.
Which rules are weak is measured, not judged: weak.toml, by scripts/weak_rules.py.

Where both find a stretch and call it different things, a weak rule takes the encoder's name, and the encoder a strong
rule's for a number or an address of the net: those are told apart by label and form, which its classes leave to the
rules (encoder/labels.toml). On the development notes the evaluation group is then right for 97.8 % of the mentions
found (n = 2,359; before 95.4 %), on dev-e for 96.7 % (n = 1,012; before 94.2 %): synthetic, and it was chosen on them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Protocol

from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue

DENIED = 0.3
"""What the encoder gives less than this much of a chance, it denies."""


_NUMBERS = frozenset({"ID", "CONTACT"})
_ANY_NUMBER = "GUID"


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


def named(spans: Iterable[Span], learned: Sequence[Span]) -> Iterator[Span]:
    """The spans of rules, then those of the encoder, each by the name that is to be believed; else unchanged.

    Args:
        spans: of rules.
        learned: of the encoder, without its doubts.
    """
    said = list(spans)
    for span in said:
        other = _beside(span, learned) if weak().issuperset(span.sources) else None
        yield span if other is None or _group(other) == _group(span) else replace(span, type=other.type)
    telling = [s for s in said if _group(s) in _NUMBERS and s.type != _ANY_NUMBER and not weak().issuperset(s.sources)]
    for span in learned:
        other = _beside(span, telling) if _group(span) in _NUMBERS else None
        yield span if other is None else replace(span, type=other.type)


def _beside(span: Span, others: Iterable[Span]) -> Span | None:
    """Of the others that overlap a span, the one that shares most with it."""
    shared = [other for other in others if other.start < span.end and span.start < other.end]
    return max(shared, key=lambda o: (min(o.end, span.end) - max(o.start, span.start), o.score, -o.start), default=None)


def _group(span: Span) -> str:
    return catalogue()[span.type].group
