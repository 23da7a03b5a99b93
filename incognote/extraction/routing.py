"""Choose the chunks that a language model reads, by how many documents it would complete for its tokens.

The router estimates for each chunk whether the detectors without a language model left an identifier in it. It uses
three signals:

    doubts          candidates of a detector that were not taken, as the sum of their squared scores. A score below the
                    threshold is not a probability: of what the encoder gives 0.44 a tenth is an identifier, of 0.14 one
                    in 200 (docs/routing.md). The square follows that
    disagreements   findings of only one of rules and encoder, while the other has none there or only a weak one
    words           the length of the chunk: the same doubts in fewer words mean more

The value of a call is the expected number of documents that it completes, per 1,000 tokens. In a document of several
chunks, each chunk counts as a document of its own.

`python -m incognote_benchmarks.routing` fits the constants on development texts, and reports the results
(docs/routing.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from incognote.align.merge import merge
from incognote.extraction.chunks import Chunk, length
from incognote.nouns import Span
from incognote.schemas.policy import Policy

Kind = Literal["doubt", "alone"]
WEIGHTS = (1.46, 1.15, 0.97, -0.63)
"""Of a constant, log(0.01 + doubts), log(1 + disagreements), and log(1 + words), in a logistic model."""
TOKENS = (828, 3.74)
"""The tokens of a call for one chunk: a constant, and for each word, in prompts and replies (`extract/v3`)."""
SHORT = 64
"""In words. Short chunks have a value of their own for each share, since the detectors miss less in them."""
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
VALUES = (
    (0.61, 0.33, 0.23, 0.14, 0.095, 0.043, 0.016, 0.0),
    (0.77, 0.54, 0.47, 0.39, 0.33, 0.22, 0.12, 0.0),
)
"""For each of `SHARES`, the value that a call must have so that this share of the tokens is used on the development
texts: for short chunks, and for others."""
_VOICES = frozenset(("rules", "encoder"))


@dataclass(frozen=True, slots=True)
class Chance:
    """A range of a text near which something may have been missed. The score is a doubt's, or 1 for a disagreement."""

    start: int
    end: int
    kind: Kind
    score: float = 1.0


def chances(raw: Sequence[Span], policy: Policy) -> list[Chance]:
    """Return all doubts and disagreements of one text. Types that the policy does not replace are left out.

    Args:
        raw: the spans of every embedded detector, overlapping and unmerged.
    """
    served = [(s, c.threshold) for s in raw if policy.replaces(s.type) and (c := policy.choice(s.type))]
    taken = merge(span for span, threshold in served if span.score >= threshold)
    doubts = (span for span, threshold in served if span.score < threshold)
    return [*_doubts(doubts, taken), *_alone(taken)]


def signals(among: Iterable[Chance], words: int) -> tuple[float, float, float, float]:
    """Return what `WEIGHTS` multiplies, for a chunk with these doubts and disagreements."""
    doubts, alone = 0.0, 0
    for chance in among:
        if chance.kind == "doubt":
            doubts += chance.score**2
        else:
            alone += 1
    return 1.0, math.log(0.01 + doubts), math.log1p(alone), math.log1p(words)


def value(among: Iterable[Chance], words: int, weights: Sequence[float] = WEIGHTS) -> float:
    """Return the expected number of documents that a call about a chunk completes, per 1,000 tokens.

    Args:
        among: the doubts and disagreements in the chunk.
        words: the length of the chunk.
    """
    odds = sum(weight * signal for weight, signal in zip(weights, signals(among, words), strict=True))
    return 1000 / (1 + math.exp(-odds)) / (TOKENS[0] + TOKENS[1] * words)


def values(
    text: str, parts: Sequence[Chunk], among: Sequence[Chance], weights: Sequence[float] = WEIGHTS
) -> list[float]:
    """Return the value of each chunk of a text. What is partly in a chunk counts for it."""
    inside = ([c for c in among if c.start < part.end and part.start < c.end] for part in parts)
    words = (length(text[part.start : part.end]) for part in parts)
    return [value(some, n, weights) for some, n in zip(inside, words, strict=True)]


def least_value(share: float, words: int) -> float:
    """Return the value that a call must have so that about this share of the tokens is used.

    Args:
        share: 0 to 1.
        words: the length of the chunk.
    """
    known = VALUES[words > SHORT]
    at = max(1, bisect_left(SHARES, share))
    (low, high), (more, less) = SHARES[at - 1 : at + 1], known[at - 1 : at + 1]
    return more + (less - more) * (share - low) / (high - low)


def valuable(text: str, parts: Sequence[Chunk], among: Sequence[Chance], share: float) -> list[Chunk]:
    """Return the chunks of a text that are worth sending.

    Args:
        among: from `chances`.
        share: `models.share` of the policy.
    """
    rated = zip(parts, values(text, parts, among), strict=True)
    return [part for part, worth in rated if worth >= least_value(share, length(text[part.start : part.end]))]


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
