"""The text of a marked-up source as a reader sees it, and the mapping of its edits back into the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from html.entities import html5
from typing import NamedTuple

from incognote.errors import AccountingError
from incognote.formats.base import Change, splice

BLOCK, CELL, ROW = 1, 2, 3
"""How strongly the next words are separated from the last: lines in a cell do not separate the cell's own words."""
_SEPARATORS = {BLOCK: "\n", CELL: "\t", ROW: "\n"}
REFERENCE = re.compile(r"&(?:#(?P<decimal>[0-9]+);?|#[xX](?P<hex>[0-9A-Fa-f]+);?|(?P<name>[A-Za-z][A-Za-z0-9]*;?))")
_BREAK = re.compile(r"&(?=[#A-Za-z])|[\t\n\f\r]+[\t\n\f\r ]*|[ ][\t\n\f\r ]+")
_LONGEST_NAME = max(map(len, html5))


class Piece(NamedTuple):
    """Characters of the text. They come from `start:end` of the source, one to one unless `atomic`.

    Args:
        characters: the characters in the text.
        start, end: their place in the source; -1 for a separator, which has none.
        atomic: whether the place can only be replaced as a whole (a character reference, a run of white space).
        context: how new words are escaped there.
    """

    characters: str
    start: int
    end: int
    atomic: bool = False
    context: str = ""


class FlowLine:
    """A run of words in reading order: the body, or a side line such as an attribute or a hidden element."""

    __slots__ = ("fresh", "pending", "pieces", "space")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.pending = 0
        self.fresh = True  # nothing since the last separator, so white space is only layout
        self.space: Piece | None = None

    def separate(self, rank: int) -> None:
        """Separate the next words from the last, by the strongest of the separators in between."""
        if self.pieces:
            self.pending, self.fresh, self.space = max(self.pending, rank), True, None

    def put(self, characters: str, start: int, end: int, *, atomic: bool = False, context: str = "") -> None:
        """Add characters of the text."""
        if self.pending:
            self.pieces.append(Piece(_SEPARATORS[self.pending], -1, -1))
        elif self.space is not None:
            self.pieces.append(self.space)
        self.pending, self.fresh, self.space = 0, False, None
        self.pieces.append(Piece(characters, start, end, atomic, context))

    def line_break(self, start: int, end: int) -> None:
        """Add a line break that the source writes as a tag. Like a character, it goes with the words around it."""
        self.space = None
        self.put("\n", start, end, atomic=True)
        self.fresh = True

    def words(self, source: str, start: int, end: int, context: str = "", *, exact: bool = False) -> None:
        """Add characters with their references decoded.

        Args:
            context: `"`, `'` or `=` in an attribute value, else "" or another context of the escape function.
            exact: keep white space as it is. Otherwise a run of it is one space, and none at the ends of a line.
        """
        at = start
        for found in _BREAK.finditer(source, start, end):
            if found.start() < at:
                continue
            if found[0] != "&":
                if exact:
                    continue
                self._run(source, at, found.start(), context, exact=False)
                self._white(found.start(), found.end(), context)
                at = found.end()
            elif (decoded := decode(source, found.start(), end, attribute=context in _VALUE)) is not None:
                self._run(source, at, found.start(), context, exact=exact)
                characters, stop = decoded
                self.put(characters, found.start(), stop, atomic=True, context=context)
                at = stop
        self._run(source, at, end, context, exact=exact)

    def _run(self, source: str, start: int, end: int, context: str, *, exact: bool) -> None:
        if not exact:
            if start < end and source[start] == " ":
                self._white(start, start + 1, context)
                start += 1
            tail = start < end and source[end - 1] == " "
            if start < end - tail:
                self.put(source[start : end - tail], start, end - tail, context=context)
            if tail:
                self._white(end - 1, end, context)
        elif start < end:
            self.put(source[start:end], start, end, context=context)

    def _white(self, start: int, end: int, context: str) -> None:
        if not self.fresh and self.space is None:
            self.space = Piece(" ", start, end, True, context)


_VALUE = frozenset("\"'=")


