"""Delimited files: each row is a record, or all rows of one note are a record.

A table is read with a layout: a schema, or an option for each column. It fails closed: a column without a rule is an
error. One row is in memory at a time. A table whose rows are grouped into notes is read whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, BinaryIO

from incognote.errors import MalformedRecord, RecordProblem, SchemaViolation, UsageError
from incognote.formats import encoding
from incognote.formats.base import DecodedDocument, Document, Format, Unreadable
from incognote.formats.encoding import ENCODING, Codec, characters, codec_of, is_container
from incognote.formats.records.csvtext import columns, read_table
from incognote.formats.records.rows import BadRows, OpenTable, Table, read_rows
from incognote.formats.text import refused
from incognote.nouns import Reason
from incognote.schemas.fieldnames import child, known_type, spoken
from incognote.schemas.record_schema import FieldRule, Schema, content_hash

_STRING = frozenset({"string"})
_SEQUENCE = re.compile(r"\A[0-9]{0,6}\Z")
UNTOLD = Reason("unknown-data-type", "", "a table without a schema or column options")
DELIMITERS: Mapping[str, str | None] = {"csv": None, "tsv": "\t"}
"""The delimiter by the name of a table format. None: the one of comma, semicolon, tab and bar that fits the header."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table without a schema, by name.

    Args:
        text: free text, which is de-identified.
        id: the record's own id; hashed, unless it is also listed as passed or dropped.
        patient: the subject's id; treated in the same way, and its value is also searched for in the texts.
        passed: left unchanged. hashed: replaced by a keyed hash. dropped: left out of the output.
        known: hashed, and searched for in the texts as the given type.
    """

    text: Sequence[str]
    id: str | None = None
    patient: str | None = None
    passed: Sequence[str] = ()
    hashed: Sequence[str] = ()
    dropped: Sequence[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)

    def grouped(self, group: str | None, order: str | None) -> tuple[Columns, str | None]:
        """Return the columns with the group column hashed unless it has a rule, and the order column if it has none."""
        named = {*self.text, *self.passed, *self.hashed, *self.dropped, *self.known}
        more = self
        if group and group not in {*named, self.id, self.patient}:
            more = replace(self, hashed=(*self.hashed, group))
        return more, order if order and order not in named else None

    def schema(self, order: str | None = None) -> Schema:
        """Return a schema of these columns, without the dropped ones.

        Args:
            order: a column that numbers the pieces of a note; it passes, but may hold at most six digits.

        Raises:
            UsageError: there is no text column, or a column has two rules.
        """
        if not self.text:
            raise UsageError("A table without a schema needs at least one text column (--text-column).")
        said = [*self.text, *self.passed, *self.hashed, *self.dropped, *self.known]
        twice = sorted({name for name in said if said.count(name) > 1})
        if twice:
            raise UsageError(f"The column {twice[0]!r} is used for two things. Name it once.")
        rules = {name: FieldRule(_STRING, "auto") for name in self.text}
        rules |= {name: FieldRule(_STRING, "pass") for name in self.passed}
        rules |= {name: FieldRule(_STRING, "hash", known_as=known_type(name)) for name in self.hashed}
        rules |= {name: FieldRule(_STRING, "hash", known_as=kind) for name, kind in self.known.items()}
        if self.id and self.id not in said:
            rules[self.id] = FieldRule(_STRING, "hash")
        if self.patient and self.patient not in said:
            rules[self.patient] = FieldRule(_STRING, "hash", known_as=known_type(self.patient))
        if order:
            rules[order] = FieldRule(_STRING, "pass", pattern=_SEQUENCE)
        version = content_hash({"columns": {key: value or [] for key, value in asdict(self).items()}, "order": order})
        patient, own = (child("", name) if name else None for name in (self.patient, self.id))
        return Schema("table", version[:16], FieldRule(frozenset({"object"}), properties=rules), patient, own)

    def refuse_unnamed(self, header: Sequence[str], named: set[str]) -> None:
        """Check that every column of the table is named, and that every named column exists.

        Raises:
            UsageError: otherwise. The message gives the position of a column whose name may be data.
        """
        absent = sorted(named - set(header))
        if absent:
            raise UsageError(f"The table has no column {absent[0]!r}. Check the column options.")
        unnamed = [spoken(name, i, "column", named) for i, name in enumerate(header, 1) if name not in named]
        if unnamed:
            raise UsageError(
                f"There is no rule for {', '.join(unnamed)}. Name each column as text, id, patient, known, "
                "pass (`keep` in a --tables file), hash, or drop, or use a schema (--data-type)."
            )


@dataclass(frozen=True, slots=True)
class Layout:
    """How a run reads its tables.

    Args:
        schema: the schema of the table, or a rule for each column.
        group: the column whose equal values make rows one note.
        order: the column that orders the rows of a note.
        delimiter: the delimiter; None: the default of the format.
    """

    schema: Schema | Columns
    group: str | None = None
    order: str | None = None
    delimiter: str | None = None

    def of_file(self, name: str) -> Layout:
        """Return this layout: it is the same for every file."""
        return self

    def words(self) -> dict[str, Any]:
        """Return the layout as JSON data for the quarantine. The schema is represented by its data type."""
        columns = asdict(self.schema) if isinstance(self.schema, Columns) else None
        data_type = None if isinstance(self.schema, Columns) else self.schema.data_type
        return {"columns": columns, "data_type": data_type, "group": self.group, "order": self.order,
                "delimiter": self.delimiter}  # fmt: skip

    @classmethod
    def of(cls, words: Mapping[str, Any], schema_of: Callable[[str], Schema]) -> Layout:
        """The inverse of `words`.

        Args:
            schema_of: returns the schema of a data type.
        """
        columns = Columns(**words["columns"]) if words["columns"] else Columns(())
        schema = schema_of(words["data_type"]) if words["data_type"] else columns
        return cls(schema, words["group"], words["order"], words.get("delimiter"))

    def table(self, lines: Iterable[str], delimiter: str | None) -> Table:
        """Return a table of these lines.

        Raises:
            UsageError: the layout names a missing column, or has no rule for an existing one; its schema has nested
                fields; or it has `order` without `group`.
            MalformedRecord: there is no readable header.
            SchemaViolation: the header has a column that the schema does not name, or lacks a required one.
        """
        if self.order and not self.group:
            raise UsageError("--order needs --group: the column whose equal values make rows one note.")
        delimiter = self.delimiter or delimiter
        if not isinstance(self.schema, Columns):
            return read_rows(lines, self.schema, group=self.group, order=self.order, delimiter=delimiter)
        columns, passing = self.schema.grouped(self.group, self.order)
        return read_rows(
            lines, columns.schema(passing), group=self.group, order=self.order, delimiter=delimiter,
            dropped=columns.dropped, check=columns.refuse_unnamed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layouts:
    """Layouts by file name: the first layout with a matching pattern is used.

    Args:
        entries: pairs of shell patterns and a layout. A pattern matches a file's name or its path below the folder,
            without `.gz`.
    """

    entries: tuple[tuple[tuple[str, ...], Layout], ...]

    def of_file(self, name: str) -> Layout | None:
        """Return the layout of a file, or None if no pattern matches."""
        plain = name.removesuffix(".gz")
        names = (plain, plain.rpartition("/")[2], name)
        for patterns, layout in self.entries:
            if any(fnmatchcase(each, pattern) for each in names for pattern in patterns):
                return layout
        return None

    def words(self) -> list[Any]:
        """Return the layouts as JSON data."""
        return [[list(patterns), layout.words()] for patterns, layout in self.entries]


class UnopenedRows(DecodedDocument):
    """Rows of a table that cannot be opened, unchanged."""

    is_record = True

    def __init__(self, content: str, codec: Codec, table: OpenTable) -> None:
        self.content, self.codec, self.table = content, codec, table


def reader(name: str, layout: Layout | None) -> Callable[[BinaryIO, str], Iterator[Document | Unreadable]]:
    """Return the function that opens the tables of a format with a layout.

    Raises:
        UsageError: the layout does not fit a table (raised when the table is read).
    """

    def read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
        if layout is None:
            yield refused(stream, UNTOLD)
            return
        codec = None if is_container(stream) else codec_of(stream, media_type)
        if codec is None:
            yield refused(stream)
            return
        with characters(stream, codec, "") as text:
            yield from _read(text, codec, layout, DELIMITERS[name])

    return read


def check_header(stream: BinaryIO, name: str, layout: Layout) -> None:
    """Reject a layout that does not fit a table, before anything is processed.

    Raises:
        UsageError: as in `Layout.table`.
        RecordProblem, OSError: the file cannot be read.
    """
    codec = None if is_container(stream) else codec_of(stream)
    if codec is not None:
        with characters(stream, codec, "") as text:
            layout.table(text, DELIMITERS[name])


def columns_of(stream: BinaryIO, name: str) -> list[str]:
    """Return the columns of a table as a message may name them. A name that may be data is given by its position.

    Raises:
        RecordProblem, OSError: the file cannot be read.
    """
    codec = None if is_container(stream) else codec_of(stream)
    if codec is None:
        return []
    with characters(stream, codec, "") as text:
        _, header, _ = read_table(text, (), DELIMITERS[name])
        return [spoken(each, i, "column") for i, each in enumerate(columns(header), 1)]


def reopened(raw: str, name: str, codec: Codec, header: str, layout: Layout) -> Document | Unreadable:
    """Reopen held rows with the header and layout of their table. All of them are one record.

    Raises:
        UsageError: as in `Layout.table`.
    """
    [record] = _read(io.StringIO(header + raw, newline=""), codec, layout, DELIMITERS[name])
    return record


def _read(
    text: Iterable[str], codec: Codec, layout: Layout, delimiter: str | None
) -> Iterator[Document | Unreadable]:
    consumed: list[str] = []  # the lines read for the header, and no more
    lines = _tapped(text, consumed)
    try:
        table = layout.table(lines, delimiter)
        header = "".join(consumed)
        header.encode(codec.encoding)
    except (MalformedRecord, SchemaViolation) as problem:
        yield _whole(consumed, text, codec, _reason(problem))
        return
    except UnicodeEncodeError:
        yield _whole(consumed, text, codec, ENCODING)
        return
    except UnicodeDecodeError:  # UTF-16 that ends in the middle of a character
        yield Unreadable(ENCODING)
        return
    consumed.clear()
    mine = OpenTable(table, header, layout.words())
    head, separator = codec.mark + codec.encode(table.head), codec.encode("\n")
    try:
        for record in table.records():
            position = min(record.rows)
            raw = record.content
            try:
                raw.encode(codec.encoding)
            except UnicodeEncodeError:
                yield Unreadable(ENCODING, raw.encode(codec.encoding, codec.lossless), position=position)
                continue
            if isinstance(record, BadRows):
                rows = UnopenedRows(raw, codec, mine)
                yield Unreadable(_reason(record.problem), rows.data, rows, position)
            else:
                yield replace(record, codec=codec, head=head, separator=separator, position=position, table=mine)
    except UnicodeDecodeError:
        yield Unreadable(ENCODING)


def _tapped(lines: Iterable[str], into: list[str]) -> Iterator[str]:
    """Yield the lines, and record them in `into` until it is emptied. Only the header is recorded."""
    noting = True
    for line in lines:
        if noting:
            into.append(line)
        yield line
        noting = noting and bool(into)


def _whole(consumed: list[str], rest: Iterable[str], codec: Codec, reason: Reason) -> Unreadable:
    """Return a table without a usable header as Unreadable."""
    pieces, length = list(consumed), sum(map(len, consumed))
    for line in rest:
        length += len(line)
        if length > encoding.MAX_BYTES:
            return Unreadable(reason)
        pieces.append(line)
    return Unreadable(reason, "".join(pieces).encode(codec.encoding, codec.lossless))


def _reason(problem: RecordProblem) -> Reason:
    """Return the reason for a table's problem. A malformed table has its own code: the JSON remedy would mislead."""
    code = "malformed-table" if isinstance(problem, MalformedRecord) else problem.code
    return Reason(code, problem.field, str(problem))


FORMATS = (
    Format("csv", ("text/csv",), (".csv",), reader("csv", None), is_record=True),
    Format("tsv", ("text/tab-separated-values",), (".tsv",), reader("tsv", None), is_record=True),
)
