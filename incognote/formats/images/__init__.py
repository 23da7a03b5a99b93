"""Image files: scans, faxes, photographs of pages, and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import MissingExtra, RecordProblem, UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.nouns import Reason

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

    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
        return
    try:
        yield ImageDocument(data)
    except RecordProblem as problem:
        yield Unreadable(Reason(problem.code, problem.field, str(problem)), data)
    except MissingExtra as missing:
        yield Unreadable(Reason(UnsupportedFormat.code, "", str(missing)), data)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.images.second import texts

    return texts(data)


FORMATS = tuple(
    Format(name, media_types, suffixes, _read, contents=(what,), second=_second, packed=True)
    for name, media_types, suffixes, what in _KINDS
)
