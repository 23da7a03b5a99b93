"""What was decided and is not yet settled: lines of open shards, held records, parts that are read to their end."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

from incognote.ledger import Settled, Shard
from incognote.service.sinks.packing import Form, Packing, Shape, packed, suffix


@dataclass(slots=True)
class _Open:
    token: str = field(default_factory=lambda: secrets.token_hex(12))
    lines: list[bytes] = field(default_factory=list, repr=False)
    settled: list[Settled] = field(default_factory=list)
    size: int = 0


@dataclass(frozen=True, slots=True)
class Packed:
    """A shard as it will stand in the lab.

    Args:
        shard: its name begins with the release's.
        settled: the records in it.
    """

    shard: Shard
    data: bytes = field(repr=False)
    settled: tuple[Settled, ...]


class Shelf:
    """Takes records until it is full; one open shard for each shape of lines.

    Args:
        release: the name of the folder in the lab.
        records, size: of one shard; the size in bytes, before compression.
    """

    def __init__(self, release: str, form: Form, packing: Packing, *, records: int, size: int) -> None:
        self._release, self._form, self._packing = release, form, packing
        self._most, self._size = records, size
        self.clear()

    def clear(self) -> None:
        """Forget all of it."""
        self._open: dict[Shape, _Open] = {}
        self.held: list[Settled] = []
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
        one.settled.append(Settled(id, "released", len(one.lines), (), manifest))

    def take(self) -> list[Packed]:
        """The shards as they are now, packed; what is on the shelf stays there until it is cleared."""
        made = []
        for shape, one in self._open.items():
            if not one.lines:
                continue  # what it was opened for could not be written
            data = packed(shape, one.lines, self._form, self._packing)
            name = f"{self._release}/{one.token}{suffix(shape, self._form, self._packing)}"
            shard = Shard(name, len(one.lines), len(data), hashlib.sha256(data).hexdigest())
            made.append(Packed(shard, data, tuple(one.settled)))
        return made
