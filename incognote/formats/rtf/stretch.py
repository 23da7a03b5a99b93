"""The characters of one part of an RTF document, the source of each, and new words as RTF."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from incognote.errors import AccountingError
from incognote.formats.base import Change, splice

_WORD_END = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z]+(?:-?\d+)?\Z")
_JOINS = re.compile(r"[A-Za-z0-9 \-]")
_LONGEST_WORD = 64  # characters before a junction in which a control word is looked for


class RtfPiece(NamedTuple):
    """Characters `at..at+size` of the text come from `start..end` of the source.

    Args:
        exact: whether each character is one byte of the source.
        uc: how many fallback characters follow a `\\u` here.
        stays: whether the source keeps it when the character is replaced, like the end of a table cell.
    """

    at: int
    size: int
    start: int
    end: int
    exact: bool
    uc: int
    stays: bool


class RtfText:
    """The text of a destination, in order.

    Attributes:
        end: the position in the source where new words go if there is no text.
        removed: whether nothing of it may stay. Its characters are not collected.
        is_open: whether its last character ends a paragraph of a cell, or a cell, and so may end more than that.
    """

    def __init__(self, end: int = 0, *, removed: bool = False) -> None:
        self.end = end
        self.removed = removed
        self.is_open = False
        self._parts: list[str] = []
        self._pieces: list[RtfPiece] = []
        self._starts: list[int] = []
        self._size = 0

    @property
    def text(self) -> str:
        """The characters."""
        return "".join(self._parts)

    def add(
        self, characters: str, start: int, end: int, uc: int, *, exact: bool = False, stays: bool = False
    ) -> None:
        """Append characters that come from `start:end` of the source."""
        self.is_open = False
        self._starts.append(self._size)
        self._pieces.append(RtfPiece(self._size, len(characters), start, end, exact, uc, stays))
        self._parts.append(characters)
        self._size += len(characters)

    def without_last(self, layout: str, start: int) -> int:
        """Take back the last character if it is this layout and open. Return where it was, or else `start`."""
        if self.is_open and self._parts[-1] == layout:
            start = self._pieces.pop().start
            self._size = self._starts.pop()
            self._parts.pop()
        return start

    def places(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return where a stretch of the text is in the source. Adjacent places are joined."""
        places: list[tuple[int, int]] = []
        for piece, a, b in self._overlapped(start, end):
            if piece.stays:
                continue
            if places and places[-1][1] == a:
                places[-1] = (places[-1][0], b)
            else:
                places.append((a, b))
        return places

    def changes(self, edits: Sequence[Change]) -> Iterator[Change]:
        """Yield edits of the text as edits of the source. New words replace the first part, and the rest is removed.

        Raises:
            AccountingError: edits overlap or are outside the text.
        """
        splice(self.text, edits)
        for start, end, new in edits:
            if start == end:
                at, uc = self._at(start)
                yield at, at, encoded(new, uc)
                continue
            for piece, a, b in self._overlapped(start, end):
                yield a, a if piece.stays else b, encoded(new, piece.uc)
                new = ""

    def _overlapped(self, start: int, end: int) -> Iterator[tuple[RtfPiece, int, int]]:
        for i in range(max(bisect_right(self._starts, start) - 1, 0), len(self._pieces)):
            piece = self._pieces[i]
            if piece.at >= end:
                break
            if piece.at + piece.size <= start:
                continue
            a, b = piece.start, piece.end
            if piece.exact:
                a += max(start - piece.at, 0)
                b -= max(piece.at + piece.size - end, 0)
            yield piece, a, b

    def _at(self, offset: int) -> tuple[int, int]:
        if not self._pieces:
            return self.end, 1
        piece = self._pieces[bisect_right(self._starts, offset) - 1]
        if offset == piece.at:
            return piece.start, piece.uc
        return (piece.start + offset - piece.at if piece.exact else piece.end), piece.uc


def outside(changes: Iterable[Change], others: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes that are not inside any of the others, whose stretches are disjoint.

    Raises:
        AccountingError: a change overlaps another, but is not inside it.
    """
    taken = sorted((start, end) for start, end, _ in others if end > start)
    for change in changes:
        i = bisect_right(taken, change[1] - 1, key=lambda stretch: stretch[0])
        if not i or taken[i - 1][1] <= change[0]:
            yield change
        elif change[0] < taken[i - 1][0] or taken[i - 1][1] < change[1]:
            raise AccountingError(f"an edit at {taken[i - 1][0]} is in a part that is removed")


def encoded(text: str, uc: int) -> str:
    """Return text as RTF that shows the same characters in every code page."""
    return "".join(c if c.isascii() and c.isprintable() and c not in "\\{}" else _escaped(c, uc) for c in text)


def _escaped(character: str, uc: int) -> str:
    if character in "\\{}":
        return "\\" + character
    if character in "\n\t":
        return "\\line " if character == "\n" else "\\tab "
    units = character.encode("utf-16-le", "surrogatepass")
    numbers = (int.from_bytes(units[i : i + 2], "little", signed=True) for i in range(0, len(units), 2))
    return "".join(f"\\u{number}" + ("?" * uc or " ") for number in numbers)


def spliced(source: str, changes: Iterable[Change]) -> str:
    """Return the source with its changes. A control word that would grow into the next characters gets its space.

    Raises:
        AccountingError: changes overlap.
    """
    pieces: list[str] = []
    tail = ""
    at = 0
    for start, end, new in (*sorted(changes, key=lambda change: change[:2]), (len(source), len(source), "")):
        if start < at:
            raise AccountingError(f"edits at {start} overlap")
        for piece in (source[at:start], new):
            if piece:
                if _JOINS.match(piece) and _WORD_END.search(tail):
                    pieces.append(" ")
                pieces.append(piece)
                tail = (tail + piece[-_LONGEST_WORD:])[-_LONGEST_WORD:]
        at = end
    return "".join(pieces)
