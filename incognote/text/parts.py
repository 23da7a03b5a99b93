"""Split a large text into parts with surrounding context, so that the tables of the finders stay small.

A text of ordinary length is one part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LARGE = 100_000  # characters
PART = 32_000  # characters
MARGIN = 1_000  # characters on each side, much more than the context of any rule
_SECTION = 4_000  # minimum length: most searches begin with a character that few stretches of this length contain
_LINE = 200  # characters
_BLANK_LINE = re.compile(r"\n[ \t\r]{0,16}\n")


class Part(NamedTuple):
    """A part of a text.

    Attributes:
        content: the part with its surrounding context.
        first: the offset in the text at which `content` begins.
        start, end: the part without context, in the text. Every offset of the text is in exactly one part.
    """

    content: str
    first: int
    start: int
    end: int

    def owns(self, at: int) -> bool:
        """Whether an offset of `content` is in the part itself."""
        return self.start <= self.first + at < self.end


def parts(content: str) -> Iterator[Part]:
    """Yield the parts of a text, in order."""
    if len(content) < LARGE:
        yield Part(content, 0, 0, len(content))
        return
    start = 0
    while start < len(content):
        end = _cut(content, start + PART)
        first, last = _cut(content, start - MARGIN), _cut(content, end + MARGIN)
        yield Part(content[first:last], first, start, end)
        start = end


def sections(content: str) -> Iterator[tuple[int, int]]:
    """Yield stretches of a text that end at a blank line, which never splits a word, or else the whole text."""
    start = 0
    while start < len(content):
        blank = _BLANK_LINE.search(content, start + _SECTION) if len(content) >= LARGE else None
        end = blank.end() if blank else len(content)
        yield start, end
        start = end


def windows(content: str, changed: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the changed stretches of a text with a margin around each, in whole lines, joined where they meet."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(changed):
        start, end = _cut(content, start - MARGIN), _cut(content, end + MARGIN)
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined


def _cut(content: str, at: int) -> int:
    """Return the start of a line at or shortly before an offset, or the start of a word in a very long line."""
    if at <= 0 or at >= len(content):
        return min(max(at, 0), len(content))
    nearest = max(0, at - _LINE)
    return max(content.rfind(c, nearest, at) + 1 for c in "\n\r") or content.rfind(" ", nearest, at) + 1 or at
