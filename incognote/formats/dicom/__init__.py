"""DICOM instances (PS3.10): headers by the profile of PS3.15 Annex E, texts, and encapsulated documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import MissingExtra, RecordProblem, UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.nouns import Reason
from incognote.text.container import of_bytes

DICOM = "DICOM image"
"""The name that `text.container` gives to DICOM, with or without pixels."""


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
        return
    what = of_bytes(data[: encoding.HEAD])
    if what not in (None, DICOM):
        yield Unreadable(encoding.unsupported(str(what)), data)
        return
    try:
        yield _opened(data)
    except RecordProblem as problem:
        yield Unreadable(Reason(problem.code, problem.field, str(problem)), data)
    except MissingExtra as missing:
        yield Unreadable(Reason(UnsupportedFormat.code, "", str(missing)), data)


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
