"""Plain text: a source is one text, and all of it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from incognote.errors import UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, StretchDocument, Unreadable
from incognote.formats.encoding import ENCODING, Codec, codec_of
from incognote.nouns import Reason
from incognote.text.container import of_bytes, of_records

RENAME = "rename it (.txt, .json, .jsonl, .csv, .tsv), or say --format"


def plain(content: str, codec: Codec = encoding.UTF8) -> StretchDocument:
    """A text as a document."""
    return StretchDocument(content, {"": (0, len(content))}, codec)


def read_whole(
    stream: BinaryIO, media_type: str, make: Callable[[str, Codec], Document | Unreadable]
) -> Document | Unreadable:
    """What `make` makes of all characters of a stream and their codec; or why they cannot be read.

    Raises:
        OSError: of the stream.
    """
    codec = codec_of(stream, media_type)
    if codec is None:
        return refused(stream)
    stream.read(len(codec.mark))
    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        return Unreadable(encoding.too_large())
    what = of_bytes(codec.mark + data)
    if what is not None:
        return Unreadable(encoding.unsupported(what), codec.mark + data)
    try:
        return make(codec.decode(data), codec)
    except UnicodeDecodeError:
        return Unreadable(ENCODING, data)


def refused(stream: BinaryIO, reason: Reason = ENCODING) -> Unreadable:
    """A stream none of whose records can be opened, by what its bytes are.

    Args:
        reason: what to say where they are a text.

    Raises:
        OSError: of the stream.
    """
    data = stream.read(encoding.MAX_BYTES + 1)
    return Unreadable(encoding.not_text(data) or reason, None if len(data) > encoding.MAX_BYTES else data)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    def make(content: str, codec: Codec) -> Document | Unreadable:
        what = of_records(content)
        if what is None:
            return plain(content, codec)
        reason = Reason(UnsupportedFormat.code, "", f"{what}, in a file that is read as text: {RENAME}")
        return Unreadable(reason, codec.encode(content))

    yield read_whole(stream, media_type, make)


FORMATS = (Format("text", ("text/plain",), (".txt",), _read),)
