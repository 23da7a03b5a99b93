"""What is counted of one document: characters, spans, and whether anything leaked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from incognote.evaluation.corpus import Label, Pair
from incognote.schemas.catalogue import catalogue

Mask = NDArray[np.bool_]
Column = tuple[str, str]
"""A slice ("all", "clean", "group PERSON", "type PATIENT") and what is counted in it."""


def group(type_: str) -> str:
    """The evaluation group of a type; a type outside the catalogue is a group of its own."""
    return catalogue()[type_].group if type_ in catalogue() else type_


def lineage(type_: str) -> tuple[str, ...]:
    """The type and its ancestors; a type outside the catalogue has none."""
    return catalogue().lineage(type_) if type_ in catalogue() else (type_,)


def count(pair: Pair, chosen: Callable[[str], bool]) -> Counter[Column]:
    """The counts of one document.

    Args:
        chosen: which types are scored.

    Returns:
        Under "all": documents and characters; of the chosen gold its characters (gold), those in anything found
        (covered), its spans, those touched and those wholly covered (whole), and 1 each where there is gold (phi),
        where a character of it is left (leaking) and where a whole span is left (missing); of the chosen findings their
        characters (found) and those in any gold (right). Under "clean", for a document without any gold: documents,
        characters, found, and 1 where anything is found (touched). Per group and type: gold, covered, spans, touched,
        whole, found, right, and the gold characters found under a type that agrees (typed).
    """
    marks = _Marks(pair)
    counts: Counter[Column] = Counter()
    gold = [label for label in pair.gold if chosen(label.type)]
    found = [label for label in pair.found if chosen(label.type)]
    marks.count(counts, "all", gold, found)
    counts["all", "documents"] = 1
    counts["all", "characters"] = int(marks.counted.sum())
    counts["all", "phi"] = int(bool(gold))
    counts["all", "leaking"] = int(counts["all", "covered"] < counts["all", "gold"])
    counts["all", "missing"] = int(counts["all", "touched"] < counts["all", "spans"])
    if not pair.gold:
        counts["clean", "documents"] = 1
        counts["clean", "characters"] = counts["all", "characters"]
        counts["clean", "found"] = counts["all", "found"]
        counts["clean", "touched"] = int(bool(found))
    for one in {group(label.type) for label in (*gold, *found)}:
        here, there = ([x for x in labels if group(x.type) == one] for labels in (gold, found))
        marks.count(counts, f"group {one}", here, there)
        counts[f"group {one}", "typed"] = marks.shared(here, there)
    for one in {label.type for label in (*gold, *found)}:
        here, there = ([x for x in labels if x.type == one] for labels in (gold, found))
        kin = [x for x in found if one in lineage(x.type) or x.type in lineage(one)]
        marks.count(counts, f"type {one}", here, there)
        counts[f"type {one}", "typed"] = marks.shared(here, kin)
    return counts


class _Marks:
    """The characters of one text that count, and which of them labels cover."""

    def __init__(self, pair: Pair) -> None:
        self.counted: Mask = np.fromiter(map(str.isalnum, pair.text), bool, len(pair.text))
        self._anything = self._raw(pair.found)
        self._found = self._anything & self.counted
        self._gold = self._raw(pair.gold) & self.counted

    def _raw(self, labels: Sequence[Label]) -> Mask:
        mask = np.zeros(len(self.counted), bool)
        for label in labels:
            mask[label.start : label.end] = True
        return mask

    def shared(self, gold: Sequence[Label], found: Sequence[Label]) -> int:
        """The counted characters that lie in both."""
        return int((self._raw(gold) & self._raw(found) & self.counted).sum())

    def count(self, counts: Counter[Column], name: str, gold: Sequence[Label], found: Sequence[Label]) -> None:
        """The counts that every slice has, for the gold and the findings that belong to it."""
        there, taken = self._raw(gold) & self.counted, self._raw(found) & self.counted
        left = there & ~self._found
        counts[name, "gold"] = int(there.sum())
        counts[name, "covered"] = int((there & self._found).sum())
        counts[name, "found"] = int(taken.sum())
        counts[name, "right"] = int((taken & self._gold).sum())
        counts[name, "spans"] = len(gold)
        touched = [label for label in gold if self._anything[label.start : label.end].any()]
        counts[name, "touched"] = len(touched)
        counts[name, "whole"] = sum(not left[label.start : label.end].any() for label in touched)
