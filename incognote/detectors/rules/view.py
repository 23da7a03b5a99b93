"""One text as the finders see it: tokens with offsets, made once and shared by all of them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, compress, count
from operator import itemgetter
from typing import NamedTuple

from incognote.nouns import Text

# A word (letters with inner apostrophes or hyphens), a run of digits, or one other visible character.
TOKEN = re.compile(r"[^\W\d_]+(?:['’\u02bc\-‐][^\W\d_]+)*|\d+|[^\s\w]|_")
_TOKENS = re.compile(f"({TOKEN.pattern})")
LARGE = 100_000  # characters: from here on the lists of a text are made small instead of fast
_CAPITALS, _SMALL = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"


class Candidate(NamedTuple):
    """A stretch some rule proposes. `rule` names it as `file.rule`, for `sources`."""

    start: int
    end: int
    type: str
    score: float
    rule: str


class View:
    """Parallel lists over the tokens of one text; index i is the i-th token.

    Attributes:
        text: the original string.
        starts, ends: token offsets in code points.
        words: the tokens as written.
        gaps: what stands before each token, after the one before it.
    """

    def __init__(self, source: Text) -> None:
        self.source = source
        self.text = source.content
        self.starts, self.ends, self.words, self.gaps = cut(_TOKENS, self.text)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def lowers(self) -> list[str]:
        """Each token in lower case."""
        lowered = Shared(str.lower).__getitem__ if large(self.text) else str.lower
        return list(map(lowered, self.words))

    @cached_property
    def capitals(self) -> Sequence[int]:
        """The tokens that begin with a capital."""
        return capitals(self.words)

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets at which lines begin."""
        return [0, *(m.end() for m in re.finditer(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]", self.text))]

    def line_of(self, offset: int) -> int:
        """The number of the line that holds an offset, from 0."""
        return bisect_right(self.line_starts, offset) - 1

    def first_token_at(self, offset: int) -> int:
        """The index of the first token that begins at or after an offset."""
        return bisect_left(self.starts, offset)

    def gap(self, i: int) -> str:
        """What stands between token i-1 and token i ("" for the first)."""
        return self.gaps[i] if i else ""


def large(text: str) -> bool:
    """Whether the lists that are made of a text are kept small."""
    return len(text) >= LARGE


class Shared(dict[str, str]):
    """What a function makes of each word of one text, made once: a large text repeats its words."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make
        self._same: dict[str, str] = {}

    def __missing__(self, word: str) -> str:
        made = self._make(word)
        self[word] = made = self._same.setdefault(made, made)
        return made


class Gaps:
    """What stands before each token of a large text, cut out of the text when asked for."""

    def __init__(self, text: str, starts: Sequence[int], ends: Sequence[int]) -> None:
        self._text, self._starts, self._ends = text, starts, ends

    def __getitem__(self, i: int) -> str:
        return self._text[self._ends[i - 1] if i else 0 : self._starts[i]]


def cut(pattern: re.Pattern[str], text: str) -> tuple[Sequence[int], Sequence[int], list[str], list[str] | Gaps]:
    """Starts, ends and words of all matches of a pattern, and the gap before each; the pattern is one single group."""
    if large(text):
        return packed(pattern, text)
    parts = pattern.split(text)  # gap, word, gap, word … gap: twice as fast as a match object for every word
    ends = list(accumulate(map(len, parts)))
    return ends[:-1:2], ends[1::2], parts[1::2], parts[:-1:2]


def packed(pattern: re.Pattern[str], text: str) -> tuple[Sequence[int], Sequence[int], list[str], Gaps]:
    """As `cut`, for a large text: equal words are one object, and offsets are packed."""
    count = sum(1 for _ in pattern.finditer(text))  # lists that grow leave holes in the heap, a fifth of the peak
    starts, ends = array("I", bytes(4 * count)), array("I", bytes(4 * count))
    words = [""] * count
    known: dict[str, str] = {}
    for i, match in enumerate(pattern.finditer(text)):
        starts[i], ends[i] = match.span()
        word = match[0]
        words[i] = known.setdefault(word, word)
    return starts, ends, words, Gaps(text, starts, ends)


def among(words: Iterable[str], sought: Container[str]) -> Iterator[int]:
    """The places of the words that are among those sought, in order; no list of them is built."""
    return compress(count(), map(sought.__contains__, words))


def capitals(words: Sequence[str]) -> Sequence[int]:
    """The places of the words that begin with a capital."""
    if len(words) < LARGE:
        return [*compress(count(), map(str.isupper, map(itemgetter(0), words)))]
    return array("I", (i for i, word in enumerate(words) if word[0].isupper()))


def cases(text: str) -> tuple[int, int]:
    """How many capital and how many small letters a text has."""
    if text.isascii():
        raw = text.encode()
        return len(raw) - len(raw.translate(None, _CAPITALS)), len(raw) - len(raw.translate(None, _SMALL))
    return sum(map(str.isupper, text)), sum(map(str.islower, text))
