"""The XML of the i2b2 2006 challenge: many records in a file, marked within the text.

    <ROOT><RECORD ID="1"><TEXT>... <PHI TYPE="DOCTOR">Name</PHI> ...</TEXT></RECORD>...</ROOT>

The text is all that stands within TEXT, from the first character to the last. Records are read as they come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import ParseError

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import xml
from incognote.evaluation.formats.base import Format
from incognote.evaluation.formats.document import Document, Gold, Mark, Problem
from incognote.evaluation.formats.sink import OneFile, Sink
from incognote.evaluation.formats.source import HEAD, File, Look, files, opened


def _fits(look: Look) -> bool:
    return look.tag == "ROOT" or look.tag == "RECORD"


def _read(path: Path) -> Iterator[Document | Problem]:
    for file in files(path, (".xml",)):
        yield from _records(file)


def _records(file: File) -> Iterator[Document | Problem]:
    target = _Records()
    parser = xml.parser(target)
    with opened(file.path) as stream:
        try:
            while chunk := stream.read(HEAD):
                parser.feed(chunk)
                yield from target.taken()
            parser.close()
        except (ParseError, LookupError, ValueError):
            yield Problem(f"{file.name} after record {target.count}", "not well-formed XML; nothing after it is read")
        except MalformedRecord as error:
            yield Problem(file.name, str(error))
        yield from target.taken()


class _Records:
    """What a parser tells its events to; keeps the records that are complete until they are taken."""

    def __init__(self) -> None:
        self.count = 0
        self._done: list[Document] = []
        self._name: str | None = None
        self._text: list[str] | None = None  # within TEXT
        self._length = 0
        self._open: list[tuple[int, str]] = []
        self._marks: list[Mark] = []
        self._fault: str | None = None

    def taken(self) -> list[Document]:
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
                self._marks.append(Mark(((start, self._length),), kind))
        elif tag == "TEXT" and self._text is not None:
            text, self._text = "".join(self._text), None
            place = f"record {self.count}"
            name = self._name or str(self.count)
            self._done.append(Document(name, place, text, tuple(self._marks), self._fault, numbered=self._name is None))

    def close(self) -> None:
        """As parsers ask for at the end."""


def _write(path: Path) -> Sink:
    return OneFile(path, _record, head='<?xml version="1.0" encoding="UTF-8"?>\n<ROOT>\n', tail="</ROOT>\n")


def _record(one: Gold) -> str:
    parts, at = [], 0
    for start, end, type_ in sorted(one.labels):
        if start < at:
            raise MalformedRecord("two of its spans overlap, which marks within the text cannot say")
        words = xml.escaped(one.text[start:end])
        parts += [xml.escaped(one.text[at:start]), f'<PHI TYPE="{xml.escaped(type_, attribute=True)}">{words}</PHI>']
        at = end
    parts.append(xml.escaped(one.text[at:]))
    return f'<RECORD ID="{xml.escaped(one.id, attribute=True)}">\n<TEXT>{"".join(parts)}</TEXT>\n</RECORD>\n'


I2B2_2006 = Format(
    "i2b2-2006", "i2b2 2006 XML: records with PHI marked in the text", _fits, _read, _write, "i2b2", suffixes=(".xml",)
)
