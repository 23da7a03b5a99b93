"""How far two annotators agree beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import Label, Pair
from incognote.evaluation.counts import group
from incognote.evaluation.intervals import Counts, Figure
from incognote.evaluation.metrics.scheme import fitting
from incognote.evaluation.metrics.tally import RESAMPLES, Column, Sums, Tally, ratio
from incognote.evaluation.metrics.tokens import painted, tokens

_NONE = "O"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa (Cohen 1960) over tokens.

    Attributes:
        tokens: of all texts together.
        kappa: over types and "nothing".
        blind: over marked and not marked.
        observed: the share of tokens on which the two agree, types included.

    A kappa is None where chance alone agrees wholly: both marked nothing, or everything alike.
    """

    tokens: int
    kappa: Figure
    blind: Figure
    observed: Figure


def agreement(
    pairs: Iterable[Pair], *, by: Callable[[str], str] = group, resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """The agreement of two annotators (or two systems): the `gold` and the `found` of each pair, neither the better.

    Tokens are those of `tokens`, cut at the boundaries of both; a token within overlapping labels has the shortest's.

    Args:
        by: what types are compared as, as in `Scheme`.

    Raises:
        UsageError: there is no document, or no token.
        ImpossibleSpan: a label does not fit its text, or holds nothing but blanks.
    """
    tally = Tally()
    names = {_NONE}
    for pair in pairs:
        one, other = (
            sorted({Label(s, e, by(t)) for s, e, t in fitting(labels, len(pair.text), "annotator's")})
            for labels in (pair.gold, pair.found)
        )
        names.update(label.type for label in (*one, *other))
        tally.add(count_agreement(pair.text, one, other))
    sums = tally.sums(resamples, seed)
    all_: list[Column] = [(a, b) for a in names for b in names]
    if not sums.total(*all_):
        raise UsageError("no token, no agreement: the texts hold neither letters nor digits")
    n = sums.of(*all_)
    agree = sums.of(*((name, name) for name in names))
    chance = _chance(sums, names)
    marked = names - {_NONE}
    both, neither = sums.of(*((a, b) for a in marked for b in marked)), sums.of((_NONE, _NONE))
    first = sums.of(*((a, b) for a in marked for b in names))
    second = sums.of(*((a, b) for a in names for b in marked))
    blind_chance = first * second + (n - first) * (n - second)
    return Agreement(
        tokens=int(n[0]),
        kappa=sums.figure(_kappa(agree, chance, n), *all_),
        blind=sums.figure(_kappa(both + neither, blind_chance, n), *all_),
        observed=sums.figure(ratio(agree, n), *all_),
    )


def count_agreement(text: str, one: list[Label], other: list[Label]) -> Counter[Column]:
    """The tokens of one text by the types that the two gave them, "O" for none."""
    names = sorted({label.type for label in (*one, *other)})
    starts = tokens(text, (*one, *other)).starts
    first, second = (painted(len(text), labels, names)[starts] for labels in (one, other))
    pairs, n = np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True)
    spelled = [_NONE, *names]
    return Counter({(spelled[a], spelled[b]): count for (a, b), count in zip(pairs.tolist(), n.tolist(), strict=True)})


def _chance(sums: Sums, names: Iterable[str]) -> Counts:
    """n² times the agreement that chance alone would give."""
    names = list(names)
    total: Counts = np.zeros_like(sums.of())
    for name in names:
        total += sums.of(*((name, other) for other in names)) * sums.of(*((other, name) for other in names))
    return total


def _kappa(agree: Counts, chance: Counts, n: Counts) -> Counts:
    """(observed − chance) / (1 − chance), with `chance` given n²-fold."""
    return ratio(agree * n - chance, n * n - chance)
