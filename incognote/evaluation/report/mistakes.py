"""Misses and false alarms of the systems, in context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import Mask, counted
from incognote.evaluation.report.gathered import Section

Kind = Literal["missed", "partly", "false", "wide"]
KINDS: dict[Kind, str] = {
    "missed": "missed",
    "partly": "found in part",
    "false": "false alarm",
    "wide": "found with extra words",
}
MOST = 1500
"""The maximum number shown per corpus. Misses come before false alarms."""
_AROUND = 70


@dataclass(frozen=True, slots=True)
class Mistake:
    """A gold span with letters or digits left, or a finding that covers some which gold does not mark.

    Attributes:
        document: its id.
        systems: the numbers of the systems that made the mistake.
        before, words, after: the text, which is PHI if the corpus is.
    """

    document: str
    kind: Kind
    type: str
    systems: tuple[int, ...]
    before: str = field(repr=False)
    words: str = field(repr=False)
    after: str = field(repr=False)


def mistakes(section: Section) -> tuple[list[Mistake], int]:
    """The mistakes of all systems, each listed once, and the number beyond `MOST` that is not listed."""
    made: dict[tuple[int, Kind, LabeledSpan], list[int]] = {}
    for system, one in enumerate(section.systems):
        for number, pair in enumerate(one.pairs):
            for kind, label in _of(pair):
                made.setdefault((number, kind, label), []).append(system)
    kinds = list(KINDS)
    ordered = sorted(made, key=lambda key: (kinds.index(key[1]), key[0], key[2]))
    texts = section.systems[0].pairs
    shown = [_shown(texts[number], kind, label, made[number, kind, label]) for number, kind, label in ordered[:MOST]]
    return shown, len(ordered) - len(shown)


def _of(pair: Pair) -> Iterator[tuple[Kind, LabeledSpan]]:
    letters = counted(pair.text)
    found, gold = _covered(pair.found, len(letters)), _covered(pair.gold, len(letters))
    for label in sorted(set(pair.gold)):
        here = letters[label.start : label.end]
        left = here & ~found[label.start : label.end]
        if left.any():
            yield ("missed" if left.sum() == here.sum() else "partly"), label
    for label in sorted(set(pair.found)):
        marked = gold[label.start : label.end]
        if not marked.any():
            yield "false", label
        elif (letters[label.start : label.end] & ~marked).any():
            yield "wide", label


def _covered(labels: tuple[LabeledSpan, ...], length: int) -> Mask:
    mask = np.zeros(length, bool)
    for label in labels:
        mask[label.start : label.end] = True
    return mask


def _shown(pair: Pair, kind: Kind, label: LabeledSpan, systems: list[int]) -> Mistake:
    start, end = max(0, label.start - _AROUND), min(len(pair.text), label.end + _AROUND)
    before = ("…" if start else "") + pair.text[start : label.start]
    after = pair.text[label.end : end] + ("…" if end < len(pair.text) else "")
    return Mistake(pair.id, kind, label.type, tuple(systems), before, pair.text[label.start : label.end], after)
