"""Pages of Ogg files (RFC 3533): their streams, and serial numbers that do not change from run to run."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
FIRST, LAST = 2, 4
"""Flags of the first and the last page of a stream."""


def pages(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the start and end of each page, and its flags. It ends at bytes that are no page.

    Raises:
        ValueError: the file is cut off within a page.
    """
    at = 0
    while data[at : at + 5] == b"OggS\x00":
        header = data[at : at + 27]
        segments = data[at + 27 : at + 27 + header[26]] if len(header) == 27 else b""
        end = at + 27 + len(segments) + sum(segments)
        if len(header) < 27 or len(segments) < header[26] or end > len(data):
            raise ValueError("an Ogg file is cut off")
        yield at, end, header[5]
        at = end


def checksum(page: bytes) -> int:
    """Return the checksum of a page whose own field is zero: polynomial 0x04c11db7, not reflected, from zero."""
    reflected = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(reflected.to_bytes(4, "little").translate(_REVERSED), "big")


def fixed(data: bytes) -> bytes:
    """Return a file of one stream with the serial number 1.

    Raises:
        ValueError: as `pages`.
    """
    out = bytearray(data)
    for start, end, _ in pages(data):
        out[start + 14 : start + 18] = (1).to_bytes(4, "little")
        out[start + 22 : start + 26] = bytes(4)
        out[start + 22 : start + 26] = checksum(bytes(out[start:end])).to_bytes(4, "little")
    return bytes(out)
