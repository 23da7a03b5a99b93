"""The interface of a peer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from incognote.errors import UsageError
from incognote.evaluation.formats.document import LabeledSpan


class Absent(UsageError):
    """A peer, or something that it needs, is not installed. The message says what to install."""


class PeerFailed(UsageError):
    """The process of a peer ended before it answered."""


@dataclass(frozen=True, slots=True)
class Detected:
    """The findings of a peer and their cost.

    Attributes:
        labels: per text, under our names if the catalogue has the kind; None if the peer failed on the text.
        characters_per_second: of the peer's own processor time, without loading; None if it was not measured.
        peak_mb: the peak memory of its process, in MB (2**20 bytes); None as above.
        ready_seconds: wall time from its first import to its first answer; None as above.
    """

    labels: tuple[tuple[LabeledSpan, ...] | None, ...]
    characters_per_second: float | None = None
    peak_mb: float | None = None
    ready_seconds: float | None = None


class Peer(Protocol):
    """A de-identifier. `version` and `about` (its configuration in words) are known after its first detection."""

    @property
    def name(self) -> str:
        """Its name in the table."""
        ...

    @property
    def version(self) -> str:
        """The version of its package; "" before it is known."""
        ...

    @property
    def about(self) -> str:
        """Its configuration; "" before it is known."""
        ...

    def detect(self, texts: Sequence[str]) -> Detected:
        """Find the identifiers in texts.

        Raises:
            Absent: it is not installed.
            PeerFailed: it ended before it answered.
        """
        ...
