"""PDF files with text: pages, forms, annotations, bookmarks, properties, and attached files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    return read_bytes(stream, _document, ("PDF",))


def _document(data: bytes) -> Document:
    """Return a document with text, or one whose pages are read from their pixels.

    Raises:
        RecordProblem: it cannot be read. MissingExtra: a library is not installed.
    """
    from incognote.formats.pdf.document import PdfDocument, PictureOfText

    try:
        return PdfDocument(data)
    except PictureOfText:
        from incognote.formats.pdf.scanned import ScannedPdf

        return ScannedPdf(data)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.pdf.second import texts

    return texts(data)


FORMATS = (Format("pdf", ("application/pdf",), (".pdf",), _read, contents=("PDF",), second=_second, packed=True),)
