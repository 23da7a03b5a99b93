"""Characters of SpreadsheetML: how they are written, and a text that is composed of stretches of a part."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from incognote.formats.base import Change
from incognote.formats.encoding import Codec

_CODED = re.compile(
    r"&(?:#x(?P<hex>[0-9A-Fa-f]+)|#(?P<decimal>[0-9]+)|(?P<name>amp|lt|gt|quot|apos));"
    r"|_x(?P<escape>[0-9A-Fa-f]{4})_|(?P<line>\r\n?)"
)
_SECTION = re.compile(r"<!--.*?-->|<!\[CDATA\[(?P<cdata>.*?)\]\]>|<\?(?!xml\s).*?\?>", re.DOTALL)
_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PHONETIC = re.compile(r"<(?:\w+:)?(?:rPh|phoneticPr)\b[^>]*?(?:/>|>.*?</(?:\w+:)?(?:rPh|phoneticPr)\s*>)", re.DOTALL)
_WORDS = re.compile(r"<(?:\w+:)?t(?:\s[^>]*)?>([^<]*)</(?:\w+:)?t\s*>")


def without_sections(source: str) -> str:
    """Return XML without comments and instructions, and with escaped characters in place of CDATA sections."""
    if "<!" not in source and source.find("<?", 1) < 0:
        return source
    return _SECTION.sub(lambda match: _escaped(match["cdata"] or ""), source)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def decoded(raw: str) -> str:
    """Return the characters that a stretch between tags or in an attribute stands for, with `_xHHHH_` resolved."""
    if "&" in raw or "_x" in raw or "\r" in raw:
        return _CODED.sub(_character, raw)
    return raw


def escaped(text: str, codec: Codec, *, attribute: bool = False) -> str:
    """Return text as it is written between tags, or in an attribute. Characters that XML forbids become U+FFFD."""
    text = _ESCAPE.sub("_x005F_", _FORBIDDEN.sub("\ufffd", text))
    text = _escaped(text).replace("\r", "&#13;")
    if attribute:
        text = text.replace('"', "&quot;").replace("'", "&#39;").replace("\t", "&#9;").replace("\n", "&#10;")
    return text.encode(codec.encoding, "xmlcharrefreplace").decode(codec.encoding)


def stretches_of(rich: str) -> list[tuple[int, int]]:
    """Return the places of the characters in a string item (`<si>` or `<is>`), without phonetic hints."""
    if "rPh" in rich or "phoneticPr" in rich:
        rich = _PHONETIC.sub(lambda match: " " * len(match[0]), rich)
    return [match.span(1) for match in _WORDS.finditer(rich)]


def phonetic_of(rich: str) -> list[tuple[int, int]]:
    """Return the places of the phonetic hints in a string item, which repeat its words in another script."""
    return [match.span() for match in _PHONETIC.finditer(rich)] if "hone" in rich or "rPh" in rich else []


def _character(match: re.Match[str]) -> str:
    if match["name"]:
        return _NAMES[match["name"]]
    if match["line"]:
        return "\n"
    code = int(match["decimal"]) if match["decimal"] else int(match["hex"] or match["escape"], 16)
    character = chr(code) if code < 0x110000 else "\ufffd"
    return "\ufffd" if _FORBIDDEN.match(character) else character


class _Piece(NamedTuple):
    """Characters `at:at+size` of the text come from `start:end` of the source, one to one if `exact`."""

    at: int
    size: int
    start: int
    end: int
    exact: bool
    attribute: bool


class StretchText:
    """A text that is composed of stretches of a source, with separators that are not in the source.

    Args:
        source: the characters of the part.
        codec: its encoding.
    """

    def __init__(self, source: str, codec: Codec) -> None:
        self._source, self._codec = source, codec
        self._pieces: list[_Piece] = []
        self._starts: list[int] = []
        self._parts: list[str] = []
        self._size = 0
        self._pending = ""

    @property
    def text(self) -> str:
        """The characters so far."""
        return "".join(self._parts)

    def add(self, start: int, end: int, *, attribute: bool = False) -> None:
        """Add a stretch of the source."""
        at = start
        for match in _CODED.finditer(self._source, start, end):
            self._append(self._source[at : match.start()], at, match.start(), True, attribute)
            self._append(_character(match), *match.span(), False, attribute)
            at = match.end()
        self._append(self._source[at:end], at, end, True, attribute)

    def add_as(self, shown: str, start: int, end: int) -> None:
        """Add a stretch of the source that reads as other characters."""
        self._append(shown, start, end, False, False)

    def separate(self, separator: str = "\n") -> None:
        """Separate the next characters from the last, once."""
        self._pending = separator if self._parts else ""

    def edits(self, changes: Iterable[Change]) -> list[Change]:
        """Return changes of the text as changes of the source.

        New words replace the first part of the old ones. The rest of the old words is removed.
        """
        edits: list[Change] = []
        for start, end, new in changes:
            for piece, a, b in self._places(start, end):
                edits.append((a, b, escaped(new, self._codec, attribute=piece.attribute)))
                new = ""
        return edits

    def _places(self, start: int, end: int) -> list[tuple[_Piece, int, int]]:
        if not self._pieces:
            return []
        first = max(bisect_right(self._starts, start) - 1, 0)
        if start == end:
            piece = self._pieces[first]
            inside = start - piece.at
            at = piece.start + inside if piece.exact and inside <= piece.size else piece.end if inside else piece.start
            return [(piece, at, at)]
        places = []
        for piece in self._pieces[first:]:
            if piece.at >= end:
                break
            if piece.at + piece.size > start:
                a, b = piece.start, piece.end
                if piece.exact:
                    a += max(start - piece.at, 0)
                    b -= max(piece.at + piece.size - end, 0)
                places.append((piece, a, b))
        return places

    def _append(self, characters: str, start: int, end: int, exact: bool, attribute: bool) -> None:
        if not characters:
            return
        if self._pending:
            self._parts.append(self._pending)
            self._size += len(self._pending)
            self._pending = ""
        self._starts.append(self._size)
        self._pieces.append(_Piece(self._size, len(characters), start, end, exact, attribute))
        self._parts.append(characters)
        self._size += len(characters)
