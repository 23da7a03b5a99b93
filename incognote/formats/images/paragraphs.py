"""Which lines of a page continue on the next one. The detectors then see a name that wraps at the margin as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from incognote.pages.nouns import Box, Word

_APART = 0.9  # heights between two lines of a paragraph, at most
_ALIKE = 1.35  # by which the heights of two lines differ, at most
_INDENT = 2.5  # heights by which the starts of two lines differ, at most
_LEAST_WORDS = 4  # of a line that continues
_SPACE = 0.3  # heights of a line between two words
_ENDS = ".:!?؟;"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, with its box as if it were read from left to right."""

    words: Sequence[Word]
    box: Box
    high: float
    whole: bool  # no cells of a table


def wrapped(lines: Sequence[Sequence[Word]], whole: Sequence[bool]) -> list[bool]:
    """Return for each line whether it continues on the next one, because the next word did not fit in it.

    Args:
        lines: in reading order, each with at least one word.
        whole: whether the words of a line are next to each other. The lines of tables are not.
    """
    read = [_line(words, each) for words, each in zip(lines, whole, strict=True)]
    found = [False] * len(read)
    first = 0
    for at in range(1, len(read) + 1):
        if at < len(read) and _follows(read[at - 1], read[at]):
            continue
        block = read[first:at]
        margin = max(each.box[2] for each in block)
        for i, (one, two) in enumerate(pairwise(block), first):
            next_word = two.words[0].box
            found[i] = (
                len(one.words) >= _LEAST_WORDS
                and one.box[2] + _SPACE * one.high + next_word[2] - next_word[0] > margin
                and not one.words[-1].text.endswith(tuple(_ENDS))
            )
        first = at
    return found


def _line(words: Sequence[Word], whole: bool) -> _Line:
    lefts, tops, rights, bottoms = zip(*(word.box for word in words), strict=True)
    left, right = min(lefts), max(rights)
    if 2 * sum(word.is_rtl for word in words) > len(words):
        left, right = -right, -left
    high = median(word.box[3] - word.box[1] for word in words)
    return _Line(words, (left, min(tops), right, max(bottoms)), high, whole and words[0].turn == 0)


def _follows(one: _Line, two: _Line) -> bool:
    """Whether a line stands directly below another one, in the same column and of about the same size."""
    high = max(one.high, two.high)
    return (
        one.whole and two.whole
        and high < _ALIKE * min(one.high, two.high)
        and -0.5 * high < two.box[1] - one.box[3] < _APART * high
        and abs(one.box[0] - two.box[0]) < _INDENT * high
    )  # fmt: skip
