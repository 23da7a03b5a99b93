"""The records of files, one by one and in order, in bounded memory.

What cannot be read becomes an Input with the reason and its bytes, and the records around it are still processed.
Nothing is dropped and nothing is guessed.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from incognote.errors import RecordProblem, UnsupportedFormat, UsageError
from incognote.files.sources import Source, reason_of
from incognote.formats import archive, encoding, parquet, registry
from incognote.formats.archive import UnpackBudget
from incognote.formats.base import DecodedDocument, Document, Format, Unreadable
from incognote.formats.encoding import UTF8, Codec, peeked
from incognote.formats.records.rows import OpenRows, OpenTable
from incognote.formats.records.typed import TypedRow
from incognote.formats.tables import DELIMITERS, Layout, Layouts, check_header, columns_of, reader
from incognote.formats.text import RENAME, refused
from incognote.nouns import Known, Reason
from incognote.text.container import of_bytes, of_records

TABLES = (*DELIMITERS, "parquet")
_DOCUMENTS = frozenset(
    ".pdf .doc .docx .rtf .odt .xls .xlsx .ppt .pptx .htm .html .xml .eml .msg .dcm .jpg .jpeg .png .tif .tiff"
    " .zip".split()
)
UNREADABLE = (OSError, EOFError, zlib.error)  # errors when a file is read; BadGzipFile is an OSError
_NOT_READ = "unreadable"
_OTHER_COLUMNS = Reason("schema-violation", "", "the table does not have the columns that the options name")


class Damaged(OSError):
    """Compressed bytes that cannot be fully decompressed. The file itself can be read."""


_DAMAGE = (Damaged, gzip.BadGzipFile, EOFError, zlib.error)  # EOFError: gzip that ends early


@dataclass(frozen=True, slots=True)
class RecordDefaults:
    """Values for records of a run that do not state their own.

    Args:
        patient: the subject of records that name none.
        domain: the domain for hashes and date shifts.
        data_type: the schema for records without a dataType.
        known: identifiers known beforehand.
    """

    patient: str | None = field(default=None, repr=False)
    domain: str | None = None
    data_type: str | None = None
    known: tuple[Known, ...] = field(default=(), repr=False)

    def changed(self, patient: str | None, domain: str | None, data_type: str | None) -> RecordDefaults:
        """Return these values with those that are given instead."""
        return replace(
            self, patient=patient or self.patient, domain=domain or self.domain, data_type=data_type or self.data_type
        )


NO_DEFAULTS = RecordDefaults()


@dataclass(frozen=True)  # without slots, so that `note` is parsed once
class Input:
    """One text or record as it is in its source.

    Args:
        source: the source.
        position: its position in the source, from 1. Blank lines do not count.
        document: the document; None if it cannot be read. It is kept beside an error if it could be decoded.
        offset: bytes of the file on disk that had been read when it was complete, for progress.
        error: why it cannot be read.
        raw: its bytes, if there is an error and they could be read.
        defaults: values for what the record itself does not state.
        held: its name in the quarantine that it came from.
    """

    source: Source
    position: int
    document: Document | None = field(repr=False)
    offset: int = 0
    error: Reason | None = None
    raw: bytes | None = field(default=None, repr=False)
    defaults: RecordDefaults = NO_DEFAULTS
    held: str | None = None

    @property
    def data(self) -> bytes | None:
        """Its bytes in the (decompressed) source, without byte order mark and line end; None if they are unreadable."""
        return self.raw if self.document is None else self.document.data

    @property
    def not_read(self) -> bool:
        """Whether it is a file, or the rest of one, whose bytes could not be read. There is nothing to hold."""
        return self.error is not None and self.error.code == _NOT_READ

    @property
    def left_out(self) -> bool:
        """Whether it is a hidden file of an archive, which is listed and not counted."""
        return self.error == archive.HIDDEN

    @property
    def content(self) -> str | None:
        """The text, or the raw JSON of a record; None if it cannot be read or is binary."""
        return self.document.content if isinstance(self.document, DecodedDocument) else None

    @property
    def media_type(self) -> str | None:
        """The media type of binary content, whose bytes the format of this type must read."""
        return None if self.document is None or self.source.kind in registry.PROVEN else self.format.media_types[0]

    @property
    def format(self) -> Format:
        """The format of its source."""
        return registry.named(self.source.kind)

    @cached_property
    def note(self) -> dict[str, Any] | None:
        """A JSON object that names no schema, such as {"id", "patient", "text"}, parsed; None for any other input."""
        if not self.is_record or self.opened or self.media_type is not None or self.defaults.data_type:
            return None
        try:
            note = json.loads(str(self.content))
        except (ValueError, RecursionError):
            return None  # the machine reports what is wrong with it
        return note if isinstance(note, dict) and not note.keys() & {"dataType", "resourceType"} else None

    @property
    def is_record(self) -> bool:
        """Whether it is a record's raw JSON or rows of a table, or would be if it could be read."""
        if isinstance(self.document, DecodedDocument):
            return self.document.is_record
        return self.source.kind != registry.OTHER and self.format.is_record

    @property
    def codec(self) -> Codec:
        """The encoding of its source."""
        return self.document.codec if isinstance(self.document, DecodedDocument) else UTF8

    @property
    def ending(self) -> str:
        """The line end that followed it; "" for none."""
        return self.codec.decode(self.document.after) if isinstance(self.document, DecodedDocument) else ""

    @property
    def opened(self) -> OpenRows | TypedRow | None:
        """Rows of a table, opened as one record."""
        return self.document if isinstance(self.document, OpenRows | TypedRow) else None

    @property
    def table(self) -> OpenTable | None:
        """The table of the rows."""
        return getattr(self.document, "table", None)


