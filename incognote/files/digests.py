"""Keyed digests of inputs and of records, which show later whether they are still the same. They reveal nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from incognote.files.inputs import Input
from incognote.files.sources import Source


class InputDigests:
    """The digests of the inputs of a run.

    Args:
        sources: all of them. An input that changes after this object was made has no digest.
        keyed: returns a keyed short name of a value that may be PHI.
    """

    def __init__(self, sources: Sequence[Source], keyed: Callable[[str], str]) -> None:
        self._keyed = keyed
        self._stats = {source: _stat(source) for source in sources}
        self._digests: dict[Source, str | None] = {}

    def of(self, source: Source) -> str | None:
        """Return the digest of an input's bytes; None if they can be read only once, cannot be read, or changed."""
        if source.path is None or source.single_pass or source.unread:
            return None
        if source not in self._digests:
            found = sha256_of(source.path)
            self._digests[source] = self._keyed(f"content {found}") if found else None
        stat = self._stats.get(source)
        return self._digests[source] if stat is not None and stat == _stat(source) else None

    def all(self) -> list[str | None]:
        """Return the digests of all inputs, in the order of the run."""
        return [self.of(source) for source in self._stats]


def record_digest(one: Input, keyed: Callable[[str], str]) -> str:
    """Return the digest of a record: of its input's name, its position, and its bytes."""
    return keyed(f"record {one.position} {hashlib.sha256(one.data or b'').hexdigest()} {one.source.name}")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; "" if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def _stat(source: Source) -> tuple[int, int] | None:
    try:
        found = source.path.stat() if source.path is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_size, found.st_mtime_ns)
