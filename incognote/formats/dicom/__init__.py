"""DICOM instances (PS3.10): headers by the profile of PS3.15 Annex E, texts, and encapsulated documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import MissingExtra
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes

DICOM = "DICOM image"
"""The name that `text.container` gives to DICOM, with or without pixels."""


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    return read_bytes(stream, _opened, (DICOM,))


def _opened(data: bytes) -> Document:
    from incognote.formats.dicom.document import DicomDocument

    try:
        return DicomDocument(data)
    except ImportError:
        raise MissingExtra("dicom", "reading DICOM") from None


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.dicom.second import second

    return second(data)


FORMATS = (
    Format(
        "dicom", ("application/dicom",), (".dcm", ".dicom"), _read, contents=(DICOM,), second=_second, packed=True,
    ),
)  # fmt: skip
