"""E-mail: RFC 5322 messages with MIME parts, as mail programs save them, one in a file or many in an mbox.

Header fields are replaced, scanned, hashed or removed by a closed list (`mail/headers.py`). Every text part is a text.
Its edits are spliced into the transfer encoding of the part. Every other part is a document of its own: if no format
reads it, the whole message is refused.
"""

from __future__ import annotations

import codecs
import io
import re
from base64 import b64decode
from binascii import a2b_qp
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import MalformedRecord, RecordProblem
from incognote.formats import encoding
from incognote.formats.base import (
    ByteRange,
    Document,
    Edit,
    Format,
    Place,
    Pointer,
    Unreadable,
    account,
    of_child,
    splice,
    split_edits,
)
from incognote.formats.mail.headers import FIXED, HASHED, KINDS
from incognote.formats.mail.parts import FIELDS_ONLY, KEPT, MESSAGE, PARAMETERS, Tree, suffix
from incognote.formats.registry import second_reading
from incognote.nouns import Reason
from incognote.text.container import of_bytes

# The line before each message of an mbox, and what replaces it.
_POSTMARK = re.compile(rb"From .*\d\d:\d\d.*\d{4}\s")
_NEW_POSTMARK = b"From - Thu Jan  1 00:00:00 1970\n"
_ASCII = "".join(map(chr, range(0x20, 0x7F)))
_RUN = re.compile(rb"(?<![\x80-\xff])[ -~]{3,}")
_ENCODED_WORD = re.compile(r"=\?[^?\s]*\?([bBqQ])\?([^?]*)\?=")
_ENCODED = re.compile(rf"{_ENCODED_WORD.pattern}(?:\s+{_ENCODED_WORD.pattern})*")
_BEGINS = re.compile(rb">?From |[!-9;-~]+:")


class Email(Document):
    """One message.

    Args:
        data: its bytes.
        after: the line breaks between it and the next message of an mbox.
        postmark: what replaces the line before the header ("From ... 2025"), which names the sender.

    Raises:
        RecordProblem: a field or part cannot be read. The message names it by its number.
    """

    def __init__(self, data: bytes, after: bytes = b"", postmark: bytes = b"") -> None:
        self.data, self.after = data, after
        tree = Tree(data, postmark)
        self._slots, self._fixed, self._bodies = tree.slots, tree.fixed, tree.bodies
        self.texts, self.actions = tuple(tree.texts), tuple(tree.actions)
        self.known = tuple(dict.fromkeys(tree.known))
        self.children = tree.children

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        changes, values = split_edits(edits)
        account(self, changes, values)
        for action, value in values.items():
            changes.setdefault(action.text.field, []).append((action.start, action.end, value))
        written = list(self._fixed)
        for field, own in changes.items():
            slot = self._slots.get(field)
            if slot is not None and splice(slot.content, own) != slot.content:
                written += slot.write(own)
        for name, child in self.children.items():
            inner = io.BytesIO()
            child.rebuild(of_child(edits, name), inner)
            written += self._bodies[name].replaced(child.head + inner.getvalue() + child.after)
        out.write(splice(self.data, written))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        slot = self._slots.get(field)
        ranges = slot.ranges(start, end) if slot is not None else None
        return (Pointer(field),) if ranges is None else tuple(ByteRange(*each) for each in ranges)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
        return
    what = None if _BEGINS.match(data) else of_bytes(data)
    yield Unreadable(encoding.unsupported(what), data) if what is not None else Email(data)


def _read_mbox(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    """Yield the messages of an mbox, one at a time."""
    lines: list[bytes] = []
    size = 0
    is_blank = True
    while line := stream.readline(encoding.MAX_BYTES + 1):
        if lines and is_blank and _POSTMARK.match(line):
            yield _of_mbox(b"".join(lines), size)
            lines, size = [], 0
        size += len(line)
        if size <= encoding.MAX_BYTES:
            lines.append(line)
        is_blank = line in (b"\n", b"\r\n")
    if size:
        yield _of_mbox(b"".join(lines), size)


def _of_mbox(data: bytes, size: int) -> Email | Unreadable:
    if size > encoding.MAX_BYTES:
        return Unreadable(encoding.too_large())
    if not _POSTMARK.match(data):
        reason = Reason(MalformedRecord.code, "", "not an mbox, because its first line is not From with a date")
        return Unreadable(encoding.not_text(data) or reason, data)
    content = data.rstrip(b"\r\n")
    try:
        return Email(content, data[len(content) :], _NEW_POSTMARK)
    except RecordProblem as problem:
        return Unreadable(Reason(problem.code, problem.field, str(problem)), data)


def _second(data: bytes) -> Iterator[str]:
    """Yield all that Python's own reader of e-mail shows: fields, texts, attachments, and what is between parts."""
    from email import message_from_bytes
    from email.policy import default

    for part in message_from_bytes(data, policy=default).walk():
        for name, raw in part.raw_items():
            if name.lower() in PARAMETERS:
                for key, value in part.get_params(failobj=[], header=name)[1:]:
                    if key.lower() not in (*KEPT, "boundary") and not (key.lower() == "charset" and _is_codec(value)):
                        yield value.removesuffix(suffix(value))
            elif name.lower() not in FIXED:
                shown = str(default.header_fetch_parse(name, raw)).replace(HASHED, "")
                if KINDS.get(name.lower()) != "date":  # Python writes a day of one digit with two
                    yield shown
                # An address that is not valid is not shown above.
                yield _ENCODED.sub(lambda words: _in_ascii(words[0], shown), raw).replace(HASHED, "")  # noqa: B023
        yield from filter(None, (part.preamble, part.epilogue))
        if part.is_multipart():
            continue
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            continue
        kind = part.get_content_type()
        if (kind == "text/plain" and of_bytes(payload) is None) or kind in FIELDS_ONLY:
            yield from _readings(payload, part.get_content_charset("utf-8"))
        elif kind == "text/html" and (charset := part.get_content_charset()):
            shown, *others = _readings(payload, charset)
            yield from second_reading(codecs.BOM_UTF8 + shown.encode(), kind)
            yield from others
        else:
            yield from second_reading(payload, kind)


def _is_codec(name: str) -> bool:
    try:
        return bool(codecs.lookup(name))
    except LookupError:
        return False


def _readings(data: bytes, charset: str) -> Iterator[str]:
    """Yield a text in its declared character set, and then the plain ASCII that it does not show.

    Raises:
        ValueError: in that character set, ASCII means other characters.
    """
    if not charset.startswith("utf-16") and _ASCII.encode().decode(charset) != _ASCII:
        raise ValueError("a character set in which ASCII means other characters")
    shown = data.decode(charset, "replace")
    yield shown
    yield _unshown(data, shown)


def _in_ascii(words: str, shown: str) -> str:
    """Return the plain ASCII in adjacent encoded words that is not shown, whatever their character sets are."""
    plain = b""
    for kind, word in _ENCODED_WORD.findall(words):
        data = word.encode("utf-8", "replace")
        try:
            plain += a2b_qp(data, header=True) if kind in "qQ" else b64decode(data + b"=" * (-len(data) % 4))
        except ValueError:
            plain += data
    return _unshown(plain, shown)


def _unshown(data: bytes, shown: str) -> str:
    words = (word.decode("ascii") for word in _RUN.findall(data.replace(b"\0", b"")))
    return "\n".join(word for word in words if word not in shown)


FORMATS = (
    Format("eml", MESSAGE, (".eml",), _read, contents=("MIME message",), second=_second),
    Format("mbox", ("application/mbox",), (".mbox",), _read_mbox, second=_second),
)
