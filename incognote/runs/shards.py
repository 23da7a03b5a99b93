"""Shards of released records: open, packed, staged, settled in the ledger, placed; and what a kill left of that."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import secrets
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from incognote.errors import LedgerUnavailable, Unwritable
from incognote.files.inputs import TABLES, Input
from incognote.ledger import Ledger, Release, SettledRecord, Shard
from incognote.runs.destination import Destination

Packing = Literal["none", "gzip", "zstd"]
Form = Literal["lines", "parquet"]
_SUFFIX: dict[str, str] = {"none": "", "gzip": ".gz", "zstd": ".zst"}
_NO_LINE = str.maketrans("\r\n", "  ")  # between the values of a JSON document, the only place they can stand


@dataclass(frozen=True, slots=True)
class Shape:
    """What the lines of a shard are.

    Args:
        head: the header line of a table.
    """

    kind: Literal["jsonl", "csv", "tsv"] = "jsonl"
    head: str = field(default="", repr=False)


def shape_of(one: Input) -> Shape:
    """Tables stay tables; records and texts are lines of JSON."""
    if one.table is None or one.source.kind not in TABLES:
        return Shape()
    head = one.table.table.head
    return Shape("tsv" if one.source.kind == "tsv" else "csv", head if head.endswith(("\n", "\r")) else head + "\n")


def line_of(one: Input, output: str | bytes, id: str) -> bytes:
    """A released record as it stands in a shard.

    Args:
        output: its new characters; or bytes, which stand there in base64 beside their media type.
        id: of a text, which has none of its own that may be told: random, since a hash of a file's name or of a text
            is derived from the individual.

    Raises:
        UnicodeEncodeError: it holds what UTF-8 cannot write.
    """
    if isinstance(output, bytes):
        data = b64encode(output).decode("ascii")
        return (json.dumps({"id": id, "media_type": one.media_type, "data": data}) + "\n").encode()
    if one.table is not None:
        return (output if output.endswith(("\n", "\r")) else output + "\n").encode()
    if one.is_record:
        return (output.translate(_NO_LINE) + "\n").encode()
    return (json.dumps({"id": id, "text": output}, ensure_ascii=False) + "\n").encode()


def suffix(shape: Shape, form: Form, packing: Packing) -> str:
    """Of a shard's name."""
    return ".parquet" if form == "parquet" else f".{shape.kind}{_SUFFIX[packing]}"


def packed(shape: Shape, lines: list[bytes], form: Form, packing: Packing) -> bytes:
    """The bytes of a shard."""
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
    """A column a field; one column of JSON where fields of one name are of several kinds."""
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


@dataclass(frozen=True, slots=True)
class PackedShard:
    """A shard as it will stand in the destination.

    Args:
        shard: its name begins with the release's.
        settled: the records in it.
    """

    shard: Shard
    data: bytes = field(repr=False)
    settled: tuple[SettledRecord, ...]


class OpenShards:
    """Takes records until it is full; one open shard for each shape of lines.

    Args:
        release: the name of the folder in the destination.
        records, size: of one shard; the size in bytes, before compression.
    """

    def __init__(self, release: str, form: Form, packing: Packing, *, records: int, size: int) -> None:
        self._release, self._form, self._packing = release, form, packing
        self._most, self._size = records, size
        self.clear()

    def clear(self) -> None:
        """Forget all of it."""
        self._open: dict[Shape, _Open] = {}
        self.held: list[SettledRecord] = []
        self.parts: list[int] = []

    @property
    def empty(self) -> bool:
        return not (any(one.lines for one in self._open.values()) or self.held or self.parts)

    @property
    def full(self) -> bool:
        """Whether a shard has reached its size, or as many records wait in no shard."""
        most = self._most
        return len(self.held) >= most or len(self.parts) >= most or any(
            len(one.lines) >= most or one.size >= self._size for one in self._open.values()
        )

    def next_id(self, shape: Shape) -> str:
        """Of the next record of a shape: its shard's name and its line."""
        one = self._open.setdefault(shape, _Open())
        return f"{one.token}-{len(one.lines) + 1}"

    def add(self, shape: Shape, line: bytes, id: int, manifest: str) -> None:
        """A released record, whose id was asked for."""
        one = self._open[shape]
        one.lines.append(line)
        one.size += len(line)
        one.settled.append(SettledRecord(id, "released", len(one.lines), (), manifest))

    def take(self) -> list[PackedShard]:
        """The shards as they are now, packed; what is on the shards stays there until it is cleared."""
        made = []
        for shape, one in self._open.items():
            if not one.lines:
                continue  # what it was opened for could not be written
            data = packed(shape, one.lines, self._form, self._packing)
            name = f"{self._release}/{one.token}{suffix(shape, self._form, self._packing)}"
            shard = Shard(name, len(one.lines), len(data), hashlib.sha256(data).hexdigest())
            made.append(PackedShard(shard, data, tuple(one.settled)))
        return made


class ShardDelivery:
    """All methods block; each may be called again after it failed."""

    def __init__(self, ledger: Ledger, destination: Destination, release: Release) -> None:
        self._ledger, self._destination, self._release = ledger, destination, release
        self._unplaced: list[str] = []

    def stage(self, worker: str, shards: OpenShards) -> list[PackedShard]:
        """The open shards, durable, where no reader of the destination looks.

        Raises:
            Unwritable: none is staged.
        """
        staged = shards.take()
        try:
            for one in staged:
                self._ledger.begin_shard(worker, self._release.id, one.shard.name)
                self._destination.stage(one.shard.name, one.data)
        except Unwritable:
            for one in staged:
                with suppress(Unwritable):
                    self._destination.discard(one.shard.name)
                self._ledger.dropped(one.shard.name)
            raise
        return staged

    def settle(self, worker: str, token: str, staged: list[PackedShard], shards: OpenShards) -> None:
        """All that is on the shards stands in the ledger, and from here on in the destination.

        Args:
            token: the same when it is asked again, since it may stand although the answer was lost.

        Raises:
            LeaseLost: none of it stands, and nothing is left staged.
        """
        self._ledger.settle(
            worker, token, [(one.shard, one.settled) for one in staged], tuple(shards.held), tuple(shards.parts)
        )
        self._unplaced += [one.shard.name for one in staged]

    def place(self) -> None:
        """Give settled shards their names.

        Raises:
            Unwritable: they keep; ask again.
        """
        while self._unplaced:
            self._place(self._unplaced[0])
            self._unplaced.pop(0)

    def recover(self) -> int:
        """Finish what others left when they were killed, and take away what they staged in vain; how many shards."""
        to_place, in_vain = self._ledger.left_over()
        for name in to_place:
            self._place(name)
        for name in in_vain:
            self._destination.discard(name)
            self._ledger.dropped(name)
        return len(to_place) + len(in_vain)

    def discard(self, staged: list[PackedShard]) -> None:
        """Take away what was staged and cannot be settled; what was settled all the same is the next worker's to place.

        For a settlement may stand although its answer was lost, and its worker be buried since.
        """
        for one in staged:
            with suppress(Unwritable, LedgerUnavailable):
                if self._ledger.dropped(one.shard.name):
                    self._destination.discard(one.shard.name)

    def _place(self, name: str) -> None:
        self._destination.place(name)
        self._ledger.placed(name)


def token() -> str:
    """For one settlement."""
    return secrets.token_hex(16)
