"""The counts of one document: characters, spans, and whether anything leaked.

`Scheme` chooses which labels are compared, and under which names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from incognote.errors import ImpossibleSpan, UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan, Pair
from incognote.schemas.catalogue import catalogue

Mask = NDArray[np.bool_]
Stretches = list[tuple[int, int]]
Column = tuple[str, ...]
"""A slice ("all", "clean", "group PERSON", "type PATIENT") and the name of a count in it; `tally` sums them."""


@lru_cache(4096)
def group(type_: str) -> str:
    """The evaluation group of a type. A type outside the catalogue is its own group."""
    return catalogue()[type_].group if type_ in catalogue() else type_


@lru_cache(4096)
def lineage(type_: str) -> tuple[str, ...]:
    """The type and its ancestors; a type outside the catalogue has none."""
    return catalogue().lineage_or_self(type_)


def count(pair: Pair, chosen: Callable[[str], bool]) -> Counter[Column]:
    """Count one document.

    Args:
        chosen: which types are scored.

    Returns:
        Under "all": documents and characters. For the chosen gold: its characters (gold), those inside any finding
        (covered), its spans, the spans touched, and the spans covered completely (whole). Also 1 each if there is gold
        (phi), if a character of it is left (leaking), and if a whole span is left (missing). For the chosen findings:
        their characters (found) and those inside any gold (right). Under "clean", for a document without any gold:
        documents, characters, found, and 1 if anything is found (touched). Per group and type: gold, covered, spans,
        touched, whole, found, right, and the gold characters found under a type that agrees (typed).
    """
    marks = _Marks(pair)
    counts: Counter[Column] = Counter()
    gold = [label for label in pair.gold if chosen(label.type)]
    found = [label for label in pair.found if chosen(label.type)]
    marks.count(counts, "all", gold, found)
    counts["all", "documents"] = 1
    counts["all", "characters"] = marks.characters
    counts["all", "phi"] = int(bool(gold))
    counts["all", "leaking"] = int(counts["all", "covered"] < counts["all", "gold"])
    counts["all", "missing"] = int(counts["all", "touched"] < counts["all", "spans"])
    if not pair.gold:
        counts["clean", "documents"] = 1
        counts["clean", "characters"] = counts["all", "characters"]
        counts["clean", "found"] = counts["all", "found"]
        counts["clean", "touched"] = int(bool(found))
    here, there = _sorted_by(gold, group), _sorted_by(found, group)
    for one in here.keys() | there.keys():
        marked, taken = marks.count(counts, f"group {one}", here[one], there[one])
        counts[f"group {one}", "typed"] = marks.shared(marked, taken)
    here, there = _sorted_by(gold, str), _sorted_by(found, str)
    for one in here.keys() | there.keys():
        marked, taken = marks.count(counts, f"type {one}", here[one], there[one])
        if marked:
            kin = [other for other in there if other != one and (one in lineage(other) or other in lineage(one))]
            alike = _united([x for other in (one, *kin) for x in there[other]]) if kin else taken
            counts[f"type {one}", "typed"] = marks.shared(marked, alike)
    return counts


def counted(text: str) -> Mask:
    """A mask with one entry per code point: True if it is a letter or a digit (`str.isalnum`)."""
    mask: Mask = _alphanumeric()[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")]
    return mask


@cache
def _alphanumeric() -> Mask:
    """The same mask for every Unicode code point."""
    return np.fromiter((chr(code).isalnum() for code in range(0x110000)), bool, 0x110000)


def _sorted_by(labels: Iterable[LabeledSpan], key: Callable[[str], str]) -> defaultdict[str, list[LabeledSpan]]:
    """Group labels by `key` of their types."""
    sorted_: defaultdict[str, list[LabeledSpan]] = defaultdict(list)
    for label in labels:
        sorted_[key(label.type)].append(label)
    return sorted_


class _Marks:
    """Prefix sums over one text: the characters that count, and those that labels cover."""

    def __init__(self, pair: Pair) -> None:
        self._counted = counted(pair.text)
        found, gold = self._mask(pair.found), self._mask(pair.gold)
        self._characters = _summed(self._counted)
        self._in_found = _summed(found & self._counted)
        self._in_gold = _summed(gold & self._counted)
        self._touched = _summed(found)  # any character, so that a span of punctuation only can be touched

    @property
    def characters(self) -> int:
        return self._characters[-1]

    def _mask(self, labels: Iterable[LabeledSpan]) -> Mask:
        mask = np.zeros(len(self._counted), bool)
        for label in labels:
            mask[label.start : label.end] = True
        return mask

    def shared(self, one: Stretches, other: Stretches) -> int:
        """The number of counted characters that are in both."""
        total = i = j = 0
        while i < len(one) and j < len(other):
            start, end = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
            if start < end:
                total += self._characters[end] - self._characters[start]
            if one[i][1] <= other[j][1]:
                i += 1
            else:
                j += 1
        return total

    def count(
        self, counts: Counter[Column], name: str, gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan]
    ) -> tuple[Stretches, Stretches]:
        """Add the counts that every slice has, for its gold and findings. Return the stretches that these cover."""
        marked, taken = _united(gold), _united(found)
        counts[name, "gold"] = _over(marked, self._characters)
        counts[name, "covered"] = _over(marked, self._in_found)
        counts[name, "found"] = _over(taken, self._characters)
        counts[name, "right"] = _over(taken, self._in_gold)
        counts[name, "spans"] = len(gold)
        for start, end, _ in gold:
            if self._touched[end] > self._touched[start]:
                counts[name, "touched"] += 1
                left = (self._characters[end] - self._characters[start]) - (self._in_found[end] - self._in_found[start])
                counts[name, "whole"] += left == 0
        return marked, taken


def _summed(mask: Mask) -> list[int]:
    """Prefix sums: how many are set before each position, then the total."""
    sums: list[int] = [0, *np.cumsum(mask).tolist()]
    return sums


def _united(labels: Sequence[LabeledSpan]) -> Stretches:
    """The stretches that labels cover, disjoint and in order."""
    stretches: Stretches = []
    for start, end, _ in sorted(labels):
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(end, stretches[-1][1])
        else:
            stretches.append((start, end))
    return stretches


def _over(stretches: Stretches, sums: Sequence[int]) -> int:
    total = 0
    for start, end in stretches:
        total += sums[end] - sums[start]
    return total


UNTYPED = "PHI"
"""The type of a finding whose system names none (a "[REDACTED]"). It counts as right in untyped scores, never in
typed scores."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """Which labels of a corpus are scored, and under which names.

    Attributes:
        scored: the names that are scored, normally those that the gold uses. A finding of any other name is left out,
            because nothing was annotated that it could match.
        by: maps a type to the name that is compared: its evaluation group (the seven of the RedactOR paper, §4.1, and
            OTHER), or `str` for the types as they are written.
    """

    scored: frozenset[str]
    by: Callable[[str], str] = group

    @classmethod
    def of(
        cls, documents: Iterable[Gold | Pair], by: Callable[[str], str] = group, only: Collection[str] = ()
    ) -> Scheme:
        """The scheme of a corpus: the names that its gold uses, limited to those in `only` if given.

        Raises:
            UsageError: the gold holds no label that would be scored.
        """
        used = {
            by(label.type)
            for document in documents
            for label in (document.labels if isinstance(document, Gold) else document.gold)
        }
        scored = frozenset(used & set(only) if only else used)
        if not scored:
            asked = f" of {', '.join(sorted(only))}" if only else ""
            raise UsageError(f"No gold, no score: the corpus has no label{asked}.")
        return cls(scored, by)

    def gold(self, pair: Pair) -> list[LabeledSpan]:
        """The gold labels that are scored, renamed, without duplicates, in the order of the text.

        Raises:
            ImpossibleSpan: a gold label does not fit its text or holds only white space. It is never treated as
                "nothing here". To leave out such a document, call this before scoring it.
        """
        for start, end, _ in pair.gold:
            if 0 <= start < end and pair.text[start:end].isspace():
                raise ImpossibleSpan(f"The gold label {start}..{end} covers only blanks.")
        return self._named(pair.gold, len(pair.text), self.scored, "gold")

    def found(self, pair: Pair) -> list[LabeledSpan]:
        """The findings that are scored, including those without a type, in the order of the text.

        Raises:
            ImpossibleSpan: a finding does not fit its text.
        """
        return self._named(pair.found, len(pair.text), self.scored | {UNTYPED}, "found")

    def _named(
        self, labels: Iterable[LabeledSpan], length: int, names: Collection[str], side: str
    ) -> list[LabeledSpan]:
        labels = fitting(labels, length, side)
        return sorted({LabeledSpan(s, e, name) for s, e, type_ in labels if (name := self.by(type_)) in names})


def fitting(labels: Iterable[LabeledSpan], length: int, side: str) -> Iterable[LabeledSpan]:
    """Check labels against the length of their text and yield them.

    Raises:
        ImpossibleSpan: a label is empty or extends beyond the text. The message holds offsets only.
    """
    for label in labels:
        if not 0 <= label.start < label.end <= length:
            raise ImpossibleSpan(
                f"A {side} label {label.start}..{label.end} does not fit a text of {length} characters."
            )
        yield label
