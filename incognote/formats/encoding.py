"""How a source writes characters: strict UTF-8, or UTF-16 with a byte order mark; nothing is guessed."""

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
"""A longer record is not taken into memory; it is refused with the reason `too-large` and without its bytes."""

HEAD = 8192
_FEW = 8  # characters of another encoding that even a short text may hold
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.\-]+)", re.IGNORECASE)
_SERVED = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be"})


class Codec(NamedTuple):
    """How a file writes characters: a Python codec name and the byte order mark in front ("" for none)."""

    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def lossless(self) -> str:
        """The error handler under which undecodable bytes travel as lone surrogates, and come back as they were."""
        return "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"

    def decode(self, data: bytes) -> str:
        return data.decode(self.encoding)

    def encode(self, text: str) -> bytes:
        return text.encode(self.encoding)


UTF8 = Codec()
ENCODING = Reason("encoding", "", "neither UTF-8 nor UTF-16 with its mark; convert it")
"""Of what is in another encoding than its source says."""


def codec_of(stream: BinaryIO, media_type: str = "") -> Codec | None:
    """How a stream writes characters, without taking anything from it; None for what is not text we read.

    Args:
        media_type: a character set among its parameters that is not served is refused, whatever the bytes are.
    """
    charset = _CHARSET.search(media_type)
    if charset and charset[1].lower() not in _SERVED:
        return None
    head = peeked(stream)
    codec = announced(head)
    return None if codec is None or is_binary(head, codec) else codec


@contextmanager
def characters(stream: BinaryIO, codec: Codec, newline: str) -> Iterator[io.TextIOWrapper]:
    """The characters behind the mark of a stream, which stays open; undecodable bytes become lone surrogates."""
    stream.read(len(codec.mark))
    text = io.TextIOWrapper(stream, encoding=codec.encoding, errors=codec.lossless, newline=newline)
    try:
        yield text
    finally:
        text.detach()  # the stream is closed by its owner; the standard input by nobody


def is_container(stream: BinaryIO) -> bool:
    """Whether a stream of lines or rows begins as a format without a reader; nothing is taken from it."""
    return of_bytes(peeked(stream)) is not None


def peeked(stream: BinaryIO) -> bytes:
    """The first bytes of a buffered stream; nothing is taken from it."""
    return cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]


def announced(head: bytes) -> Codec | None:
    """The codec a file's first bytes announce; None for UTF-32, which nothing here reads."""
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
    """Whether a file's head is no text: one character in twenty is NUL, or one in ten a control or none at all.

    A stray NUL or a wrong byte in a note is not enough, so that one bad line does not condemn its file.
    """
    if codec.encoding != "utf-8":
        return False
    text = head.decode("utf-8", "surrogateescape")
    strange = sum(1 for c in text if (c < " " and c not in "\t\n\v\f\r\x1b") or "\udc80" <= c <= "\udcff")
    return text.count("\0") * 20 > len(text) or (strange > _FEW and strange * 10 > len(text))


def not_text(data: bytes) -> Reason | None:
    """Why bytes are no text: of a format without a reader, binary, or in an encoding that is not read; else None."""
    what = of_bytes(data)
    if what is not None:
        return unsupported(what)
    codec = announced(data[:HEAD])
    if codec is None or is_binary(data[:HEAD], codec):
        return Reason("binary", "", "not text, or in an encoding other than UTF-8 or UTF-16 with its mark")
    return None


def unsupported(what: str) -> Reason:
    """Of a content by the name of its format."""
    inside = ": name it by what is in it, as .txt.gz or .jsonl.gz" if what == "gzip" else ""
    return Reason(UnsupportedFormat.code, "", str(UnsupportedFormat.of(what)) + inside)


def too_large() -> Reason:
    """Of a record that is not taken into memory."""
    return Reason("too-large", "", f"longer than {MAX_BYTES // 2**20} MiB; split it")
