"""The words that get labels: runs of letters, runs of digits, and single other characters, with their offsets.

A student's word pieces are smaller. Each belongs to the word that contains its first character. A run never mixes
letters and digits, so that a span that ends between the two ("34F", "Rm512") does not cut a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

OUTSIDE = "O"
_WORD = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")


def tokenize(text: str) -> list[tuple[int, int]]:
    """The words of a text as (start, end) in code points, in order, disjoint, and without white space."""
    return [found.span() for found in _WORD.finditer(text)]


def bio(tokens: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, str]]) -> list[str]:
    """One label per token: `B-TYPE` at a span's first token, `I-TYPE` at its others, `O` elsewhere.

    A token that a span covers in part belongs to the span. If two spans are in one token ("wifeMary", joined by a lost
    space), it belongs to the first.
    """
    labels = [OUTSIDE] * len(tokens)
    at = 0
    for start, end, kind in sorted(spans):
        while at < len(tokens) and tokens[at][1] <= start:
            at += 1
        here, first = at, True
        while here < len(tokens) and tokens[here][0] < end:
            if labels[here] == OUTSIDE:
                labels[here] = f"{'B' if first else 'I'}-{kind}"
                first = False
            here += 1
    return labels


def spans(tokens: Sequence[tuple[int, int]], labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans of a sequence of labels. An `I-` after another type or after `O` begins a span, like `B-`."""
    made: list[tuple[int, int, str]] = []
    before = OUTSIDE
    for (start, end), label in zip(tokens, labels, strict=True):
        if label != OUTSIDE:
            kind = label[2:]
            if label[0] == "I" and before[2:] == kind:
                made[-1] = (made[-1][0], end, kind)
            else:
                made.append((start, end, kind))
        before = label
    return made
