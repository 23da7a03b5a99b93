"""Image files: scans, faxes, photographs of pages, and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes

_KINDS = (
    ("png", ("image/png", "image/x-png"), (".png",), "PNG image"),
    ("jpeg", ("image/jpeg", "image/jpg", "image/pjpeg"), (".jpg", ".jpeg", ".jpe"), "JPEG image"),
    ("tiff", ("image/tiff", "image/x-tiff"), (".tif", ".tiff"), "TIFF image"),
    ("bmp", ("image/bmp", "image/x-bmp", "image/x-ms-bmp"), (".bmp",), "BMP image"),
    ("gif", ("image/gif",), (".gif",), "GIF image"),
    ("webp", ("image/webp",), (".webp",), "WebP image"),
)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.images.document import ImageDocument

    return read_bytes(stream, ImageDocument)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.images.second import texts

    return texts(data)


FORMATS = tuple(
    Format(name, media_types, suffixes, _read, contents=(what,), second=_second, packed=True)
    for name, media_types, suffixes, what in _KINDS
)
