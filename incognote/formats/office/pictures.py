"""Neutral pictures: one light grey area of each type, which takes the place of a picture that nobody has read."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from functools import cache

_GREY = 0xD9
_JPEG = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6"
    "/+b9//j/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8ASf/Z"
)


@cache
def pictures() -> Mapping[str, bytes]:
    """Return a picture for each content type that office programs show."""
    png, tiff, emf, wmf = _png(), _tiff(), _emf(), _wmf()
    return {
        "image/png": png, "image/jpeg": base64.b64decode(_JPEG), "image/jpg": base64.b64decode(_JPEG),
        "image/gif": _gif(), "image/bmp": _bmp(), "image/tiff": tiff, "image/x-emf": emf, "image/emf": emf,
        "image/x-wmf": wmf, "image/wmf": wmf, "image/svg+xml": _svg(),
    }  # fmt: skip


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((0, _GREY)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _gif() -> bytes:
    return b"GIF89a\x01\x00\x01\x00\x80\x00\x00" + bytes((_GREY,) * 6) + b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


def _bmp() -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, 1, 1, 1, 24, 0, 4, 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 58, 0, 0, 54) + header + bytes((_GREY,) * 3) + b"\0"


def _tiff() -> bytes:
    entries = ((256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 1))
    table = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    return b"II*\0" + struct.pack("<I", 10) + bytes((_GREY, 0)) + struct.pack("<H", len(entries)) + table + bytes(4)


def _emf() -> bytes:
    color = _GREY * 0x010101
    records = (
        struct.pack("<IIIIII", 39, 24, 1, 0, color, 0),  # a solid brush
        struct.pack("<III", 37, 12, 1),  # is selected
        struct.pack("<III", 37, 12, 0x80000008),  # with no pen
        struct.pack("<IIiiii", 43, 24, 0, 0, 100, 100),  # for a rectangle
        struct.pack("<IIIII", 14, 20, 0, 16, 20),
    )
    size = 88 + sum(map(len, records))
    header = struct.pack(
        "<IIiiiiiiiiIIIIHHIIIiiii",
        1, 88, 0, 0, 100, 100, 0, 0, 2600, 2600, 0x464D4520, 0x10000, size, len(records) + 1, 2, 0, 0, 0, 0,
        1024, 768, 270, 203,
    )  # fmt: skip
    return header + b"".join(records)


def _wmf() -> bytes:
    records = (
        struct.pack("<IHHHHH", 7, 0x02FC, 0, _GREY * 0x0101, _GREY, 0),  # a solid brush
        struct.pack("<IHH", 4, 0x012D, 0),  # is selected
        struct.pack("<IHhhhh", 7, 0x041B, 100, 100, 0, 0),  # for a rectangle
        struct.pack("<IH", 3, 0),
    )  # fmt: skip
    body = b"".join(records)
    header = struct.pack("<HHHIHIH", 1, 9, 0x0300, 9 + len(body) // 2, 1, 7, 0)
    place = struct.pack("<IHhhhhHI", 0x9AC6CDD7, 0, 0, 0, 100, 100, 96, 0)
    check = 0
    for (word,) in struct.iter_unpack("<H", place):
        check ^= word
    return place + struct.pack("<H", check) + header + body


def _svg() -> bytes:
    return (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">'
        b'<rect width="100" height="100" fill="#d9d9d9"/></svg>'
    )
