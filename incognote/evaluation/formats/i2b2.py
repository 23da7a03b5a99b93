"""The XML of i2b2/UTHealth 2014 (track 1), and of MEDDOCAN, whose root has another name: one file per document.

    <deIdi2b2><TEXT><![CDATA[...]]></TEXT><TAGS><NAME id="P0" start="16" end="26" text="..." TYPE="PATIENT"/>...

Offsets count the characters of TEXT as an XML parser returns it, with each line break as one. If a file has carriage
returns, and the words of its tags show that they were counted, they are counted. A tag without TYPE has its element's
name as its type.

XML is read without entities of its own, and written so that every character is preserved.

The XML of the i2b2 2006 challenge: many records per file, with marks in the text.

    <ROOT><RECORD ID="1"><TEXT>... <PHI TYPE="DOCTOR">Name</PHI> ...</TEXT></RECORD>...</ROOT>

The text is everything inside TEXT, from the first character to the last. Records are yielded one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, ParseError

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, names
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, Folder, OneFile
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, SourceMark
from incognote.evaluation.formats.source import HEAD, File, Look, content, files, opened
from incognote.schemas.catalogue import catalogue

_GROUPS = ("PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID")
_RETURN = "\ue00d"  # private use character that replaces a carriage return, which a parser would drop


def _fits(root: str, look: Look) -> bool:
    return look.tag == root


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    for file in files(path, (".xml",)):
        try:
            yield _document(file.name, content(file.path))
        except MalformedRecord as error:
            yield CorpusProblem(file.name, str(error))


def _document(name: str, data: bytes) -> CorpusDocument:
    root = parse_tree(data)
    text = _text(root)
    tags = root.find("TAGS")
    others: tuple[str, ...] = ()
    if b"\r" in data and _RETURN.encode() not in data:
        kept = re.sub(rb"(?s)<TEXT>.*</TEXT>", lambda found: found[0].replace(b"\r", _RETURN.encode()), data)
        others = (_text(parse_tree(kept)).replace(_RETURN, "\r"),)
    marks, fault = None, None
    try:
        marks = None if tags is None else _marks(tags)
    except MalformedRecord as error:
        fault = str(error)
    return CorpusDocument(name, name, text, marks, fault, others=others)


def _text(root: Element) -> str:
    element = root.find("TEXT")
    if element is None:
        raise MalformedRecord("it has no TEXT")
    return "".join(element.itertext())


def _marks(tags: Element) -> tuple[SourceMark, ...]:
    return document.marks(
        [{**tag.attrib, "TYPE": tag.get("TYPE") or tag.tag} for tag in tags if "start" in tag.attrib], type_="TYPE"
    )


def _write(root: str, path: Path) -> CorpusWriter:
    return Folder(path, partial(_files, root))


def _files(root: str, one: Gold) -> dict[str, str]:
    check_characters(one.text)
    text = one.text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")  # CDATA cannot hold references
    tags = "".join(
        f'<{_element(type_)} id="P{number}" start="{start}" end="{end}" '
        f'text="{xml_escaped(one.text[start:end], attribute=True)}" TYPE="{xml_escaped(type_, attribute=True)}" '
        'comment="" />\n'
        for number, (start, end, type_) in enumerate(one.labels)
    )
    body = f"<{root}>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</{root}>\n"
    return {".xml": '<?xml version="1.0" encoding="UTF-8" ?>\n' + body}


def _element(type_: str) -> str:
    """The i2b2 category of a type."""
    type_ = names.ours(type_, "i2b2")
    kind = catalogue()[type_].group if type_ in catalogue() else ""
    return "NAME" if kind == "PERSON" else kind if kind in _GROUPS else "OTHER"


def _format(name: str, about: str, root: str, scheme: str) -> CorpusFormat:
    return CorpusFormat(name, about, partial(_fits, root), _read, partial(_write, root), scheme)


I2B2_2014 = _format("i2b2-2014", "a folder of i2b2 2014 XML (deIdi2b2)", "deIdi2b2", "i2b2")
MEDDOCAN = _format("meddocan", "a folder of MEDDOCAN's XML (its BRAT files are brat)", "MEDDOCAN", "meddocan")


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def safe_parser(target: Any) -> ElementTree.XMLParser:
    """A parser that passes its events to `target`. It refuses a document type, which could declare entities."""
    target.doctype = _refused
    return ElementTree.XMLParser(target=target)  # noqa: S314  # no document type, so no entity that could expand


def parse_tree(data: bytes) -> ElementTree.Element:
    """Parse a document to a tree.

    Raises:
        MalformedRecord: it is not well-formed, or has a document type.
    """
    try:
        reading = safe_parser(_Builder())
        reading.feed(data)
        root = reading.close()
    except (ElementTree.ParseError, LookupError, ValueError):
        raise MalformedRecord("not well-formed XML") from None
    assert isinstance(root, ElementTree.Element)
    return root


def xml_escaped(text: str, *, attribute: bool = False) -> str:
    """Escape text for XML. A carriage return, which a parser would normalize away, becomes a reference.

    Raises:
        MalformedRecord: as for `check_characters`.
    """
    text = check_characters(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    if attribute:
        text = text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return text


def check_characters(text: str) -> str:
    """Return the text if XML can represent it.

    Raises:
        MalformedRecord: it holds a character that XML cannot represent.
    """
    if _FORBIDDEN.search(text):
        raise MalformedRecord("its text has a control character or half a surrogate pair, which XML cannot represent")
    return text


class _Builder(ElementTree.TreeBuilder):
    """A tree builder whose `doctype` can be set."""


def _refused(name: str, public: str | None, system: str | None) -> None:
    raise MalformedRecord("it declares a document type (DTD), which is not supported")


def _fits_2006(look: Look) -> bool:
    return look.tag == "ROOT" or look.tag == "RECORD"


def _read_2006(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    for file in files(path, (".xml",)):
        yield from _records(file)


def _records(file: File) -> Iterator[CorpusDocument | CorpusProblem]:
    target = _Records()
    parser = safe_parser(target)
    with opened(file.path) as stream:
        try:
            while chunk := stream.read(HEAD):
                parser.feed(chunk)
                yield from target.taken()
            parser.close()
        except (ParseError, LookupError, ValueError):
            yield CorpusProblem(
                f"{file.name} after record {target.count}", "not well-formed XML; the rest was not read"
            )
        except MalformedRecord as error:
            yield CorpusProblem(file.name, str(error))
        yield from target.taken()


class _Records:
    """The parser's target. It keeps complete records until they are taken."""

    def __init__(self) -> None:
        self.count = 0
        self._done: list[CorpusDocument] = []
        self._name: str | None = None
        self._text: list[str] | None = None  # within TEXT
        self._length = 0
        self._open: list[tuple[int, str]] = []
        self._marks: list[SourceMark] = []
        self._fault: str | None = None

    def taken(self) -> list[CorpusDocument]:
        done, self._done = self._done, []
        return done

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "RECORD":
            self.count += 1
            self._name, self._marks, self._fault = attributes.get("ID"), [], None
        elif tag == "TEXT":
            self._text, self._length = [], 0
        elif tag == "PHI" and self._text is not None:
            kind = attributes.get("TYPE", "")
            if not kind:
                self._fault = f"span {len(self._marks) + 1} needs a type"
            self._open.append((self._length, kind))

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        if tag == "PHI" and self._open:
            start, kind = self._open.pop()
            if start < self._length:
                self._marks.append(SourceMark(((start, self._length),), kind))
        elif tag == "TEXT" and self._text is not None:
            text, self._text = "".join(self._text), None
            place = f"record {self.count}"
            name = self._name or str(self.count)
            self._done.append(
                CorpusDocument(name, place, text, tuple(self._marks), self._fault, numbered=self._name is None)
            )

    def close(self) -> None:
        """Required by parsers at the end."""


def _write_2006(path: Path) -> CorpusWriter:
    return OneFile(path, _record, head='<?xml version="1.0" encoding="UTF-8"?>\n<ROOT>\n', tail="</ROOT>\n")


def _record(one: Gold) -> str:
    parts, at = [], 0
    for start, end, type_ in sorted(one.labels):
        if start < at:
            raise MalformedRecord("two of its spans overlap, which inline marks cannot represent")
        words = xml_escaped(one.text[start:end])
        parts += [xml_escaped(one.text[at:start]), f'<PHI TYPE="{xml_escaped(type_, attribute=True)}">{words}</PHI>']
        at = end
    parts.append(xml_escaped(one.text[at:]))
    return f'<RECORD ID="{xml_escaped(one.id, attribute=True)}">\n<TEXT>{"".join(parts)}</TEXT>\n</RECORD>\n'


I2B2_2006 = CorpusFormat(
    "i2b2-2006",
    "i2b2 2006 XML: records with PHI marked in the text",
    _fits_2006,
    _read_2006,
    _write_2006,
    "i2b2",
    suffixes=(".xml",),
)
