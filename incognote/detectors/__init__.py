"""Detectors: texts in, scored spans out, batch first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from incognote.nouns import Span, Text

TAKEN, PASSED = 0.5, 0.44
"""What a learned detector takes scores at least so much, what it passes over at most. Between the two the shipped
policies draw their lines, and a third of all notes would go to a person for a word that is as good as decided."""


class Detector(Protocol):
    """Finds spans in texts without a language model.

    Spans of one text may overlap; merging is not a detector's business. A span's score says how sure the detector
    is; the policy's thresholds divide the found (replaced) from the doubtful (a reason for review).
    """

    name: str
    """Stands in each span's `sources` as `name:rule`, and in manifests."""

    version: str
    """A content hash of code-independent data (rules, weights): changes when answers may."""

    reads: frozenset[str]
    """The languages (ISO 639-1) whose notes it was made for; empty for one that only seeks what it was given."""

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """One list of spans per text, in the order of the texts; CPU work, thread-safe."""
        ...
