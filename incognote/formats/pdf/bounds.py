"""Limits that keep a small PDF from taking all memory or time. They are checked before a library unpacks anything."""

from __future__ import annotations

import re
import zlib
from base64 import a85decode
from binascii import unhexlify
from collections.abc import Mapping, Sequence
from contextlib import suppress

from incognote.errors import MalformedRecord
from incognote.formats.pdf.content import StreamKey

MAX_STREAM, MAX_UNPACKED = 128 * 2**20, 512 * 2**20
MAX_PAINTS = 100_000  # forms that a page shows, counting each repetition
MAX_DEPTH = 100
_STREAM = re.compile(rb"stream\r?\n")
_STEP = 2**20


def check_unpacked(data: bytes) -> None:
    """Refuse a file whose streams are much larger when they are unpacked.

    Raises:
        MalformedRecord: a stream or the whole file is too large.
    """
    total = 0
    for found in _STREAM.finditer(data):
        end = data.find(b"endstream", found.end())
        total += _unpacked(data[found.end() : end if end > 0 else len(data)], 4)
        if total > MAX_UNPACKED:
            raise _too_large()


def check_paints(paints: Mapping[StreamKey, Sequence[StreamKey]]) -> None:
    """Refuse forms that show each other without an end, or too often.

    Args:
        paints: the forms that each stream shows, with repetitions.

    Raises:
        MalformedRecord: they do.
    """
    counts: dict[StreamKey, int] = {}

    def count(key: StreamKey, above: frozenset[StreamKey]) -> int:
        if key in above or len(above) > MAX_DEPTH:
            raise MalformedRecord("a form that shows itself. Print the document to a new PDF")
        if key not in counts:
            counts[key] = 1 + sum(count(each, above | {key}) for each in paints.get(key, ()))
        if counts[key] > MAX_PAINTS:
            raise MalformedRecord(f"a page that shows more than {MAX_PAINTS:,} forms")
        return counts[key]

    for key in paints:
        count(key, frozenset())


def _unpacked(chunk: bytes, layers: int) -> int:
    """Return the size of data when all its layers are unpacked, or 0 if it is not compressed."""
    for decode in (bytes, _from_hexadecimal, _from_ascii85):
        with suppress(ValueError, zlib.error):
            return _inflated(decode(chunk), layers)
    return 0


def _inflated(chunk: bytes, layers: int) -> int:
    if len(chunk) < 2 or chunk[0] & 15 != 8:
        raise ValueError("not compressed")
    unpacking = zlib.decompressobj()
    size, first = 0, b""
    while chunk and size <= MAX_STREAM:
        piece = unpacking.decompress(chunk, _STEP)
        chunk = unpacking.unconsumed_tail
        size += len(piece)
        if layers and size <= 8 * _STEP:
            first += piece
        if not piece:
            break
    if size > MAX_STREAM:
        raise _too_large()
    return size + (_unpacked(first, layers - 1) if layers and first[:1] in b"xXhH0123456789<" else 0)


def _from_hexadecimal(chunk: bytes) -> bytes:
    digits = b"".join(chunk.split()).partition(b">")[0]
    return unhexlify(digits[: len(digits) // 2 * 2])


def _from_ascii85(chunk: bytes) -> bytes:
    return a85decode(b"".join(chunk.split()).removeprefix(b"<~").partition(b"~>")[0])


def _too_large() -> MalformedRecord:
    return MalformedRecord(f"longer than {MAX_UNPACKED // 2**20} MiB when it is unpacked")
