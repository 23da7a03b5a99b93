"""Word documents (`.docx`, ECMA-376 in its transitional and strict forms)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.errors import UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.nouns import Reason
from incognote.text.container import of_bytes

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD = Reason(
    UnsupportedFormat.code,
    "",
    "an encrypted document, or a .doc file of old versions of Word. Save it as .docx without a password",
)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.docx.reader import read

    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
    elif data.startswith(_OLE):
        yield Unreadable(_OLD, data)
    elif (what := of_bytes(data)) not in (None, "DOCX", "ZIP archive", "office file"):
        yield Unreadable(encoding.unsupported(str(what)), data)
    else:
        yield read(data)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.office.second import texts

    return texts(data)


FORMATS = (Format("docx", (MEDIA_TYPE,), (".docx",), _read, contents=("DOCX",), second=_second, packed=True),)
