"""Delimited files: each row is a record, or the rows that are pieces of one note are.

A table is read under a layout: a schema, or what was said of each of its columns. It fails closed: a column that nobody
named is an error. One row is in memory at a time, but all of a table whose rows are grouped into notes.
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
_UNTOLD = Reason("unknown-data-type", "", "a table, and nobody said how it is read: its schema, or its columns")
DELIMITERS: Mapping[str, str | None] = {"csv": None, "tsv": "\t"}
"""By the name of a format of tables; None for whichever of comma, semicolon, tab and bar fits the header."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table without a schema, by name.

    Args:
        text: free text, de-identified.
        id: the record's own id; hashed, unless it is passed or dropped by name.
        patient: the subject's; likewise, and what it holds is sought in the texts.
        passed: left as they are. hashed: replaced by a keyed hash. dropped: left out of the output.
        known: hashed, and searched for in the texts as the type given for each.
    """

    text: Sequence[str]
    id: str | None = None
    patient: str | None = None
    passed: Sequence[str] = ()
    hashed: Sequence[str] = ()
    dropped: Sequence[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)

    def grouped(self, group: str | None, order: str | None) -> tuple[Columns, str | None]:
        """With the group column hashed where nothing else is said of it; the order column if it passes by itself."""
        named = {*self.text, *self.passed, *self.hashed, *self.dropped, *self.known}
        more = self
        if group and group not in {*named, self.id, self.patient}:
            more = replace(self, hashed=(*self.hashed, group))
        return more, order if order and order not in named else None

    def schema(self, order: str | None = None) -> Schema:
        """A schema of these columns, dropped ones apart.

        Args:
            order: a column that numbers the pieces of a note; it passes, but holds at most six digits.

        Raises:
            UsageError: no text column, or a column that is named for two things.
        """
        if not self.text:
            raise UsageError("a table without a schema needs at least one text column")
        said = [*self.text, *self.passed, *self.hashed, *self.dropped, *self.known]
        twice = sorted({name for name in said if said.count(name) > 1})
        if twice:
            raise UsageError(f"column {twice[0]!r} is named for two things")
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
        """Every column of the table is named, and every named one is there.

        Raises:
            UsageError: otherwise; a column whose name may be data is told by its position.
        """
        absent = sorted(named - set(header))
        if absent:
            raise UsageError(f"the table has no column {absent[0]!r}")
        unnamed = [spoken(name, i, "column", named) for i, name in enumerate(header, 1) if name not in named]
        if unnamed:
            raise UsageError(f"say what to do with {', '.join(unnamed)}: each column is text, id, patient, pass, hash "
                             "or drop; or give the table a schema")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a run reads its tables.

    Args:
        schema: what the columns are; or, without a schema, what is done with each.
        group: the column whose equal values make rows one note.
        order: the column that orders the rows of a note.
        delimiter: between columns; None: as the format says.
    """

    schema: Schema | Columns
    group: str | None = None
    order: str | None = None
    delimiter: str | None = None

    def of_file(self, name: str) -> Layout:
        """The same for every file."""
        return self

    def words(self) -> dict[str, Any]:
        """As JSON holds it, for the quarantine; the schema by its data type."""
        columns = asdict(self.schema) if isinstance(self.schema, Columns) else None
        data_type = None if isinstance(self.schema, Columns) else self.schema.data_type
        return {"columns": columns, "data_type": data_type, "group": self.group, "order": self.order,
                "delimiter": self.delimiter}  # fmt: skip

    @classmethod
    def of(cls, words: Mapping[str, Any], schema_of: Callable[[str], Schema]) -> Layout:
        """The inverse of `words`.

        Args:
            schema_of: the schema of a data type.
        """
        columns = Columns(**words["columns"]) if words["columns"] else Columns(())
        schema = schema_of(words["data_type"]) if words["data_type"] else columns
        return cls(schema, words["group"], words["order"], words.get("delimiter"))

    def table(self, lines: Iterable[str], delimiter: str | None) -> Table:
        """A table of these lines.

        Raises:
            UsageError: the layout names a column that is not there, or says nothing of one that is; it has a schema
                with inner fields; `order` alone.
            MalformedRecord: no readable header.
            SchemaViolation: the header has a column that the schema does not name, or lacks one it requires.
        """
        if self.order and not self.group:
            raise UsageError("--order needs --group: name the column whose equal values make rows one note")
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
    """Layouts by the name of the file: the first whose pattern fits.

    Args:
        entries: patterns as of a shell, for a file's name or its path below the folder, without `.gz`; and the layout.
    """

    entries: tuple[tuple[tuple[str, ...], Layout], ...]

    def of_file(self, name: str) -> Layout | None:
        """The layout of a file; None where no pattern fits."""
        plain = name.removesuffix(".gz")
        names = (plain, plain.rpartition("/")[2], name)
        for patterns, layout in self.entries:
            if any(fnmatchcase(each, pattern) for each in names for pattern in patterns):
                return layout
        return None

    def words(self) -> list[Any]:
        """As JSON holds them."""
        return [[list(patterns), layout.words()] for patterns, layout in self.entries]


