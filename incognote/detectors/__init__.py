"""The detector protocol: a detector takes a batch of texts and returns scored spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from incognote.nouns import Span, Text

TAKEN, PASSED = 0.5, 0.44
"""The lowest score of a span that a learned detector accepts, and the highest score of one that it rejects.

The thresholds of the shipped policies lie between the two. Without the gap, a third of all notes would go to review
because of a word that is practically decided.
"""


class Detector(Protocol):
    """Finds spans in texts without a language model.

    Spans of one text may overlap: a detector does not merge them. A span's score says how sure the detector is. The
    policy's thresholds separate found spans, which are replaced, from doubtful ones, which are a reason for review.
    """

    name: str
    """The detector's name in manifests and in each span's `sources`, there as `name:rule`."""

    version: str
    """A content hash of the data (rules, weights), not of the code. It changes when the detected spans may change."""

    reads: frozenset[str]
    """The supported languages (ISO 639-1). Empty for a detector that only searches for given values."""

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Return one list of spans per text, in the order of the texts. CPU-bound and thread-safe."""
        ...
