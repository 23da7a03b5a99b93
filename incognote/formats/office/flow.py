"""A text that is composed of the words of runs, with layout between them, and its edits in the XML."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from incognote.errors import AccountingError
from incognote.formats.base import Change, splice
from incognote.formats.office.package import XmlPart
from incognote.formats.records.rawxml import XML, Characters, Element
from incognote.formats.records.references import escaped, resolved

_SPACE = f"{{{XML}}}space"
_EDGES = re.compile(r"\A[ \t\r\n]|[ \t\r\n]\Z")
_LAYOUT_BLANK = re.compile(r"[ \t]*[\r\n][ \t\r\n]*")


class _Piece(NamedTuple):
    """Characters `at:at+size` of the text come from `start:end` of the part, one to one if `exact`.

    Args:
        holder: the element that holds the characters, or that shows one character itself (`sign`).
    """

    at: int
    size: int
    start: int
    end: int
    exact: bool
    cdata: bool
    holder: Element
    sign: bool = False


class FlowText:
    """The text of a body, a header, a note, or another part of its own, in order.

    Args:
        part: the part that it is in.
    """

    def __init__(self, part: XmlPart) -> None:
        self.part = part
        self._parts: list[str] = []
        self._pieces: list[_Piece] = []
        self._size = 0
        self._open = ""  # the layout at the end, which the end of a cell or row replaces

    @property
    def text(self) -> str:
        """The characters. The end of the last paragraph is not part of them."""
        return "".join(self._parts[:-1] if self._open == "\n" else self._parts)

    @property
    def size(self) -> int:
        """The number of characters, with the end of the last paragraph."""
        return self._size

    def words(self, found: Characters, holder: Element) -> None:
        """Add the characters of an element. A line break at their edges is only layout of the XML."""
        start, end = found.start, found.end
        if _SPACE not in holder.attributes:
            source = self.part.source
            if blank := _LAYOUT_BLANK.match(source, start, end):
                start = blank.end()
            stripped = source[start:end].rstrip(" \t\r\n")
            if "\n" in source[start + len(stripped) : end]:
                end = start + len(stripped)
        for characters, a, b, is_reference in resolved(self.part.source, start, end, found.cdata):
            shown = re.sub(r"[\t\r\n]", " ", characters)
            self._add(_Piece(self._size, len(shown), a, b, not is_reference, found.cdata, holder), shown)

    def sign(self, character: str, element: Element) -> None:
        """Add an element that shows a character."""
        self._add(_Piece(self._size, 1, element.start, element.end, False, False, element, True), character)

    def layout(self, character: str) -> None:
        """Add a line break or a tab, which stays where it is when the words around it are replaced."""
        self._parts.append(character)
        self._size += len(character)
        self._open = ""

    def end_paragraph(self) -> None:
        """End a paragraph."""
        self.layout("\n")
        self._open = "\n"

    def end_cell(self) -> None:
        """End a cell of a table. Its last paragraph ends with it."""
        self._end("\n", "\t")

    def end_row(self) -> None:
        """End a row of a table. Its last cell ends with it."""
        self._end("\t", "\n")

    def edits(self, changes: Iterable[Change]) -> list[Change]:
        """Convert edits of the text to edits of the part.

        New words replace the first part of the old ones, and the rest of the old words is removed.

        Raises:
            AccountingError: edits overlap or are outside the text, or it has no characters.
        """
        changes = sorted(changes, key=lambda change: change[:2])
        splice(self.text, changes)
        edits: list[Change] = []
        spaced: dict[int, tuple[Element, list[Change]]] = {}
        for start, end, new in changes:
            for piece, a, b in self._overlapped(start, end):
                edits.append((a, b, self._written(new, piece)))
                if not piece.sign:
                    spaced.setdefault(piece.holder.start, (piece.holder, []))[1].append(edits[-1])
                new = ""
        edits += (change for holder, own in spaced.values() for change in self._preserved(holder, own))
        return edits

    def _end(self, before: str, layout: str) -> None:
        if self._open == before:
            self._parts.pop()
            self._size -= len(before)
        self.layout(layout)
        self._open = layout

    def _add(self, piece: _Piece, characters: str) -> None:
        self._open = ""
        self._pieces.append(piece)
        self._parts.append(characters)
        self._size += piece.size

    def _overlapped(self, start: int, end: int) -> Iterator[tuple[_Piece, int, int]]:
        """Yield the pieces of a stretch, with the part of each in the source. Without any, the piece before it."""
        if not self._pieces:
            raise AccountingError("an edit of a text without characters")
        first = max(bisect_right(self._pieces, start, key=lambda piece: piece.at) - 1, 0)
        found = False
        for i in range(first, len(self._pieces)):
            piece = self._pieces[i]
            if piece.at >= end:
                break
            if piece.at + piece.size <= start:
                continue
            a, b = piece.start, piece.end
            if piece.exact:
                a += max(start - piece.at, 0)
                b -= max(piece.at + piece.size - end, 0)
            found = True
            yield piece, a, b
        if not found:
            piece = self._pieces[first]
            offset = min(max(start - piece.at, 0), piece.size)
            at = piece.start + offset if piece.exact else piece.start if not offset else piece.end
            yield piece, at, at

    def _written(self, new: str, piece: _Piece) -> str:
        words = escaped(new, self.part.codec.encoding, cdata=piece.cdata)
        if not piece.sign or not words:
            return words
        prefix = piece.holder.tag.rpartition(":")[0]
        tag = f"{prefix}:t" if prefix else "t"
        return f'<{tag} xml:space="preserve">{words}</{tag}>'

    def _preserved(self, holder: Element, changes: list[Change]) -> Iterator[Change]:
        """Yield the change that makes white space count at the edges of an element, if new words begin or end there."""
        if "/drawingml/" in holder.uri:  # white space always counts there
            return
        close = self.part.source.rindex("</", holder.inside, holder.end)
        own = [(a - holder.inside, b - holder.inside, new) for a, b, new in changes]
        inner = splice(self.part.source[holder.inside : close], own)
        if not _EDGES.search(inner):
            return
        space = holder.attributes.get(_SPACE)
        if space is None:
            yield holder.inside - 1, holder.inside - 1, ' xml:space="preserve"'
        elif space.value != "preserve":
            yield space.start, space.end, "preserve"
