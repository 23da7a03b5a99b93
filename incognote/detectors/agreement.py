"""Rules beside the encoder: where one of them is unsure it needs the other's word; who names what.

Rule and encoder err in different places. A rule that is nearly always right keeps its word, the encoder's or not; one
that guesses (a capitalised word that nothing explains) is right too seldom to be believed alone and too often to be
dropped, so the encoder is asked how probable an identifier is there. What it denies is left as a doubt, not removed.
Which rules are weak is measured, not judged: weak.toml, by benchmarks/scripts/weak_rules.py.

The encoder's own finding is as right as its score says only where the score is high: what no rule shares is the
likeliest of thousands of words. So it needs a score of at least ALONE, by the group of its type; and short capitals or
a short number, mostly abbreviations and measurements, one of at least BARE. Below, it is a doubt. The lines are the
highest, in steps of 0.05, below which at most one such finding in ten is right. In the same way a rule that is not weak
loses its word only where the encoder gives it next to no chance. All of it was chosen on notes, dev-e, dev-f and dev-g.

Where both find a stretch and call it different things, a weak rule takes the encoder's name, and the encoder a strong
rule's for a number or an address of the net: those are told apart by label and form, which its classes leave to the
rules (encoder/labels.toml). The evaluation group is then right for 97 to 98 % of what is found
(docs/measured/detection.md).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from incognote.detectors import PASSED
from incognote.detectors.rules.lexicon import fold
from incognote.languages import language
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue

if TYPE_CHECKING:  # it loads numpy
    from incognote.detectors.encoder.decoding import EncoderReading

DENIED = 0.3
"""What a weak rule says and the encoder gives less than this much of a chance, it denies."""
DENIED_FLATLY, CERTAIN = 0.1, 0.8
"""Of another rule it denies less: what it gives next to no chance, and no number, nothing of a rule so CERTAIN, nothing
that a site's own pack says."""
ALONE = {"LOCATION": 0.75, "PROFESSION": 0.7}
ALONE_ELSE = 0.65
BARE = 0.85
"""The least score of what the encoder alone finds: per evaluation group, of any other, and of what is bare."""
_BARE = re.compile(r"[A-Z]{1,6}|\d{1,3}")

_NUMBERS = frozenset({"ID", "CONTACT"})
_ANY_NUMBER = "GUID"


@cache
def weak() -> frozenset[str]:
    """The rules that need a second opinion, as they stand in a span's `sources`."""
    written = language().table("rules", "weak.toml")
    return frozenset(f"rules:{name}" for name in written["rules"])


def agreed(spans: Iterable[Span], opinion: EncoderReading) -> Iterator[Span]:
    """The spans of rules; of those that the encoder denies, no more is left than its doubt."""
    for span in spans:
        chance = opinion.sure(span.start, span.end)
        yield replace(span, score=min(span.score, chance)) if chance < _denied(span) else span


def _denied(span: Span) -> float:
    if weak().issuperset(span.sources):
        return DENIED
    firm = span.score >= CERTAIN or _group(span) in _NUMBERS or not all(s.startswith("rules:") for s in span.sources)
    return 0.0 if firm else DENIED_FLATLY


def supported(learned: Iterable[Span], said: Sequence[Span]) -> Iterator[Span]:
    """The spans of the encoder; of those that no rule shares and that are not sure enough, no more than a doubt.

    Args:
        said: the spans of rules, the doubtful too.
    """
    beside = _Beside(said)
    for span in learned:
        line = BARE if _BARE.fullmatch(span.text) else ALONE.get(_group(span), ALONE_ELSE)
        alone = (span.score < line or _eponym(span)) and beside(span) is None
        yield replace(span, score=min(span.score, PASSED)) if alone else span


def _eponym(span: Span) -> bool:
    return fold(span.text) in _never_names()


def named(spans: Iterable[Span], learned: Sequence[Span]) -> Iterator[Span]:
    """The spans of rules, then those of the encoder, each by the name that is to be believed; else unchanged.

    Args:
        spans: of rules.
        learned: of the encoder, without what its path passed over.
    """
    said, beside = list(spans), _Beside(learned)
    for span in said:
        other = beside(span) if weak().issuperset(span.sources) else None
        yield span if other is None or _group(other) == _group(span) else replace(span, type=other.type)
    telling = [s for s in said if _group(s) in _NUMBERS and s.type != _ANY_NUMBER and not weak().issuperset(s.sources)]
    beside = _Beside(telling)
    for span in learned:
        other = beside(span) if _group(span) in _NUMBERS else None
        yield span if other is None else replace(span, type=other.type)


class _Beside:
    """Of some spans that overlap a given one, the one that shares most with it; time grows with what overlaps."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]
        self._reach = list(accumulate((span.end for span in self._spans), max))  # the furthest end up to each

    def __call__(self, span: Span) -> Span | None:
        shared: list[Span] = []
        at = bisect_left(self._starts, span.end) - 1
        while at >= 0 and self._reach[at] > span.start:
            if self._spans[at].end > span.start:
                shared.append(self._spans[at])
            at -= 1
        shared.reverse()  # the first of equals is taken
        return max(
            shared, key=lambda o: (min(o.end, span.end) - max(o.start, span.start), o.score, -o.start), default=None
        )


def _group(span: Span) -> str:
    return catalogue()[span.type].group


@cache
def _never_names() -> frozenset[str]:
    """Words and pairs of words that are nobody's name, folded, as the language's rules say."""
    rules = language().part("rules")
    return rules.never_names() if rules is not None else frozenset()
