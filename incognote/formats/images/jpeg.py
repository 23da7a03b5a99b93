"""The segments of a JPEG file: which coding it has, and the file without metadata (ITU-T T.81, annex B)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from incognote.errors import MalformedRecord, UnsupportedFormat

MOST_SCANS = 200
_START, _END, _SCAN = 0xD8, 0xD9, 0xDA
_APP0, _APP14 = 0xE0, 0xEE
_CODINGS = frozenset((0xC0, 0xC1, 0xC2))  # baseline, extended, and progressive, all with Huffman codes
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC} | {0xDE}
_TABLES = frozenset((0xC4, 0xDB, 0xDD))
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # after compressed pixels
_JFIF, _ADOBE = 16, 14  # bytes of these segments, with their length


class JpegSegment(NamedTuple):
    """A segment of a JPEG file.

    Args:
        marker: its second byte. body: what follows its length. pixels: the compressed pixels after it.
    """

    marker: int
    body: bytes
    pixels: bytes = b""


def check(data: bytes) -> None:
    """Check that a JPEG file has a coding that every program can read.

    Raises:
        MalformedRecord: it is damaged or ends too early. UnsupportedFormat: it has another coding.
    """
    frames = scans = blocks = bits = 0
    for segment in segments(data):
        if segment.marker in _FRAMES:
            frames += 1
            if segment.marker not in _CODINGS or segment.body[:1] != b"\x08" or frames > 1:
                raise UnsupportedFormat("a JPEG file with a rare coding. Save it as a usual JPEG or PNG file")
            blocks = int.from_bytes(segment.body[1:3]) * int.from_bytes(segment.body[3:5]) // 64
        scans += segment.marker == _SCAN
        bits += 8 * len(segment.pixels)
    if not frames or not scans or bits < blocks:  # each block takes at least one bit
        raise _damaged()
    if scans > MOST_SCANS:
        raise MalformedRecord(f"a JPEG file with more than {MOST_SCANS} scans. Save it as a usual JPEG file")


def without_metadata(data: bytes, dpi: tuple[float, float] | None = None) -> bytes | None:
    """Return a JPEG file with only the segments that its pixels need, or None if one of these has other bytes, too.

    Args:
        dpi: pixels of an inch to write if the file has no JFIF segment with a resolution.

    Raises:
        MalformedRecord: it is damaged.
    """
    out: list[bytes] = []
    jfif = adobe = False
    letters = b""
    for marker, body, pixels in segments(data):
        if marker in _CODINGS:
            letters = bytes(body[6::3])
            if len(body) < 6 or len(body) != 6 + 3 * body[5]:
                return None
        elif marker == _SCAN:
            if not body or len(body) != 4 + 2 * body[0]:
                return None
        elif marker == _APP0 and body[:5] == b"JFIF\0" and len(body) >= _JFIF - 2 and not jfif:
            jfif, body = True, body[: _JFIF - 4] + b"\0\0"
            if body[7] == 0 and dpi is not None:  # it states only the shape of a pixel
                body = _resolution(dpi)
        elif marker == _APP14 and body[:5] == b"Adobe" and len(body) >= _ADOBE - 2 and not adobe:
            adobe, body = True, body[: _ADOBE - 2]
        elif marker not in _TABLES:
            continue
        out.append(_written(marker, body) + pixels)
    if not jfif and not adobe and dpi is not None and letters != b"RGB":  # a JFIF segment says that it is no RGB
        out.insert(0, _written(_APP0, _resolution(dpi)))
    return b"".join((b"\xff\xd8", *out, b"\xff\xd9"))


def segments(data: bytes) -> Iterator[JpegSegment]:
    """Yield the segments of a JPEG file up to its end.

    Raises:
        MalformedRecord: it is damaged, or ends too early.
    """
    if data[:2] != b"\xff\xd8":
        raise _damaged()
    at = 2
    while True:
        if at + 2 > len(data) or data[at] != 0xFF:
            raise _damaged()
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker == _END:
            return
        size = int.from_bytes(data[at + 2 : at + 4])
        end = at + 2 + size
        if marker in (0, 1, _START) or 0xD0 <= marker <= 0xD7 or size < 2 or end > len(data):
            raise _damaged()
        body, at = data[at + 4 : end], end
        if marker == _SCAN:
            following = _MARKER.search(data, end)
            if following is None:
                raise _damaged()
            at = following.start()
        yield JpegSegment(marker, body, data[end:at].rstrip(b"\xff") if marker == _SCAN else b"")


def _written(marker: int, body: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2) + body


def _resolution(dpi: tuple[float, float]) -> bytes:
    """Return the body of a JFIF segment."""
    wide, high = (min(round(each), 0xFFFF) for each in dpi)
    return b"JFIF\0\1\1\1" + wide.to_bytes(2) + high.to_bytes(2) + b"\0\0"


def _damaged() -> MalformedRecord:
    return MalformedRecord("a damaged JPEG file, or one that ends too early. Copy it again, or save it as PNG")
