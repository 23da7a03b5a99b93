"""Chunk by chunk, pass by pass: what a language model finds in a text, as spans (RedactOR §3.2, §A.4 Algorithm 1)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from incognote.align.mentions import Fits, place
from incognote.align.merge import merge
from incognote.extraction.asking import Asker, NoAnswer, together
from incognote.extraction.chunks import Chunk, halves
from incognote.extraction.masks import Masked, masked
from incognote.extraction.votes import Stretch, counted
from incognote.llm.base import Usage
from incognote.nouns import Span, Text
from incognote.prompts.reply import Reading
from incognote.schemas.catalogue import catalogue

PASSES = 2
"""p of RedactOR §A.3."""

_CHARACTER = re.compile(r"[^\W_]")


@dataclass(slots=True)
class Extraction:
    """What came of one chunk.

    Attributes:
        spans: found, overlapping ones united, in the text's offsets; the score is the votes' agreement.
        doubts: placed, but a person must look: a type nobody knows.
        unsure: codes of what makes the verdict `review`, by entity type.
        unanswered: codes of what the model gave no answer to; then the chunk counts as unread.
        usage: of all calls.
        how: how many mentions were placed in which way.
        by_pass: spans that were new in each pass.
    """

    spans: list[Span] = field(default_factory=list, repr=False)
    doubts: list[Span] = field(default_factory=list, repr=False)
    unsure: Counter[tuple[str, str]] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    how: Counter[str] = field(default_factory=Counter)
    by_pass: list[int] = field(default_factory=list)

    def tally(self, usage: Usage) -> None:
        self.usage += usage

    def join(self, other: Extraction) -> None:
        """Take in what came of a part of the same chunk."""
        self.spans = merge([*self.spans, *other.spans])
        self.doubts += other.doubts
        self.unsure += other.unsure
        self.unanswered += other.unanswered
        self.usage += other.usage
        self.how += other.how


@dataclass(frozen=True, slots=True)
class Extractor:
    """Extracts from chunks; one serves all records of a run.

    Args:
        asker: how questions are put.
        passes: p, the most passes over a chunk; from the second on one that finds nothing is the last.
        masking: show later passes what was found as masks. False only for measuring what masking gains.
    """

    asker: Asker
    passes: int = PASSES
    masking: bool = True

    async def extract(self, text: Text, chunk: Chunk, evidence: Sequence[Span] = ()) -> Extraction:
        """All passes over one chunk.

        Args:
            evidence: what other detectors found in the text, by which an ambiguous mention finds its place.

        Raises:
            ModelUnavailable, ModelRejected, EgressRefused: the model did not serve.
        """
        made = Extraction()
        await self._read(text, chunk, _Evidence(evidence), made, self.passes)
        return made

    async def _read(self, text: Text, chunk: Chunk, evidence: _Evidence, made: Extraction, passes: int) -> None:
        for turn in range(passes):
            inside = [s for s in made.spans if chunk.start <= s.start and s.end <= chunk.end] if self.masking else []
            content = text.content[chunk.start : chunk.end]
            view = masked(content, [(s.start - chunk.start, s.end - chunk.start, s.type) for s in inside])
            if not _legible(view):
                return
            try:
                readings = await self.asker.ask(view.text, made.tally)
            except NoAnswer as none:
                parts = halves(text.content, chunk) if none.smaller else ()
                if not parts:
                    made.unanswered[none.code] += 1
                    return
                await self._divide(text, parts, evidence, made, passes - turn)
                return
            before = len(made.spans)
            self._take(text, chunk, view, readings, evidence, made)
            made.by_pass.append(len(made.spans) - before)
            if turn >= 1 and made.by_pass[-1] == 0:
                return

    async def _divide(
        self, text: Text, parts: Sequence[Chunk], evidence: _Evidence, made: Extraction, passes: int
    ) -> None:
        """Go on in smaller pieces, each with what was found so far as masks."""
        pieces = [Extraction(spans=list(made.spans)) for _ in parts]
        pairs = zip(parts, pieces, strict=True)
        await together([self._read(text, part, evidence, piece, passes) for part, piece in pairs])
        for piece in pieces:
            made.join(piece)

    def _take(
        self, text: Text, chunk: Chunk, view: Masked, readings: Sequence[Reading], evidence: _Evidence, made: Extraction
    ) -> None:
        """Place the mentions of every vote and take what the votes amount to."""
        fits = evidence.fits(chunk, view)
        answers: list[list[Stretch]] = []
        for reading in readings:
            answer: list[Stretch] = []
            for placed in place(view.text, reading.mentions, masks=view.masks, fits=fits):
                made.how[placed.how] += 1
                if not placed.certain:
                    code = "mention-ambiguous" if placed.stretches else "mention-unplaced"
                    made.unsure[code, placed.mention.type] += 1
                answer += [Stretch(*view.back(*s), placed.mention.type) for s in placed.stretches]
            for placed in place(view.text, reading.strays, masks=view.masks, fits=fits):
                made.how["stray"] += 1
                made.unsure["mention-of-unknown-type", placed.mention.type] += 1
                made.doubts += [
                    self._span(text, chunk, Stretch(*view.back(*s), placed.mention.type), 0.5, made)
                    for s in placed.stretches
                ]
            answers.append(answer)
        agreed = counted(answers, self.asker.terms.rule)
        made.spans = merge([*made.spans, *(self._span(text, chunk, s, score, made) for s, score in agreed.items())])

    def _span(self, text: Text, chunk: Chunk, stretch: Stretch, score: float, made: Extraction) -> Span:
        source = f"llm:pass{len(made.by_pass) + 1}"
        return Span(text, stretch.start + chunk.start, stretch.end + chunk.start, stretch.type, score, (source,))


def _legible(view: Masked) -> bool:
    """Whether anything but masks and punctuation is left to read."""
    at = 0
    for start, end in (*view.masks, (len(view.text), len(view.text))):
        if _CHARACTER.search(view.text, at, start):
            return True
        at = end
    return False


class _Evidence:
    """What other detectors found in a text, asked by place."""

    def __init__(self, spans: Sequence[Span]) -> None:
        types = catalogue()
        self._spans = sorted((s.start, s.end, types[s.type].group) for s in spans)
        self._starts = [start for start, _, _ in self._spans]
        self._longest = max((end - start for start, end, _ in self._spans), default=0)

    def fits(self, chunk: Chunk, view: Masked) -> Fits:
        """Whether a place of a chunk's view holds something of a type's group, by these spans."""

        def asked(text: str, start: int, end: int, type: str) -> bool:
            start, end = (offset + chunk.start for offset in view.back(start, end))
            group = catalogue()[type].group
            for at in range(bisect_right(self._starts, end) - 1, -1, -1):
                began, ended, kind = self._spans[at]
                if began < start - self._longest:
                    break
                if began < end and start < ended and kind == group:
                    return True
            return False

        return asked