def read_all(
    sources: Iterable[Source], defaults: RecordDefaults, layout: Layout | Layouts | None = None
) -> Iterator[Input]:
    """Yield every input of every source, with the run's defaults.

    A source that cannot be read does not stop the others.

    Args:
        layout: how tables are read. Without it each table is an input with its reason.
    """
    for source in sources:
        for one in read(source, layout):
            yield replace(one, defaults=defaults)


def read(source: Source, layout: Layout | Layouts | None = None) -> Iterator[Input]:
    """Yield every input of one source, and of the files in it if it is an archive.

    A table that does not fit the layout is one input with its reason, and with its bytes unless it is in an archive.

    Raises:
        UsageError: the layout does not fit, and the source cannot be read a second time.
    """
    try:
        yield from _read(source, layout)
    except UsageError:  # from the header of a table: none of it was read
        if source.single_pass:
            raise
        yield turned_away(source, _OTHER_COLUMNS)


def turned_away(source: Source, reason: Reason) -> Input:
    """Return a source as one Input with its bytes. None of its records is read.

    Args:
        reason: the reason if it is a text.
    """
    with ExitStack() as held:
        try:
            return _input(source, 1, refused(opened(source, held)[1], reason))
        except UNREADABLE as error:
            return unread(source, 1, error)


def check_tables(source: Source, layout: Layout) -> None:
    """Refuse a layout that does not fit a table, before anything is processed.

    Errors in the file itself are reported later.

    Raises:
        UsageError: the layout names a column that does not exist, or leaves out one that does.
    """
    if source.single_pass:
        return
    with ExitStack() as held, suppress(RecordProblem, *UNREADABLE):
        stream = opened(source, held)[1]
        if source.kind == "parquet":
            parquet.check_columns(stream, layout)
        else:
            check_header(stream, source.kind, layout)


def header(source: Source) -> list[str]:
    """Return the columns of a table in a form that a message may show; empty if the file cannot be read."""
    if not source.single_pass:
        with ExitStack() as held, suppress(RecordProblem, *UNREADABLE):
            stream = opened(source, held)[1]
            return parquet.columns_of(stream) if source.kind == "parquet" else columns_of(stream, source.kind)
    return []


def _read(source: Source, layout: Layout | Layouts | None, budget: UnpackBudget | None = None) -> Iterator[Input]:
    position = 0
    with ExitStack() as held:
        try:
            disk, stream = opened(source, held)
            if source.kind not in archive.KINDS:
                source = replace(source, kind=_kind(source.kind, peeked(stream)))
            if source.kind == registry.OTHER:
                yield _input(source, 1, _of_no_format(source, stream))
                return
            if source.kind in archive.KINDS:
                yield from _unpacked(source, disk, stream, layout, budget)
                return
            form = registry.named(source.kind)
            if source.kind in TABLES:
                own = layout.of_file(source.inner_name) if layout else None
                opens = parquet.reader(own) if source.kind == "parquet" else reader(source.kind, own)
                form = replace(form, open=opens)
            data = stream.read(form.most + 1) if form.packed else None
            for each in registry.open_documents(form, stream if data is None else cast(BinaryIO, io.BytesIO(data))):
                position = each.position or position + 1
                if isinstance(each, Unreadable) and data is not None and len(data) <= form.most:
                    each = replace(each, data=data)
                yield _input(source, position, each, at(disk))
        except UNREADABLE as error:
            yield unread(source, position + 1, error)


