"""The records of one part of one file of the sink: the readers of `incognote.files`, fed from any store."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, BinaryIO, cast

from incognote.errors import UsageError
from incognote.files import inputs, tables
from incognote.files.inputs import Input
from incognote.files.reading import TABLES
from incognote.files.sources import KINDS, Source
from incognote.files.tables import Layout
from incognote.nouns import Reason
from incognote.service.sinks.sink import PARQUET, ZSTD, Sink

_BLOCK = 2**16
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ROWS = 256
_UNTOLD = Reason("unknown-data-type", "", "a table, and nobody said how it is read: its schema, or its columns")
_OTHER_COLUMNS = Reason("schema-violation", "", "its columns are not those that the run was told of")
_DAMAGED = Reason("unreadable", "", "not a sound Parquet file, or of values that JSON has no words for")


def ranges(name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
    """Where the parts of a file begin and end: only of lines that are not compressed there may be several."""
    lower = name.lower()
    if not lower.endswith((".jsonl", ".ndjson")) or size <= part_bytes:
        return ((0, None),)
    starts = range(0, size, part_bytes)
    return tuple((start, start + part_bytes if start + part_bytes < size else None) for start in starts)


def read(sink: Sink, name: str, start: int, stop: int | None, layout: Layout | None) -> Iterator[Input]:
    """Every record of a part. Of lines those that begin in it: the last one may end behind it.

    Args:
        layout: how tables are read.

    Raises:
        SinkUnavailable: the store stopped answering; a folder's trouble is an Input with its reason instead.
    """
    lower = name.lower()
    if lower.endswith(PARQUET):
        yield from _rows(sink, name)
        return
    plain = lower.removesuffix(ZSTD)
    gz = plain.endswith(".gz")
    suffix = "." + plain.removesuffix(".gz").rpartition(".")[2]
    opens: Callable[[], BinaryIO] = partial(_opened, sink, name, start, stop, zstd=lower.endswith(ZSTD))
    source = Source(None, name, KINDS[suffix], gz, opens=opens)
    if source.kind not in TABLES:
        yield from inputs.read(source)
    elif layout is None:
        yield Input(source, 1, None, True, error=_UNTOLD)
    else:
        try:
            yield from tables.read(source, layout)
        except UsageError:  # of its header: nothing of it was read
            yield Input(source, 1, None, True, error=_OTHER_COLUMNS)


def _opened(sink: Sink, name: str, start: int, stop: int | None, *, zstd: bool) -> BinaryIO:
    raw = sink.open(name)
    if zstd:
        import zstandard

        stream = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=True)
        return cast(BinaryIO, io.BufferedReader(_Stream(stream.read, stream.close, zstandard.ZstdError)))
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

    def __init__(
        self, read: Callable[[int], bytes], close: Callable[[], Any], damage: type[Exception] = EOFError
    ) -> None:
        self._read, self._close, self._damage = read, close, damage

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._read(len(buffer))
        except self._damage:
            raise OSError("damaged") from None  # which the readers of files know what to do with
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

    source, position = Source(None, name, "lines"), 0
    try:
        with sink.open(name) as raw:
            for batch in ParquetFile(raw).iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    position += 1
                    yield Input(source, position, json.dumps(row, ensure_ascii=False, default=_spoken), True)
    except (ArrowException, OSError, TypeError, ValueError):
        yield Input(source, position + 1, None, True, error=_DAMAGED)


def _spoken(value: object) -> str:
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError
