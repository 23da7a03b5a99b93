"""How much of a model's findings is kept if it reads only the chunks that an ordering puts first.

Four systems are compared, each after the policy has settled its findings:

    embedded    rules and encoder
    alone       only the model, on all chunks
    all         both on all chunks
    routed      rules and encoder everywhere, the model on some chunks

Characters are letters and digits (`incognote.evaluation.scores`), and types are not compared. A document with
identifiers is "whole" if none of their letters or digits is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import count
from incognote.evaluation.metrics.tally import Column, DocumentTally, Sums
from incognote.extraction.chunks import length
from incognote.extraction.need import MISSED
from incognote.extraction.routing import WEIGHTS, least_value, values
from incognote_benchmarks.routing.material import Read, Reading

Order = Callable[[Read], Sequence[float]]
"""The value of each chunk of a text."""
Plan = Sequence[frozenset[int]]
"""For each text, the chunks that are sent."""
SYSTEMS = ("embedded", "alone", "all")
_COUNTED = ("gold", "covered", "found", "right", "phi", "leaking")


def by_value(weights: Mapping[str, Sequence[float]]) -> Order:
    """The router's ordering.

    Args:
        weights: by the id of a text. Others get the weights in use.
    """

    def order(read: Read) -> list[float]:
        parts = [part.chunk for part in read.parts]
        return values(read.gold.text, parts, read.chances, weights.get(read.gold.id, WEIGHTS))

    return order


def by_doubts(read: Read) -> list[float]:
    """The router's former ordering: expected missed identifiers, whatever the length."""
    inside = ([c for c in read.chances if c.start < p.chunk.end and p.chunk.start < c.end] for p in read.parts)
    return [sum(MISSED[c.kind] * c.score**2 for c in some) for some in inside]


def by_words(read: Read) -> list[float]:
    """The longest chunks first, without any other information."""
    return [length(read.gold.text[part.chunk.start : part.chunk.end]) for part in read.parts]


class Outcomes:
    """What is found in texts if some of their chunks are sent. Each combination is counted once."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._counts: dict[tuple[str, frozenset[int] | None], Counter[str]] = {}

    def counts(self, read: Read, sent: frozenset[int] | None) -> Counter[str]:
        """The counts of one text.

        Args:
            sent: the chunks that the model reads; None for the model alone.
        """
        key = read.gold.id, sent
        if key not in self._counts:
            settled = self.reading.alone(read) if sent is None else self.reading.combined(read, sent)
            labels = tuple(LabeledSpan(span.start, span.end, span.type) for span in settled)
            counted = count(Pair(read.gold.id, read.gold.text, read.gold.labels, labels), lambda _: True)
            made = Counter({what: counted["all", what] for what in _COUNTED})
            made["whole"] = made["phi"] - made["leaking"]
            made["tokens"] = sum(read.parts[i].tokens for i in (range(len(read.parts)) if sent is None else sent))
            self._counts[key] = made
        return self._counts[key]

    def gained(self, read: Read) -> int:
        """1 if the text is whole only if all of its chunks are sent; -1 if it is whole only if none is; 0 otherwise."""
        return self.counts(read, frozenset(range(len(read.parts))))["whole"] - self.counts(read, frozenset())["whole"]

    def oracle(self, read: Read) -> list[float]:
        """An ordering that needs the gold: texts that become whole first, then those that gain the most characters.

        Of a text, the chunks that gain nothing come last.
        """
        before, after = self.counts(read, frozenset()), self.counts(read, frozenset(range(len(read.parts))))
        useful = [self.counts(read, frozenset((i,)))["covered"] > before["covered"] for i in range(len(read.parts))]
        tokens = sum(part.tokens for part, some in zip(read.parts, useful, strict=True) if some)
        gain = self.gained(read) + (after["covered"] - before["covered"]) / 1000
        return [gain / tokens if some else -1.0 for some in useful]

    def oracle_by_characters(self, read: Read) -> list[float]:
        """An ordering that needs the gold: the chunks that gain the most characters for their tokens."""
        before = self.counts(read, frozenset())["covered"]
        return [(self.counts(read, frozenset((i,)))["covered"] - before) / p.tokens for i, p in enumerate(read.parts)]

    def sums(self, reads: Sequence[Read], plans: Mapping[str, Plan], resamples: int) -> Sums:
        """The counts over all texts and over resamples of them, by (system or name of the plan, count)."""
        tally = DocumentTally()
        for at, read in enumerate(reads):
            every = frozenset(range(len(read.parts)))
            sent = {"embedded": frozenset[int](), "all": every, "alone": None, **{n: p[at] for n, p in plans.items()}}
            row: Counter[Column] = Counter()
            for name, chosen in sent.items():
                row.update({(name, what): n for what, n in self.counts(read, chosen).items()})
            tally.add(row)
        return tally.sums(resamples, seed=0)


def within(reads: Sequence[Read], order: Order, share: float) -> Plan:
    """Send the most valuable chunks that together take at most this share of all tokens."""
    rated = [(worth, at, i) for at, read in enumerate(reads) for i, worth in enumerate(order(read))]
    left = share * sum(part.tokens for read in reads for part in read.parts)
    sent: list[set[int]] = [set() for _ in reads]
    for _, at, i in sorted(rated, key=lambda each: each[0], reverse=True):
        left -= reads[at].parts[i].tokens
        if left < 0:
            break
        sent[at].add(i)
    return [frozenset(each) for each in sent]


def routed(reads: Sequence[Read], order: Order, share: float) -> Plan:
    """Send what the router sends with this setting of `models.share`."""
    return [
        frozenset(
            i
            for i, (worth, words) in enumerate(zip(order(read), by_words(read), strict=True))
            if worth >= least_value(share, int(words))
        )
        for read in reads
    ]


def figures(sums: Sums, system: str) -> dict[str, Any]:
    """The figures of one system: its tokens as a share of those of all chunks, recall of characters, its characters as
    a share of those of the model alone and of all three, the share of the documents with identifiers that are whole,
    and precision.
    """

    def share(part: str, whole: str, of: str = "") -> dict[str, Any]:
        return sums.share([(system, part)], [(of or system, whole)]).as_dict()

    return {
        "tokens": share("tokens", "tokens", "all"),
        "recall": share("covered", "gold"),
        "of_alone": share("covered", "covered", "alone"),
        "of_all": share("covered", "covered", "all"),
        "whole": share("whole", "phi"),
        "precision": share("right", "found"),
    }