def _kind(kind: str, head: bytes) -> str:
    """Return the name of the format that reads a file, given the one that its suffix states.

    The content of PDF and of binary files decides over a wrong suffix.

    Args:
        head: its first bytes.
    """
    unsure = kind in (registry.OTHER, "text")
    found = registry.of_container(head) if unsure or head.startswith(b"%PDF") or b"\0" in head else None
    return kind if found is None or not (unsure or found.packed) else found.name


def _unpacked(
    source: Source, disk: BinaryIO, stream: BinaryIO, layout: Layout | Layouts | None, budget: UnpackBudget | None
) -> Iterator[Input]:
    """Yield the inputs of every file in an archive. Each file is a source of its own, with its own format.

    Args:
        budget: that of the archive that this one is in.

    Raises:
        NotUnpacked: the archive, or the rest of it, cannot be unpacked.
    """
    if len(source.chain) > archive.MOST_DEPTH:
        raise archive.NotUnpacked(archive.TOO_DEEP)
    if not disk.seekable() or (source.gz and source.kind == "zip"):
        data = stream.read(encoding.MAX_BYTES + 1)
        if len(data) > encoding.MAX_BYTES:
            raise archive.NotUnpacked(encoding.too_large())
        disk = stream = io.BytesIO(data)
    budget = budget or UnpackBudget(_size(disk))
    for each in archive.members(source.kind, stream, budget):
        member = source.member(each.name, each.opens)
        if each.refusal is not None:
            yield Input(member, 1, None, error=each.refusal)
            continue
        try:
            for one in _read(member, layout, budget):
                yield replace(one, offset=at(disk))
        except UsageError:  # from the header of a table
            yield Input(member, 1, None, error=_OTHER_COLUMNS)


def _size(disk: BinaryIO) -> int:
    place = disk.tell()
    size = disk.seek(0, io.SEEK_END)
    disk.seek(place)
    return size


def _input(source: Source, position: int, each: Document | Unreadable, offset: int = 0) -> Input:
    if isinstance(each, Unreadable):
        return Input(source, position, each.document, offset, each.reason, each.data)
    return Input(source, position, each, offset)


def opened(source: Source, held: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """Return the file on disk and the stream of its decompressed bytes. `held` closes them, except the standard input.

    Raises:
        OSError: it cannot be opened, or the source is marked as unreadable.
    """
    if source.unread:
        raise OSError(0, source.unread)
    if source.opens is not None:
        disk = held.enter_context(source.opens())
    elif source.path is None:
        disk = cast(BinaryIO, sys.stdin.buffer)
    else:
        disk = held.enter_context(source.path.open("rb"))
    if not source.gz:
        return disk, disk
    return disk, cast(BinaryIO, held.enter_context(gzip.GzipFile(fileobj=disk)))


def _of_no_format(source: Source, stream: BinaryIO) -> Unreadable:
    """Return the reason for a file whose name does not identify a format."""
    each = refused(stream)
    if each.reason is not encoding.ENCODING:
        return each
    data = each.data if each.data is not None else b"?"
    what = (of_records(data.decode("utf-8", "replace")) or "plain text") if data.strip() else "an empty file"
    suffix = PurePath(source.name).suffix.lower()
    if suffix in _DOCUMENTS:  # any other suffix could be a person's name
        return replace(each, reason=Reason(UnsupportedFormat.code, "", f"{what}, but the file name ends in {suffix}"))
    return replace(
        each, reason=Reason(UnsupportedFormat.code, "", f"{what}, but the suffix of the file name is unknown: {RENAME}")
    )


def unread(source: Source, position: int, error: Exception) -> Input:
    """Return the Input for a file that failed while it was read.

    If its compression is damaged, the compressed bytes are kept.
    """
    if isinstance(error, archive.NotUnpacked):
        return Input(source, position, None, error=error.reason)
    if not isinstance(error, _DAMAGE):
        why = reason_of(error) if isinstance(error, OSError) else type(error).__name__
        why += f", from record {position} on" * (position > 1)
        return Input(source, position, None, error=Reason(_NOT_READ, "", why))
    raw: bytes | None = None
    if source.path is not None and not source.single_pass:
        try:
            with source.path.open("rb") as disk:
                raw = disk.read(encoding.MAX_BYTES + 1)
        except OSError as worse:
            return unread(source, position, worse)
    what = of_bytes(raw or b"")
    damaged = what in (None, "gzip") or position > 1
    reason = Reason("gzip", "", "the file is damaged or ends early") if damaged else encoding.unsupported(str(what))
    return Input(
        source, position, None, error=reason, raw=None if raw is None or len(raw) > encoding.MAX_BYTES else raw
    )


def at(disk: BinaryIO) -> int:
    """Return how much of a file on disk has been read, in bytes; 0 for a pipe."""
    try:
        return disk.tell()
    except OSError:
        return 0
