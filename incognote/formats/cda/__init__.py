"""CDA R2 documents, such as those of C-CDA: XML with a header, narrative sections, and coded entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.encoding import ENCODING

_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.\-]+)", re.IGNORECASE)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.cda.document import CdaDocument
    from incognote.formats.records.rawxml import codec_of_xml

    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
        return
    codec = codec_of_xml(data)
    try:
        content = codec.decode(data[len(codec.mark) :]) if codec else None
    except UnicodeDecodeError:
        content = None
    if codec is None or content is None or codec.encode(content) != data[len(codec.mark) :]:
        yield Unreadable(ENCODING, data)
        return
    yield CdaDocument(content, codec)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.cda.second import second_reading

    return second_reading(data)


FORMATS = (
    Format(
        "cda", ("application/cda+xml", "text/xml", "application/xml"), (".xml", ".cda", ".ccda"), _read,
        contents=("C-CDA",), second=_second,
    ),
)  # fmt: skip
