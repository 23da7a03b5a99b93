"""The protocol of a voice activity detector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from incognote.speech.nouns import Interval

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples


@runtime_checkable
class VoiceDetector(Protocol):
    """A detector of human voices. Threads may use it at the same time.

    Attributes:
        name: its name in settings and figures.
    """

    name: str

    def voiced(self, blocks: Iterable[Samples]) -> Iterator[Interval]:
        """Yield the parts with a human voice, in order. They do not overlap.

        Args:
            blocks: consecutive blocks of any length. They are read one at a time, so memory does not grow.

        Raises:
            MissingExtra: its library is not installed.
        """
        ...
