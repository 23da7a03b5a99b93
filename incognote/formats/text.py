"""Plain text: the whole source is one text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import BinaryIO

from incognote.errors import MalformedRecord, MissingExtra, RecordProblem, UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import Document, Format, StretchDocument, Unreadable
from incognote.formats.encoding import ENCODING, Codec, codec_of
from incognote.nouns import Reason
from incognote.text.container import of_bytes, of_records

_EMPTY = Reason(MalformedRecord.code, "", "an empty file. Export it again")
RENAME = "rename it (.txt, .json, .jsonl, .csv, .tsv), or use --format"


def plain(content: str, codec: Codec = encoding.UTF8) -> StretchDocument:
    """Return a text as a document."""
    return StretchDocument(content, {"": (0, len(content))}, codec)


def read_whole(
    stream: BinaryIO,
    media_type: str,
    make: Callable[[str, Codec], Document | Unreadable],
    contents: Collection[str] = (),
) -> Document | Unreadable:
    """Read a whole stream and pass its characters and codec to `make`, or say why it cannot be read.

    Args:
        contents: the names of the containers that `make` reads. Any other container is refused.

    Raises:
        OSError: the stream cannot be read.
    """
    codec = codec_of(stream, media_type)
    if codec is None:
        return refused(stream)
    stream.read(len(codec.mark))
    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        return Unreadable(encoding.too_large())
    what = of_bytes(codec.mark + data)
    if what is not None and what not in contents:
        return Unreadable(encoding.unsupported(what), codec.mark + data)
    try:
        return make(codec.decode(data), codec)
    except UnicodeDecodeError:
        return Unreadable(ENCODING, data)


def read_bytes(
    stream: BinaryIO,
    make: Callable[[bytes], Document],
    contents: Collection[str] | None = None,
    most: int = encoding.MAX_BYTES,
) -> Iterator[Document | Unreadable]:
    """Yield the document that `make` opens from all bytes of a stream, or why it cannot be read.

    Args:
        contents: the names of the containers that `make` reads. Any other container is refused. None: `make` decides.
        most: the most bytes that are read.

    Raises:
        OSError: the stream cannot be read.
    """
    data = stream.read(most + 1)
    if len(data) > most:
        yield Unreadable(encoding.too_large(most))
        return
    if not data:
        yield Unreadable(_EMPTY, data)
        return
    if contents is not None and (what := of_bytes(data[: encoding.HEAD])) not in (None, *contents):
        yield Unreadable(encoding.unsupported(str(what)), data)
        return
    try:
        yield make(data)
    except RecordProblem as problem:
        yield Unreadable(Reason(problem.code, problem.field, str(problem)), data)
    except MissingExtra as missing:
        yield Unreadable(Reason(UnsupportedFormat.code, "", str(missing)), data)


def refused(stream: BinaryIO, reason: Reason = ENCODING) -> Unreadable:
    """Return a stream that cannot be opened as Unreadable, with a reason that depends on its bytes.

    Args:
        reason: the reason if the bytes are text.

    Raises:
        OSError: the stream cannot be read.
    """
    data = stream.read(encoding.MAX_BYTES + 1)
    return Unreadable(encoding.not_text(data) or reason, None if len(data) > encoding.MAX_BYTES else data)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    def make(content: str, codec: Codec) -> Document | Unreadable:
        what = of_records(content)
        if what is None:
            return plain(content, codec)
        reason = Reason(UnsupportedFormat.code, "", f"{what}, in a text file: {RENAME}")
        return Unreadable(reason, codec.encode(content))

    yield read_whole(stream, media_type, make)


FORMATS = (Format("text", ("text/plain",), (".txt",), _read),)
