"""What the header of a compressed frame says: its size, and whether it has anything besides pixels.

JPEG: ISO 10918-1 Annex B. JPEG-LS: ISO 14495-1 Annex C. JPEG 2000 and HTJ2K: ISO 15444-1 Annex A. RLE: PS3.5 Annex G.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from incognote.errors import MalformedRecord

_SIZES = frozenset((*range(0xC0, 0xD0), 0xF7)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset((0x01, *range(0xD0, 0xD9)))
_JFIF, _ADOBE, _RLE_SEGMENTS = b"JFIF\0", b"Adobe", 15
_MAKER = re.compile(rb"(?:Created by OpenJPEG version [\d.]{1,12}|Kakadu-v?[\d.]{1,12})\0?")


class CodedFrame(NamedTuple):
    """The header of a compressed frame.

    Args:
        samples: None if the coding does not say it.
        is_bare: whether it has no comments, no data of programs, and no bytes after its end.
    """

    rows: int
    columns: int
    samples: int | None
    is_bare: bool


def coded_frame(frame: bytes, rows: int, columns: int) -> CodedFrame:
    """Return what the header of a frame says. Runs of RLE have the size that the data set states.

    Raises:
        MalformedRecord: it is no frame of a coding that is known.
    """
    if frame[:2] == b"\xff\xd8":
        return _jpeg(frame)
    if frame[:4] == b"\xff\x4f\xff\x51":
        return _jpeg_2000(frame)
    if frame[4:8] == b"jP  " and (start := frame.find(b"\xff\x4f\xff\x51")) > 0:
        return _jpeg_2000(frame[start:])._replace(is_bare=False)
    if 0 < int.from_bytes(frame[:4], "little") <= _RLE_SEGMENTS and int.from_bytes(frame[4:8], "little") == 64:
        _check_runs(frame, rows * columns)
        return CodedFrame(rows, columns, None, True)
    raise MalformedRecord("a compressed frame does not begin as its transfer syntax says", field="PixelData")


def _check_runs(frame: bytes, size: int) -> None:
    """Check that each segment of RLE has as many bytes as a frame has pixels.

    Raises:
        MalformedRecord: it has more or fewer.
    """
    count = int.from_bytes(frame[:4], "little")
    starts = [int.from_bytes(frame[at : at + 4], "little") for at in range(4, 4 + 4 * count, 4)]
    for at, end in pairwise((*starts, len(frame))):
        made = 0
        while made < size and at < end:
            code = frame[at]
            made += code + 1 if code < 128 else 257 - code if code > 128 else 0
            at += code + 2 if code < 128 else 2 if code > 128 else 1
        if made != size or at > end or frame[at:end].strip(b"\0"):
            raise MalformedRecord("a compressed frame has other pixels than the header says", field="PixelData")


def _jpeg(frame: bytes) -> CodedFrame:
    at, is_bare, found = 2, True, None
    while found is None or frame[at : at + 2] != b"\xff\xda":
        marker, size = frame[at + 1 : at + 2], int.from_bytes(frame[at + 2 : at + 4])
        if frame[at : at + 1] != b"\xff" or not marker or at > len(frame):
            raise MalformedRecord("the header of a compressed frame is damaged", field="PixelData")
        kind, body = marker[0], frame[at + 4 : at + 2 + size]
        if kind == 0xFF or kind in _BARE:
            at += 1 if kind == 0xFF else 2
            continue
        if kind == 0xDA or size < 2 or len(body) != size - 2:
            raise MalformedRecord("the header of a compressed frame is damaged", field="PixelData")
        if kind in _SIZES and len(body) > 5:
            found = int.from_bytes(body[1:3]), int.from_bytes(body[3:5]), body[5]
        is_plain = (kind == 0xE0 and body[:5] == _JFIF and body[12:14] == b"\0\0") or (
            kind == 0xEE and body[:5] == _ADOBE and len(body) == 12
        )
        if kind == 0xFE or (0xE0 <= kind < 0xF0 and not is_plain):
            is_bare = False
        at += 2 + size
    end = frame.find(b"\xff\xd9", at)
    return CodedFrame(*found, is_bare=is_bare and end > 0 and not frame[end + 2 :].strip(b"\0"))


def _jpeg_2000(frame: bytes) -> CodedFrame:
    def number(start: int, size: int = 4) -> int:
        return int.from_bytes(frame[start : start + size])

    if len(frame) < 42:
        raise MalformedRecord("the header of a compressed frame is damaged", field="PixelData")
    columns, rows, samples = number(8) - number(16), number(12) - number(20), number(40, 2)
    at, is_bare = 4 + number(4, 2), True
    while at + 4 <= len(frame) and frame[at : at + 2] != b"\xff\x90":
        size = number(at + 2, 2)
        if frame[at : at + 1] != b"\xff" or size < 2:
            raise MalformedRecord("the header of a compressed frame is damaged", field="PixelData")
        if frame[at + 1] == 0x64 and not _MAKER.fullmatch(frame[at + 6 : at + 2 + size]):
            is_bare = False
        at += 2 + size
    end = frame.rfind(b"\xff\xd9")
    return CodedFrame(rows, columns, samples, is_bare and end > 0 and not frame[end + 2 :].strip(b"\0"))
