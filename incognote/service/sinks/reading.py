"""The records of one part of one file of the sink: the readers of `incognote.files`, fed from any store."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, BinaryIO, cast

from incognote.files import inputs
from incognote.files.inputs import Damaged, Input
from incognote.files.sources import Source
from incognote.formats.json import JsonRecord
from incognote.formats.registry import name_of, suffix_of
from incognote.formats.tables import Layout
from incognote.nouns import Reason
from incognote.service.sinks.sink import PARQUET, ZSTD, Sink
from incognote.text.container import of_bytes

_BLOCK = 2**16
_COMPRESSED = 2**10  # bytes at once: of the most compressible, they become some 32 MB
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ROWS = 256
_DAMAGED = Reason("malformed-table", "", "not a sound Parquet file, or of values that JSON has no words for")


def ranges(name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
    """Where the parts of a file begin and end: only of lines that are not compressed there may be several."""
    lower = name.lower()
    if not lower.endswith((".jsonl", ".ndjson")) or size <= part_bytes:
        return ((0, None),)
    starts = range(0, size, part_bytes)
    return tuple((start, start + part_bytes if start + part_bytes < size else None) for start in starts)


def read(sink: Sink, name: str, start: int, stop: int | None, layout: Layout | None) -> Iterator[Input]:
    """Every record of a part. Of lines those that begin in it: the last one may end behind it.

    A file whose name says no readable kind is one input, which says what it is.

    Args:
        layout: how tables are read.

    Raises:
        SinkUnavailable: the store stopped answering; a folder's trouble is an Input with its reason instead.
    """
    lower = name.lower()
    if lower.endswith(PARQUET):
        yield from _rows(sink, name)
        return
    suffix = suffix_of(lower.removesuffix(ZSTD))
    opens: Callable[[], BinaryIO] = partial(
        _opened, sink, name, start, stop, zstd=bool(suffix) and lower.endswith(ZSTD)
    )
    gz = suffix.endswith(".gz")
    source = Source(None, name, name_of(suffix), gz, opens=opens, shown=_shown(sink, name))
    yield from inputs.read(source, layout)


def _shown(sink: Sink, name: str) -> str:
    return f"{sink.shown.rstrip('/')}/{name}"


def _opened(sink: Sink, name: str, start: int, stop: int | None, *, zstd: bool) -> BinaryIO:
    raw = sink.open(name)
    if zstd:
        return cast(BinaryIO, io.BufferedReader(_Stream(_decompressed(raw), raw.close)))
    if (start, stop) == (0, None):
        return raw if hasattr(raw, "peek") else cast(BinaryIO, io.BufferedReader(_Stream(raw.read, raw.close)))
    whole = raw.read(2) in _UTF_16  # its lines cannot be told apart by one byte: the first part takes all
    begin = 0 if whole else _line_at(raw, start)
    end = (None if start == 0 else 0) if whole else None if stop is None else _line_at(raw, stop)
    raw.seek(begin)
    left = end - begin if end is not None else None

    def some(most: int) -> bytes:
        nonlocal left
        data = raw.read(most if left is None else min(most, left))
        if left is not None:
            left -= len(data)
        return data

    return cast(BinaryIO, io.BufferedReader(_Stream(some, raw.close), _BLOCK))


def _decompressed(raw: BinaryIO) -> Callable[[int], bytes]:
    """A `read` for what Zstandard compressed, frame after frame. It is zstandard's own reader but for one thing: that
    one takes a frame which was cut off for one that ended, and half a note for a whole one.

    Raises:
        Damaged: by the `read`: no Zstandard, or cut off.
    """
    from zstandard import ZstdDecompressor, ZstdError

    def pieces() -> Iterator[bytes]:
        frame = None
        while block := raw.read(_COMPRESSED):
            while block:
                frame = frame or ZstdDecompressor().decompressobj()
                yield frame.decompress(block)
                block, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        if frame is not None:
            raise Damaged

    stream, left = pieces(), memoryview(b"")

    def read(most: int) -> bytes:
        nonlocal left
        try:
            while not left and (piece := next(stream, None)) is not None:
                left = memoryview(piece)
        except ZstdError:
            raise Damaged from None
        data, left = bytes(left[:most]), left[most:]
        return data

    return read


def _line_at(raw: BinaryIO, at: int) -> int:
    """Where the first line begins that begins at an offset or behind it."""
    if at == 0:
        return 0
    where = at - 1
    raw.seek(where)
    while block := raw.read(_BLOCK):
        found = block.find(b"\n")
        if found >= 0:
            return where + found + 1
        where += len(block)
    return where


class _Stream(io.RawIOBase):
    """Bytes that a function gives, as the readers want them."""

    def __init__(self, read: Callable[[int], bytes], close: Callable[[], Any]) -> None:
        self._read, self._close = read, close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


def _rows(sink: Sink, name: str) -> Iterator[Input]:
    """The rows of a Parquet file, each as the JSON of a record."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    opens = partial(sink.open, name)
    source, position = Source(None, name, "lines", opens=opens, shown=_shown(sink, name)), 0
    try:
        raw = sink.open(name)
    except OSError as error:
        yield inputs.unread(source, 1, error)
        return
    try:
        with raw:
            for batch in ParquetFile(raw).iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    position += 1
                    yield Input(source, position, JsonRecord(json.dumps(row, ensure_ascii=False, default=_spoken)))
    except (ArrowException, OSError, TypeError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's own words for damage bear no number
            yield inputs.unread(source, position + 1, error)
        elif position:
            yield Input(source, position + 1, None, error=_DAMAGED)
        else:
            one = inputs.turned_away(source, _DAMAGED)
            yield replace(one, error=_DAMAGED) if one.raw and of_bytes(one.raw) == "Parquet" else one


def _spoken(value: object) -> str:
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError
