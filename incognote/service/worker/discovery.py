"""New files of the source go into the ledger; claimed parts are read in batches of bounded size."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

from incognote.files.inputs import Input, RecordDefaults
from incognote.formats.tables import Layout
from incognote.ledger import FilePart, FoundFile, Ledger, Release
from incognote.runs.source import SeenFile, WatchedSource, part_ranges, read_part
from incognote.service.worker.records import KeyedRecord

_MANY = 1000
_SHARE = 10  # times as long as a look took, from its begin to the next one's
_TOLD = ("link-outside", "link-nowhere", "special", "unreadable")
"""Kept in the ledger as files that are not read: somebody meant them to be."""


@dataclass
class Discovered:
    """What a look came to.

    Attributes:
        new: files, or versions of files, that were not known.
        by_why: files by why they are read or not.
    """

    new: int = 0
    by_why: Counter[str] = field(default_factory=Counter)

    @property
    def resting(self) -> int:
        """Files that will be looked at again, when their writers are done."""
        return self.by_why["resting"]


class Discovery:
    """One per worker; what it has put down once it does not ask about again.

    Args:
        part_bytes: how large the parts of a large file are.
        poll: seconds from one look to the next, at least.
    """

    def __init__(
        self, source: WatchedSource, ledger: Ledger, release: Release, part_bytes: int, poll: float = 0.0
    ) -> None:
        self._source, self._ledger, self._release, self._part = source, ledger, release, part_bytes
        self._poll, self._next = poll, 0.0
        self._known: dict[bytes, bytes] = {}  # names and stamps, as hashes of this process: a hundred bytes a file

    @property
    def due(self) -> bool:
        """Whether it is time for another look, although there is work."""
        return time.monotonic() >= self._next

    def look(self) -> Discovered:
        """Look once; what takes long is done less often.

        Raises:
            SourceUnavailable, LedgerUnavailable: what was put down stands; look again.
        """
        began = time.monotonic()
        self._next = began + self._poll
        looked, waiting, refused = Discovered(), list[SeenFile](), list[SeenFile]()
        for seen in self._source.look():
            looked.by_why[seen.why] += 1
            if seen.why == "resting":
                continue
            if self._known.get(_hash(seen.name)) == _hash(seen.stamp):
                continue
            if seen.why == "ready":
                waiting.append(seen)
            elif seen.why in _TOLD:
                refused.append(seen)
            if len(waiting) >= _MANY:
                looked.new += self._put(waiting)
                waiting = []
        looked.new += self._put(waiting)
        for why in _TOLD:
            self._put([seen for seen in refused if seen.why == why], why)
        self._next = began + max(self._poll, _SHARE * (time.monotonic() - began))
        return looked

    def stands(self, name: str, stamp: str) -> bool:
        """Whether a file is still as it was when it was put down.

        Raises:
            SourceUnavailable: nobody can say.
        """
        now = self._source.stamp(name)
        return now is not None and self.stamp(now) == stamp

    def location(self, name: str) -> str:
        """What the ledger calls a place in the source."""
        return self._ledger.key("location", name)

    def stamp(self, told: str) -> str:
        """What the ledger calls a version of a file."""
        return self._ledger.key("stamp", told)

    def _put(self, files: list[SeenFile], code: str | None = None) -> int:
        if not files:
            return 0
        told = [
            FoundFile(self.location(seen.name), self.stamp(seen.stamp), seen.name, seen.size,
                  part_ranges(seen.name, seen.size, self._part))
            for seen in files
        ]  # fmt: skip
        new = self._ledger.found(self._release.id, told, code=code)
        self._known |= {_hash(seen.name): _hash(seen.stamp) for seen in files}
        return new


def _hash(told: str) -> bytes:
    """Sixteen bytes; a key takes many times as long, and a large source is looked at again and again."""
    return hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).digest()


@dataclass
class RecordBatch:
    """Records that are in memory at once.

    Attributes:
        ended: parts of which no record comes after these.
        unread: parts whose bytes could not be had, or not to their end.
        changed: parts whose file is not any more what it was when it was found; none of their records is here that
            was read since.
    """

    records: list[KeyedRecord] = field(default_factory=list)
    ended: list[FilePart] = field(default_factory=list)
    unread: list[FilePart] = field(default_factory=list)
    changed: list[FilePart] = field(default_factory=list)


def batches(
    parts: Sequence[FilePart], source: WatchedSource, *, layout: Layout | None, words: RecordDefaults,
    key: Callable[[FilePart, Input], KeyedRecord], stands: Callable[[FilePart], bool], records: int, size: int,
) -> Generator[RecordBatch, None, None]:  # fmt: skip
    """Read parts one after the other.

    A file that changes under the reader may have been read half-written: what was read of it since it was last seen
    unchanged is not handed on.

    Args:
        stands: whether a part's file is as it was.
        records, size: the most of one batch; a longer record is a batch of its own.

    Raises:
        SourceUnavailable: of a store.
    """
    batch, held = RecordBatch(), 0
    for part in parts:
        fresh: list[KeyedRecord] = []
        stream = read_part(source, part.name, part.start, part.stop, layout)
        sound, whole = True, True
        for one in stream:
            if one.not_read:
                whole = False
                break
            fresh.append(key(part, replace(one, defaults=words)))
            held += fresh[-1].size
            if len(batch.records) + len(fresh) >= records or held >= size:
                if not stands(part):
                    sound = False
                    break
                batch.records += fresh
                yield batch
                batch, held, fresh = RecordBatch(), 0, []
        if sound and stands(part):
            batch.records += fresh
            (batch.ended if whole else batch.unread).append(part)
        else:
            held -= sum(one.size for one in fresh)
            batch.changed.append(part)
    if batch.ended or batch.unread or batch.changed or batch.records:
        yield batch
