"""Header fields of an e-mail: a closed list, the decoded words in them, and how new words are written.

A field that is not on the list is removed. All of a listed field is replaced or scanned, except its punctuation.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from incognote.errors import MalformedRecord
from incognote.formats.base import Change, splice
from incognote.formats.mail.charsets import codec_of
from incognote.formats.mail.transfer import ByteChange

KINDS = {
    **dict.fromkeys(
        ("from", "to", "cc", "bcc", "reply-to", "sender", "return-path", "delivered-to", "resent-from", "resent-to",
         "resent-cc", "resent-bcc", "resent-sender", "final-recipient", "original-recipient"), "people"),
    **dict.fromkeys(("subject", "comments", "keywords", "content-description", "diagnostic-code"), "words"),
    **dict.fromkeys(("date", "resent-date", "delivery-date", "arrival-date", "last-attempt-date"), "date"),
    **dict.fromkeys(
        ("message-id", "in-reply-to", "references", "resent-message-id", "content-id", "original-message-id"), "ids"),
    **dict.fromkeys(("content-type", "content-disposition"), "parameters"),
}  # fmt: skip
"""How a field is read: `people` are masked, `words` scanned, a `date` replaced, `ids` hashed."""
FIXED = {
    "mime-version": r"1\.0",
    "content-transfer-encoding": r"7bit|8bit|binary|quoted-printable|base64",
    "content-language": r"[a-z]{2,3}(-[a-z]{2})?",
    "importance": r"high|normal|low",
    "priority": r"urgent|normal|non-urgent",
    "auto-submitted": r"no|auto-generated|auto-replied",
    "action": r"failed|delayed|delivered|relayed|expanded",
    "status": r"[245]\.\d{1,3}\.\d{1,3}",
    "disposition": r"(manual|automatic)-action/MDN-sent-(manually|automatically); *(displayed|deleted|processed)",
}
"""Fields that stay if their whole value has this form. Comments in them are removed."""
HASHED = "@hashed.invalid"
"""The domain of a hashed message ID. It is not part of the ID, so an ID has the same hash in each run."""

_LONGEST, _MOST = 2**18, 10_000
_NAME = re.compile(rb"([!-9;-~]+):")
_STRAY = re.compile(rb"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
WHITE = " \t\r\n"
"""White space in a field. Python's `strip` also removes other characters, which a mail program would show."""
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_ENCODED = r"=\?[^?\s]+\?[bBqQ]\?[^?\r\n]*\?="
_WORD = re.compile(r"=\?([^?\s]+)\?([bBqQ])\?([^?\r\n]*)\?=")
_RUN = re.compile(rf"{_ENCODED}(?:[ \t]+{_ENCODED})*")
_LANGUAGE = re.compile(r"\*[a-z]{2}(?:-[a-z]{2})?\Z")  # any other could be a name
_PLAIN = re.compile(r"[ -~]*")
_ATOMS = re.compile(r"[\w!#$%&'*+/=?^`{|}~.-]+(?: [\w!#$%&'*+/=?^`{|}~.-]+)*", re.ASCII)
_CHUNK = re.compile(rf'(?:{_ENCODED}|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[^\s<>,;:"()])+|[<>,;:()]', re.DOTALL)
_PUNCTUATION = tuple("<>,;:()")
_PARAMETER = re.compile(r';((?:"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[^;"])*)', re.DOTALL)
_NAMED = re.compile(r"\s*([\w.-]+?)(?:\*(\d{1,3}))?(\*)?[ \t]*=\s*(.*)", re.DOTALL | re.ASCII)
_TYPED = ("rfc822", "utf-8", "undisclosed-recipients", "undisclosed recipients", "recipients not specified")


class Header(NamedTuple):
    """One field: its name in lower case, its bytes `start:end` with the line end, and its value from `at` on."""

    name: str
    start: int
    end: int
    at: int
    value: str

    def position(self, offset: int) -> int:
        """Return where a character of the value is in the message."""
        return self.at + (offset if self.value.isascii() else len(self.value[:offset].encode()))


def headers_of(data: bytes, start: int, end: int) -> tuple[list[Header], int]:
    """Read the header fields from `start` on. Returns them and where the body begins.

    Raises:
        MalformedRecord: a line is not a field, or a field has a control character or bytes other than UTF-8.
    """
    headers: list[Header] = []
    at = start
    while at < end:
        stop = _line_end(data, at, end)
        if data[at:stop] in (b"\n", b"\r\n"):
            return headers, stop
        if len(headers) == _MOST:
            raise MalformedRecord(f"over {_MOST} header fields. Send the message again")
        first = at
        while stop < end and data[stop : stop + 1] in (b" ", b"\t"):
            stop = _line_end(data, stop, end)
        name = _NAME.match(data, first, stop)
        if name is None:
            raise MalformedRecord(f"line {_line(data, first)} is not a header field. Correct it")
        key = name[1].decode("ascii").lower()
        at, value = stop, data[name.end() : stop]
        if _STRAY.search(value):
            raise MalformedRecord(f"line {_line(data, first)} has a control character in a header field. Remove it")
        if key not in KINDS and key not in FIXED:
            headers.append(Header(key, first, stop, name.end(), ""))
            continue
        if len(value) > _LONGEST:
            raise MalformedRecord(f"the field {key} is longer than {_LONGEST // 2**10} KiB", field=key)
        try:
            headers.append(Header(key, first, stop, name.end(), value.rstrip(b"\r\n").decode()))
        except UnicodeDecodeError:
            raise MalformedRecord(f"the field {key} is not UTF-8. Encode it by RFC 2047", field=key) from None
    return headers, end


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _line_end(data: bytes, at: int, end: int) -> int:
    stop = data.find(b"\n", at, end)
    return end if stop < 0 else stop + 1


