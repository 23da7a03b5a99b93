"""Limits that keep a small PDF from taking all memory or time. They are checked before a library unpacks anything."""

from __future__ import annotations

import re
import zlib
from base64 import a85decode
from binascii import unhexlify
from collections.abc import Mapping, Sequence
from contextlib import suppress

from incognote.errors import MalformedRecord
from incognote.formats.pdf.glyphs import StreamKey

MAX_STREAM, MAX_UNPACKED = 128 * 2**20, 512 * 2**20
MAX_PAINTS = 100_000  # forms that a page shows, counting each repetition
MAX_DEPTH = 100
MAX_OTHER = 2 * 2**20  # bytes of a stream that is packed with LZW or as runs
_STREAM = re.compile(rb"(?<!end)stream[ \t\f]*(?:\r\n|\n|\r)?")
_OTHER = re.compile(rb"/(?:LZWDecode|LZW|RunLengthDecode|RL)\b")
_DEFLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_ELSEWHERE = re.compile(rb"/Filter\s*(?:\d|\[(?:[^\]]*\s)?\d)")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_STEP = 2**20


def check_unpacked(data: bytes) -> None:
    """Refuse a file whose streams are much larger when they are unpacked.

    Raises:
        MalformedRecord: a stream or the whole file is too large.
    """
    total = read = before = 0
    for found in _STREAM.finditer(data):
        end = data.find(b"endstream", found.end())
        end = end if end > 0 else len(data)
        read += end - found.end() + max(found.start() - before, 0)
        if read > 8 * len(data) + 16 * _STEP:
            raise MalformedRecord("streams inside each other. Print the document to a new PDF")
        chunk = data[found.end() : end]
        inflated = chunk[:2] and chunk[0] & 15 == 8
        total += _unpacked(memoryview(data)[found.end() :] if inflated else chunk, 4)
        total += _otherwise_unpacked(data[before : found.start()], chunk)
        before = max(before, end)
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


def _otherwise_unpacked(head: bytes, chunk: bytes) -> int:
    """Return the size of a stream if it is packed with LZW or as runs, or 0.

    Args:
        head: what is between the stream before and this one. chunk: the stream.

    Raises:
        MalformedRecord: it is too large, or its filters cannot be told.
    """
    head = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), head)
    others = len(_OTHER.findall(head))
    if _ELSEWHERE.search(head) or others > 1 or (others and _DEFLATE.search(head)):
        raise MalformedRecord("a stream with unusual filters. Print the document to a new PDF")
    if not others:
        return 0
    if len(chunk) > MAX_OTHER:
        raise _too_large()
    size = 0
    for decode in (bytes, _from_hexadecimal, _from_ascii85):
        with suppress(ValueError):
            packed = decode(chunk)
            size = max(size, _size_of_runs(packed), *(_size_of_lzw(packed, early) for early in (0, 1)))
    return size


def _size_of_lzw(packed: bytes, early: int) -> int:
    """Return how many bytes LZW codes stand for.

    Args:
        early: 1 if codes get a bit longer one code early, or 0.
    """
    lengths = [1] * 256 + [0, 0]
    bits = size = last = held = 0
    wide = 9
    for byte in packed:
        bits = (bits << 8 | byte) & 0xFFFFF
        held += 8
        if held < wide:
            continue
        held -= wide
        code = bits >> held & ((1 << wide) - 1)
        if code == 257:
            break
        if code == 256:
            del lengths[258:]
            last, wide = 0, 9
            continue
        length = lengths[code] if code < len(lengths) else last + 1
        size += length
        if size > MAX_STREAM:
            raise _too_large()
        if last and len(lengths) < 4096:
            lengths.append(last + 1)
        last = length
        wide = min(12, max(9, (len(lengths) + early).bit_length()))
    return size


def _size_of_runs(packed: bytes) -> int:
    size = at = 0
    while at < len(packed) and packed[at] != 128:
        copied = packed[at] < 128
        size += packed[at] + 1 if copied else 257 - packed[at]
        at += packed[at] + 2 if copied else 2
    return size


def _unpacked(chunk: bytes | memoryview, layers: int) -> int:
    """Return the size of data when all its layers are unpacked, or 0 if it is not compressed."""
    if len(chunk) > 1 and chunk[0] & 15 == 8:
        with suppress(zlib.error):
            return _inflated(chunk, layers)
    for decode in (_from_hexadecimal, _from_ascii85):
        with suppress(ValueError, zlib.error):
            return _inflated(decode(bytes(chunk)), layers)
    return 0


def _inflated(chunk: bytes | memoryview, layers: int) -> int:
    if len(chunk) < 2 or chunk[0] & 15 != 8:
        raise ValueError("not compressed")
    unpacking = zlib.decompressobj()
    size, first, rest, at = 0, b"", b"", 0
    while size <= MAX_STREAM and not unpacking.eof and (rest or at < len(chunk)):
        if not rest:
            rest = bytes(chunk[at : at + _STEP // 16])
            at += len(rest)
        piece = unpacking.decompress(rest, _STEP)
        rest = unpacking.unconsumed_tail
        size += len(piece)
        if layers and size <= 8 * _STEP:
            first += piece
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
