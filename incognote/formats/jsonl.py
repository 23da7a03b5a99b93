"""JSON lines: a record a line, blank lines aside; one of them is in memory at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.encoding import ENCODING, codec_of, is_container
from incognote.formats.json import JsonRecord
from incognote.formats.text import refused


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    """One record per line that is not blank. Undecodable bytes travel as lone surrogates to the line they break."""
    codec = codec_of(stream, media_type)
    if codec is None or is_container(stream):
        yield refused(stream)
        return
    stream.read(len(codec.mark))
    text = io.TextIOWrapper(stream, encoding=codec.encoding, errors=codec.lossless, newline="\n")
    separator = codec.encode("\n")
    try:
        while line := text.readline(encoding.MAX_BYTES + 1):
            if len(line) > encoding.MAX_BYTES:
                yield Unreadable(encoding.too_large())
                while line and not line.endswith("\n"):
                    line = text.readline(encoding.MAX_BYTES)
                continue
            content = line.removesuffix("\n").removesuffix("\r")
            if not content or content.isspace():
                continue
            try:
                content.encode(codec.encoding)
            except UnicodeEncodeError:
                yield Unreadable(ENCODING, content.encode(codec.encoding, codec.lossless))
            else:
                yield JsonRecord(content, codec, codec.encode(line[len(content) :]), separator)
    except UnicodeDecodeError:  # UTF-16 that ends in the middle of a character
        yield Unreadable(ENCODING)
    finally:
        text.detach()  # the stream is closed by its owner; the standard input by nobody


FORMATS = (
    Format("lines", ("application/x-ndjson", "application/jsonl"), (".jsonl", ".ndjson"), _read, is_record=True),
)
