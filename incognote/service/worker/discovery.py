"""Discovery adds new files of the source to the ledger. Claimed parts are read in batches of bounded size."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from incognote.files.inputs import Input, RecordDefaults
from incognote.formats.tables import Layout
from incognote.ledger import FilePart, FoundFile, Ledger, Release
from incognote.runs.source import RecordSource, SeenFile
from incognote.service.worker.records import KeyedRecord

_MANY = 1000
_SHARE = 10  # the interval between two scans, in multiples of a scan's duration
_TOLD = ("link-outside", "link-nowhere", "special", "unreadable")
"""Stored in the ledger as files that are not read, since a user meant them to be read."""


@dataclass
class Discovered:
    """The result of a scan.

    Attributes:
        new: files, or versions of files, that were not known.
        by_why: the number of files by the reason why they are read or not.
    """

    new: int = 0
    by_why: Counter[str] = field(default_factory=Counter)

    @property
    def resting(self) -> int:
        """The number of files that may still be written to, and are checked again later."""
        return self.by_why["resting"]


class Discovery:
    """Scans the source; one per worker. It does not ask the ledger again about a file that it has added.

    Args:
        part_bytes: the size of the parts of a large file.
        poll: the minimum number of seconds between two scans.
    """

    def __init__(
        self, source: RecordSource, ledger: Ledger, release: Release, part_bytes: int, poll: float = 0.0
    ) -> None:
        self._source, self._ledger, self._release, self._part = source, ledger, release, part_bytes
        self._poll, self._next = poll, 0.0
        self._known: dict[bytes, bytes] = {}  # names and stamps, as hashes of this process: a hundred bytes per file

    @property
    def due(self) -> bool:
        """Whether another scan is due, even if there is work."""
        return time.monotonic() >= self._next

    def look(self) -> Discovered:
        """Scan the source once. The longer a scan takes, the less often it is done.

        Raises:
            SourceUnavailable, LedgerUnavailable: files added so far are kept; scan again.
        """
        began = time.monotonic()
        self._next = began + self._poll
        looked, waiting, refused = Discovered(), list[SeenFile](), list[SeenFile]()
        for seen in self._source.look(partial(self._ledger.latest, self._release.id)):
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
        """Whether a file is unchanged since it was added.

        Raises:
            SourceUnavailable: the source does not answer.
        """
        now = self._source.stamp(name)
        return now is not None and self.stamp(now) == stamp

    def location(self, name: str) -> str:
        """Return the ledger's keyed name for a path in the source."""
        return self._ledger.key("location", self._source.location(name))

    def stamp(self, told: str) -> str:
        """Return the ledger's keyed name for a version of a file."""
        return self._ledger.key("stamp", told)

    def _put(self, files: list[SeenFile], code: str | None = None) -> int:
        if not files:
            return 0
        told = [
            FoundFile(self.location(seen.name), self.stamp(seen.stamp), seen.name, seen.size,
                  self._source.ranges(seen.name, seen.size, self._part))
            for seen in files
        ]  # fmt: skip
        new = self._ledger.found(self._release.id, told, code=code)
        self._known |= {_hash(seen.name): _hash(seen.stamp) for seen in files}
        return new


def _hash(told: str) -> bytes:
    """Return a 16-byte hash.

    A keyed hash would take many times as long, and a large source is scanned again and again.
    """
    return hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).digest()


@dataclass
class RecordBatch:
    """Records that are in memory at once.

    Attributes:
        ended: parts with no more records after these.
        unread: parts whose bytes could not be read, or not to their end.
        changed: parts whose file changed after it was found. Records read since then are not included.
    """

    records: list[KeyedRecord] = field(default_factory=list)
    ended: list[FilePart] = field(default_factory=list)
    unread: list[FilePart] = field(default_factory=list)
    changed: list[FilePart] = field(default_factory=list)


def batches(
    parts: Sequence[FilePart], source: RecordSource, *, layout: Layout | None, words: RecordDefaults,
    key: Callable[[FilePart, Input], KeyedRecord], stands: Callable[[FilePart], bool], records: int, size: int,
) -> Generator[RecordBatch, None, None]:  # fmt: skip
    """Read parts one after the other.

    A file that changes during reading may have been read half-written. What was read since it was last seen unchanged
    is discarded.

    Args:
        stands: whether a part's file is unchanged.
        records, size: the limits of one batch. A longer record is a batch of its own.

    Raises:
        SourceUnavailable: a store failed.
    """
    batch, held = RecordBatch(), 0
    for part in parts:
        fresh: list[KeyedRecord] = []
        stream = source.read(part.name, part.start, part.stop, layout)
        sound, whole = True, True
        for one in stream:
            if one.not_read:
                whole = False
                break
            if one.left_out:
                continue
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
