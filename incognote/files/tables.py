"""Delimited files: their rows as inputs, opened under a schema or under what was said of each column."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from incognote.errors import MalformedRecord, RecordProblem, SchemaViolation
from incognote.files import inputs as reading
from incognote.files.inputs import Codec, Input
from incognote.files.sources import Source
from incognote.nouns import Reason
from incognote.records.columns import Columns
from incognote.records.tabular import BadRows, Table, read_rows
from incognote.schemas.record_schema import Schema


@dataclass(frozen=True, slots=True)
class Layout:
    """How a run reads its tables.

    Args:
        schema: what the columns are; or, without a schema, what is done with each.
        group: the column whose equal values make rows one note.
        order: the column that orders the rows of a note.
    """

    schema: Schema | Columns
    group: str | None = None
    order: str | None = None

    def words(self) -> dict[str, Any]:
        """As JSON holds it, for the quarantine; the schema by its data type."""
        columns = asdict(self.schema) if isinstance(self.schema, Columns) else None
        data_type = None if isinstance(self.schema, Columns) else self.schema.data_type
        return {"columns": columns, "data_type": data_type, "group": self.group, "order": self.order}


@dataclass(frozen=True, eq=False, slots=True)
class OpenTable:
    """One table being read.

    Args:
        table: its records.
        header: its header line as it stands in the source.
        layout: how it is read.
    """

    table: Table = field(repr=False)
    header: str = field(repr=False)
    layout: Layout

    @property
    def grouped(self) -> bool:
        return self.layout.group is not None


def read(source: Source, layout: Layout) -> Iterator[Input]:
    """The rows of a table, or the notes that they are pieces of.

    A row that cannot be opened is an Input with its reason; so is, whole, a file without a usable header.

    Raises:
        UsageError: the layout names a column that is not there, or says nothing of one that is.
    """
    with ExitStack() as held:
        try:
            disk, stream = reading.opened(source, held)
            codec = None if reading.is_container(stream) else reading.codec_of(stream)
        except reading.UNREADABLE as error:
            yield reading.unread(source, 1, error)
            return
        if codec is None:
            yield reading.refused(source, stream)
            return
        stream.read(len(codec.mark))
        text = _lossless(stream, codec)
        try:
            yield from _read(source, disk, text, codec, layout)
        finally:
            text.detach()  # the stream is closed by its owner; the standard input by nobody


def check_header(source: Source, layout: Layout) -> None:
    """Refuse a layout that does not fit a table, before anything is processed; what is wrong with the file comes later.

    Raises:
        UsageError: as `read`.
    """
    if source.once:
        return
    with ExitStack() as held, suppress(RecordProblem, *reading.UNREADABLE):
        _, stream = reading.opened(source, held)
        codec = None if reading.is_container(stream) else reading.codec_of(stream)
        if codec is not None:
            stream.read(len(codec.mark))
            text = _lossless(stream, codec)
            held.callback(text.detach)
            _table(source, text, layout)


def again(source: Source, position: int, raw: str, codec: Codec, header: str, layout: Layout) -> Input:
    """Rows that were held, opened once more as the table they came from; all of them are one input.

    Raises:
        UsageError: as `read`.
    """
    [one] = _read(source, None, io.StringIO(header + raw, newline=""), codec, layout, first=position)
    return one


def layout_of(told: Mapping[str, Any], schema: Schema | None) -> Layout:
    """The inverse of `Layout.words`."""
    columns = Columns(**told["columns"]) if told["columns"] else None
    return Layout(schema or columns or Columns(()), told["group"], told["order"])


def _read(
    source: Source, disk: BinaryIO | None, text: Iterable[str], codec: Codec, layout: Layout, first: int | None = None
) -> Iterator[Input]:
    consumed: list[str] = []  # until the header has been read; it reads no line more than it needs
    lines = _tapped(text, consumed)
    try:
        table = _table(source, lines, layout)
        header = "".join(consumed)
        header.encode(codec.encoding)
    except (MalformedRecord, SchemaViolation) as problem:
        yield _whole(source, consumed, text, codec, _reason(problem))
        return
    except UnicodeEncodeError:
        yield _whole(source, consumed, text, codec, reading.encoding_reason())
        return
    except UnicodeDecodeError:  # UTF-16 that ends in the middle of a character
        yield Input(source, 1, None, True, codec, error=reading.encoding_reason())
        return
    except reading.UNREADABLE as error:
        yield reading.unread(source, 1, error)
        return
    consumed.clear()
    mine = OpenTable(table, header, layout)
    position = 0
    try:
        for record in table.records():
            position = first or min(record.rows)
            at = reading.at(disk) if disk is not None else 0
            try:
                record.raw.encode(codec.encoding)
            except UnicodeEncodeError:
                raw = record.raw.encode(codec.encoding, _errors(codec))
                yield Input(source, position, None, True, codec, offset=at, error=reading.encoding_reason(), raw=raw)
                continue
            if isinstance(record, BadRows):
                yield Input(
                    source, position, record.raw, True, codec, offset=at, error=_reason(record.problem), table=mine
                )
            else:
                yield Input(source, position, record.raw, True, codec, offset=at, table=mine, opened=record)
    except UnicodeDecodeError:
        yield Input(source, position + 1, None, True, codec, error=reading.encoding_reason())
    except reading.UNREADABLE as error:
        yield reading.unread(source, position + 1, error)


def _table(source: Source, lines: Iterable[str], layout: Layout) -> Table:
    delimiter = "\t" if source.kind == "tsv" else None
    return read_rows(lines, layout.schema, group=layout.group, order=layout.order, delimiter=delimiter)


def _tapped(lines: Iterable[str], into: list[str]) -> Iterator[str]:
    """The lines, noted until `into` is emptied; the header is all that is ever noted."""
    noting = True
    for line in lines:
        if noting:
            into.append(line)
        yield line
        noting = noting and bool(into)


def _whole(source: Source, consumed: list[str], rest: Iterable[str], codec: Codec, reason: Reason) -> Input:
    """A table without a usable header, as one input."""
    pieces, length = list(consumed), sum(map(len, consumed))
    for line in rest:
        length += len(line)
        if length > reading.MAX_BYTES:
            return Input(source, 1, None, True, codec, error=reason)
        pieces.append(line)
    raw = "".join(pieces).encode(codec.encoding, _errors(codec))
    return Input(source, 1, None, True, codec, error=reason, raw=raw)


def _lossless(stream: BinaryIO, codec: Codec) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, encoding=codec.encoding, errors=_errors(codec), newline="")


def _errors(codec: Codec) -> str:
    return "surrogateescape" if codec.encoding == "utf-8" else "surrogatepass"


def _reason(problem: RecordProblem) -> Reason:
    """The reason of a table's problem; its own code where it is malformed, since JSON's remedy would mislead."""
    code = "malformed-table" if isinstance(problem, MalformedRecord) else problem.code
    return Reason(code, problem.field, str(problem))
