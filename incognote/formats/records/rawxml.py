"""Parse XML strictly, and keep the position of every tag, attribute, and character.

expat checks that the content is well-formed. Nothing is fetched, and only the five predefined entities and character
references are resolved: a document type declaration is refused, and so is every processing instruction except
`xml-stylesheet`.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from incognote.errors import MalformedRecord
from incognote.formats.base import Change
from incognote.formats.encoding import Codec, announced
from incognote.formats.records.references import escaped, resolved, unescaped

XML = "http://www.w3.org/XML/1998/namespace"
MAX_DEPTH, MAX_ELEMENTS = 120, 500_000
_TOKEN = re.compile(
    r"<(?:!--(?P<comment>.*?)-->|!\[CDATA\[(?P<cdata>.*?)\]\]>|\?(?P<pi>\S+)(?P<data>.*?)\?>|/(?P<close>[^\s>]++)\s*>"
    r"|(?P<open>[^\s/>]++)(?P<attributes>(?:\s++[^\s=]++\s*=\s*(?:\"[^\"]*+\"|'[^']*+'))*+)\s*(?P<empty>/)?>)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"\s+(?P<name>[^\s=]+)\s*=\s*(?P<quote>[\"'])(?P<value>.*?)(?P=quote)", re.DOTALL)
_DECLARED = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._\-]*)")
_BLANK = re.compile(r"[ \t\r\n]*")
_SERVED = frozenset("""
    utf-8 ascii iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10
    iso8859-13 iso8859-14 iso8859-15 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u
    gb18030 gbk big5 shift_jis euc_jp euc_kr
