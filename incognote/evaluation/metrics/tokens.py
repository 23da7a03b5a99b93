"""Token scores.

A token is a maximal run of letters (with their combining marks) or a maximal run of digits: "42yo" is two, "O'Neil" is
two, "3/5" is two. Punctuation and white space are not tokens, just as they do not count in the character scores. The
exception is a gold label that holds only punctuation: it is one token, so that every gold label has a token. Tokens are
also cut at gold boundaries, so that a label inside a word ("Miller" in "Millerstown") is scored like any other and not
treated as "nothing here". `TokenScores.cut` counts these cuts. Findings do not cut tokens: all systems are scored on
the same tokens.

    recall      of the gold tokens, the share found whole
    precision   of the tokens found, the share that is gold; a token outside gold counts if any character is found

The i2b2 2014 track reports tokens besides entities (Stubbs, Kotfila and Uzuner 2015). The definition of a token is
ours.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incognote.errors import ImpossibleSpan
from incognote.evaluation.corpus import LabeledSpan
from incognote.evaluation.counts import UNTYPED, Scheme
from incognote.evaluation.metrics.tally import Column, PrecisionRecall, Sums

Codes = NDArray[np.int64]
_LETTERS, _DIGITS, _SIGNS = 1, 2, 3


class TokenBounds(NamedTuple):
    """The bounds of a text's tokens (code points, end exclusive), and the number of label boundaries inside words."""

    starts: Codes
    ends: Codes
    cut: int


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The scores by token.

    Attributes:
        documents, tokens: how many there are, gold or not.
        cut: gold boundaries that fell inside a run of letters or digits.
        blind: ignoring types.
        typed: the sum over the types. A gold token must be found whole under its own type.
        types: per scored type.
    """

    documents: int
    tokens: int
    cut: int
    blind: PrecisionRecall
    typed: PrecisionRecall
    types: Mapping[str, PrecisionRecall]


def token_scores(sums: Sums, scheme: Scheme, documents: int) -> TokenScores:
    """Compute the scores from the sums of the columns that `count_tokens` counts."""
    names = sorted(scheme.scored)
    found_as: list[Column] = [(name, "wrong") for name in sorted({*names, UNTYPED})]

    def score(names: Sequence[str], wrong: Sequence[Column]) -> PrecisionRecall:
        right: list[Column] = [(name, "right") for name in names]
        return sums.score(right, [*right, *wrong], [(name, "gold") for name in names])

    return TokenScores(
        documents=documents,
        tokens=sums.total(("tokens",)),
        cut=sums.total(("cut",)),
        blind=score(["all"], [("all", "wrong")]),
        typed=score(names, found_as),
        types={name: score([name], [(name, "wrong")]) for name in names},
    )


def count_tokens(text: str, gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan]) -> Counter[Column]:
    """Count one document: tokens and cuts, and for "all" and per type the tokens of gold, found right and found wrong.

    Raises:
        ImpossibleSpan: a gold label holds only white space.
    """
    starts, ends, cut = tokens(text, gold)
    counts: Counter[Column] = Counter({("tokens",): len(starts), ("cut",): cut})
    if not gold and not found:
        return counts
    names = sorted({label.type for label in (*gold, *found)})
    here, there = painted(len(text), gold, names), painted(len(text), found, names)
    length = ends - starts
    is_, took = here[starts], _taken(starts, ends, found, names)
    whole = _inside(there > 0, starts, ends) == length
    agree = _inside((there > 0) & (there == here), starts, ends) == length
    counts["all", "gold"] = int((is_ > 0).sum())
    counts["all", "right"] = int(((is_ > 0) & whole).sum())
    counts["all", "wrong"] = int(((is_ == 0) & (took > 0)).sum())
    for what, codes in (("gold", is_), ("right", is_[agree]), ("wrong", took[took != is_])):
        for code, n in enumerate(np.bincount(codes, minlength=len(names) + 1)[1:].tolist()):
            counts[names[code], what] = n
    return counts


def tokens(text: str, aligned: Iterable[LabeledSpan] = ()) -> TokenBounds:
    """The tokens of a text, cut at the boundaries of the labels in `aligned`.

    Raises:
        ImpossibleSpan: one of these labels holds only white space.
    """
    kinds = _kinds()[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")]
    edges = np.zeros(len(text) + 1, bool)
    for label in aligned:
        edges[[label.start, label.end]] = True
        part = kinds[label.start : label.end]
        if not part.any():
            signs = [not character.isspace() for character in text[label.start : label.end]]
            if not any(signs):
                raise ImpossibleSpan(f"The label {label.start}..{label.end} covers only blanks.")
            part[signs] = _SIGNS
    wall = np.concatenate(([0], kinds, [0]))
    change = wall[1:] != wall[:-1]  # of kind, before each character and at the end
    inside = (edges & ~change)[:-1] & (kinds > 0)
    starts = np.flatnonzero((change | edges)[:-1] & (kinds > 0))
    ends = np.flatnonzero((change | edges)[1:] & (kinds > 0)) + 1
    return TokenBounds(starts, ends, int(inside.sum()))


def painted(length: int, labels: Iterable[LabeledSpan], names: Sequence[str]) -> Codes:
    """For each character, the index (from 1) in `names` of its type, or 0 for none. The shortest label wins."""
    codes: Codes = np.zeros(length, np.int64)
    at = {name: code for code, name in enumerate(names, 1)}
    for label in sorted(labels, key=lambda label: (label.start - label.end, label)):
        codes[label.start : label.end] = at[label.type]
    return codes


def _taken(starts: Codes, ends: Codes, found: Sequence[LabeledSpan], names: Sequence[str]) -> Codes:
    """For each token, the type code (from 1) of the first finding that shares a character with it."""
    codes: Codes = np.zeros(len(starts), np.int64)
    at = {name: code for code, name in enumerate(names, 1)}
    first = np.searchsorted(ends, [label.start for label in found], "right")
    last = np.searchsorted(starts, [label.end for label in found], "left")
    for label, a, b in reversed(list(zip(found, first.tolist(), last.tolist(), strict=True))):
        codes[a:b] = at[label.type]
    return codes


def _inside(mask: NDArray[np.bool_], starts: Codes, ends: Codes) -> Codes:
    """How many characters of each token are set."""
    before: Codes = np.concatenate(([0], np.cumsum(mask)))
    return before[ends] - before[starts]


@cache
def _kinds() -> NDArray[np.uint8]:
    """For each code point, whether it belongs to a word, a number, or neither (Unicode general category)."""
    of = {"L": _LETTERS, "M": _LETTERS, "N": _DIGITS}
    return np.fromiter((of.get(unicodedata.category(chr(c))[0], 0) for c in range(0x110000)), np.uint8, 0x110000)
