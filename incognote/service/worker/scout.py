"""Looks at the sink, and puts what is new there into the ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from incognote.ledger import Found, Ledger, Release
from incognote.service.sinks.reading import ranges
from incognote.service.sinks.sink import Seen, Sink

_MANY = 1000
_TOLD = ("link-outside",)
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
    """

    def __init__(self, sink: Sink, ledger: Ledger, release: Release, part_bytes: int) -> None:
        self._sink, self._ledger, self._release, self._part = sink, ledger, release, part_bytes
        self._known: dict[bytes, bytes] = {}  # of locations and stamps, halves of their keys: a hundred bytes a file

    def look(self) -> Looked:
        """Look once.

        Raises:
            SinkUnavailable, LedgerUnavailable: what was put down stands; look again.
        """
        looked, waiting = Looked(), []
        refused: list[Found] = []
        for seen in self._sink.look():
            looked.by_why[seen.why] += 1
            if seen.why == "resting":
                continue
            location, stamp = self.location(seen.name), self.stamp(seen.stamp)
            if self._known.get(bytes.fromhex(location)) == bytes.fromhex(stamp):
                continue
            if seen.why == "ready":
                waiting.append(self._found(seen, location, stamp))
            elif seen.why in _TOLD:
                refused.append(self._found(seen, location, stamp))
            if len(waiting) >= _MANY:
                looked.new += self._put(waiting)
                waiting = []
        looked.new += self._put(waiting)
        for why in _TOLD:
            self._put(refused, why)
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

    def _found(self, seen: Seen, location: str, stamp: str) -> Found:
        return Found(location, stamp, seen.name, seen.size, ranges(seen.name, seen.size, self._part))

    def _put(self, files: list[Found], code: str | None = None) -> int:
        if not files:
            return 0
        new = self._ledger.found(self._release.id, files, code=code)
        self._known |= {bytes.fromhex(file.location): bytes.fromhex(file.stamp) for file in files}
        return new
