"""What a peer is to the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from incognote.errors import UsageError
from incognote.evaluation.formats.document import LabeledSpan


class Absent(UsageError):
    """A peer, or a part without which it does not run, is not installed. The message says what to install."""


class PeerFailed(UsageError):
    """The process of a peer ended before it had answered."""


@dataclass(frozen=True, slots=True)
class Detected:
    """What a peer found, and what that took.

    Attributes:
        labels: per text, under our names where the catalogue has the kind; None where the peer failed on the text.
        characters_per_second: of the peer's own processor time, loading not included; None where it was not measured.
        peak_mb: the most memory its process held, in MB (2**20 bytes); None as above.
        ready_seconds: of wall time, from its first import to its first answer; None as above.
    """

    labels: tuple[tuple[LabeledSpan, ...] | None, ...]
    characters_per_second: float | None = None
    peak_mb: float | None = None
    ready_seconds: float | None = None


class Peer(Protocol):
    """A de-identifier. `version` and `about` (its configuration, in words) are known once it has detected."""

    @property
    def name(self) -> str:
        """As the table calls it."""
        ...

    @property
    def version(self) -> str:
        """Of its package; "" before it is known."""
        ...

    @property
    def about(self) -> str:
        """How it is configured; "" before it is known."""
        ...

    def detect(self, texts: Sequence[str]) -> Detected:
        """Find the identifiers of texts.

        Raises:
            Absent: it is not installed.
            PeerFailed: it ended before it had answered.
        """
        ...