def decoded(value: str) -> str:
    """Return a value on one line, with its encoded words (RFC 2047) decoded.

    Raises:
        MalformedRecord: an encoded word cannot be decoded.
    """
    value = _FOLD.sub("", value)
    return _RUN.sub(_of_run, value) if "=?" in value else value


def _of_run(run: re.Match[str]) -> str:
    """Decode adjacent encoded words. A character may be split between two of the same character set."""
    pieces: list[tuple[str, bytes]] = []
    for charset, encoding, text in _WORD.findall(run[0]):
        try:
            if encoding in "bB":
                data = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), validate=True)
            else:
                data = unquote_to_bytes(text.replace("%", "%25").replace("_", " ").replace("=", "%"))
        except (binascii.Error, ValueError):
            raise MalformedRecord("a header field has an encoded word that is not valid. Encode it again") from None
        if pieces and pieces[-1][0] == charset.lower():
            data = pieces.pop()[1] + data
        pieces.append((charset.lower(), data))
    try:
        return "".join(data.decode(_codec(charset, data)) for charset, data in pieces)
    except ValueError:
        raise MalformedRecord("a header field has an encoded word in an unknown character set") from None


def _codec(charset: str, data: bytes) -> str:
    codec = codec_of(_LANGUAGE.sub("", charset))
    if codec is None or (codec.startswith("utf-16") and b"\0" not in data):
        raise ValueError
    return codec


def _encoded(text: str, newline: str) -> str:
    """Return a text as encoded words of at most 75 characters, each on its own line."""
    words: list[str] = []
    piece = ""
    for character in text:
        if len((piece + character).encode()) > 45:
            words.append(piece)
            piece = ""
        piece += character
    words.append(piece)
    return f"{newline} ".join(f"=?utf-8?b?{base64.b64encode(word.encode()).decode()}?=" for word in words)


class Words:
    """A scanned field, such as the subject.

    Args:
        header: the field.
    """

    def __init__(self, header: Header) -> None:
        value = header.value
        self._header = header
        self._start, self._end = len(value) - len(value.lstrip(WHITE)), len(value.rstrip(WHITE))
        self.content = decoded(value[self._start : self._end])
        self._offsets: list[int] | None = None
        if "=?" not in value:
            folds = {at for fold in _FOLD.finditer(value) for at in range(*fold.span())}
            self._offsets = [at for at in range(self._start, self._end) if at not in folds]

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return where a stretch of the text is in the message, or None if it is encoded."""
        if self._offsets is None:
            return None
        offsets = [*self._offsets, self._end]
        last = offsets[end - 1] + 1 if end > start else offsets[start]
        return [(self._header.position(offsets[start]), self._header.position(last))]

    def write(self, changes: Sequence[Change]) -> list[ByteChange]:
        """Convert changes. If there are encoded words or new ones are needed, the whole value is encoded again."""
        if self._offsets is not None and all(_is_plain(new) for *_, new in changes):
            ranges = ((self.ranges(start, end), new) for start, end, new in changes)
            return [(*places[0], new.encode()) for places, new in ranges if places]
        new = splice(self.content, changes)
        raw = new if _is_plain(new) and len(new) < 900 else _encoded(new, _newline(self._header))
        return [(self._header.position(self._start), self._header.position(self._end), raw.encode())]


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and "=?" not in text


def _newline(header: Header) -> str:
    return "\r\n" if "\r\n" in header.value else "\n"


class Phrase:
    """One item of a structured field that is replaced as a whole: a name, an address, a date or an ID.

    Args:
        header: the field.
        start, end: the item, in its value.
        kind: `name`, `address`, `date` or `id`.
    """

    def __init__(self, header: Header, start: int, end: int, kind: str) -> None:
        self._header, self._start, self._end, self.kind = header, start, end, kind
        raw = header.value[start:end]
        content = decoded(re.sub(r'"((?:[^"\\]|\\.)*)"?', _unquoted, raw, flags=re.DOTALL))
        self.content = content.removesuffix(HASHED) if kind == "id" else content

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return where the item is in the message."""
        return [(self._header.position(self._start), self._header.position(self._end))]

    def write(self, changes: Sequence[Change]) -> list[ByteChange]:
        """Write the whole item: as words, in quotes, or as encoded words."""
        new = splice(self.content, changes)
        if self.kind == "id":
            raw = new + HASHED
        elif self.kind == "date" or _ATOMS.fullmatch(new) or (self.kind == "address" and _CHUNK.fullmatch(new)):
            raw = new if _is_plain(new) else _encoded(new, _newline(self._header))
        elif _is_plain(new):
            raw = '"' + new.replace("\\", "\\\\").replace('"', '\\"') + '"'
        else:
            raw = _encoded(new, _newline(self._header))
        [(start, end)] = self.ranges(0, 0) or []
        return [(start, end, raw.encode())]


