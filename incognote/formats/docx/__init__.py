"""Word documents (`.docx`, ECMA-376 in its transitional and strict forms)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes
from incognote.text.container import of_bytes

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD = "an encrypted document, or a .doc file of old versions of Word. Save it as .docx without a password"


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    return read_bytes(stream, _document)


def _document(data: bytes) -> Document:
    from incognote.formats.docx.reader import read

    if data.startswith(_OLE):
        raise UnsupportedFormat(_OLD)
    if (what := of_bytes(data)) not in (None, "DOCX", "ZIP archive", "office file"):
        raise UnsupportedFormat(encoding.unsupported(str(what)).detail)
    return read(data)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.office.second import texts

    return texts(data)


FORMATS = (Format("docx", (MEDIA_TYPE,), (".docx",), _read, contents=("DOCX",), second=_second, packed=True),)
