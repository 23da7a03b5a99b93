"""Texts in another form within a record: XHTML whose tags are kept, and attached documents in base64.

The text of XHTML is extracted and scanned, and edits of it are mapped back between the tags. A small strict reader is
used instead of an XML library. It keeps the position of every character, rejects what it does not know, and resolves
only HTML's named characters.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html.entities import name2codepoint
from typing import NamedTuple

from incognote.errors import RecordProblem, SchemaViolation, UnsupportedFormat
from incognote.formats.base import Change, Document, Format
from incognote.schemas.fhir import rules
from incognote.schemas.fieldnames import child
from incognote.text.container import of_bytes

_NAME, _SPACE = r"[A-Za-z_:][A-Za-z0-9_:.\-]*", r"[ \t\r\n]"
_TAG = re.compile(
    r"<(?P<close>/)?(?P<name>[A-Za-z][A-Za-z0-9]*)"
    rf"(?P<attributes>(?:{_SPACE}+{_NAME}{_SPACE}*={_SPACE}*(?:\"[^\"<]*\"|'[^'<]*'))*)"
    rf"{_SPACE}*(?P<empty>/)?>"
)
_ATTRIBUTE = re.compile(
    rf"{_SPACE}+(?P<name>{_NAME}){_SPACE}*={_SPACE}*(?P<quote>[\"'])(?P<value>.*?)(?P=quote)", re.DOTALL
)
_COMMENT = re.compile(r"<!--(?:[^-]|-[^-])*-->")
_REFERENCE = re.compile(
    r"&(?:#(?P<decimal>[0-9]{1,7})|#x(?P<hex>[0-9A-Fa-f]{1,6})|(?P<name>[A-Za-z][A-Za-z0-9]{1,31}));"
)
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2
_PROLOG = re.compile(
    r"\ufeff?[ \t\r\n]*(?:<\?xml version=\"1\.0\"(?: encoding=\"[A-Za-z0-9\-]{1,20}\")?\?>)?[ \t\r\n]*"
    r"(?:<!DOCTYPE html>)?[ \t\r\n]*(?=<html[ \t\r\n>])", re.IGNORECASE
)
_BLANK = re.compile(r"[ \t\r\n]*")


class _Piece(NamedTuple):
    """Characters `at..at+size` of the text come from `start..end` of the source, one to one unless `entity`."""

    at: int
    size: int
    start: int
    end: int
    entity: bool
    quote: str


class Narrative:
    """One XHTML value: a `div`, or with `page=True` a whole page if it begins like one.

    Attributes:
        source: the XHTML in the record.
        text: what a reader sees: the parts of a line joined, each block on its own line, table cells separated by tabs;
            then the attribute values that hold words (titles, alternative texts), one per line.

    Raises:
        SchemaViolation: the XHTML is not well-formed, or has an element or attribute that the rules do not list
            (scripts, forms, frames).
    """

    def __init__(self, source: str, field: str = "", *, page: bool = False) -> None:
        self.source = source
        self._field = field
        self._parts: list[str] = []
        self._size = 0
        self._pending = ""
        self._pieces: list[_Piece] = []
        self._removals: list[Change] = []
        self._words: list[tuple[int, int, str]] = []
        if bad := _NO_CHARACTER.search(source):
            raise self._refused(bad.start(), "a character that XML does not allow")
        prolog = _PROLOG.match(source) if page else None
        self._read(_kinds(prolog is not None), "html" if prolog else "div", prolog.end() if prolog else 0)
        for start, end, quote in self._words:
            self._separate("\n")
            self._characters(start, end, quote)
        self.text = "".join(self._parts)
        self._starts = [piece.at for piece in self._pieces]

    def edits(self, changes: Sequence[Change]) -> list[Change]:
        """Convert edits of the text to edits of the source, and add the removals that are always made.

        New words replace the first part of the old ones. The rest of the old words is removed, and tags between them
        are kept.
        """
        made = list(self._removals)
        for start, end, new in changes:
            places = self._stretches(start, end)
            for i, (a, b, quote) in enumerate(places):
                made.append((a, b, _escaped(new, quote) if i == 0 else ""))
        return sorted(made)

    def places(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places in the source of a stretch of the text."""
        return [(first, last) for first, last, _ in self._stretches(start, end)]

    def _stretches(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Like `places`, with the quotes around each place. Adjacent places are joined."""
        places: list[tuple[int, int, str]] = []
        for i in range(max(bisect_right(self._starts, start) - 1, 0), len(self._pieces)):
            piece = self._pieces[i]
            if piece.at >= end:
                break
            if piece.at + piece.size <= start:
                continue
            a, b = piece.start, piece.end
            if not piece.entity:
                a += max(start - piece.at, 0)
                b -= max(piece.at + piece.size - end, 0)
            if places and places[-1][1] == a:
                places[-1] = (places[-1][0], b, piece.quote)
            else:
                places.append((a, b, piece.quote))
        return places

    def _read(self, kinds: dict[str, str], root: str, at: int) -> None:
        source = self.source
        open_names: list[str] = []
        seen_root = False
        while at < len(source):
            if source[at] != "<":
                end = source.find("<", at)
                end = len(source) if end < 0 else end
                if open_names:
                    self._characters(at, end, "")
                elif not _BLANK.fullmatch(source, at, end):
                    raise self._refused(at, "text outside the outermost element")
                at = end
                continue
            if comment := _COMMENT.match(source, at):
                self._removals.append((at, comment.end(), ""))
                at = comment.end()
                continue
            tag = _TAG.match(source, at)
            if tag is None:
                raise self._refused(at, "not well-formed XHTML")
            name = tag["name"]
            if name not in kinds:
                raise self._refused(at, "an element that is not supported")
            if not open_names and (seen_root or name != root or tag["close"]):
                raise self._refused(at, f"not a single {root} element")
            if tag["close"]:
                if tag["attributes"] or tag["empty"] or open_names.pop() != name:
                    raise self._refused(at, "not well-formed XHTML")
            else:
                seen_root = True
                self._attributes(tag)
                if not tag["empty"]:
                    open_names.append(name)
            if kinds[name]:
                self._separate(kinds[name])
            at = tag.end()
        if open_names or not seen_root:
            raise self._refused(at, "not well-formed XHTML")

    def _attributes(self, tag: re.Match[str]) -> None:
        known = rules().xhtml
        names: set[str] = set()
        for match in _ATTRIBUTE.finditer(self.source, tag.start("attributes"), tag.end("attributes")):
            name = match["name"]
            if name in names:
                raise self._refused(match.start(), "a duplicate attribute")
            names.add(name)
            if name in known["scanned"]:
                self._words.append((match.start("value"), match.end("value"), match["quote"]))
            elif name in known["kept"] or name in known["removed"]:
                if name in known["removed"] or not re.fullmatch(known["kept"][name], match["value"], re.ASCII):
                    self._removals.append((match.start(), match.end(), ""))
            else:
                raise self._refused(match.start(), "an attribute that is not supported")

    def _characters(self, start: int, end: int, quote: str) -> None:
        at = start
        if self._pending and (blank := _BLANK.match(self.source, start, end)):
            at = blank.end()  # white space between blocks is only layout
        while at < end:
            stop = self.source.find("&", at, end)
            stop = end if stop < 0 else stop
            if stop > at:
                self._add(self.source[at:stop], at, stop, False, quote)
            if stop == end:
                return
            reference = _REFERENCE.match(self.source, stop, end)
            character = _named(reference) if reference else None
            if reference is None or character is None:
                raise self._refused(stop, "an ampersand without a known character reference")
            at = reference.end()
            self._add(character, stop, at, True, quote)

    def _add(self, characters: str, start: int, end: int, entity: bool, quote: str) -> None:
        if self._pending and self._parts:
            self._parts.append(self._pending)
            self._size += 1
        self._pending = ""
        self._pieces.append(_Piece(self._size, len(characters), start, end, entity, quote))
        self._parts.append(characters)
        self._size += len(characters)

    def _separate(self, separator: str) -> None:
        """Separate the next part from the last, once."""
        if self._pending != "\n":
            self._pending = separator

    def _refused(self, at: int, what: str) -> SchemaViolation:
        return SchemaViolation(f"{self._field}: {what}, at character {at} of the XHTML", field=self._field)


@cache
def _kinds(page: bool) -> dict[str, str]:
    """Return the separator of each allowed element."""
    known = rules().xhtml
    kinds = dict.fromkeys(known["inline"], "")
    kinds |= dict.fromkeys((*known["block"], *(known["page"] if page else ())), "\n")
    return kinds | dict.fromkeys(known["cell"], "\t")


def _named(reference: re.Match[str]) -> str | None:
    """Return the character of a reference, or None if there is none."""
    if reference["name"]:
        code = {"apos": 39}.get(reference["name"]) or name2codepoint.get(reference["name"])
        return chr(code) if code else None
    code = int(reference["decimal"]) if reference["decimal"] else int(reference["hex"], 16)
    if code > 0x10FFFF or _NO_CHARACTER.match(chr(code)):
        return None
    return chr(code)


def _escaped(text: str, quote: str) -> str:
    """Escape text for use between tags or in an attribute's quotes."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace(quote, "&quot;" if quote == '"' else "&#39;") if quote else text


_CHARSET = re.compile(r"; *charset=\"?([A-Za-z0-9\-]+)\"?", re.IGNORECASE)
# Control characters except white space: they show that a text is in another character set.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True, slots=True)
class Attached:
    """A decoded attachment.

    Args:
        content: the text.
        charset: Python's name of the character set.
        is_markup: whether it is XHTML, whose tags are kept.
    """

    content: str = field(repr=False)
    charset: str
    is_markup: bool

    def encode(self, content: str) -> str:
        """Return new content as base64 in the same character set.

        Raises:
            RecordProblem: the character set cannot represent the replacements.
        """
        try:
            return base64.b64encode(content.encode(self.charset)).decode("ascii")
        except UnicodeEncodeError:
            raise RecordProblem(
                f"an attachment in {self.charset} cannot represent the replacements. Send it in UTF-8") from None


def opened_inside(data: str, media_type: str | None, path: str) -> tuple[Format, Document] | None:
    """Open `Attachment.data` if its bytes are a container that another format reads, such as RTF. Else return None.

    Args:
        data: the base64 text. media_type: the declared type. path: the path of `data`.

    Raises:
        RecordProblem: the reader of that format refuses the bytes.
    """
    from incognote.formats.registry import nested, of_container

    octets = octets_of(data)
    if not octets or of_container(octets) is None:
        return None
    return nested(octets, media_type, path)


def octets_of(data: str) -> bytes | None:
    """Return the bytes of a base64 text, or None if it is not base64."""
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def decode(data: str, content_type: str | None, path: str) -> Attached:
    """Read `Attachment.data`.

    Args:
        data: the base64 text.
        content_type: `Attachment.contentType` with its charset parameter; UTF-8 if there is none.
        path: the path of the attachment, for messages.

    Raises:
        UnsupportedFormat: the bytes are a PDF, an image or another format without a reader, whatever the declared type.
        SchemaViolation: the media type is not text, the data is not base64, or the bytes do not match the character
            set. Control characters (UTF-16 read as UTF-8) and UTF-8 declared as Latin-1 count as a mismatch. Nothing
            unreadable is released.
    """
    known = rules().vocabulary
    here, kind = child(path, "data"), child(path, "contentType")
    media_type = (content_type or "").split(";")[0].strip().lower()
    readable = ("HTML", "XHTML") if known["media_types"].get(media_type) == "markup" else ()
    octets = octets_of(data)
    what = of_bytes(octets) if octets else None
    if what is not None and what not in readable:
        raise UnsupportedFormat.of(what, here)
    if media_type not in known["media_types"]:
        served = ", ".join(known["media_types"])
        raise SchemaViolation(f"{kind}: must be one of: {served}", field=kind)
    named = _CHARSET.search(content_type or "")
    charset = known["charsets"].get(named[1].lower() if named else "utf-8")
    if charset is None:
        raise SchemaViolation(f"{kind}: unsupported character set", field=kind)
    if octets is None:
        raise SchemaViolation(f"{here}: not base64", field=here)
    try:
        content = octets.decode(charset)
        if _UNPRINTABLE.search(content) or (charset in ("latin-1", "cp1252") and _is_utf8(octets)):
            raise SchemaViolation(f"{here}: not text in {charset}. Set its character set in contentType", field=here)
    except UnicodeDecodeError:
        raise SchemaViolation(f"{here}: not text in {charset}", field=here) from None
    return Attached(content, charset, known["media_types"][media_type] == "markup")


def _is_utf8(octets: bytes) -> bool:
    """Whether bytes are valid UTF-8 beyond ASCII. No text in a one-byte character set looks like that by chance."""
    try:
        octets.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not octets.isascii()
