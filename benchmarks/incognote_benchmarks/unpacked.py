"""All strings in the bytes of an output, whatever its format: `unpacked(data).strings`.

An output must not contain an identifier in any of its layers. So this module reads bytes without the readers of the
package: entries of archives and the bytes between them, PDF objects and revisions, compressed streams, base64, and hex.
Markup is read with its tags, without them, and with character references decoded. A name that tags split is found, too.
What could not be read is listed in `unread`, because a search would miss it.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import html
import io
import lzma
import quopri
import re
import struct
import tarfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import unquote

from incognote_benchmarks.pdf_strings import Syntax, is_syntax, streams_and_strings, without_syntax

MOST_DEPTH = 10
MOST_BYTES = 128 << 20
MOST_PART = 16 << 20
"""The most bytes of one decompressed part."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}(?:\s+[A-Za-z0-9+/_-]+)*={0,2}")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}\s?){6,}")
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_RUN = re.compile(r"[\t\n\r\x20-\x7e]+(?:[\xa0-\xff]{1,2}[\t\n\r\x20-\x7e]+)*")
_UTF8_RUN = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd]{4,}")
_UTF16 = (
    (re.compile(rb"(?:[^\x00][\x00-\x06]){3,}"), "utf-16-le"),
    (re.compile(rb"(?:[\x00-\x06][^\x00]){3,}"), "utf-16-be"),
)
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_DECLARED = re.compile(rb"<\?xml[^>]{0,80}?encoding\s*=\s*[\"']([\w.:-]+)")
_TAG = re.compile(r"<(?:!--|/?\s*(?:[\w.-]+:)?([\w.-]+)|[!?])[^<>]*>")
_APART = frozenset(
    "p br cr tab tc tr tbl si c row v f t_ li div h1 h2 h3 h4 h5 h6 td th title item footnote endnote comment "
    "sheet definedName text:p text:tab text:s Subject creator Keywords Property property lpstr".split()
)
_OFFICE = re.compile(r"<[^<>]*\bxmlns[^<>]*(?:schemas\.openxmlformats\.|schemas\.microsoft\.|urn:schemas-microsoft)")
_IN_TAG = re.compile(r"<[^<>]*>")
_SCHEMA = re.compile(r"(?:https?://(?:schemas\.|purl\.|www\.w3\.)|urn:)[^\"'\s<>]*")
_NUMBER = re.compile(r"(?<![\w/.-])-?\d{1,5}(?:\.\d+)?(?=[a-z%]{0,3}[\"';,\s)])")
_REFERENCE, _PERCENT = re.compile(r"&#?\w"), re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
IGNORABLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_IGNORED = re.compile(f"[{IGNORABLE}]")
_TYPED = dict(zip("\u2018\u2019\u201c\u201d\u2010\u2011\u2013", "''\"\"---", strict=True))
_SET = re.compile(f"[\ufb00-\ufb06{''.join(_TYPED)}]")
"""Ligatures, and the quotes and hyphens that typesetting puts for typed ones."""
_HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010\u2011]\s*\n\s*(?=\w)")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The strings of all layers of some bytes, and what could not be read."""

    strings: list[str] = field(repr=False)
    unread: list[str]


def unpacked(data: bytes) -> Unpacked:
    """Return all strings in some bytes. Nested files are opened up to a depth of 10, and at most 128 MiB are read."""
    reader = _Reader()
    reader.blob(data, 0)
    return Unpacked(list(reader.strings), list(dict.fromkeys(reader.unread)))


def variants(text: str) -> Iterator[str]:
    """Yield a text, and how it reads without tags, escapes, and invisible characters. Each form is yielded once."""
    waiting, seen = [text], set[str]()
    while waiting and len(seen) < 16:
        one = waiting.pop()
        if one in seen or not one.strip():
            continue
        seen.add(one)
        yield one
        waiting += _decoded(one)


def _decoded(text: str) -> Iterator[str]:
    if "<" in text:
        plain = text.replace("<![CDATA[", "").replace("]]>", "")
        yield _TAG.sub(_gap, plain)
        yield _TAG.sub(" ", plain)
    if _REFERENCE.search(text):
        yield html.unescape(text)
    if _PERCENT.search(text):
        yield unquote(text)
    if "_x" in text:
        yield _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    if _IGNORED.search(text):
        yield _IGNORED.sub("", text)
    if _HYPHEN.search(text):
        yield _HYPHEN.sub("", text)
    if not text.isascii():
        plain = _SET.sub(lambda match: _TYPED.get(match[0]) or unicodedata.normalize("NFKC", match[0]), text)
        yield unicodedata.normalize("NFC", plain)


