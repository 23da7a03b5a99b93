"""Shards of released records: open, packed, staged, settled in the ledger, placed, and recovered after a kill.

A document, such as a letter in RTF, is a shard of its own: a file in its format.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from incognote.errors import LedgerUnavailable, Unwritable, UsageError
from incognote.files.inputs import TABLES, Input
from incognote.ledger import Ledger, LedgerEntry, Release, SettledRecord, Shard
from incognote.runs.destination import Destination

Packing = Literal["none", "gzip", "zstd"]
Form = Literal["lines", "parquet"]
TOMBSTONES = "tombstones"
"""The folder in the destination with lists of lines to delete: recalled ones, and those that newer versions replace."""
_SUFFIX: dict[str, str] = {"none": "", "gzip": ".gz", "zstd": ".zst"}
_LINES = (".parquet", *(f".{kind}{packed}" for kind in ("jsonl", "csv", "tsv") for packed in _SUFFIX.values()))
_NO_LINE = str.maketrans("\r\n", "  ")  # between the values of a JSON document, the only places where they can occur


@dataclass(frozen=True, slots=True)
class Shape:
    """The format of the lines of a shard.

    Args:
        head: the header line of a table.
        document: the suffix of the one document that the shard consists of; "" for a shard of lines.
    """

    kind: Literal["jsonl", "csv", "tsv"] = "jsonl"
    head: str = field(default="", repr=False)
    document: str = ""


def shape_of(one: Input, output: str | bytes) -> Shape:
    """Return the shape for an output. Tables stay tables. Records and texts become lines of JSON."""
    if isinstance(output, bytes):
        return Shape(document=one.format.suffixes[0])
    if one.table is None or one.source.kind not in TABLES:
        return Shape()
    head = one.table.table.head
    return Shape("tsv" if one.source.kind == "tsv" else "csv", head if head.endswith(("\n", "\r")) else head + "\n")


def line_of(one: Input, output: str | bytes, id: str) -> bytes:
    """Return a released record as a line of a shard.

    Args:
        output: its new characters, or the bytes of a document, which are returned unchanged.
        id: for a text, which has no id that may be shown. It is random, since a hash of a file name or of a text is
            derived from the individual.

    Raises:
        UnicodeEncodeError: it contains characters that UTF-8 cannot encode.
    """
    if isinstance(output, bytes):
        return output
    if one.table is not None:
        return (output if output.endswith(("\n", "\r")) else output + "\n").encode()
    if one.is_record:
        return (output.translate(_NO_LINE) + "\n").encode()
    return (json.dumps({"id": id, "text": output}, ensure_ascii=False) + "\n").encode()


def suffix(shape: Shape, form: Form, packing: Packing) -> str:
    """Return the suffix of a shard's name. A document is not packed."""
    if shape.document:
        return shape.document
    return ".parquet" if form == "parquet" else f".{shape.kind}{_SUFFIX[packing]}"


def is_document(name: str) -> bool:
    """Whether a shard with this name is one document, and not lines."""
    return not name.endswith(_LINES)


def packed(shape: Shape, lines: list[bytes], form: Form, packing: Packing) -> bytes:
    """Return the bytes of a shard."""
    if shape.document:
        return lines[0]
    if form == "parquet":
        return _parquet(shape, lines, packing)
    data = shape.head.encode() + b"".join(lines)
    if packing == "gzip":
        return gzip.compress(data, mtime=0)
    if packing == "zstd":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data


def _parquet(shape: Shape, lines: list[bytes], packing: Packing) -> bytes:
    """Make one column per field, or one column of JSON if a field has values of several types."""
    import pyarrow as pa
    from pyarrow import parquet

    if shape.kind == "jsonl":
        rows = [json.loads(line) for line in lines]
    else:
        text = shape.head + b"".join(lines).decode()
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if shape.kind == "tsv" else ","))
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        table = pa.table({"record": [json.dumps(row, ensure_ascii=False) for row in rows]})
    out = io.BytesIO()
    parquet.write_table(table, out, compression=packing)
    return out.getvalue()


@dataclass(slots=True)
class _Open:
    token: str = field(default_factory=lambda: secrets.token_hex(12))
    lines: list[bytes] = field(default_factory=list, repr=False)
    settled: list[SettledRecord] = field(default_factory=list)
    size: int = 0
    image: str | None = None


@dataclass(frozen=True, slots=True)
class PackedShard:
    """A shard in the form that it will have in the destination.

    Args:
        shard: its name begins with the release's name.
        settled: its records.
    """

    shard: Shard
    data: bytes = field(repr=False)
    settled: tuple[SettledRecord, ...]


