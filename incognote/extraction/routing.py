"""Find the places where the detectors without a language model are likely to have missed something.

There are two signals. Each is measured as the number of identifiers that were probably missed:

    doubt     a candidate of a detector that was not taken. Its score is not a probability, since scores are
              calibrated on what was taken. Of what the encoder gives 0.44 a fifth is an identifier, of 0.14 one in
              a hundred (docs/measured/routing.md). The square of the score follows that
    alone     a finding of only one of rules and encoder, while the other has none there or only a weak one. Texts in
              which they disagree are those in which both err

The weights are fitted on development texts by `incognote_benchmarks.routing`, which also reports the results
(docs/routing.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from incognote.align.merge import merge
from incognote.nouns import Span
from incognote.schemas.policy import Policy

Kind = Literal["doubt", "alone"]
WORTH: dict[Kind, float] = {"doubt": 0.2, "alone": 0.15}
"""The number of missed identifiers per square of a doubt's score, and per disagreement."""
_VOICES = frozenset(("rules", "encoder"))


@dataclass(frozen=True, slots=True)
class Chance:
    """A range of a text near which something may have been missed. The score is a doubt's, or 1 for a disagreement."""

    start: int
    end: int
    kind: Kind
    score: float = 1.0

    @property
    def signal(self) -> float:
        """The value that `WORTH` multiplies."""
        return self.score**2

    @property
    def missed(self) -> float:
        """The expected number of missed identifiers."""
        return WORTH[self.kind] * self.signal


def chances(raw: Sequence[Span], policy: Policy) -> list[Chance]:
    """Return all doubts and disagreements of one text. Types that the policy does not replace are left out.

    Args:
        raw: the spans of every embedded detector, overlapping and unmerged.
    """
    served = [(s, c.threshold) for s in raw if policy.replaces(s.type) and (c := policy.choice(s.type))]
    taken = merge(span for span, threshold in served if span.score >= threshold)
    doubts = (span for span, threshold in served if span.score < threshold)
    return [*_doubts(doubts, taken), *_alone(taken)]


def expected(among: Iterable[Chance], start: int, end: int) -> float:
    """Return the expected number of missed identifiers in a range."""
    return sum(chance.missed for chance in among if chance.start < end and start < chance.end)


def _doubts(doubts: Iterable[Span], taken: Sequence[Span]) -> list[Chance]:
    """Return the doubts outside all findings. Several that overlap are about the same thing, and make one chance."""
    starts = [span.start for span in taken]
    united: list[Chance] = []
    for span in sorted(doubts, key=lambda s: (s.start, s.end)):
        before = bisect_left(starts, span.end)
        if before and taken[before - 1].end > span.start:
            continue
        if united and span.start < united[-1].end:
            last = united.pop()
            united.append(Chance(last.start, max(last.end, span.end), "doubt", max(last.score, span.score)))
        else:
            united.append(Chance(span.start, span.end, "doubt", span.score))
    return united


def _alone(taken: Sequence[Span]) -> Iterator[Chance]:
    """Yield what one of the two found alone, or the only one that ran. Known identifiers need no confirmation."""
    for span in taken:
        voices = {source.partition(":")[0] for source in span.sources}
        if len(voices) == 1 and voices < _VOICES:
            yield Chance(span.start, span.end, "alone")