def _without_numbers(tag: re.Match[str]) -> str:
    """Return a tag of an office part without its short numbers, which are sizes and indexes, and without schemas."""
    return _NUMBER.sub("", _SCHEMA.sub("", tag[0]))


def _gap(tag: re.Match[str]) -> str:
    return "\n" if tag[1] in _APART else ""


class _Reader:
    """Collects strings from nested bytes. The bytes of each part are read once."""

    def __init__(self) -> None:
        self.strings: dict[str, None] = {}
        self.unread: list[str] = []
        self._seen: set[bytes] = set()
        self._left = MOST_BYTES

    def text(self, text: str) -> None:
        """Add a text with its variants."""
        for each in variants(text):
            self.strings.setdefault(each)

    def blob(self, data: bytes, depth: int) -> None:
        """Read bytes of any kind."""
        key = sha256(data).digest()
        if key in self._seen or not data:
            return
        self._seen.add(key)
        if depth > MOST_DEPTH or len(data) > self._left:
            self.unread.append("nested too deeply" if depth > MOST_DEPTH else "too many bytes")
            return
        self._left -= len(data)
        if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            self._zip(data, depth)
            return
        if b"%PDF-" in data[:1024]:
            self._pdf(data, depth)
        opener = next((opener for magic, opener in _COMPRESSED.items() if data.startswith(magic)), None)
        if opener is not None:
            self._compressed(data, opener, depth)
        elif data[257:262] == b"ustar":
            self._tar(data, depth)
        self._raw(data, depth)

    def _raw(self, data: bytes, depth: int) -> None:
        """Read bytes as text, and decode what is encoded in them."""
        binary, syntax = _is_binary(data), is_syntax(data)
        for text in _as_text(data, whole=not binary or (depth == 0 and not syntax)):
            if binary or syntax:
                self.strings.setdefault(without_syntax(text))  # its parts with markup are read apart
            elif _OFFICE.search(text):
                self.text(_IN_TAG.sub(_without_numbers, text))
            else:
                self.text(text)
        if data.lstrip()[:5] == b"{\\rtf":
            from striprtf.striprtf import rtf_to_text

            self.text(str(rtf_to_text(data.decode("latin-1"), errors="replace")))  # type: ignore[no-untyped-call]  # ships no types
        if not binary and not syntax and re.search(rb"=[0-9A-F]{2}|=\r?\n", data):
            self.text(quopri.decodestring(data).decode("utf-8", "replace"))
        for block in _BASE64.findall(data):
            self._encoded(block, base64.b64decode, depth)
        for block in _HEX.findall(data):
            self._encoded(block, binascii.unhexlify, depth)
        if b"PK\x03\x04" in data:
            self._zip(data, depth)
        at = 0
        while match := _ZLIB.search(data, at):
            found = _inflated(data[match.start() :], zlib.MAX_WBITS)
            at = match.end() if found is None else match.start() + max(found[1], 2)
            if found is not None and found[0]:
                self._part(found[0], found[2], depth)

    def _part(self, plain: bytes, complete: bool, depth: int) -> None:
        if not complete:
            self.unread.append("a compressed part that is too large")
        self.blob(plain, depth + 1)

    def _encoded(self, block: bytes, decode: Callable[[bytes], bytes], depth: int) -> None:
        solid = b"".join(block.split()).translate(bytes.maketrans(b"-_", b"+/"))
        if decode is base64.b64decode:
            solid = solid.rstrip(b"=")[: len(solid.rstrip(b"=")) - (len(solid.rstrip(b"=")) % 4 == 1)] + b"=="
        elif len(solid) % 2:
            solid = solid[:-1]
        try:
            plain = decode(solid)
        except (binascii.Error, ValueError):
            return
        if len(plain) > 4096 or not _is_noise(plain):
            self.blob(plain, depth + 1)

    def _zip(self, data: bytes, depth: int) -> None:
        """Read all local entries, also those that the directory omits, and the bytes between the entries."""
        between, at = [], 0
        while (start := data.find(b"PK\x03\x04", at)) >= 0:
            if len(data) < start + 30:
                break
            flags, method = struct.unpack_from("<HH", data, start + 6)
            packed, _, name, extra = struct.unpack_from("<IIHH", data, start + 18)
            body = start + 30 + name + extra
            between.append(data[at:body])
            at = body
            if flags & 1:
                self.unread.append("an encrypted entry of an archive")
            elif method == 8:
                found = _inflated(data[body:], -zlib.MAX_WBITS)
                if found is None:
                    self.unread.append("a damaged entry of an archive")
                else:
                    plain, size, complete = found
                    at = body + size
                    self._part(plain, complete, depth)
            elif method == 0:
                size = packed if packed and packed != 0xFFFFFFFF else _to_next(data, body)
                at = body + size
                self.blob(data[body:at], depth + 1)
            else:
                self.unread.append(f"an entry of an archive with compression method {method}")
        between.append(data[at:])
        for part in between:
            for text in _as_text(part, whole=True):
                self.text(text)

    def _pdf(self, data: bytes, depth: int) -> None:
        for found in streams_and_strings(data):
            if isinstance(found, Syntax):
                self.strings.setdefault(found)  # its parts with markup are read apart
            elif isinstance(found, str):
                self.text(found)
            elif isinstance(found, bytes):
                self.blob(found, depth + 1)
            else:
                self.unread.append(found.why)

    def _compressed(self, data: bytes, opener: Callable[[io.BytesIO], io.IOBase], depth: int) -> None:
        try:
            with opener(io.BytesIO(data)) as stream:
                plain = stream.read(MOST_PART + 1)
        except (OSError, EOFError, lzma.LZMAError, zlib.error):
            self.unread.append("a damaged compressed file")
            return
        if len(plain) > MOST_PART:
            self.unread.append("a compressed file that is too large")
        self.blob(plain[:MOST_PART], depth + 1)

    def _tar(self, data: bytes, depth: int) -> None:
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive:
                    self.text(f"{member.name}\n{member.linkname}\n{member.uname}\n{member.gname}")
                    stream = archive.extractfile(member) if member.isfile() else None
                    if stream is not None:
                        self.blob(stream.read(), depth + 1)
        except (tarfile.TarError, OSError, ValueError):
            self.unread.append("a damaged tar file")


