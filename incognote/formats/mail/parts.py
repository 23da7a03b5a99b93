"""The parts of an e-mail: what is replaced, scanned, kept and removed in each.

A part without a reader refuses the whole message. Its reason names the number and type of the part, never its file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from mimetypes import MimeTypes
from os.path import splitext
from typing import Protocol

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.base import Action, Change, Document, FieldAction, splice
from incognote.formats.mail import headers as fields
from incognote.formats.mail.charsets import UNKNOWN, codec_of
from incognote.formats.mail.headers import FIXED, KINDS, WHITE, FileName, Header, Parameter, Words
from incognote.formats.mail.transfer import Body, ByteChange, TextBody
from incognote.formats.registry import UnreadableSource, nested, of_media_type, reads_picture, suffix_of
from incognote.nouns import Known, Reason, Text
from incognote.text.container import of_bytes

_MOST_PARTS = 1000
_DEEPEST = 20
_MULTIPART = frozenset(("mixed", "alternative", "related", "report", "digest", "parallel"))
FIELDS_ONLY = frozenset(("message/delivery-status", "message/disposition-notification", "text/rfc822-headers"))
MESSAGE = ("message/rfc822", "message/global")
# The values of parameters that stay, and a listed charset. A name of a file is pseudonymized. All others are removed.
KEPT = {
    "format": r"fixed|flowed",
    "delsp": r"yes|no",
    "type": r"text/(plain|html)|multipart/(alternative|related|mixed)",
    "report-type": r"delivery-status|disposition-notification",
}
PARAMETERS = ("content-type", "content-disposition")
_SEPARATORS = re.compile(r"[\s<>()\"]+")
_COMMENT = re.compile(r"\([^()]*\)")
# A sender such as "Lab Results" is masked, but its words are not searched for in the texts.
_ROLE = re.compile(
    r"\b(?:admin\w*|alerts?|appointments?|billing|care|center|centre|clinic\w*|department|dept|desk|do[ -]not[ -]reply|"
    r"family|group|health|help|hospital|imaging|info|labs?|laboratory|mailer|medical|messag\w+|no-?reply|notifications?|nurs\w+|"
    r"office|pathology|patients?|pharmacy|portal|radiology|records|referrals?|reminders?|reports?|results?|schedul\w+|"
    r"secure|services?|staff|support|system|team|unit|ward)\b",
    re.IGNORECASE,
)
# Encrypted or encoded files in the middle of a text.
_BLOCK = re.compile(r"^(?:-----BEGIN [A-Z0-9 ]+-----|begin(?:-base64)? [0-7]{3,4} \S|=ybegin )", re.MULTILINE)
# Types without a reader that Python's table of media types does not have.
_USUAL = frozenset(
    ("application/ms-tnef", "application/pkcs7-signature", "application/x-pkcs7-signature", "application/pkcs7-mime",
     "application/pgp-encrypted", "application/pgp-signature", "application/octet-stream", "text/calendar",
     "multipart/signed", "multipart/encrypted", *FIELDS_ONLY)
)  # fmt: skip
_NO_PICTURES = frozenset(("DICOM image", "NIfTI image", "ISO 9660 image"))
_UNCHARACTERED = ("multipart/", "message/", "application/rtf")  # a charset means nothing there
_TYPE = re.compile(r"[\w!#$&.+^-]+/[\w!#$&.+^-]+", re.ASCII)


class Slot(Protocol):
    """Characters of a message that can be replaced."""

    content: str

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None: ...

    def write(self, changes: Sequence[Change]) -> list[ByteChange]: ...


class Boundary:
    """The boundary of a multipart. It may be made from the name of a server or a person, so it is hashed."""

    def __init__(self, content: str, header: Header, parameter: Parameter) -> None:
        self.content = content
        self._parameter = (header.position(parameter.start), header.position(parameter.end))
        self.lines: list[tuple[int, int]] = []

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        return [self._parameter, *self.lines]

    def write(self, changes: Sequence[Change]) -> list[ByteChange]:
        new = splice(self.content, changes).encode("ascii")
        return [(*self._parameter, b'"%s"' % new), *((start, end, new) for start, end in self.lines)]


class Picture:
    """A placeholder for a picture that is removed."""

    content = "[picture]"

    def ranges(self, start: int, end: int) -> list[tuple[int, int]] | None:
        return None

    def write(self, changes: Sequence[Change]) -> list[ByteChange]:
        return []


class Tree:
    """The walk through the parts of one message.

    Attributes:
        texts, actions, known, children: as in a Document.
        slots: what a text or structured field replaces, by its path.
        fixed: changes that are always made.
        bodies: the body of each child.
    """

    def __init__(self, data: bytes, postmark: bytes) -> None:
        self.data = data
        self.texts: list[Text] = []
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.children: dict[str, Document] = {}
        self.slots: dict[str, Slot] = {}
        self.fixed: list[ByteChange] = []
        self.bodies: dict[str, Body] = {}
        self._paths: Counter[str] = Counter()
        self._parts = 0
        start = 0
        if data.startswith((b"From ", b">From ")):
            start = data.find(b"\n") + 1
            if data[:start] != postmark:
                self.fixed.append((0, start, postmark))
        self._part(start, len(data), "", "text/plain", 0)

    def _part(self, start: int, end: int, number: str, default: str, depth: int) -> None:
        """Read one part: its fields, and its body by its type."""
        self._parts += 1
        if self._parts > _MOST_PARTS or depth > _DEEPEST:
            raise MalformedRecord(f"over {_MOST_PARTS} parts, or {_DEEPEST} multiparts inside each other. Split it")
        place = f"part {number}: " if number else ""
        path = f"part[{number}]" if number else ""
        try:
            headers, at = fields.headers_of(self.data, start, end)
            if not headers and not number:
                raise MalformedRecord("not an e-mail, because it has no header fields")
            if self._is_removed(headers, at, end):
                self._picture(headers, at, end, path)
                return
            self._fields(headers, f"{path}." if path else "")
            kind, boundary, charset = self._type(headers, default, path)
            transfer = self._transfer(headers)
        except RecordProblem as problem:
            raise UnreadableSource(Reason(problem.code, path or problem.field, f"{place}{problem}")) from None
        if kind.startswith("multipart/"):
            if transfer in ("base64", "quoted-printable"):
                raise MalformedRecord(f"{place}a multipart in {transfer}, which MIME does not allow", field=path)
            if boundary is None or kind.removeprefix("multipart/") not in _MULTIPART:
                raise UnsupportedFormat(f"{place}{_shown(kind)}, a kind of multipart without a reader", field=path)
            inner = "message/rfc822" if kind == "multipart/digest" else "text/plain"
            self._multipart(at, end, number, boundary, inner, depth)
            return
        try:
            self._leaf(Body(self.data, at, end, transfer), kind, charset, path or "body")
        except RecordProblem as problem:
            field = problem.field or path or "body"
            raise UnreadableSource(Reason(problem.code, field, f"{place}{_shown(kind)}: {problem}")) from None

    def _multipart(self, start: int, end: int, number: str, boundary: Boundary, default: str, depth: int) -> None:
        """Read the parts between the boundaries. The text before the first and after the last one is removed."""
        name = boundary.content.encode()
        pattern = re.compile(rb"(?<=\n)--" + re.escape(name) + rb"(--)?[ \t]*(?:\r?\n|\Z)")
        at: int | None = None
        count = 0
        for line in pattern.finditer(self.data, start, end):
            boundary.lines.append((line.start() + 2, line.start() + 2 + len(name)))
            before = self._before(line.start(), start if at is None else at)
            if at is None:
                self._remove(start, before)
            else:
                count += 1
                self._part(at, before, f"{number}.{count}" if number else str(count), default, depth + 1)
            at = line.end()
            if line[1]:
                self._remove(at, end)
                return
        if at is None:
            field = f"part[{number}]" if number else ""
            raise MalformedRecord("a multipart without its boundary. Save the message again", field=field)
        self._part(at, end, f"{number}.{count + 1}" if number else str(count + 1), default, depth + 1)

    def _before(self, line: int, least: int) -> int:
        """Return where the content before a boundary ends. The line break belongs to the boundary."""
        at = line - 1
        return max(at - (self.data[at - 1 : at] == b"\r"), least)

    def _remove(self, start: int, end: int) -> None:
        if self.data[start:end].strip():
            self.fixed.append((start, end, b""))

    def _is_removed(self, headers: Sequence[Header], start: int, end: int) -> bool:
        """Whether a part says that it is a picture, has the content of one, and is not read. An SVG is held."""
        kinds = [fields.parameters_of(header)[0] for header in headers if header.name == "content-type"]
        if len(kinds) != 1 or not kinds[0].startswith(("image/", "application/octet-stream")):
            return False
        data = Body(self.data, start, end, self._transfer(headers)).data
        what = of_bytes(data)
        if what is None:
            return b"\0" in data and kinds[0].startswith("image/")
        is_picture = what.endswith(" image") and what not in _NO_PICTURES
        return is_picture and not reads_picture(data)

    def _picture(self, headers: Sequence[Header], start: int, end: int, path: str) -> None:
        """Replace a picture by a text, with the fields that do not describe it."""
        described = (*PARAMETERS, "content-transfer-encoding")
        self._fields([header for header in headers if header.name not in described], f"{path}." if path else "")
        for header in headers:
            if header.name in described:
                line = self.data[header.start : header.end]
                end_of_line = line[len(line.rstrip(b"\r\n")) :]
                new = b"Content-Type: text/plain" + end_of_line if header.name == "content-type" else b""
                self.fixed.append((header.start, header.end, new))
        self.fixed.append((start, end, Picture.content.encode()))
        self._text(path or "body", Picture())

    def _fields(self, headers: Sequence[Header], prefix: str) -> None:
        for header in headers:
            kind = KINDS.get(header.name)
            path = self._path(prefix + header.name)
            if kind == "words":
                self._text(path, Words(header))
            elif kind == "people":
                for count, phrase in enumerate(fields.people(header), 1):
                    entity = "EMAIL" if phrase.kind == "address" else "PERSON"
                    self._action(f"{path}[{count}]", phrase, "mask", entity)
                    self.known += _known(phrase.content)
            elif kind == "ids":
                for count, phrase in enumerate(fields.ids(header), 1):
                    self._action(f"{path}[{count}]", phrase, "hash", "GUID")
            elif kind == "date":
                self._action(path, fields.date(header), "date", "DATE_TIME")
            elif kind is None:
                self._fix(header)

    def _fix(self, header: Header) -> None:
        """Keep a field that has a fixed form, without comments. Remove any other."""
        value = _COMMENT.sub("", header.value)
        form = FIXED.get(header.name)
        if form is None or not re.fullmatch(form, value.strip(WHITE), re.IGNORECASE | re.ASCII):
            self.fixed.append((header.start, header.end, b""))
        elif value != header.value:
            self.fixed.append((header.at, header.position(len(header.value)), value.encode()))

    def _type(self, headers: Sequence[Header], default: str, path: str) -> tuple[str, Boundary | None, str]:
        """Read the type and disposition of a part. Return its media type, its boundary and its character set."""
        kind, charset, boundary = default, "", None
        seen: set[str] = set()
        for header in headers:
            if header.name not in PARAMETERS:
                continue
            if header.name in seen:
                raise MalformedRecord(f"the field {header.name} occurs twice. Remove one")
            seen.add(header.name)
            main, parameters = fields.parameters_of(header)
            if header.name == "content-type":
                if not _TYPE.fullmatch(main):
                    raise MalformedRecord("its Content-Type is not a media type. Correct it")
                kind = main
                if not kind.startswith("multipart/") and not _is_registered(kind):
                    self._main(header, b"application/octet-stream")
            elif main not in ("inline", "attachment"):
                self._main(header, b"attachment")
            files = [each for each in parameters if each.name in ("name", "filename")]
            if files:
                self._file(header, files, f"{path}." if path else "")
            once: set[str] = set()
            for each in parameters:
                if each in files:
                    continue
                if each.name in ("charset", "boundary") and (each.name in once or each.number >= 0 or each.extended):
                    raise MalformedRecord(f"its {each.name} is split or occurs twice. Correct it")
                once.add(each.name)
                if each.name == "boundary" and header.name == "content-type" and kind.startswith("multipart/"):
                    if not re.fullmatch(r"[ -~]{1,200}", each.value):
                        raise MalformedRecord("its boundary is empty, or is not ASCII. Save the message again")
                    boundary = Boundary(each.value.rstrip(), header, each)
                    self._action(self._path(f"{path}.boundary" if path else "boundary"), boundary, "hash", "GUID")
                elif each.name == "charset" and header.name == "content-type" and codec_of(each.value):
                    charset = each.value
                elif each.name == "charset" and header.name == "content-type" and not kind.startswith(_UNCHARACTERED):
                    raise RecordProblem(UNKNOWN)
                elif not re.fullmatch(KEPT.get(each.name, r"\b\B"), each.value, re.IGNORECASE | re.ASCII):
                    self.fixed.append((header.position(each.first), header.position(each.end), b""))
        return kind, boundary, charset

    def _main(self, header: Header, new: bytes) -> None:
        """Replace the value before the parameters."""
        first = len(header.value) - len(header.value.lstrip(WHITE))
        stop = first + len(header.value.partition(";")[0].strip(WHITE))
        self.fixed.append((header.position(first), header.position(stop), new))

    def _file(self, header: Header, files: Sequence[Parameter], prefix: str) -> None:
        name = FileName(header, files)
        stem = name.content.removesuffix(suffix(name.content))
        if stem:
            self._action(self._path(prefix + files[0].name), name, "hash", "GUID", len(stem))

    def _transfer(self, headers: Sequence[Header]) -> str:
        found = [h for h in headers if h.name == "content-transfer-encoding"]
        if len(found) > 1:
            raise MalformedRecord("the field content-transfer-encoding occurs twice. Remove one")
        return _COMMENT.sub("", found[0].value).strip(WHITE).lower() if found else ""

    def _leaf(self, body: Body, kind: str, charset: str, path: str) -> None:
        """Read the body of a part without parts."""
        if kind in FIELDS_ONLY:
            self._blocks(body, path)
            return
        if kind in MESSAGE and body.data is not body.raw:
            raise MalformedRecord("an attached message in a transfer encoding, which MIME does not allow")
        if kind != "text/plain" or of_bytes(body.data) is not None:
            self._child(body, kind, charset, path)
            return
        text = TextBody(body, charset)
        if _BLOCK.search(text.content):
            raise UnsupportedFormat("the text has an encrypted or encoded block. Send its content as a part")
        self._text(path, text)

    def _blocks(self, body: Body, path: str) -> None:
        """Read a report, which consists of blocks of header fields."""
        if body.data is not body.raw:
            raise MalformedRecord("a report in a transfer encoding. Send it as 7bit")
        at, end = body.start, body.start + len(body.raw)
        while at < end:
            headers, at = fields.headers_of(self.data, at, end)
            self._fields([header for header in headers if header.name not in PARAMETERS], f"{path}.")
            self.fixed += ((header.start, header.end, b"") for header in headers if header.name in PARAMETERS)

    def _child(self, body: Body, kind: str, charset: str, path: str) -> None:
        """Read a body by the format of its content or type."""
        declared = f"{kind}; charset={charset}" if charset else kind
        self.children[path] = nested(body.data, declared, path)[1]
        self.bodies[path] = body

    def _path(self, path: str) -> str:
        self._paths[path] += 1
        return path if self._paths[path] == 1 else f"{path}({self._paths[path]})"

    def _text(self, path: str, slot: Slot) -> None:
        self.slots[path] = slot
        self.texts.append(Text(slot.content, path))

    def _action(self, path: str, slot: Slot, action: Action, entity: str, end: int | None = None) -> None:
        if not slot.content.strip():
            return
        self.slots[path] = slot
        stop = len(slot.content) if end is None else end
        self.actions.append(FieldAction(Text(slot.content, path), 0, stop, action, entity))


def _known(words: str) -> Iterator[Known]:
    """Yield the identifiers in a name or an address. Some programs write an address between the words of a name."""
    pieces = _SEPARATORS.split(words)
    addresses = [piece for piece in pieces if "@" in piece]
    yield from (Known("EMAIL", address) for address in addresses)
    name = " ".join(piece for piece in pieces if "@" not in piece).strip() if addresses else words
    if name.strip("'\"()[]<> ") and not _ROLE.search(name) and not name.startswith("/"):
        yield Known("PERSON", name)


@cache
def _types() -> frozenset[str]:
    """Return Python's own table of media types, without that of this machine."""
    return _USUAL.union(MimeTypes(()).types_map[True].values())


def suffix(name: str) -> str:
    """Return the suffix of a file name if it is a usual one. Any other could be a name."""
    last = splitext(name)[1]
    return last if last.lower() in MimeTypes(()).types_map[True] or suffix_of(name) else ""


def _is_registered(kind: str) -> bool:
    """Whether a media type is a usual one. Any other could contain a name."""
    if kind in _types():
        return True
    try:
        return bool(of_media_type(kind))
    except UnsupportedFormat:
        return False


def _shown(kind: str) -> str:
    return kind if _is_registered(kind) else "an unknown media type"