class OpenShards:
    """Collects records until a shard is full. There is one open shard for each shape of lines, and one per document.

    Args:
        release: the name of the folder in the destination.
        records, size: the limits of one shard, and of all documents. The size is in bytes, before compression.
        numbered: as in `Destination`.
    """

    def __init__(
        self, release: str, form: Form, packing: Packing, *, records: int, size: int, numbered: bool = False
    ) -> None:
        self._release, self._form, self._packing = release, form, packing
        self._most, self._size, self._numbered = records, size, numbered
        self.clear()

    def clear(self) -> None:
        """Discard all collected records."""
        self._open: dict[Shape, _Open] = {}
        self._documents: list[tuple[Shape, _Open]] = []
        self.held: list[SettledRecord] = []
        self.parts: list[int] = []

    @property
    def empty(self) -> bool:
        return not (any(one.lines for one in self._open.values()) or self._documents or self.held or self.parts)

    @property
    def full(self) -> bool:
        """Whether a shard has reached its limit, or as many records wait outside of shards."""
        most, documents = self._most, self._documents
        return max(len(self.held), len(self.parts), len(documents)) >= most or any(
            len(one.lines) >= most or one.size >= self._size for one in self._open.values()
        ) or sum(one.size for _, one in documents) >= self._size

    def next_id(self, shape: Shape) -> str:
        """Return the id of the next record of a shape: its shard's name and its line."""
        one = self._open.setdefault(shape, _Open())
        return f"{one.token}-{len(one.lines) + 1}"

    def add(
        self, shape: Shape, line: bytes, id: int, manifest: str, version: int | None = None, image: str | None = None
    ) -> None:
        """Add a released record, for which `next_id` was called.

        Args:
            image: the number of a document under which the vault keeps what was removed. It is in the shard's name.
        """
        one = self._open[shape]
        line = b"%d %d %b" % (version or 0, id, line) if self._numbered else line
        one.lines.append(line)
        one.size += len(line)
        one.settled.append(SettledRecord(id, "released", len(one.lines), (), manifest))
        if shape.document:
            one.image = image
            self._documents.append((shape, self._open.pop(shape)))

    def take(self) -> list[PackedShard]:
        """Return the current shards, packed. The records stay here until `clear` is called."""
        made = []
        for shape, one in (*self._open.items(), *self._documents):
            if not one.lines:
                continue  # the record that it was opened for could not be written
            data = packed(shape, one.lines, self._form, self._packing)
            number = f".{one.image}" if one.image else ""
            name = f"{self._release}/{one.token}{number}{suffix(shape, self._form, self._packing)}"
            shard = Shard(name, len(one.lines), len(data), hashlib.sha256(data).hexdigest())
            made.append(PackedShard(shard, data, tuple(one.settled)))
        return made


class ShardDelivery:
    """Delivers shards. All methods block. Each may be called again after it failed."""

    def __init__(self, ledger: Ledger, destination: Destination, release: Release) -> None:
        self._ledger, self._destination, self._release = ledger, destination, release
        self._unplaced: list[str] = []

    def stage(self, worker: str, shards: OpenShards) -> list[PackedShard]:
        """Write the open shards durably where no reader of the destination looks.

        Raises:
            Unwritable: none is staged.
        """
        staged = shards.take()
        try:
            self._ledger.begin_shards(worker, self._release.id, [one.shard.name for one in staged])
            for one in staged:
                self._destination.stage(one.shard.name, one.data)
        except Unwritable:
            for one in staged:
                with suppress(Unwritable):
                    self._destination.discard(one.shard.name)
                self._ledger.dropped(one.shard.name)
            raise
        return staged

    def settle(self, worker: str, token: str, staged: list[PackedShard], shards: OpenShards) -> None:
        """Settle all collected records in the ledger. From now on the shards belong to the destination.

        Args:
            token: use the same value in a retry, since the first call may have succeeded although its answer was lost.

        Raises:
            LeaseLost: nothing was settled, and nothing is left staged.
        """
        self._ledger.settle(
            worker, token, [(one.shard, one.settled) for one in staged], tuple(shards.held), tuple(shards.parts)
        )
        self._unplaced += [one.shard.name for one in staged]

    def place(self) -> None:
        """Give settled shards their names.

        Raises:
            Unwritable: they remain staged; call it again.
        """
        self._place(self._unplaced)
        self._unplaced.clear()

    def recover(self) -> int:
        """Place or remove the shards that killed workers left. Return how many."""
        to_place, in_vain = self._ledger.left_over()
        self._place(to_place)
        for name in in_vain:
            self._destination.discard(name)
            self._ledger.dropped(name)
        return len(to_place) + len(in_vain)

    def discard(self, staged: list[PackedShard]) -> None:
        """Remove staged shards that cannot be settled. If one was settled after all, the next worker places it.

        A settlement may have succeeded although its answer was lost and the worker's lease has ended since.
        """
        for one in staged:
            with suppress(Unwritable, LedgerUnavailable):
                if self._ledger.dropped(one.shard.name):
                    self._destination.discard(one.shard.name)

    def _place(self, names: Sequence[str]) -> None:
        for name in names:
            self._destination.place(name)
            if not self._destination.numbered and (replaced := self._ledger.replaced(name)):
                digest = hashlib.sha256(name.encode()).hexdigest()[:24]  # placing the shard again writes the same file
                self._destination.put(
                    f"{TOMBSTONES}/replaced-{digest}.jsonl", tombstone_lines(replaced, digest, "replaced")
                )
        if names:
            self._ledger.placed(names)


def token() -> str:
    """Return a token for one settlement."""
    return secrets.token_hex(16)


def tombstone_lines(entries: Iterable[LedgerEntry], incident: str, why: str) -> bytes:
    """Return the list for the destination: JSON lines of shard, line and record key to delete.

    The line is null for a document, since its whole file is to be deleted.
    """
    rows = [
        {
            "shard": entry.shard,
            "line": None if entry.shard and is_document(entry.shard) else entry.line,
            "record": entry.key,
            "release": entry.release,
            "manifest": entry.manifest,
            "why": why,
            "incident": incident,
        }
        for entry in entries
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Return a manifest's hash in the form that the ledger stores."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]


def begun(ledger: Ledger, destination: Destination, name: str, parts: Mapping[str, Any]) -> Release:
    """Return the release with a name, frozen now or before.

    Raises:
        UsageError: as in `Ledger.freeze`. Or the destination contains a release of that name that this ledger does not
            know, so all of it would be written a second time.
    """

    def known() -> bool:
        return any(one.name == name for one in ledger.releases())

    # checked twice: a worker that started meanwhile may have written by then
    if not known() and destination.holds(name) and not known():
        raise UsageError(
            f"The destination holds a release {name!r} that this ledger does not know. Name the ledger that made it, "
            "or choose a new release name."
        )
    return ledger.freeze(name, parts)
