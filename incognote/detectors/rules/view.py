"""One text as the finders see it: tokens with offsets, computed once and shared by all finders."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from itertools import accumulate, compress, count
from operator import itemgetter
from typing import NamedTuple

from incognote.nouns import Text

# A word (letters with inner apostrophes or hyphens), a run of digits, or one other visible character.
TOKEN = re.compile(r"[^\W\d_]+(?:['’\u02bc\-‐][^\W\d_]+)*|\d+|[^\s\w]|_")
_TOKENS = re.compile(f"({TOKEN.pattern})")
_CAPITALS, _SMALL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"


class Candidate(NamedTuple):
    """A stretch of text that a rule proposes. `rule` is the rule's name as `file.rule`, for `sources`."""

    start: int
    end: int
    type: str
    score: float
    rule: str


class View:
    """The tokens of one text as parallel lists: index i is token i in each.

    Attributes:
        text: the original string.
        starts, ends: token offsets in code points.
        words: the tokens as written.
        gaps: the text between each token and the one before it.
    """

    def __init__(self, source: Text) -> None:
        self.text = source.content
        self.starts, self.ends, self.words, self.gaps = cut(_TOKENS, self.text)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def lowers(self) -> list[str]:
        """Each token in lower case."""
        return list(map(str.lower, self.words))

    @cached_property
    def capitals(self) -> list[int]:
        """The indices of the tokens that begin with a capital."""
        return capitals(self.words)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets at which lines begin."""
        return [0, *(m.end() for m in re.finditer(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]", self.text))]

    def line_of(self, offset: int) -> int:
        """Return the number of the line that contains an offset, from 0."""
        return bisect_right(self.line_starts, offset) - 1

    def first_token_at(self, offset: int) -> int:
        """Return the index of the first token that begins at or after an offset."""
        return bisect_left(self.starts, offset)

    def gap(self, i: int) -> str:
        """Return the text between token i-1 and token i ("" for the first)."""
        return self.gaps[i] if i else ""


def cut(pattern: re.Pattern[str], text: str) -> tuple[list[int], list[int], list[str], list[str]]:
    """Return starts, ends and words of all matches of a pattern, and the gap before each.

    The pattern must be a single group.
    """
    parts = pattern.split(text)  # gap, word, gap, word … gap: twice as fast as a match object per word
    ends = list(accumulate(map(len, parts)))
    return ends[:-1:2], ends[1::2], parts[1::2], parts[:-1:2]


def among(words: Iterable[str], sought: Container[str]) -> Iterator[int]:
    """Yield the indices of the words that are in `sought`, in order, without building a list."""
    return compress(count(), map(sought.__contains__, words))


def capitals(words: Iterable[str]) -> list[int]:
    """Return the indices of the words that begin with a capital."""
    return [*compress(count(), map(str.isupper, map(itemgetter(0), words)))]


def cases(text: str) -> tuple[int, int]:
    """Count the upper-case and the lower-case letters of a text."""
    if text.isascii():
        raw = text.encode()
        return len(raw) - len(raw.translate(None, _CAPITALS)), len(raw) - len(raw.translate(None, _SMALL))
    return sum(map(str.isupper, text)), sum(map(str.islower, text))
