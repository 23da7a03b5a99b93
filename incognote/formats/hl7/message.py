"""An HL7 v2 message as a Document, and the reader of files with one or many messages."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, cast

from incognote.errors import MalformedRecord
from incognote.formats import encoding
from incognote.formats.base import (
    Change,
    DecodedDocument,
    Document,
    Edit,
    FieldAction,
    Unreadable,
    account,
    of_child,
    splice,
    split_edits,
)
from incognote.formats.encoding import UTF8, Codec, announced, peeked
from incognote.formats.hl7.er7 import Delimiters
from incognote.formats.hl7.values import dated, encoded_data
from incognote.formats.hl7.walk import Hl7Walk
from incognote.formats.text import refused
from incognote.nouns import Reason, Text
from incognote.schemas.hl7 import hl7_rules, rules_with
from incognote.schemas.registry import Registry
from incognote.text.container import of_bytes

HL7 = "HL7 v2 message"
_BLOCK = 2**16
_HEADER = re.compile(rb"(?<![^\r\n\x1c])\x0b?(?:MSH|FHS|BHS|BTS|FTS)(?=[^A-Za-z0-9 \t]|\Z)")
_LONGEST_NAME = 5
_END = re.compile(rb"[\r\n\x1c]*\Z")


class Hl7Message(DecodedDocument):
    """One message. `under` opens it with the rules; before that it has no texts and no structured fields.

    Args:
        content: the message with its delimiters, without the line ends after its last segment.
        after: the line ends, and the end of an MLLP block.
    """

    _walk: Hl7Walk

    def __init__(self, content: str, codec: Codec = UTF8, after: bytes = b"") -> None:
        self.content, self.codec, self.head, self.after = content, codec, codec.mark, after
        self.separator = b"" if after else b"\r"

    def under(self, registry: Registry, data_type: str | None) -> Document:
        rules = rules_with(registry)
        opened = copy.copy(self)
        walk = opened._walk = Hl7Walk(self.content, self.codec.encoding, rules, registry)
        opened.schema = rules.schema
        opened.texts = tuple(Text(text.content, name) for name, text in walk.texts.items())
        opened.actions, opened.known = tuple(walk.actions), tuple(dict.fromkeys(walk.known))
        opened.patient, opened.id = walk.patient, walk.id
        opened.children = {path: attachment.document for path, attachment in walk.attachments.items()}
        opened.registry = registry
        return opened

    def written(self, action: FieldAction, value: str) -> str | None:
        if action.action == "absent":
            return None
        return (value if self._new(action, value) else None) if action.action == "date" else value

    def _new(self, action: FieldAction, value: str) -> str:
        """Return the new value of a structured field as it is written; "" to remove it."""
        if action.action == "date":
            return dated(self._walk.places[action.text.field].written, value)
        return "" if action.action == "absent" else value

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        changes, values = split_edits(edits)
        account(self, changes, values)
        raw = [change for name in self.children for change in self._attached(name, of_child(edits, name))]
        delimiters = self._walk.delimiters
        for path, text in self._walk.texts.items():
            raw += text.edits(changes.get(path, ()), delimiters)
        for action, value in values.items():
            if place := self._walk.places.get(action.text.field):
                raw.append((place.start, place.end, delimiters.escaped(self._new(action, value))))
        out.write(self.codec.encode(splice(self.content, raw)))

    def _attached(self, name: str, edits: Sequence[Edit]) -> list[Change]:
        """Return the change of an encapsulated document; none if it stays the same."""
        attachment = self._walk.attachments[name]
        document, out = attachment.document, io.BytesIO()
        out.write(document.head)
        document.rebuild(edits, out)
        out.write(document.after)
        if out.getvalue() == attachment.data:
            return []
        written = encoded_data(out.getvalue(), attachment.encoding)
        return [(attachment.start, attachment.end, self._walk.delimiters.escaped(written))]

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        text = self._walk.texts.get(field)
        if text is not None:
            return text.places(start, end)
        if field in self._walk.places:
            return (self._walk.places[field][:2],)
        return None


def read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    """Yield the messages of a stream, one at a time. The segments of a batch around them (FHS, BHS, BTS, FTS) are left
    out, so the output is a file of messages.
    """
    head = peeked(stream)
    mark = announced(head)
    if of_bytes(head) not in (None, HL7) or mark is None or mark.encoding != "utf-8":
        yield refused(stream)
        return
    stream.read(len(mark.mark))
    first = mark.mark
    for unit in _units(stream):
        if len(unit) > encoding.MAX_BYTES:
            yield Unreadable(encoding.too_large())
        elif not unit.strip(b"\r\n\x0b\x1c \t"):
            continue
        elif unit.lstrip(b"\r\n\x0b\x1c").startswith(b"MSH"):
            yield _message(unit, first)
            first = b""
        elif not _HEADER.match(unit.lstrip(b"\r\n\x0b\x1c")):
            yield Unreadable(Reason(MalformedRecord.code, "", "does not begin with the segment MSH"), unit)
        elif _lines(unit) > 1:
            name = unit.strip()[:3].decode()
            yield Unreadable(Reason(MalformedRecord.code, name, f"{name} is followed by other segments"), unit)


def kept(data: bytes) -> bytes:
    """Return a source without what `read` leaves out on purpose: the segments of a batch, and blank lines before it."""
    mark = announced(data[:8])
    head = mark.mark if mark else b""
    units = _units(cast(BinaryIO, io.BytesIO(data[len(head):])))
    return head + b"".join(unit for unit in units if not _is_left_out(unit))


def _is_left_out(unit: bytes) -> bool:
    bare = unit.lstrip(b"\r\n\x0b\x1c")
    return not unit.strip(b"\r\n\x0b\x1c \t") or (
        not bare.startswith(b"MSH") and _HEADER.match(bare) is not None and _lines(unit) <= 1)


def _lines(unit: bytes) -> int:
    return sum(1 for line in re.split(rb"[\r\n]+", unit) if line.strip(b"\x0b\x1c \t"))


def _units(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the parts of a stream that begin with a header or trailer segment. The first part may begin otherwise."""
    buffer, searched = bytearray(), 0
    while True:
        block = stream.read(_BLOCK)
        buffer += block
        limit = len(buffer) - _LONGEST_NAME if block else len(buffer)
        starts = [found.start() for found in _HEADER.finditer(buffer, max(searched, 1)) if found.start() < limit]
        for start, end in zip([0, *starts], starts, strict=False):
            yield bytes(buffer[start:end])
        if starts:
            del buffer[: starts[-1]]
        if not block:
            yield bytes(buffer)
            return
        searched = max(len(buffer) - _LONGEST_NAME, 0)
        if len(buffer) > encoding.MAX_BYTES + _BLOCK:
            yield bytes(buffer)
            buffer.clear()
            searched = 0