class UnopenedRows(DecodedDocument):
    """Rows of a table that cannot be opened, as they stand there."""

    is_record = True

    def __init__(self, content: str, codec: Codec, table: OpenTable) -> None:
        self.content, self.codec, self.table = content, codec, table


def reader(name: str, layout: Layout | None) -> Callable[[BinaryIO, str], Iterator[Document | Unreadable]]:
    """What opens the tables of a format under a layout.

    Raises:
        UsageError: when it reads a table that the layout does not fit.
    """

    def read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
        if layout is None:
            yield refused(stream, _UNTOLD)
            return
        codec = None if is_container(stream) else codec_of(stream, media_type)
        if codec is None:
            yield refused(stream)
            return
        with characters(stream, codec, "") as text:
            yield from _read(text, codec, layout, DELIMITERS[name])

    return read


def check_header(stream: BinaryIO, name: str, layout: Layout) -> None:
    """Refuse a layout that does not fit a table, before anything is processed; what is wrong with the file comes later.

    Raises:
        UsageError: as `Layout.table`.
        RecordProblem, OSError: the file cannot be read.
    """
    codec = None if is_container(stream) else codec_of(stream)
    if codec is not None:
        with characters(stream, codec, "") as text:
            layout.table(text, DELIMITERS[name])


def columns_of(stream: BinaryIO, name: str) -> list[str]:
    """The columns of a table as a message may name them: a name that may be data by its position.

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
    """Rows that were held, opened once more as the table they came from; all of them are one record.

    Raises:
        UsageError: as `Layout.table`.
    """
    [record] = _read(io.StringIO(header + raw, newline=""), codec, layout, DELIMITERS[name])
    return record


def _read(
    text: Iterable[str], codec: Codec, layout: Layout, delimiter: str | None
) -> Iterator[Document | Unreadable]:
    consumed: list[str] = []  # until the header has been read; it reads no line more than it needs
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
    """The lines, noted until `into` is emptied; the header is all that is ever noted."""
    noting = True
    for line in lines:
        if noting:
            into.append(line)
        yield line
        noting = noting and bool(into)


def _whole(consumed: list[str], rest: Iterable[str], codec: Codec, reason: Reason) -> Unreadable:
    """A table without a usable header."""
    pieces, length = list(consumed), sum(map(len, consumed))
    for line in rest:
        length += len(line)
        if length > encoding.MAX_BYTES:
            return Unreadable(reason)
        pieces.append(line)
    return Unreadable(reason, "".join(pieces).encode(codec.encoding, codec.lossless))


def _reason(problem: RecordProblem) -> Reason:
    """The reason of a table's problem; its own code where it is malformed, since JSON's remedy would mislead."""
    code = "malformed-table" if isinstance(problem, MalformedRecord) else problem.code
    return Reason(code, problem.field, str(problem))


FORMATS = (
    Format("csv", ("text/csv",), (".csv",), reader("csv", None), is_record=True),
    Format("tsv", ("text/tab-separated-values",), (".tsv",), reader("tsv", None), is_record=True),
)
