"""Parquet files: each row is a flat record with typed columns, and the output is a Parquet file of the released rows.

The output has the columns, types, and compression of the input. Dictionaries and statistics are made anew from its
rows, and metadata of the file and of its columns (pandas, the names of indexes) is removed. Before the file gets its
name, polars reads it: its texts must be those that were released, and no other metadata may be there.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from incognote.errors import AccountingError, MalformedRecord, MissingExtra, SchemaViolation, UsageError
from incognote.formats import encoding
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.records.typed import Kind, TypedColumn, TypedRow, TypedTable, read_back
from incognote.formats.tables import UNTOLD, Columns, Layout
from incognote.formats.text import refused
from incognote.nouns import Reason

_ROWS = 256  # read at once
_GROUP, _GROUP_BYTES = 16_384, 32_000_000  # the size of a row group of the output
_DAMAGED = Reason("malformed-table", "", "not a valid Parquet file, or it has values that JSON cannot represent")
_OURS = "ARROW:schema"  # the types of the columns, which the writer adds


class RowOrigin(NamedTuple):
    """The place of a row in its file: a batch of rows, the index in it, and the compression of the file."""

    batch: Any
    at: int
    codec: str


def reader(layout: Layout | None) -> Callable[[BinaryIO, str], Iterator[Document | Unreadable]]:
    """Return the function that opens the rows of a Parquet file with a layout.

    Raises:
        UsageError: the layout does not fit the file (raised when it is read).
    """

    def read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
        if layout is None:
            yield refused(stream, UNTOLD)
            return
        from pyarrow import ArrowException

        position = 0
        try:
            file = _file(stream)
            try:
                table = typed_table(file.schema_arrow, layout)
            except SchemaViolation as problem:
                stream.seek(0)
                yield refused(stream, Reason(problem.code, problem.field, str(problem)))
                return
            codec = file.metadata.row_group(0).column(0).compression if file.metadata.num_row_groups else "SNAPPY"
            for batch in file.iter_batches(_ROWS, columns=[column.name for column in table.kept]):
                values = {name: _values(batch.column(name)) for name in batch.schema.names}
                for index in range(batch.num_rows):
                    position += 1
                    one = table.row({name: column[index] for name, column in values.items()})
                    if isinstance(one, TypedRow):
                        origin = RowOrigin(batch, index, "NONE" if codec == "UNCOMPRESSED" else codec)
                        yield replace(one, position=position, origin=origin)
                    else:
                        yield replace(one, position=position)
        except (ArrowException, OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # Arrow's own errors for damage have no errno
                raise
            yield Unreadable(_DAMAGED, position=position + 1)

    return read


def check_columns(stream: BinaryIO, layout: Layout) -> None:
    """Reject a layout that does not fit a file, before anything is processed.

    Raises:
        UsageError: a column has no rule, or holds binary or nested values. RecordProblem: the file cannot be read.
    """
    typed_table(_schema(stream), layout)


def columns_of(stream: BinaryIO) -> list[str]:
    """Return the names of the columns.

    Raises:
        RecordProblem: the file cannot be read.
    """
    return list(_schema(stream).names)


def _schema(stream: BinaryIO) -> Any:
    from pyarrow import ArrowException

    try:
        return _file(stream).schema_arrow
    except (ArrowException, ValueError):
        raise MalformedRecord("not a valid Parquet file") from None


def _file(stream: BinaryIO) -> Any:
    try:
        import polars  # noqa: F401 -- the second reader: without it nothing could be released
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("parquet", "a Parquet file") from None
    if stream.seekable():
        return ParquetFile(stream)
    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        raise MalformedRecord("a Parquet file on standard input is too large. Name the file instead")
    return ParquetFile(io.BytesIO(data))


def typed_table(schema: Any, layout: Layout) -> TypedTable:
    """Return the columns of an Arrow schema with a layout.

    Raises:
        UsageError: a column has no rule, or holds binary or nested values. SchemaViolation: they do not fit the schema.
    """
    dropped = layout.schema.dropped if isinstance(layout.schema, Columns) else ()
    columns = [_column(field) or TypedColumn(field.name, "other") for field in schema]
    table = TypedTable(tuple(columns), layout)
    faults = [field.name for field in schema if _column(field) is None and field.name not in dropped]
    if faults:
        raise UsageError(f"These columns hold binary or nested values: {', '.join(faults)}. Drop them (--drop-column).")
    return table


def _column(field: Any) -> TypedColumn | None:
    import pyarrow.types as of

    kind = field.type.value_type if of.is_dictionary(field.type) else field.type
    tests: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
        (of.is_string, "text"), (of.is_large_string, "text"), (of.is_string_view, "text"), (of.is_date, "date"),
        (of.is_timestamp, "datetime"), (of.is_time, "time"), (of.is_boolean, "boolean"), (of.is_floating, "number"),
        (of.is_decimal, "number"), (of.is_null, "other"),
    )  # fmt: skip
    if of.is_integer(kind):
        bits = kind.bit_width - of.is_signed_integer(kind)
        return TypedColumn(field.name, "integer", 2**bits - 1, field.nullable)
    return next((TypedColumn(field.name, name, None, field.nullable) for test, name in tests if test(kind)), None)


def _values(column: Any) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":  # Python has no nanoseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return list(column.to_pylist())


class ParquetRows:
    """Writes released rows to a Parquet file, a row group at a time.

    Args:
        stream: where the file is written.
        first: the first row. It decides columns, types, and compression.
    """

    def __init__(self, stream: BinaryIO, first: TypedRow) -> None:
        from pyarrow.parquet import ParquetWriter

        self._table, origin = first.typed, first.origin
        self._schema = _cleaned(origin.batch.schema) if origin is not None else _plain_schema(first.typed.kept)
        codec = origin.codec if origin is not None else "SNAPPY"
        self._writer = ParquetWriter(stream, self._schema, compression=codec)
        self._passed = {name for name, rule in self._table.schema.root.properties.items() if rule.flag == "pass"}
        self._texts = {column.name: blake2b() for column in self._table.kept if column.kind == "text"}
        self._count = 0
        self._waiting: list[tuple[TypedRow, str]] = []
        self._batches: list[Any] = []

    def add(self, row: TypedRow, output: str) -> None:
        """Add a released row with its new JSON."""
        before = self._waiting[-1][0].origin if self._waiting else None
        if self._waiting and (row.origin is None or before is None or row.origin.batch is not before.batch):
            self._gather()
        self._waiting.append((row, output))

    def close(self) -> None:
        """Write what is left, and the end of the file."""
        self._gather()
        self._flush()
        self._writer.close()

    def _gather(self) -> None:
        """Turn the waiting rows, which are of one batch, into a batch of the output."""
        import pyarrow as pa

        if not self._waiting:
            return
        origin = self._waiting[0][0].origin
        at = [row.origin.at for row, _ in self._waiting if row.origin is not None]
        rows = [read_back(output, self._table.kept) for _, output in self._waiting]
        arrays = []
        for field in self._schema:
            if field.name in self._passed and origin is not None:
                taken = origin.batch.column(field.name).take(pa.array(at))
                if pa.types.is_dictionary(field.type):  # its dictionary may have values of rows that are held
                    taken = taken.dictionary_decode().dictionary_encode().cast(field.type)
                arrays.append(taken)
            else:
                arrays.append(pa.array([row.get(field.name) for row in rows], type=field.type))
        batch = pa.record_batch(arrays, schema=self._schema)
        for name, digest in self._texts.items():
            _add(digest, batch.column(name).to_pylist())
        self._count += len(rows)
        self._waiting.clear()
        self._batches.append(batch)
        if sum(map(len, self._batches)) >= _GROUP or sum(each.nbytes for each in self._batches) >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches).unify_dictionaries(), row_group_size=_GROUP)
            self._batches.clear()

    def check(self, path: Path) -> None:
        """Read the finished file with polars, and compare its texts with those that were released.

        Raises:
            AccountingError: the file has other rows, texts, or metadata.
        """
        import polars

        read = {name: blake2b() for name in self._texts}
        rows = polars.scan_parquet(path)
        for start in range(0, self._count, _GROUP):
            some = rows.slice(start, _GROUP).select(polars.col(name).cast(polars.String) for name in read).collect()
            for name, digest in read.items():
                _add(digest, some[name].to_list())
        same = all(digest.digest() == self._texts[name].digest() for name, digest in read.items())
        count = rows.select(polars.len()).collect().item()
        if not same or count != self._count or polars.read_parquet_metadata(path).keys() - {_OURS}:
            raise AccountingError("polars reads another content in the Parquet file than was released")


def _add(digest: Any, values: Sequence[str | None]) -> None:
    for value in values:
        digest.update(b"\x00" if value is None else json.dumps(value).encode())


def _cleaned(schema: Any) -> Any:
    """Return a schema without metadata, which can hold the names of indexes and statistics of the original."""
    import pyarrow as pa

    return pa.schema([field.remove_metadata() for field in schema])


def _plain_schema(columns: Sequence[TypedColumn]) -> Any:
    """Return the schema for rows without a file, such as those from the quarantine."""
    import pyarrow as pa

    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_(),
             "date": pa.date32(), "datetime": pa.timestamp("us"), "time": pa.time64("us"), "json": pa.string(),
             "other": pa.null()}  # fmt: skip
    return pa.schema([pa.field(column.name, types[column.kind], column.nullable) for column in columns])


FORMATS = (Format("parquet", ("application/vnd.apache.parquet",), (".parquet",), reader(None), True, ("Parquet",)),)