""".split())


class XmlAttribute(NamedTuple):
    """An attribute: its decoded value, the position of the value, and that of the attribute with the space before."""

    name: str
    value: str
    start: int
    end: int
    whole: tuple[int, int]


class Characters(NamedTuple):
    """Characters `start:end` of the source between tags; in a CDATA section, without its delimiters."""

    start: int
    end: int
    cdata: bool = False


@dataclass(slots=True, eq=False)
class Element:
    """An element.

    Attributes:
        uri, name: its namespace and local name. tag: the name with the prefix, as written.
        start, end: its position. inside: the end of its opening tag.
        attributes: by name. A name in a namespace is `{namespace}name`.
        children: its elements and characters, in order.
    """

    uri: str
    name: str
    tag: str
    start: int
    inside: int
    empty: bool
    attributes: dict[str, XmlAttribute]
    end: int = 0
    children: list[Element | Characters] = field(default_factory=list)

    @property
    def elements(self) -> Iterator[Element]:
        return (child for child in self.children if isinstance(child, Element))

    @property
    def characters(self) -> Iterator[Characters]:
        return (child for child in self.children if isinstance(child, Characters))

    def value(self, name: str) -> str:
        """Return the value of an attribute, or "" if there is none."""
        attribute = self.attributes.get(name)
        return attribute.value.strip() if attribute else ""

    def child(self, name: str) -> Element | None:
        """Return the first child element with a local name."""
        return next((child for child in self.elements if child.name == name), None)

    def walk(self) -> Iterator[Element]:
        """Yield the element and all elements in it."""
        yield self
        for child in self.elements:
            yield from child.walk()


class Instruction(NamedTuple):
    """A processing instruction at `start:end` of the source, usually `xml-stylesheet`."""

    data: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Xml:
    """A parsed document: its root, the positions of its comments, and its stylesheet instructions."""

    root: Element
    comments: Sequence[tuple[int, int]]
    stylesheets: Sequence[Instruction]


def codec_of_xml(data: bytes) -> Codec | None:
    """Return the encoding of an XML document, or None if it is not supported or the declaration contradicts the bytes.

    A byte order mark decides, then the declaration. Without either, the encoding is UTF-8.
    """
    codec = announced(data[:4])
    if codec is None:
        return None
    if not codec.mark and data[:4] in (b"<\x00?\x00", b"\x00<\x00?"):
        codec = Codec("utf-16-le" if data[:1] == b"<" else "utf-16-be")
    head = data[len(codec.mark) : 1024]
    wide = codec.encoding.startswith("utf-16")
    declared = _DECLARED.match(head.replace(b"\x00", b"") if wide else head)
    if declared is None:
        return codec
    try:
        name = codecs.lookup(declared[1].decode()).name
    except LookupError:
        return None
    if wide:
        return codec if name in ("utf-16", codec.encoding) else None
    if codec.mark:
        return codec if name == "utf-8" else None
    return Codec(name) if name in _SERVED else None


def parse_xml(source: str, *, any_instruction: bool = False) -> Xml:
    """Parse a document.

    Args:
        any_instruction: whether all processing instructions are returned as `stylesheets` are. By default, those other
            than `xml-stylesheet` are refused.

    Raises:
        MalformedRecord: it is not well-formed, too deep, or has a document type declaration or an instruction other
            than `xml-stylesheet`.
    """
    check_well_formed(source)
    comments: list[tuple[int, int]] = []
    stylesheets: list[Instruction] = []
    top = Element("", "", "", 0, 0, False, {})
    open_elements: list[tuple[Element, Mapping[str, str]]] = [(top, {"xml": XML, "": ""})]
    at, count = source.find("<"), 0
    while at >= 0:
        token = _TOKEN.match(source, at)
        if token is None:
            raise MalformedRecord(f"not well-formed XML at {line_of(source, at)}")
        holder, names = open_elements[-1]
        end = token.end()
        if token["comment"] is not None:
            comments.append((at, end))
        elif token["cdata"] is not None:
            holder.children.append(Characters(*token.span("cdata"), cdata=True))
        elif token["pi"] == "xml-stylesheet":
            stylesheets.append(Instruction(token["data"], at, end))
        elif token["pi"] is not None:
            if any_instruction and token["pi"] != "xml":
                stylesheets.append(Instruction(token["data"], at, end))
            elif token["pi"] != "xml" or at:
                raise MalformedRecord(f"a processing instruction at {line_of(source, at)}. Remove it")
        elif token["close"]:
            open_elements.pop()[0].end = end
        else:
            written = list(_written_attributes(source, *token.span("attributes")))
            if declared := {a.name[6:]: a.value for a in written if a.name.partition(":")[0] == "xmlns"}:
                names = {**names, **declared}  # xmlns without a prefix is ""
            prefix, _, local = token["open"].rpartition(":")
            element = Element(names[prefix], local, token["open"], at, end, bool(token["empty"]),
                              {_expanded(a.name, names): a for a in written}, end)  # fmt: skip
            holder.children.append(element)
            count += 1
            if count > MAX_ELEMENTS:
                raise MalformedRecord(f"more than {MAX_ELEMENTS:,} elements. Split the document")
            if not token["empty"]:
                if len(open_elements) > MAX_DEPTH:
                    raise MalformedRecord(f"nested deeper than {MAX_DEPTH} elements, at {line_of(source, at)}")
                open_elements.append((element, names))
        at = source.find("<", end)
        if at > end:
            open_elements[-1][0].children.append(Characters(end, at))
    return Xml(next(top.elements), comments, stylesheets)


def check_well_formed(source: str) -> None:
    """Raise MalformedRecord unless the source is well-formed XML without a document type declaration."""
    from xml.parsers import expat

    def refuse(*_: object) -> None:
        raise MalformedRecord("has a document type declaration, which can define entities. Remove it")

    parser = expat.ParserCreate("utf-8", " ")
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(source.encode("utf-8"), True)
    except expat.ExpatError as error:
        raise MalformedRecord(f"not well-formed XML at line {error.lineno}, column {error.offset + 1}: "
                              f"{expat.ErrorString(error.code)}") from None  # fmt: skip
    except UnicodeEncodeError:
        raise MalformedRecord("has a character that XML does not allow") from None


def line_of(source: str, at: int) -> str:
    """Return where a position is, for messages: `line 3, column 7`."""
    return f"line {source.count(chr(10), 0, at) + 1}, column {at - source.rfind(chr(10), 0, at)}"


def _written_attributes(source: str, start: int, end: int) -> Iterator[XmlAttribute]:
    for match in _ATTRIBUTE.finditer(source, start, end):
        value = match["value"]
        if "&" in value or not value.isprintable():
            value = unescaped(re.sub(r"\r\n|[\t\n\r]", " ", value))
        yield XmlAttribute(match["name"], value, *match.span("value"), match.span())


def _expanded(name: str, names: Mapping[str, str]) -> str:
    prefix, _, local = name.rpartition(":")
    return f"{{{names[prefix]}}}{local}" if prefix and prefix != "xmlns" else name


class _Piece(NamedTuple):
    """Characters `at:at+size` of the text come from `start:end` of the source, one to one unless `reference`."""

    at: int
    size: int
    start: int
    end: int
    reference: bool
    cdata: bool
    attribute: XmlAttribute | None


class XmlText:
    """A text that is composed of stretches of an XML source, with separators that are not in the source.

    Args:
        source: the XML.
        encoding: the encoding of the file. Characters that it cannot represent are written as character references.
    """

    def __init__(self, source: str, encoding: str) -> None:
        self._source, self._encoding = source, encoding
        self._pieces: list[_Piece] = []
        self._parts: list[str] = []
        self._size = 0
        self._pending = ""

    @property
    def text(self) -> str:
        """The text so far, without white space at its end."""
        self._trim()
        return "".join(self._parts)

    def add(self, found: Characters) -> None:
        """Add characters between tags. White space next to a separator is only layout and is left out."""
        self._add(found.start, found.end, found.cdata, None)

    def add_attribute(self, attribute: XmlAttribute) -> None:
        """Add the value of an attribute, on a line of its own."""
        self.separate("\n")
        self._add(attribute.start, attribute.end, False, attribute)
        self.separate("\n")

    def separate(self, separator: str) -> None:
        """Separate the next characters from the last, once. A line break takes precedence over a tab."""
        self._trim()
        if "\n" not in self._pending:
            self._pending = separator

    def line_break(self) -> None:
        """Add a line break. Several make blank lines."""
        self._trim()
        self._pending = f"{self._pending.strip(chr(9))}\n"

    def edits(self, changes: Iterable[Change]) -> list[Change]:
        """Convert edits of the text to edits of the source.

        New words replace the first part of the old ones, and the rest of the old words is removed. An attribute that
        would become empty is removed.
        """
        edits: list[Change] = []
        for start, end, new in changes:
            for i, (a, b, piece) in enumerate(self._stretches(start, end)):
                attribute = piece.attribute
                words = self._escaped(new, piece) if i == 0 else ""
                if attribute is not None and not words and (a, b) == (attribute.start, attribute.end):
                    a, b = attribute.whole
                edits.append((a, b, words))
        return edits

    def places(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places in the source of a stretch of the text."""
        return [(a, b) for a, b, _ in self._stretches(start, end)]

    def _stretches(self, start: int, end: int) -> list[tuple[int, int, _Piece]]:
        places: list[tuple[int, int, _Piece]] = []
        first = max(bisect_right(self._pieces, start, key=lambda piece: piece.at) - 1, 0)
        if start == end:
            piece = self._pieces[first]
            at = piece.end if start >= piece.at + piece.size else piece.start
            at = at if piece.reference else min(piece.start + start - piece.at, piece.end)
            return [(at, at, piece)]
        for i in range(first, len(self._pieces)):
            piece = self._pieces[i]
            if piece.at >= end:
                break
            if piece.at + piece.size <= start:
                continue
            a, b = piece.start, piece.end
            if not piece.reference:
                a += max(start - piece.at, 0)
                b -= max(piece.at + piece.size - end, 0)
            if places and places[-1][1] == a:
                places[-1] = (places[-1][0], b, places[-1][2])
            else:
                places.append((a, b, piece))
        return places

    def _add(self, start: int, end: int, cdata: bool, attribute: XmlAttribute | None) -> None:
        if self._pending or not self._pieces:
            blank = _BLANK.match(self._source, start, end)
            start = blank.end() if blank else start
        for characters, a, b, is_reference in resolved(self._source, start, end, cdata):
            shown = characters if attribute is None or is_reference else re.sub(r"[\t\n\r]", " ", characters)
            self._append(shown, a, b, is_reference, cdata, attribute)

    def _append(
        self, characters: str, start: int, end: int, reference: bool, cdata: bool, attribute: XmlAttribute | None
    ) -> None:
        if self._pending and self._parts:
            self._parts.append(self._pending)
            self._size += len(self._pending)
        self._pending = ""
        self._pieces.append(_Piece(self._size, len(characters), start, end, reference, cdata, attribute))
        self._parts.append(characters)
        self._size += len(characters)

    def _trim(self) -> None:
        """Remove the white space at the end of the text, which is only layout."""
        while self._pieces and not self._pending and not self._pieces[-1].reference:
            piece = self._pieces[-1]
            kept = self._parts[-1].rstrip(" \t\r\n")
            lost = piece.size - len(kept)
            if not lost or piece.attribute is not None:
                return
            self._size -= lost
            if kept:
                self._parts[-1] = kept
                self._pieces[-1] = piece._replace(size=len(kept), end=piece.end - lost)
                return
            self._pieces.pop()
            self._parts.pop()

    def _escaped(self, new: str, piece: _Piece) -> str:
        return escaped(new, self._encoding, cdata=piece.cdata, attribute=piece.attribute is not None)
