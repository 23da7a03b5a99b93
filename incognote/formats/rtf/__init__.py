"""Rich Text Format (RTF 1.9): notes and letters from word processors and from the text fields of hospital systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.text.container import of_bytes


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.rtf.document import RtfDocument

    data = stream.read(encoding.MAX_BYTES + 1)
    what = of_bytes(data)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
    elif what not in (None, "RTF"):
        yield Unreadable(encoding.unsupported(str(what)), data)
    else:
        yield RtfDocument(data)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.rtf.second import texts

    return texts(data)


FORMATS = (
    Format("rtf", ("application/rtf", "text/rtf"), (".rtf",), _read, contents=("RTF",), second=_second),
)
