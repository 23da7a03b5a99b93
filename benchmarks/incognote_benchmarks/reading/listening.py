"""Record the placement of each mention. The pipeline itself keeps only counts, because a placement is PHI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from incognote.align.mentions import Fits, Placement, place
from incognote.extraction import extractor
from incognote.extraction.extractor import Extraction, Extractor, Masked, TextChunk
from incognote.nouns import Mention
from incognote.prompts.reply import ParsedReply
from incognote_benchmarks.reading.drawing import Gold


@dataclass(frozen=True, slots=True)
class Heard:
    """The mentions of one reply as the pipeline placed them."""

    piece: TextChunk = field(repr=False)
    view: Masked = field(repr=False)
    placements: tuple[Placement, ...] = field(repr=False)

    def stretches(self, placement: Placement) -> tuple[tuple[int, int], ...]:
        """The places of a mention, in offsets of the note."""
        at = self.piece.chunk.start
        ends = (self.view.back(*stretch) for stretch in placement.stretches)
        return tuple((start + at, end + at) for start, end in ends)

    def shown(self, gold: Gold) -> tuple[int, int] | None:
        """The place of an identifier of the note in the text shown; None unless it is complete and unmasked there."""
        at = self.piece.chunk
        if not at.start <= gold[0] < gold[1] <= at.end:
            return None
        start, end = self.view.shift.forward(gold[0] - at.start), self.view.shift.forward(gold[1] - at.start, end=True)
        whole = self.view.text[start:end] == self.piece.text.content[gold[0] : gold[1]]
        return (start, end) if whole else None


@contextmanager
def listening() -> Iterator[list[Heard]]:
    """A list that fills with the pipeline's placements, reply by reply, while the block runs.

    It is not thread-safe: it records all engines of the process, and the Runtime runs them in one thread.
    """
    heard: list[Heard] = []
    now: list[tuple[TextChunk, Masked]] = []
    take = Extractor._take

    def taken(
        self: Extractor, piece: TextChunk, view: Masked, readings: Sequence[ParsedReply], made: Extraction
    ) -> None:
        now[:] = [(piece, view)]
        take(self, piece, view, readings, made)

    def placed(
        text: str, mentions: Sequence[Mention], *, masks: Sequence[tuple[int, int]] = (), fits: Fits | None = None
    ) -> list[Placement]:
        made = place(text, mentions, masks=masks, fits=fits)
        heard.append(Heard(*now[0], tuple(made)))
        return made

    with patch.object(Extractor, "_take", taken), patch.object(extractor, "place", placed):
        yield heard
