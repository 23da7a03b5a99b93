"""What is put into the ledger and comes out of it; nothing here is PHI but the names of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["found", "claimed", "released", "review", "quarantined", "refused", "tombstoned"]
OPEN: tuple[State, ...] = ("found", "claimed")
"""A record in any other state is settled."""

UNREADABLE = "unreadable"
"""The code of a file whose bytes could not be had; every worker tries it once more when it begins."""

KEY = 32
"""Hexadecimal digits of a source key, and of a content hash."""


@dataclass(frozen=True, slots=True)
class Release:
    """A named set of outputs with the policy, key, schemas and models that made them. It never changes.

    Args:
        digest: of `frozen`, 16 hexadecimal digits.
        frozen: policy, schemas, prompts, models and code, by hash; JSON-able.
        made: when, in seconds since 1970 of the database's clock.
    """

    id: int
    name: str
    digest: str
    frozen: Mapping[str, Any]
    made: float

    @property
    def key_id(self) -> str | None:
        """The id of the key that it was begun with: no worker under another key may join it."""
        found: str | None = self.frozen.get("key", {}).get("id")
        return found


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the source.

    Args:
        location: its place, keyed hash.
        stamp: of what is there now (size, time, tag), keyed hash; another stamp is another version.
        name: its place in words; sealed before it is stored.
        size: bytes.
        ranges: where its parts begin and end, in bytes; the end of the last is None.
    """

    location: str
    stamp: str
    name: str = field(repr=False)
    size: int
    ranges: tuple[tuple[int, int | None], ...] = ((0, None),)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A range of a file that one worker has claimed.

    Args:
        tries: workers that died on it since a record of it was last claimed.
    """

    id: int
    file: int
    location: str
    stamp: str
    name: str = field(repr=False)
    start: int
    stop: int | None
    size: int
    tries: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """A record that was read and is to be claimed.

    Args:
        source: keyed hash of its place and its own id.
        content: keyed hash of its bytes.
        part: where it was read.
        subject: keyed hash of the patient, where one is known.
    """

    source: str
    content: str
    part: int
    subject: str | None = None

    @property
    def key(self) -> str:
        """Of this version of the record; a held record bears it as its name."""
        return self.source + self.content


@dataclass(frozen=True, slots=True)
class RecordClaim:
    """What a claim came to.

    Args:
        outcome: `mine`; `again`: it was before; `suspect`: a worker died on it, claim it alone; `busy`: another's;
            `settled`: there is nothing to do.
        id: of its row.
        tries: workers that died on it.
    """

    outcome: Literal["mine", "again", "suspect", "busy", "settled"]
    id: int
    tries: int


@dataclass(frozen=True, slots=True)
class SettledRecord:
    """What became of a claimed record.

    Args:
        id: of its row.
        line: its place in the shard, from 1; None where it was not released.
        codes: why it was not released.
        manifest: hash of its manifest.
    """

    id: int
    state: State
    line: int | None = None
    codes: tuple[str, ...] = ()
    manifest: str | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """One output file of a release. Its records are settled together.

    Args:
        name: random.
        sha256: of its bytes, in hexadecimal.
    """

    name: str
    records: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A record's row.

    Args:
        shard: the name of the shard it is in.
        at: when its state last changed, in seconds since 1970.
        file: the name of the file it came from.
    """

    id: int
    release: str
    key: str
    state: State
    tries: int
    shard: str | None
    line: int | None
    codes: tuple[str, ...]
    manifest: str | None
    at: float
    file: str = field(repr=False)