def _unquoted(match: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)


def people(header: Header) -> Iterator[Phrase]:
    """Yield the names and addresses of a field: everything but its punctuation."""
    words: list[re.Match[str]] = []
    inside = False
    for chunk in [*_CHUNK.finditer(header.value), None]:
        if chunk is not None and chunk[0] not in _PUNCTUATION:
            words.append(chunk)
            continue
        if words:
            is_address = inside or (len(words) == 1 and "@" in words[0][0] and not re.search(r"=\?|\s", words[0][0]))
            phrase = Phrase(header, words[0].start(), words[-1].end(), "address" if is_address else "name")
            if phrase.content.lower() not in _TYPED:
                yield phrase
            words = []
        inside = chunk is not None and (chunk[0] == "<" or (inside and chunk[0] != ">"))


def ids(header: Header) -> Iterator[Phrase]:
    """Yield the IDs of a field, each without its angle brackets."""
    for item in re.finditer(r"[^\s<>,]+", header.value):
        yield Phrase(header, *item.span(), "id")


def date(header: Header) -> Phrase:
    """Return the whole value of a date field."""
    value = header.value
    return Phrase(header, len(value) - len(value.lstrip(WHITE)), len(value.rstrip(WHITE)), "date")


class Parameter(NamedTuple):
    """One parameter of a field: its name in lower case, its number and form by RFC 2231, and where it is in the value.

    `first` is the semicolon before it, `key` is its name, and `start:end` is its value with quotes.
    """

    name: str
    number: int
    extended: bool
    first: int
    key: int
    start: int
    end: int
    raw: str

    @property
    def value(self) -> str:
        """The value without quotes."""
        return re.sub(r'"((?:[^"\\]|\\.)*)"?', _unquoted, _FOLD.sub("", self.raw), flags=re.DOTALL)


def parameters_of(header: Header) -> tuple[str, list[Parameter]]:
    """Return the value before the first semicolon, in lower case, and the parameters.

    Raises:
        MalformedRecord: a parameter has no name or is not closed.
    """
    main, _, _ = header.value.partition(";")
    found: list[Parameter] = []
    for segment in _PARAMETER.finditer(header.value, len(main)):
        words = segment[1].rstrip(WHITE)
        if not words:
            continue
        named = _NAMED.fullmatch(words)
        if named is None:
            raise MalformedRecord(f"the field {header.name} has a parameter that cannot be read", field=header.name)
        start, end = (segment.start(1) + at for at in named.span(4))
        found.append(Parameter(
            named[1].lower(), int(named[2] or "-1"), bool(named[3]), segment.start(), segment.start(1) + named.start(1),
            start, end, named[4]))
    return main.strip(WHITE).lower(), found


class FileName:
    """The name of a file in a field: all parameters that state it, in any form of RFC 2231.

    Args:
        header: the field.
        parameters: the parameters, not empty.
    """

    def __init__(self, header: Header, parameters: Sequence[Parameter]) -> None:
        self._header, self._parameters = header, parameters
        extended = sorted((p for p in parameters if p.extended or p.number >= 0), key=lambda p: p.number)
        if not extended:
            self.content = decoded(parameters[0].value)
            return
        charset = "utf-8"
        data = b""
        for place, parameter in enumerate(extended):
            value = parameter.value
            if parameter.extended and not place and value.count("'") >= 2:
                charset, _, value = value.split("'", 2)
            data += unquote_to_bytes(value) if parameter.extended else value.encode()
        self.content = data.decode(codec_of(charset) or "utf-8", "replace")

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return None: the name may have several forms in the message."""
        return None

    def write(self, changes: Sequence[Change]) -> list[ByteChange]:
        """Write the name in the plain form. The other forms are removed.

        Raises:
            UnicodeEncodeError: the new name is not ASCII.
        """
        new = splice(self.content, changes)
        header = self._header
        edits: list[ByteChange] = []
        for place, parameter in enumerate(self._parameters):
            end = header.position(parameter.end)
            if place:
                edits.append((header.position(parameter.first), end, b""))
            else:
                edits.append((header.position(parameter.key), end, f'{parameter.name}="{new}"'.encode("ascii")))
        return edits
