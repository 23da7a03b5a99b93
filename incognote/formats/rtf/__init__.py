"""Rich Text Format (RTF 1.9): notes and letters from word processors and from the text fields of hospital systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.rtf.document import RtfDocument

    return read_bytes(stream, RtfDocument, ("RTF",))


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.rtf.second import texts

    return texts(data)


FORMATS = (
    Format("rtf", ("application/rtf", "text/rtf"), (".rtf",), _read, contents=("RTF",), second=_second),
)
