"""Looks at the sink, and puts what is new there into the ledger."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field

from incognote.ledger import Found, Ledger, Release
from incognote.service.sinks.reading import ranges
from incognote.service.sinks.sink import Seen, Sink

_MANY = 1000
_SHARE = 10  # times as long as a look took, from its begin to the next one's
_TOLD = ("link-outside", "link-nowhere", "special", "unreadable")
"""Kept in the ledger as files that are not read: somebody meant them to be."""


@dataclass
class Looked:
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


class Scout:
    """One per worker; what it has put down once it does not ask about again.

    Args:
        part_bytes: how large the parts of a large file are.
        poll: seconds from one look to the next, at least.
    """

    def __init__(self, sink: Sink, ledger: Ledger, release: Release, part_bytes: int, poll: float = 0.0) -> None:
        self._sink, self._ledger, self._release, self._part = sink, ledger, release, part_bytes
        self._poll, self._next = poll, 0.0
        self._known: dict[bytes, bytes] = {}  # names and stamps, as hashes of this process: a hundred bytes a file

    @property
    def due(self) -> bool:
        """Whether it is time for another look, although there is work."""
        return time.monotonic() >= self._next

    def look(self) -> Looked:
        """Look once; what takes long is done less often.

        Raises:
            SinkUnavailable, LedgerUnavailable: what was put down stands; look again.
        """
        began = time.monotonic()
        self._next = began + self._poll
        looked, waiting, refused = Looked(), list[Seen](), list[Seen]()
        for seen in self._sink.look():
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
            SinkUnavailable: nobody can say.
        """
        now = self._sink.stamp(name)
        return now is not None and self.stamp(now) == stamp

    def location(self, name: str) -> str:
        """What the ledger calls a place in the sink."""
        return self._ledger.key("location", name)

    def stamp(self, told: str) -> str:
        """What the ledger calls a version of a file."""
        return self._ledger.key("stamp", told)

    def _put(self, files: list[Seen], code: str | None = None) -> int:
        if not files:
            return 0
        told = [
            Found(self.location(seen.name), self.stamp(seen.stamp), seen.name, seen.size,
                  ranges(seen.name, seen.size, self._part))
            for seen in files
        ]  # fmt: skip
        new = self._ledger.found(self._release.id, told, code=code)
        self._known |= {_hash(seen.name): _hash(seen.stamp) for seen in files}
        return new


def _hash(told: str) -> bytes:
    """Sixteen bytes; a key takes many times as long, and a large sink is looked at again and again."""
    return hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=16).digest()
