"""What is taken from notes that hold nothing to take.

A note is free of PHI when its gold has no label of any type. Whatever is found there is too much: no type is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import count, group
from incognote.evaluation.intervals import Figure, share
from incognote.evaluation.metrics.scheme import fitting
from incognote.evaluation.metrics.tally import RESAMPLES, Column, Tally


@dataclass(frozen=True, slots=True)
class OverRedaction:
    """Over the documents free of PHI.

    Attributes:
        documents: the share in which anything was found (Wilson's interval).
        characters: the share of their letters and digits that was found (bootstrap over documents).
        types: findings per evaluation group, most frequent first.
    """

    documents: Figure
    characters: Figure
    types: Mapping[str, int]


def over_redaction(pairs: Iterable[Pair], *, resamples: int = RESAMPLES, seed: int = 0) -> OverRedaction:
    """What was taken from the documents without gold; the others are passed over.

    Raises:
        UsageError: no document is free of PHI.
        ImpossibleSpan: a finding does not fit its text.
    """
    tally = Tally()
    types: Counter[str] = Counter()
    touched = 0
    for pair in pairs:
        if pair.gold:
            continue
        found = list(fitting(pair.found, len(pair.text), "found"))
        counts = count(pair, lambda _: True)
        here: dict[Column, int] = {(what,): counts["clean", what] for what in ("characters", "found")}
        tally.add(here)
        touched += bool(found)
        types.update(group(label.type) for label in found)
    if not len(tally):
        raise UsageError("over-redaction is measured on documents without PHI, and the gold has none")
    sums = tally.sums(resamples, seed)
    return OverRedaction(
        share(touched, len(tally)), sums.share([("found",)], [("characters",)]), dict(types.most_common())
    )