_COMPRESSED: dict[bytes, Callable[[io.BytesIO], io.IOBase]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}


def _as_text(data: bytes, *, whole: bool) -> Iterator[str]:
    """Yield bytes as text in the likely encodings. Of binary bytes, only the readable runs, unless `whole`."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            yield data[len(mark) :].decode(codec, "replace")
    declared = _DECLARED.match(data)
    if declared is not None:
        with suppress(LookupError):  # an unknown encoding; the others follow
            yield data.decode(declared[1].decode("ascii"), "replace")
    latin, utf8 = data.decode("latin-1"), data.decode("utf-8", "replace")
    if whole:
        yield latin
        yield utf8
    else:
        yield "\x00".join(run for run in _RUN.findall(latin) if len(run) > 4)
        yield "\x00".join(run for run in _UTF8_RUN.findall(utf8) if not run.isascii())
    for runs, codec in _UTF16:
        found = runs.findall(data) + runs.findall(data[1:])
        if found:
            yield "\x00".join(run.decode(codec, "replace") for run in found)


def _is_binary(data: bytes) -> bool:
    head = data[: 1 << 16]
    controls = sum(map(head.count, (bytes([code]) for code in range(32) if code not in b"\t\n\r\f")))
    return controls > len(head) // 50


def _is_noise(data: bytes) -> bool:
    """Whether short bytes have no readable run and no known beginning, as those of decoded words and numbers."""
    runs = _RUN.findall(data.decode("latin-1"))
    return not any(len(run) > 4 for run in runs) and not any(pattern.search(data) for pattern, _ in _UTF16)


def _inflated(data: bytes, bits: int) -> tuple[bytes, int, bool] | None:
    """Return the bytes of a compressed stream, its length, and whether these are all. None: there is no stream."""
    stream = zlib.decompressobj(bits)
    try:
        plain = stream.decompress(data, MOST_PART)
    except zlib.error:
        return None
    length = len(data) - len(stream.unused_data) - len(stream.unconsumed_tail)
    return plain, length, not stream.unconsumed_tail


def _to_next(data: bytes, body: int) -> int:
    ends = [at for mark in (b"PK\x07\x08", b"PK\x01\x02", b"PK\x03\x04") if (at := data.find(mark, body)) >= 0]
    return min(ends, default=len(data)) - body