class Flow:
    """A text made of lines of pieces.

    Args:
        lines: the lines in order. Each begins on a line of its own.
        escape: takes new words and the context of their place, and returns them as the source writes them.

    Attributes:
        text: the text.
    """

    def __init__(self, lines: Sequence[FlowLine], escape: Callable[[str, str], str]) -> None:
        self._escape = escape
        self._pieces: list[Piece] = []
        self._starts: list[int] = []
        at = 0
        for line in lines:
            between = [Piece("\n", -1, -1)] if self._pieces and line.pieces else []
            for piece in (*between, *line.pieces):
                self._pieces.append(piece)
                self._starts.append(at)
                at += len(piece.characters)
        self.text = "".join(piece.characters for piece in self._pieces)

    def edits(self, changes: Sequence[Change]) -> list[Change]:
        """Convert edits of the text to edits of the source.

        New words replace the first part of the old ones, and the rest of the old ones is removed. The markup between
        them stays.

        Raises:
            AccountingError: edits overlap, or are outside the text.
        """
        splice(self.text, changes)
        made: list[Change] = []
        for start, end, new in changes:
            places = self._stretches(start, end) or [self._beside(start)]
            for i, (a, b, context) in enumerate(places):
                made.append((a, b, self._escape(new, context) if i == 0 else ""))
        return made

    def places(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places in the source of a stretch of the text."""
        return [(first, last) for first, last, _ in self._stretches(start, end)]

    def _stretches(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Like `places`, with the context of each place. Adjacent places are joined."""
        places: list[tuple[int, int, str]] = []
        for i in range(max(bisect_right(self._starts, start) - 1, 0), len(self._pieces)):
            piece, at = self._pieces[i], self._starts[i]
            if at >= end:
                break
            if piece.start < 0 or at + len(piece.characters) <= start:
                continue
            a, b = piece.start, piece.end
            if not piece.atomic:
                a += max(start - at, 0)
                b -= max(at + len(piece.characters) - end, 0)
            if places and places[-1][1] == a and places[-1][2] == piece.context:
                places[-1] = (places[-1][0], b, piece.context)
            else:
                places.append((a, b, piece.context))
        return places

    def _beside(self, at: int) -> tuple[int, int, str]:
        """Return where new words go that replace no characters of the source: beside the nearest ones."""
        i = bisect_right(self._starts, at) - 1
        for piece in reversed(self._pieces[: i + 1]):
            if piece.start >= 0:
                inside = piece.end if self._starts[i] < at or piece is not self._pieces[i] else piece.start
                return inside, inside, piece.context
        for piece in self._pieces[i + 1 :]:
            if piece.start >= 0:
                return piece.start, piece.start, piece.context
        raise AccountingError("an edit is for a text without characters")


def decode(source: str, at: int, end: int, *, attribute: bool) -> tuple[str, int] | None:
    """Decode the character reference at `at` as a browser does. Return its characters and its end, or None.

    Args:
        attribute: whether it is in an attribute value, where a name without semicolon before a letter is none.
    """
    reference = REFERENCE.match(source, at, end)
    if reference is None:
        return None
    if reference["name"] is None:
        digits, base = (reference["decimal"], 10) if reference["decimal"] else (reference["hex"], 16)
        return _character(int(digits[:12], base)), reference.end()
    name = reference["name"]
    for size in range(min(len(name), _LONGEST_NAME), 1, -1):
        if (characters := html5.get(name[:size])) is not None:
            stop = reference.start() + 1 + size
            follows = source[stop : min(stop + 1, end)]
            if attribute and name[size - 1] != ";" and (follows == "=" or (follows.isascii() and follows.isalnum())):
                return None
            return characters, stop
    return None


def _character(code: int) -> str:
    """Return the character of a numeric reference. Codes of no character are U+FFFD, as in a browser."""
    if 0x80 <= code <= 0x9F:
        with suppress(UnicodeDecodeError):
            return bytes([code]).decode("cp1252")
    return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)


def decoded(source: str, start: int, end: int) -> str:
    """Return an attribute value with its references decoded."""
    pieces: list[str] = []
    at = start
    while (found := source.find("&", at, end)) >= 0:
        characters, stop = decode(source, found, end, attribute=True) or ("&", found + 1)
        pieces += (source[at:found], characters)
        at = stop
    return "".join((*pieces, source[at:end]))
