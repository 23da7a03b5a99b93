"""One output file while it is written: the released records of a source, or the released files of an archive."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, cast

from incognote.files.atomic import AtomicFile
from incognote.files.inputs import Input
from incognote.files.sources import Source
from incognote.formats.archive import packer
from incognote.formats.parquet import ParquetRows
from incognote.formats.records.rows import OpenRows
from incognote.formats.records.typed import TypedRow
from incognote.formats.registry import is_gzip
from incognote.nouns import DerivedKind

_LINE_ENDS = ("\n", "\r")


class OutputFile:
    """A file that is being written, in the format of its source.

    Rows of a grouped table are kept until all of its notes are there, since the order of notes may differ from that of
    rows.

    Args:
        source: the source of its records, or the archive of its files.
        name: its name. It is compressed if the name says so.
        file: takes its bytes.
        first: the first record of the source; None for an archive.

    Attributes:
        derived: what is derived from its record.
    """

    def __init__(self, source: Source, name: str, file: AtomicFile, first: Input | None) -> None:
        self.source, self.name, self.file = source, name, file
        self.derived: Mapping[DerivedKind, bytes] = {}
        self._stream = file.stream
        if is_gzip(name):  # no name and time inside, since they would reveal facts about the input
            self._stream = cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=file.stream, mtime=0))
        self._packer = packer(source.kind, self._stream)
        self._rows: ParquetRows | None = None
        self._gathered: list[tuple[Input, str]] = []
        self._separator = b""  # written before the next record
        if first is None:
            return
        if source.kind == "parquet" and isinstance(first.document, TypedRow):
            self._rows = ParquetRows(self._stream, first.document)
        head = first.document.head if first.document is not None else b""
        self._stream.write(head)
        if first.table is not None:
            self._separator = _between(first, head)

    def add(self, of: Input, data: bytes, output: str | bytes) -> None:
        """Append a record.

        Args:
            data: the bytes to write, with those that follow the record in its source.
            output: as in `Outputs.write`.
        """
        if isinstance(output, str) and of.table is not None and of.table.grouped:
            self._gathered.append((of, output))
        elif isinstance(output, str) and self._rows is not None:
            self._rows.add(cast(TypedRow, of.document), output)
        else:
            self._append(of, data)

    def pack(self, member: OutputFile, beside: Mapping[str, bytes]) -> None:
        """Append a complete file to this archive, and the files beside it by their names."""
        assert self._packer is not None  # it is an archive
        member.file.stream.flush()
        with cast(Path, member.file.part).open("rb") as stream:
            self._packer.add(member.name, stream, member.file.stream.tell())
        for name, data in beside.items():
            self._packer.add(name, BytesIO(data), len(data))

    def close(self) -> None:
        """Write what is left. The file itself stays open, for `commit` or `abandon`.

        Raises:
            AccountingError: another reader sees other content than was written.
        """
        self._write_gathered()
        if self._rows is not None:
            self._rows.close()
            self.file.stream.flush()
            self._rows.check(cast(Path, self.file.part))
        if self._packer is not None:
            self._packer.close()
        if self._stream is not self.file.stream:
            self._stream.close()  # gzip's last block

    def abandon(self) -> None:
        """Remove the file."""
        with suppress(OSError, ValueError):
            if self._packer is not None:
                self._packer.close()
            self._stream.close()
        self.file.abandon()

    def _append(self, of: Input, data: bytes) -> None:
        self._stream.write(self._separator)
        self._stream.write(data)
        self._separator = _between(of, data)

    def _write_gathered(self) -> None:
        """Write the rows of grouped tables, each table's in its own order."""
        for _, group in groupby(self._gathered, key=lambda pair: id(pair[0].table)):
            notes = list(group)
            of = notes[0][0]
            assert of.table is not None  # otherwise it would not have been gathered
            rows = of.table.table.rebuild((cast(OpenRows, one.opened), content) for one, content in notes)
            next(rows)  # the header, which is already written
            for row in filter(None, rows):
                self._append(of, of.codec.encode(row))
        self._gathered.clear()


def _between(of: Input, data: bytes) -> bytes:
    """Return the bytes to write between the last record and the next."""
    separator = of.document.separator if of.document is not None else b""
    return b"" if data.endswith(tuple(map(of.codec.encode, _LINE_ENDS))) else separator
