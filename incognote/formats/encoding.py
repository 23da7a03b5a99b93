"""The encoding of a source: strict UTF-8, or UTF-16 with a byte order mark. Nothing is guessed."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, cast

from incognote.errors import UnsupportedFormat
from incognote.nouns import Reason
from incognote.text.container import of_bytes

MAX_BYTES = 256 * 2**20
"""A longer record is not read into memory. It is held with the reason `too-large` and without its bytes."""

HEAD = 8192
_FEW = 8  # strange characters that even a short text may contain
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.\-]+)", re.IGNORECASE)
_SERVED = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be"})


class Codec(NamedTuple):
    """The encoding of a file: a Python codec name and the byte order mark at the start (b"" for none)."""

    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def lossless(self) -> str:
        """The error handler that decodes invalid bytes to lone surrogates and encodes these to the same bytes."""
        return "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"

    def decode(self, data: bytes) -> str:
        return data.decode(self.encoding)

    def encode(self, text: str) -> bytes:
        return text.encode(self.encoding)


UTF8 = Codec()
ENCODING = Reason("encoding", "", "neither UTF-8 nor UTF-16 with a byte order mark. Convert the file")
"""The reason for content in another encoding."""


def codec_of(stream: BinaryIO, media_type: str = "") -> Codec | None:
    """Return the encoding of a stream without consuming any of it, or None if it is not supported text.

    Args:
        media_type: if its charset parameter is not supported, the result is None, whatever the bytes are.
    """
    charset = _CHARSET.search(media_type)
    if charset and charset[1].lower() not in _SERVED:
        return None
    head = peeked(stream)
    codec = announced(head)
    return None if codec is None or is_binary(head, codec) else codec


@contextmanager
def characters(stream: BinaryIO, codec: Codec, newline: str) -> Iterator[io.TextIOWrapper]:
    """Read the characters after the byte order mark. The stream stays open. Invalid bytes become lone surrogates."""
    stream.read(len(codec.mark))
    text = io.TextIOWrapper(stream, encoding=codec.encoding, errors=codec.lossless, newline=newline)
    try:
        yield text
    finally:
        text.detach()  # the owner closes the stream; standard input stays open


def is_container(stream: BinaryIO) -> bool:
    """Whether a stream of lines or rows begins like a format without a reader. Consumes nothing."""
    return of_bytes(peeked(stream)) is not None


def peeked(stream: BinaryIO) -> bytes:
    """Return the first bytes of a buffered stream without consuming them."""
    return cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]


def announced(head: bytes) -> Codec | None:
    """Return the codec by the byte order mark in the first bytes of a file, or None for UTF-32 (not supported)."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if head.startswith(codecs.BOM_UTF8):
        return Codec("utf-8", codecs.BOM_UTF8)
    if head.startswith(codecs.BOM_UTF16_LE):
        return Codec("utf-16-le", codecs.BOM_UTF16_LE)
    if head.startswith(codecs.BOM_UTF16_BE):
        return Codec("utf-16-be", codecs.BOM_UTF16_BE)
    return UTF8


def is_binary(head: bytes, codec: Codec) -> bool:
    """Whether a file's head is not text: over 1 in 20 characters is NUL, or over 1 in 10 is a control or invalid.

    A stray NUL or a wrong byte in a note is not enough, so that one bad line does not affect the whole file.
    """
    if codec.encoding != "utf-8":
        return False
    text = head.decode("utf-8", "surrogateescape")
    strange = sum(1 for c in text if (c < " " and c not in "\t\n\v\f\r\x1b") or "\udc80" <= c <= "\udcff")
    return text.count("\0") * 20 > len(text) or (strange > _FEW and strange * 10 > len(text))


def not_text(data: bytes) -> Reason | None:
    """Return why bytes are not text, or None: a format without a reader, binary, or an unsupported encoding."""
    what = of_bytes(data)
    if what is not None:
        return unsupported(what)
    codec = announced(data[:HEAD])
    if codec is None or is_binary(data[:HEAD], codec):
        return Reason("binary", "", "not text, or in an encoding other than UTF-8 and UTF-16 with a byte order mark")
    return None


def unsupported(what: str) -> Reason:
    """Return the reason for content in an unsupported format, given its name."""
    inside = ". Use a suffix that shows its content, such as .txt.gz or .jsonl.gz" if what == "gzip" else ""
    return Reason(UnsupportedFormat.code, "", str(UnsupportedFormat.of(what)) + inside)


def too_large(most: int = MAX_BYTES) -> Reason:
    """Return the reason for a record that is longer than the most bytes that are read."""
    return Reason("too-large", "", f"longer than {most // 2**20} MiB. Split it")