def _message(unit: bytes, mark: bytes) -> Document | Unreadable:
    """Decode one message by the character set in MSH-18."""
    end = _END.search(unit)
    after = end[0] if end else b""
    data = unit[: len(unit) - len(after)]
    try:
        declared = _declared(data)
    except MalformedRecord as problem:
        return Unreadable(Reason(problem.code, problem.field, str(problem)), unit)
    charset = hl7_rules().charsets.get(declared or "UNICODE UTF-8")
    reason = Reason("encoding", "MSH-18", "the bytes do not have the character set in MSH-18, or it is not supported. "
                                          "Correct MSH-18, or convert the message to UTF-8")
    if charset is None:
        return Unreadable(reason, unit)
    codec = Codec(charset, mark)
    try:
        content = data.decode(charset)
        if codec.encode(content) != data or (charset != "utf-8" and not data.isascii() and _is_utf8(data)):
            return Unreadable(reason, unit)
    except UnicodeError:
        return Unreadable(reason, unit)
    return Hl7Message(content, codec, after)


def _declared(data: bytes) -> str:
    """Return MSH-18; "" if it is empty."""
    header = re.split(rb"[\r\n]", data.lstrip(b"\x0b"), maxsplit=1)[0].decode("latin-1")
    fields = header.split(Delimiters.of(header).field)
    return fields[17].strip() if len(fields) > 17 else ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
