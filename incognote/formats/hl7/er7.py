"""HL7 v2's encoding ER7: the delimiters that a message declares, its parts with their positions, and its escapes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from incognote.errors import MalformedRecord
from incognote.formats.base import Change, splice

_SEGMENT = re.compile(r"[A-Z][A-Z0-9]{2}")
_FORMAT = re.compile(r"\.(br|sp|sk|ce|in|ti|fi|nf)([+-]?[0-9]{0,3})", re.ASCII)
_LINES = ("br", "sp", "ce")
_MOST_LINES = 20
REFUSED = "an escape sequence of another character set or of a local kind. Send the text in UTF-8 without it"


class FieldPart(NamedTuple):
    """A stretch of a message and its position."""

    text: str
    start: int

    def split(self, sign: str) -> Iterator[FieldPart]:
        """Yield the parts between a delimiter."""
        if sign not in self.text:
            yield self
            return
        at = self.start
        for text in self.text.split(sign):
            yield FieldPart(text, at)
            at += len(text) + 1


@dataclass(frozen=True)
class Delimiters:
    """The delimiters of a message, from MSH-1 and MSH-2. `truncation` is "" before version 2.7."""

    field: str
    component: str
    repetition: str
    escape: str
    subcomponent: str
    truncation: str = ""

    @classmethod
    def of(cls, header: str) -> Delimiters:
        r"""Read the delimiters of a header segment, such as `MSH|^~\&|`.

        Raises:
            MalformedRecord: there are not four or five different delimiters.
        """
        field = header[3:4]
        signs = header[4:].partition(field)[0] if field else ""
        every = field + signs
        if len(signs) not in (4, 5) or len(set(every)) != len(every) or any(
                c.isalnum() or c.isspace() or not c.isascii() or not c.isprintable() for c in every):
            raise MalformedRecord(r"MSH-2: must declare four or five different delimiters, such as ^~\&", field="MSH-2")
        return cls(field, *signs)

    @cached_property
    def _codes(self) -> dict[str, str]:
        codes = {"F": self.field, "S": self.component, "T": self.subcomponent, "R": self.repetition, "E": self.escape}
        return codes | ({"P": self.truncation} if self.truncation else {})

    @cached_property
    def _sequence(self) -> re.Pattern[str]:
        sign = re.escape(self.escape)
        return re.compile(rf"{sign}([^{sign}\r\n]{{1,64000}}){sign}")

    @cached_property
    def _written(self) -> dict[int, str]:
        e = self.escape
        signs = {ord(sign): f"{e}{code}{e}" for code, sign in self._codes.items() if code != "P"}
        return signs | {ord("\n"): f"{e}.br{e}", **{ord(c): f"{e}X{ord(c):02X}{e}" for c in "\r\x0b\x1c"}}

    def escaped(self, text: str) -> str:
        """Return a text in the form in which it stands in a field."""
        return text.translate(self._written)

    def pieces(self, part: FieldPart, charset: str, path: str) -> Iterator[FieldPiece]:
        r"""Yield the pieces of a value with their escapes decoded.

        Formatting commands become line breaks or nothing. A lone escape character stays as it is.

        Args:
            charset: the character set of `\X…\`.
            path: the path of the value, for messages.

        Raises:
            MalformedRecord: an escape sequence changes the character set, is a local one, or cannot be decoded.
        """
        text, start = part
        if self.escape not in text:
            if text:
                yield FieldPiece(text, start, start + len(text), plain=True)
            return
        at = 0
        for sequence in self._sequence.finditer(text):
            decoded = self._decoded(sequence[1], charset, path)
            if decoded is None:
                continue
            if sequence.start() > at:
                yield FieldPiece(text[at : sequence.start()], start + at, start + sequence.start(), plain=True)
            at = sequence.end()
            if decoded:
                yield FieldPiece(decoded, start + sequence.start(), start + at)
        if at < len(text):
            yield FieldPiece(text[at:], start + at, start + len(text), plain=True)

    def _decoded(self, code: str, charset: str, path: str) -> str | None:
        """Return the characters of an escape sequence; "" for a formatting command, None if it is not one."""
        if code in self._codes:
            return self._codes[code]
        if code in ("H", "N"):
            return ""
        if layout := _FORMAT.fullmatch(code):
            if layout[1] == "sk":
                return " "
            number = layout[2].lstrip("+-")
            return "\n" * min(int(number or 1), _MOST_LINES) if layout[1] in _LINES else ""
        if code[0] == "X" and re.fullmatch(r"X(?:[0-9A-Fa-f]{2})+", code):
            try:
                return bytes.fromhex(code[1:]).decode(charset)
            except UnicodeDecodeError:
                raise MalformedRecord(
                    f"{path}: a hexadecimal escape sequence that is not in the character set of the message", field=path
                ) from None
        if code[0] in "CMZ." and not any(c.isspace() for c in code):
            raise MalformedRecord(f"{path}: {REFUSED}", field=path)
        return None

    def decoded(self, part: FieldPart, charset: str, path: str) -> str:
        """Return a value with its escapes decoded. Raises as `pieces`."""
        if self.escape not in part.text:
            return part.text
        return "".join(piece.text for piece in self.pieces(part, charset, path))


class FieldPiece(NamedTuple):
    """Characters of a text and their place in the message: one to one if `plain`, else an escape sequence.

    A piece without a place (`start == end`) is a line break between two segments.
    """

    text: str
    start: int
    end: int
    plain: bool = False


class PiecedText:
    """A text that is read from pieces of a message, and whose edits are written back into these pieces."""

    def __init__(self, pieces: Sequence[FieldPiece]) -> None:
        self.content = "".join(piece.text for piece in pieces)
        self._pieces = pieces
        self._starts: list[int] = []
        at = 0
        for piece in pieces:
            self._starts.append(at)
            at += len(piece.text)

    def _covered(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the pieces that have a place, by index, and the stretch of each that `start:end` covers."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        if start == end:  # an insertion: into the piece before it, or else into the one that begins there
            for i in (first - 1, first) if self._starts[first] == start else (first,):
                if i >= 0 and self._pieces[i].start < self._pieces[i].end:
                    yield i, start - self._starts[i], start - self._starts[i]
                    return
            return
        for i in range(first, len(self._pieces)):
            piece, at = self._pieces[i], self._starts[i]
            if at >= end:
                return
            if piece.start < piece.end:
                yield i, max(start - at, 0), min(end - at, len(piece.text))

    def places(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places in the message of a stretch of the text. Adjacent places are joined."""
        joined: list[tuple[int, int]] = []
        for i, low, high in self._covered(start, end):
            piece = self._pieces[i]
            a, b = (piece.start + low, piece.start + high) if piece.plain else (piece.start, piece.end)
            if joined and joined[-1][1] == a:
                joined[-1] = (joined[-1][0], b)
            else:
                joined.append((a, b))
        return joined

    def edits(self, changes: Sequence[Change], delimiters: Delimiters) -> list[Change]:
        """Convert edits of the text to edits of the message.

        New words replace the first piece of the old ones, and the other pieces become empty. A line break between two
        segments stays. An escape sequence of several characters is written anew if a part of it changes.
        """
        raw: list[Change] = []
        inside: dict[int, list[Change]] = {}
        for start, end, new in changes:
            for i, low, high in self._covered(start, end):
                piece = self._pieces[i]
                if piece.plain:
                    raw.append((piece.start + low, piece.start + high, delimiters.escaped(new)))
                else:
                    inside.setdefault(i, []).append((low, high, new))
                new = ""
        for i, each in inside.items():
            piece = self._pieces[i]
            raw.append((piece.start, piece.end, delimiters.escaped(splice(piece.text, each))))
        return raw


class Hl7Segment(NamedTuple):
    """A segment of a message.

    Args:
        fields: the fields from number 1. Of a header segment, numbers 1 and 2 are the delimiters.
        number: its number among the segments with this name, from 1. line: its line in the message, from 1.
    """

    name: str
    fields: Sequence[FieldPart]
    number: int
    line: int

    def path(self, field: int) -> str:
        """Return the path of a field: `OBX-5`, or `OBX[2]-5` in the second OBX."""
        return f"{self.name}{f'[{self.number}]' if self.number > 1 else ''}-{field}"


def segments_of(content: str, delimiters: Delimiters) -> Iterator[Hl7Segment]:
    """Yield the segments of a message.

    Segments end with CR, LF, or both. Some systems, such as HAPI, write line breaks of a text as LF. So in a message
    with CR, a line that does not begin like a segment belongs to the text before it.

    Raises:
        MalformedRecord: a line does not begin with the name of a segment.
    """
    counts: dict[str, int] = {}
    ends = "\r\n|\r|\n"
    if "\r" in content:
        ends = rf"\r\n|\r|\n(?=[\n\x0b\x1c]*(?:[A-Z][A-Z0-9]{{2}}{re.escape(delimiters.field)}|\Z))"
    start = 0
    for line, end in enumerate([*re.finditer(ends, content), None], 1):
        at, text = start, content[start : end.start() if end else len(content)]
        start = end.end() if end else len(content)
        bare = text.strip("\x0b\x1c")
        if not bare:
            continue
        at += text.index(bare)
        name = bare[:3]
        if not _SEGMENT.fullmatch(name) or bare[3:4] not in ("", delimiters.field):
            raise MalformedRecord(
                f"line {line} does not begin with the name of a segment. Write a line break in a text as "
                f"{delimiters.escape}.br{delimiters.escape}")
        fields = list(FieldPart(bare[4:], at + 4).split(delimiters.field)) if len(bare) > 4 else []
        if name == "MSH":
            fields.insert(0, FieldPart(delimiters.field, at + 3))
        counts[name] = counts.get(name, 0) + 1
        yield Hl7Segment(name, fields, counts[name], line)
