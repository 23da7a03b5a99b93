"""The ledger's inputs and outputs. Only the names of files are PHI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["found", "claimed", "released", "review", "quarantined", "refused", "tombstoned"]
OPEN: tuple[State, ...] = ("found", "claimed")
"""A record in any other state is settled."""

UNREADABLE = "unreadable"
"""The code of a file whose bytes could not be read. Every worker tries it once more when it starts."""

KEY = 32
"""The number of hexadecimal digits of a source key, and of a content hash."""


@dataclass(frozen=True, slots=True)
class Release:
    """A named set of outputs, with the policy, key, schemas, and models that produced them. It never changes.

    Args:
        digest: the hash of `frozen`, 16 hexadecimal digits.
        frozen: policy, schemas, prompts, models and code, by hash; ready for JSON.
        made: the time of creation, in seconds since 1970 by the database's clock.
    """

    id: int
    name: str
    digest: str
    frozen: Mapping[str, Any]
    made: float

    @property
    def key_id(self) -> str | None:
        """The id of the key that the release was started with. A worker with another key may not join."""
        found: str | None = self.frozen.get("key", {}).get("id")
        return found


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the source.

    Args:
        location: a keyed hash of its path.
        stamp: a keyed hash of its current size, time and tag. Another stamp is another version.
        name: its path in plain text. It is sealed before it is stored.
        size: in bytes.
        ranges: the start and end of its parts in bytes. The end of the last is None.
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
        tries: the number of workers that died on it since one of its records was last claimed.
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
        source: a keyed hash of its location and its own id.
        content: a keyed hash of its bytes.
        part: the part in which it was read.
        subject: a keyed hash of the patient, if known.
        version: a number that grows when the record is changed, if the source has one.
    """

    source: str
    content: str
    part: int
    subject: str | None = None
    version: int | None = None

    @property
    def key(self) -> str:
        """The key of this version of the record. It is also the name of the held record."""
        return self.source + self.content


@dataclass(frozen=True, slots=True)
class RecordClaim:
    """The outcome of a claim.

    Args:
        outcome: `mine`; `again`: already claimed by this worker; `suspect`: a worker died on it, so claim it alone;
            `busy`: claimed by another worker; `settled`: there is nothing to do.
        id: the id of its row.
        tries: the number of workers that died on it.
    """

    outcome: Literal["mine", "again", "suspect", "busy", "settled"]
    id: int
    tries: int


@dataclass(frozen=True, slots=True)
class SettledRecord:
    """The final state of a claimed record.

    Args:
        id: the id of its row.
        line: its line in the shard, from 1; None if it was not released.
        codes: why it was not released.
        manifest: the hash of its manifest.
    """

    id: int
    state: State
    line: int | None = None
    codes: tuple[str, ...] = ()
    manifest: str | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """One output file of a release. All of its records are completed together.

    Args:
        name: a random name.
        sha256: the hash of its bytes, in hexadecimal.
    """

    name: str
    records: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A record's row.

    Args:
        shard: the name of the shard that contains it.
        at: when its state last changed, in seconds since 1970.
        file: the name of the file it came from.
        replaces: the id of the released record that it replaces as a newer version.
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
    replaces: int | None = None
