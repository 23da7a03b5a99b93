"""Transfer encodings of MIME (7bit, 8bit, binary, quoted-printable, base64) and the characters in them.

A `Body` decodes the bytes of one part and turns edits of the decoded bytes into edits of the encoded ones. Only base64
has to be encoded again from the edit on. In quoted-printable, edits are spliced between the escapes.
"""

from __future__ import annotations

import base64
import binascii
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from incognote.errors import MalformedRecord, RecordProblem
from incognote.formats.base import Change, splice
from incognote.formats.mail import charsets

ByteChange = tuple[int, int, bytes]
"""A range of the message's bytes, and the bytes that replace it."""

_ESCAPE = re.compile(rb"=([0-9A-Fa-f]{2})|=[ \t]*(?:\r?\n|\Z)")
_LINE_ENDS = re.compile(rb"=?(?:\r?\n|\Z)")
_LITERAL = re.compile(rb"[!-<>-~]+|[ \t]+(?=[!-~])|\r?\n")
_LONGEST_LINE = 76
_MOST_QUOTED = 32 * 2**20
_ENCODINGS = frozenset(("", "7bit", "8bit", "binary", "quoted-printable", "base64"))
_STATEFUL = ("utf-16", "iso-2022")


class Body:
    """The body of one part, without transfer encoding.

    Args:
        source: the whole message.
        start, end: where the encoded body is in it.
        encoding: the transfer encoding in lower case, "" if none is stated.

    Attributes:
        data: the decoded bytes.
        raw: the encoded bytes, the same object as `data` if nothing is encoded.
        start: where they are in the message.

    Raises:
        RecordProblem: the encoding is unknown, or the bytes are not base64.
    """

    def __init__(self, source: bytes, start: int, end: int, encoding: str) -> None:
        if encoding not in _ENCODINGS:
            raise RecordProblem("an unknown transfer encoding. Send the part as base64 or 8bit")
        raw = source[start:end]
        self.start, self.raw, self._encoding = start, raw, encoding
        self._starts, self._firsts, self._sizes = array("Q"), array("Q"), array("Q")  # pieces of decoded and raw bytes
        self._newline = b"\r\n" if b"\r\n" in raw else b"\n"
        if encoding == "base64":
            self.data = _base64(raw)
        elif encoding == "quoted-printable" and b"=" in raw:
            self.data = self._quoted_printable(raw)
        else:
            self.data = raw
            self._piece(0, 0, len(raw))

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return where decoded bytes are in the message, in order. None for base64."""
        if self._encoding == "base64":
            return None
        if start == end:
            at = self._at(start)
            return [(at, at)]
        places: list[tuple[int, int]] = []
        for index in range(bisect_right(self._starts, start) - 1, len(self._starts)):
            at, first, size = self._starts[index], self._firsts[index], self._sizes[index]
            if at >= end:
                break
            width = self._width(index)
            if at + width <= start:
                continue
            begin, stop = first, first + size
            if width == size:
                begin, stop = first + max(start - at, 0), stop - max(at + width - end, 0)
            begin, stop = begin + self.start, stop + self.start
            if places and places[-1][1] == begin:
                places[-1] = (places[-1][0], stop)
            else:
                places.append((begin, stop))
        return places

    def rewritten(self, changes: Sequence[ByteChange]) -> list[ByteChange]:
        """Convert changes of the decoded bytes to changes of the message."""
        if not changes:
            return []
        if self._encoding == "base64":
            return [self._encoded(splice(self.data, changes))]
        edits: list[ByteChange] = []
        for start, end, new in sorted(changes, key=lambda change: change[:2]):
            places = self._joined(self.ranges(start, end) or [])
            if new and self._encoding == "quoted-printable":
                new = self._escaped(new, places)
            edits += ((first, last, b"" if i else new) for i, (first, last) in enumerate(places))
        return edits

    def _joined(self, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Join places over soft line breaks. The last one stays, unless nothing follows on its line."""
        if len(places) < 2:
            return places
        end = places[-1][1] - self.start
        if self.raw[end - 1 : end] == b"\n" or _LINE_ENDS.match(self.raw, end):
            return [(places[0][0], places[-1][1])]
        return [(places[0][0], places[-2][1]), places[-1]]

    def replaced(self, new: bytes) -> list[ByteChange]:
        """Return the changes that make `new` of the decoded bytes. Equal lines at both ends keep their bytes."""
        old_lines, new_lines = self.data.splitlines(keepends=True), new.splitlines(keepends=True)
        if len(old_lines) == len(new_lines):
            changes: list[ByteChange] = []
            at = 0
            for before, after in zip(old_lines, new_lines, strict=True):
                if before != after:
                    changes.append((at, at + len(before), after))
                at += len(before)
            return self.rewritten(changes)
        return self.rewritten([(0, len(self.data), new)])

    def _quoted_printable(self, raw: bytes) -> bytes:
        if len(raw) > _MOST_QUOTED:
            raise MalformedRecord(f"over {_MOST_QUOTED // 2**20} MiB in quoted-printable. Send it as base64")
        data = bytearray()
        at = 0
        for escape in _ESCAPE.finditer(raw):
            if escape.start() > at:
                self._piece(len(data), at, escape.start() - at)
                data += raw[at : escape.start()]
            if escape[1]:
                self._piece(len(data), escape.start(), 3)
                data += bytes.fromhex(escape[1].decode())
            at = escape.end()
        if at < len(raw):
            self._piece(len(data), at, len(raw) - at)
            data += raw[at:]
        return bytes(data)

    def _piece(self, start: int, first: int, size: int) -> None:
        self._starts.append(start)
        self._firsts.append(first)
        self._sizes.append(size)

    def _width(self, index: int) -> int:
        """The number of decoded bytes of a piece."""
        after = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.data)
        return after - self._starts[index]

    def _at(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return self.start
        at, first, size = self._starts[index], self._firsts[index], self._sizes[index]
        return self.start + first + (size if position - at >= self._width(index) else position - at)

    def _escaped(self, new: bytes, places: Sequence[tuple[int, int]]) -> bytes:
        """Encode new words in quoted-printable, with soft line breaks if their line becomes too long."""
        raw = self.raw
        first, last = (at - self.start for at in places[0])
        column = first - (raw.rfind(b"\n", 0, first) + 1)
        stop = raw.find(b"\n", last)
        rest = (len(raw) if stop < 0 else stop) - last
        pieces: list[bytes] = []
        at = 0
        while at < len(new):
            literal = _LITERAL.match(new, at)
            piece = literal[0] if literal else b"=%02X" % new[at]
            at += len(piece) if literal else 1
            while piece and column + len(piece) >= _LONGEST_LINE and piece[-1:] != b"\n":
                room = _LONGEST_LINE - 1 - column if literal else 0
                head, piece = piece[: max(room, 0)], piece[max(room, 0) :]
                pieces += (head, b"=" + self._newline)
                column = 0
            pieces.append(piece)
            column = 0 if piece[-1:] == b"\n" else column + len(piece)
        if column and column + rest > _LONGEST_LINE:
            pieces.append(b"=" + self._newline)
        return b"".join(pieces)

    def _encoded(self, new: bytes) -> ByteChange:
        raw = self.raw
        body = raw.strip()
        start = self.start + (raw.find(body) if body else 0)
        width = max(len(body.split(b"\n", 1)[0].rstrip()) // 4 * 4, 4) if b"\n" in body else _LONGEST_LINE
        encoded = base64.b64encode(new)
        lines = [encoded[at : at + width] for at in range(0, len(encoded), width)]
        return start, start + len(body), self._newline.join(lines)


def _base64(raw: bytes) -> bytes:
    compact = raw.translate(None, b" \t\r\n")
    try:
        return base64.b64decode(compact + b"=" * (-len(compact) % 4), validate=True)
    except binascii.Error:
        raise MalformedRecord("not base64, although its transfer encoding says so. Send it again") from None


def codec_for(charset: str, data: bytes) -> str:
    """Return Python's name of the character set in which the bytes of a text can be read.

    A mail program writes windows-1252 and calls it ISO-8859-1, and leaves out the character set of UTF-8. Both are
    read. Nothing else is guessed.

    Raises:
        RecordProblem: the character set is unknown, or the bytes do not match it.
    """
    name = charsets.codec_of(charset or "us-ascii")
    if name is None:
        raise RecordProblem(charsets.UNKNOWN)
    if name == "ascii" and not data.isascii():
        name = "utf-8"
    if name == "iso8859-1" and re.search(rb"[\x80-\x9f]", data):
        name = "cp1252"
    try:
        if name.startswith("utf-16") and data and b"\0" not in data:  # all of it would be Chinese characters
            raise ValueError
        data.decode(name)
    except (UnicodeDecodeError, ValueError):
        raise RecordProblem("bytes that do not match the character set. Set the character set of the text") from None
    if name in ("iso8859-1", "cp1252") and not data.isascii() and _is_utf8(data):
        raise RecordProblem("UTF-8 that is declared as another character set. Declare UTF-8")
    return name


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class TextBody:
    """The characters of one part, and their edits.

    Args:
        body: the decoded bytes.
        charset: the declared character set, "" if there is none.

    Raises:
        RecordProblem: as `codec_for`.
    """

    def __init__(self, body: Body, charset: str) -> None:
        self._body = body
        self._codec = codec_for(charset, body.data)
        self.content = body.data.decode(self._codec)
        stateless = not self._codec.startswith(_STATEFUL)
        self._maps = stateless and (body.data.isascii() or self.content.encode(self._codec) == body.data)

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return where a stretch of the text is in the message, or None if only the whole text can be written."""
        return self._body.ranges(*self._offsets((start, end))) if self._maps else None

    def write(self, changes: Sequence[Change]) -> list[ByteChange]:
        """Convert changes of the text to changes of the message.

        Raises:
            UnicodeEncodeError: the character set cannot represent the new words.
        """
        if not self._maps:
            return self._body.replaced(splice(self.content, changes).encode(self._codec))
        ordered = sorted(changes, key=lambda change: change[:2])
        bounds = self._offsets(at for start, end, _ in ordered for at in (start, end))
        news = (new.encode(self._codec) for _, _, new in ordered)
        return self._body.rewritten(list(zip(bounds[::2], bounds[1::2], news, strict=True)))

    def _offsets(self, positions: Iterable[int]) -> list[int]:
        """Convert ascending offsets of characters to offsets of decoded bytes."""
        if self._body.data.isascii():
            return list(positions)
        offsets: list[int] = []
        last = size = 0
        for position in positions:
            size += len(self.content[last:position].encode(self._codec))
            last = position
            offsets.append(size)
        return offsets
