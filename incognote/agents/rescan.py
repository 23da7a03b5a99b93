"""What an audit reads again of a huge text: what lies around the changes since the audit before, and pieces of it.

A text of a common length is read whole, every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

HUGE = 100_000  # characters
PIECE = 16_000  # characters: the tables that a search makes of its text stay small
MARGIN = 1_000  # characters on each side, much more than any rule looks around itself on one page
_LINE = 200  # characters


def windows(content: str, changed: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The changed stretches of a text with a margin around them, in whole lines, joined where they meet."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(changed):
        start, end = _cut(content, start - MARGIN), _cut(content, end + MARGIN)
        if joined and start <= joined[-1][1]:
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return joined


def pieces(content: str) -> Iterator[str]:
    """A text in pieces that overlap by the margin, so that what stands on a cut stands whole in one of them."""
    start = stop = 0
    while stop < len(content):
        stop = _cut(content, start + PIECE) if len(content) >= HUGE else len(content)
        yield content[start:stop]
        start = _cut(content, stop - MARGIN)


def _cut(content: str, at: int) -> int:
    """The beginning of a line or, in an endless one, of a word at or shortly before an offset."""
    if at <= 0 or at >= len(content):
        return min(max(at, 0), len(content))
    nearest = max(0, at - _LINE)
    return max(content.rfind(c, nearest, at) + 1 for c in "\n\r") or content.rfind(" ", nearest, at) + 1 or at
