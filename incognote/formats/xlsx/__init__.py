"""Excel workbooks (XLSX, ECMA-376 transitional): each worksheet is a text, and cells under labels are fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes
from incognote.text.container import of_bytes

_SAVED = "an encrypted workbook or one of Excel 97 to 2003. Save it as .xlsx without a password"


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    return read_bytes(stream, _document)


def _document(data: bytes) -> Document:
    from incognote.formats.xlsx.document import XlsxDocument
    from incognote.formats.xlsx.workbook import read_workbook

    what = of_bytes(data)
    if what in ("XLS", "OLE file"):
        raise UnsupportedFormat(_SAVED)
    if what is not None and not data.startswith(b"PK"):
        raise UnsupportedFormat(encoding.unsupported(what).detail)
    return XlsxDocument(data, read_workbook(data))


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.xlsx.second import texts

    return texts(data)


FORMATS = (
    Format(
        "xlsx", ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",), (".xlsx",), _read,
        contents=("XLSX",), second=_second, packed=True,
    ),
)  # fmt: skip
