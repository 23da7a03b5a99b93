"""A large text in parts, each with its surroundings, so that the tables which finders make of a text stay small.

A text of a common length is one part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LARGE = 100_000  # characters
PART = 32_000  # characters
MARGIN = 1_000  # characters on each side, much more than any rule looks around itself on one page
_SECTION = 4_000  # characters at least: most searches begin with a sign that few stretches of this length have
_LINE = 200  # characters
_BLANK_LINE = re.compile(r"\n[ \t\r]{0,16}\n")


class Part(NamedTuple):
    """A part of a text.

    Attributes:
        content: the part with its surroundings.
        first: where that begins in the text.
        start, end: the part without them, in the text; every offset of a text is in one part only.
    """

    content: str
    first: int
    start: int
    end: int

    def owns(self, at: int) -> bool:
        """Whether an offset of `content` is in the part itself."""
        return self.start <= self.first + at < self.end


def parts(content: str) -> Iterator[Part]:
    """The parts of a text, in order."""
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
    """Stretches of a text that end in a blank line, which breaks no word; without any, all of it."""
    start = 0
    while start < len(content):
        blank = _BLANK_LINE.search(content, start + _SECTION) if len(content) >= LARGE else None
        end = blank.end() if blank else len(content)
        yield start, end
        start = end


def windows(content: str, changed: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The changed stretches of a text with a margin around them, in whole lines, joined where they meet."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(changed):
        start, end = _cut(content, start - MARGIN), _cut(content, end + MARGIN)
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined


def _cut(content: str, at: int) -> int:
    """The beginning of a line or, in an endless one, of a word at or shortly before an offset."""
    if at <= 0 or at >= len(content):
        return min(max(at, 0), len(content))
    nearest = max(0, at - _LINE)
    return max(content.rfind(c, nearest, at) + 1 for c in "\n\r") or content.rfind(" ", nearest, at) + 1 or at
