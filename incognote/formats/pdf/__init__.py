"""PDF files with text: pages, forms, annotations, bookmarks, properties, and attached files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import MissingExtra, RecordProblem, UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.nouns import Reason
from incognote.text.container import of_bytes


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    data = stream.read(encoding.MAX_BYTES + 1)
    what = of_bytes(data[: encoding.HEAD])
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
    elif what not in (None, "PDF"):
        yield Unreadable(encoding.unsupported(str(what)), data)
    else:
        try:
            yield _document(data)
        except RecordProblem as problem:
            yield Unreadable(Reason(problem.code, problem.field, str(problem)), data)
        except MissingExtra as missing:
            yield Unreadable(Reason(UnsupportedFormat.code, "", str(missing)), data)


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
