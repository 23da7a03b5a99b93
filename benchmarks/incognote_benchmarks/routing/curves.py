"""How much of a model's findings is kept if it reads only the chunks that an ordering puts first.

Four systems are compared, each after the policy has settled its findings:

    embedded    rules and encoder
    alone       only the model, on all chunks
    all         both on all chunks
    routed      rules and encoder everywhere, the model on the chunks whose value reaches a threshold

Characters are letters and digits (`incognote.evaluation.scores`), and types are not compared. A document with
identifiers is "whole" if none of their letters or digits is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import count
from incognote.evaluation.metrics.tally import Column, DocumentTally, Sums
from incognote.extraction.routing import expected
from incognote.nouns import Span
from incognote_benchmarks.routing.material import Part, Read, Reading

Order = Callable[[Read, Part], float]
"""The value of a chunk: how much it is worth sending to the model."""
SYSTEMS = ("embedded", "alone", "all")
_COUNTED = ("gold", "covered", "found", "right", "spans", "touched", "whole", "phi", "leaking")


def by_expectation(read: Read, part: Part) -> float:
    """The router's ordering: the number of identifiers expected to be missed."""
    return expected(read.chances, part.chunk.start, part.chunk.end)


def by_scores(read: Read, part: Part) -> float:
    """The router's former ordering: the sum of the scores of all doubts."""
    start, end = part.chunk.start, part.chunk.end
    return sum(c.score for c in read.chances if c.kind != "alone" and c.start < end and start < c.end)


def by_words(read: Read, part: Part) -> float:
    """Longest first, without any other information."""
    return len(read.gold.text[part.chunk.start : part.chunk.end].split())


@dataclass(frozen=True, slots=True)
class Point:
    """A threshold, and the number of chunks that reach it."""

    threshold: float
    chunks: int


class Curve:
    """Texts with their chunks in one ordering.

    Args:
        reads: the texts whose chunks are sent.
        whole: the same texts in the run that everything is compared with; `reads` if None.
    """

    def __init__(self, reading: Reading, reads: Sequence[Read], whole: Sequence[Read] | None = None) -> None:
        self._reading, self._reads, self._whole = reading, reads, whole or reads
        self._counts: dict[tuple[int, frozenset[int]], Counter[Column]] = {}
        self._fixed = [self._systems(read) for read in self._whole]

    def oracle(self, read: Read, part: Part) -> float:
        """An ordering that needs the gold: the characters that the model adds, per token."""
        text, at = read.gold.text, part.chunk
        gold = _mask(len(text), read.gold.labels)
        before = _mask(len(text), self._reading.settled(read.text, read.raw))
        after = _mask(len(text), self._reading.settled(read.text, (*read.raw, *part.spans)))
        gained = (gold & after & ~before)[at.start : at.end]
        return float(gained.sum()) / part.tokens

    def points(self, order: Order, most: int = 40) -> list[Point]:
        """Thresholds from no chunk to all chunks; at most `most`, evenly spaced by chunks."""
        values = sorted((order(read, part) for read in self._reads for part in read.parts), reverse=True)
        at = sorted({round(i) for i in np.linspace(1, len(values), min(most, len(values)))})
        distinct = {values[i - 1]: None for i in at}
        reached = [Point(value, sum(v >= value for v in values)) for value in distinct]
        return [Point(float("inf"), 0), *reached]

    def point(self, order: Order, threshold: float) -> Point:
        """One threshold as a point."""
        return Point(threshold, sum(order(read, part) >= threshold for read in self._reads for part in read.parts))

    def sums(self, order: Order, points: Sequence[Point], resamples: int) -> Sums:
        """The counts over all texts and over resamples of them, by (system or number of the point, name)."""
        tally = DocumentTally()
        for at, (read, fixed) in enumerate(zip(self._reads, self._fixed, strict=True)):
            counts = Counter(fixed)
            values = [order(read, part) for part in read.parts]
            for number, point in enumerate(points):
                sent = frozenset(i for i, value in enumerate(values) if value >= point.threshold)
                counts.update({(str(number), what): n for (what,), n in self._routed(at, sent).items()})
            tally.add(counts)
        return tally.sums(resamples, seed=0)

    def _routed(self, at: int, sent: frozenset[int]) -> Counter[Column]:
        if (at, sent) not in self._counts:
            read = self._reads[at]
            spans = (*read.raw, *(span for i in sent for span in read.parts[i].spans))
            counts = _counted(read, self._reading.settled(read.text, spans))
            counts["tokens",] = sum(read.parts[i].tokens for i in sent)
            self._counts[at, sent] = counts
        return self._counts[at, sent]

    def _systems(self, read: Read) -> Counter[Column]:
        found = {
            "embedded": read.raw,
            "alone": tuple(span for part in read.parts for span in part.alone),
            "all": (*read.raw, *(span for part in read.parts for span in part.spans)),
        }
        counts: Counter[Column] = Counter()
        for name, spans in found.items():
            counts.update(
                {(name, what): n for (what,), n in _counted(read, self._reading.settled(read.text, spans)).items()}
            )
        counts["all", "tokens"] = sum(part.tokens for part in read.parts)
        counts["all", "documents"] = 1
        return counts


def figures(sums: Sums, system: str) -> dict[str, Any]:
    """The figures of one system: recall of characters, of spans (any character found), and of whole documents, and
    precision; its characters and whole documents as shares of those of the model alone, and of both together; its
    tokens as a share of those of all chunks.
    """

    def share(part: str, whole: str, of: str = "") -> dict[str, Any]:
        return sums.share([(system, part)], [(of or system, whole)]).as_dict()

    return {
        "tokens": share("tokens", "tokens", "all"),
        "recall": share("covered", "gold"),
        "span_recall": share("touched", "spans"),
        "whole_spans": share("whole", "spans"),
        "whole_documents": share("unleaked", "phi"),
        "precision": share("right", "found"),
        "of_alone": share("covered", "covered", "alone"),
        "of_all": share("covered", "covered", "all"),
        "whole_documents_of_alone": share("unleaked", "unleaked", "alone"),
        "whole_documents_of_all": share("unleaked", "unleaked", "all"),
    }


def line(sums: Sums, points: Sequence[Point]) -> list[dict[str, float]]:
    """The curve for a picture: per point, the share of tokens and the ratios of `figures`."""
    made = []
    for name in map(str, range(len(points))):

        def ratio(part: str, whole: str, name: str = name) -> float:
            return round(float(sums.of((name, part))[0] / sums.of((whole, part))[0]), 5)

        made.append(
            {
                "tokens": ratio("tokens", "all"),
                "of_alone": ratio("covered", "alone"),
                "of_all": ratio("covered", "all"),
                "whole_documents_of_all": ratio("unleaked", "all"),
            }
        )
    return made


def _counted(read: Read, found: Sequence[Span]) -> Counter[Column]:
    labels = tuple(LabeledSpan(span.start, span.end, span.type) for span in found)
    counts = count(Pair(read.gold.id, read.gold.text, read.gold.labels, labels), lambda _: True)
    kept: Counter[Column] = Counter({(what,): counts["all", what] for what in _COUNTED})
    kept["unleaked",] = kept["phi",] - kept["leaking",]
    return kept


def _mask(length: int, stretches: Sequence[LabeledSpan] | Sequence[Span]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    mask = np.zeros(length, bool)
    for stretch in stretches:
        mask[stretch.start : stretch.end] = True
    return mask
