"""Find spans in a text with a language model, chunk by chunk and pass by pass (RedactOR §3.2, §A.4 Algorithm 1).

Several answers about one chunk are combined, with their agreement as the score (CIPHER's ensembles of k annotators).
The next pass sees the earlier findings as masks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from incognote.align.mentions import Fits, Placement, place
from incognote.align.merge import merge
from incognote.detectors.rules import packaged
from incognote.errors import BudgetExhausted, ModelProblem, ModelRejected, ModelUnavailable
from incognote.extraction.asking import CAPPED, Calls, ChunkAsker, NoAnswer, Rule
from incognote.extraction.chunks import Chunk, halves, length
from incognote.extraction.need import more_masks
from incognote.llm.base import Usage, gather_all
from incognote.nouns import Mention, Span, Text
from incognote.offsets import Shift
from incognote.prompts import sendable
from incognote.prompts.reply import ParsedReply
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy
from incognote.settings import Passes


@dataclass(frozen=True, slots=True, order=True)
class TypedStretch:
    """A typed range of a chunk, in its offsets."""

    start: int
    end: int
    type: str


def counted(answers: Sequence[Sequence[TypedStretch]], rule: Rule) -> dict[TypedStretch, float]:
    """Return each distinct range with its score.

    A vote agrees with a range if it has an overlapping one of the same evaluation group. Two votes with different
    boundaries for a name agree that there is a name. Under `majority` the score is the share of votes that agree, so a
    threshold of 0.5 in the policy requires half of them. Under `union` half of that share is added to 0.5. Then the
    finding of one vote is kept, and the score still shows how many votes agree.
    """
    scores: dict[TypedStretch, float] = {}
    for stretch in {s for answer in answers for s in answer}:
        share = sum(any(_agree(stretch, other) for other in answer) for answer in answers) / len(answers)
        scores[stretch] = share if rule == "majority" else 0.5 + share / 2
    return dict(sorted(scores.items()))


def _agree(part: TypedStretch, other: TypedStretch) -> bool:
    types = catalogue()
    same = part.type == other.type or types[part.type].group == types[other.type].group
    return same and part.start < other.end and other.start < part.end


@dataclass(frozen=True, slots=True)
class Masked:
    """A text as a later pass sees it.

    Args:
        text: the text with a mask such as [PERSON] for each finding.
        masks: their positions in it.
        shift: maps the original's offsets to its own.
    """

    text: str = field(repr=False)
    masks: tuple[tuple[int, int], ...]
    shift: Shift

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Map a range of the masked text to the original's offsets."""
        return self.shift.back(start), self.shift.back(end, end=True)


def masked(text: str, found: Iterable[tuple[int, int, str]]) -> Masked:
    """Mask disjoint ranges (start, end, type), in any order."""
    pieces: list[str] = []
    moved: list[tuple[int, int, int, int]] = []
    at = length = 0
    for start, end, kind in sorted(found):
        mask = f"[{kind}]"
        pieces += [text[at:start], mask]
        length += start - at
        moved.append((start, end, length, length + len(mask)))
        length += len(mask)
        at = end
    pieces.append(text[at:])
    return Masked("".join(pieces), tuple((a, b) for _, _, a, b in moved), Shift(moved))


UNMARKED = "mention-unmarked"
"""The code of a phrase in which the model did not mark the identifier, although it was asked again."""

_CHARACTER = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A chunk of a text.

    Args:
        evidence: spans of other detectors in the text. They help to place an ambiguous mention.
    """

    text: Text
    chunk: Chunk
    evidence: Sequence[Span] = field(default=(), repr=False)

    @property
    def languages(self) -> frozenset[str]:
        """The languages other than English in which the chunk is written, and that have a package."""
        return packaged(self.chunk.of(self.text))


@dataclass(slots=True)
class Extraction:
    """The result for one chunk.

    Attributes:
        spans: findings with overlapping ones merged, in the text's offsets. The score is the votes' agreement.
        doubts: placed findings of an unknown type, which a person must review.
        unsure: codes of what makes the verdict `review`, by entity type.
        unanswered: codes for parts without an answer from the model. The chunk then counts as unread.
        usage: of all calls.
        how: the number of mentions by how they were placed.
        by_pass: the number of new spans in each pass.
        by_vote: the ranges that each vote named, in all passes, in the text's offsets; empty for a single vote, and
            not complete if the chunk was split.
        problem: why the model failed on this chunk, if only this chunk was asked about.
        clear: whether each reply was one complete answer about this chunk alone, at the first try. Otherwise, silence
            about a part of the chunk means nothing.
        languages: the languages whose additions to the prompt the model saw.
        judged: the verdicts about gaps and doubted words, by their stretch of the text (`extraction.gaps`).
    """

    spans: list[Span] = field(default_factory=list, repr=False)
    doubts: list[Span] = field(default_factory=list, repr=False)
    unsure: Counter[tuple[str, str]] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    how: Counter[str] = field(default_factory=Counter)
    by_pass: list[int] = field(default_factory=list)
    by_vote: list[list[tuple[int, int]]] = field(default_factory=list, repr=False)
    problem: ModelProblem | None = None
    clear: bool = True
    languages: frozenset[str] = frozenset()
    judged: dict[tuple[int, int], str] = field(default_factory=dict)

    def tally(self, usage: Usage) -> None:
        self.usage += usage

    def join(self, other: Extraction) -> None:
        """Add the result of a part of the same chunk."""
        self.spans = merge([*self.spans, *other.spans])
        self.doubts += other.doubts
        self.unsure += other.unsure
        self.unanswered += other.unanswered
        self.usage += other.usage
        self.how += other.how
        self.clear &= other.clear
        self.languages |= other.languages


@dataclass(frozen=True, slots=True)
class Extractor:
    """Extracts from chunks. One serves all records of a run.

    Args:
        asker: asks the models.
        passes: p, the maximum number of passes over a chunk; from the second on, a pass without findings is the last.
            With `need`, a chunk gets a second pass only where `need.more_masks` sees a reason.
        masking: show earlier findings to later passes as masks. False only to measure the effect of masking.
        policy: decides which findings of other detectors are certain. Without it, `need` means one pass.
    """

    asker: ChunkAsker
    passes: Passes = "need"
    masking: bool = True
    policy: Policy | None = None

    async def extract(self, pieces: Sequence[TextChunk], *, apart: bool = False) -> list[Extraction]:
        """Run all passes over one chunk, or over several small ones of one patient, which are asked about together.

        Args:
            apart: the pieces belong to several records, so a failure must not spread from one to the others. If the
                model fails on the request, each piece is asked about alone. Its `problem` is set if that fails, too.

        Raises:
            ModelUnavailable, ModelRejected: the model failed, and `apart` is not set.
            EgressRefused: the settings do not allow the address.
        """
        extraction = [Extraction() for _ in pieces]
        pairs = list(zip(pieces, extraction, strict=True))
        passes, calls = 2 if self.passes == "need" else self.passes, Calls()
        try:
            await self._read(pairs, passes, calls)
        except (ModelUnavailable, ModelRejected):
            if not apart or not calls.left:
                raise
            await self._read_apart(pairs, passes - max(len(each.by_pass) for each in extraction), calls)
        problem = next((each.problem for each in extraction if each.problem is not None), None)
        if problem is not None and not apart:
            raise problem
        return extraction

    async def _read_apart(self, pairs: Sequence[tuple[TextChunk, Extraction]], passes: int, calls: Calls) -> None:
        """Ask about each piece alone, all at the same time. A piece on which the model fails gets a `problem`."""

        async def alone(piece: TextChunk, extraction: Extraction) -> None:
            try:
                await self._read([(piece, extraction)], passes, Calls(calls.left))
            except (ModelUnavailable, ModelRejected) as problem:
                extraction.problem = problem

        await gather_all([alone(*pair) for pair in pairs])

    async def _read(self, pairs: Sequence[tuple[TextChunk, Extraction]], passes: int, calls: Calls) -> None:
        """Run the passes in step for all pieces. A piece drops out when nothing of it is left to read or to find."""
        languages = frozenset.intersection(*(piece.languages for piece, _ in pairs))
        for turn in range(passes):
            views = [(piece, extraction, self._view(piece, extraction)) for piece, extraction in pairs]
            left = [(piece, extraction, view) for piece, extraction, view in views if view is not None]
            if not left or not calls.left:  # the first pass always has a call left
                return
            try:
                shown = [view.text for _, _, view in left]
                answers = await self.asker.ask(shown, left[0][1].tally, calls, languages)
            except NoAnswer as none:
                pairs = [(piece, extraction) for piece, extraction, _ in left]
                await self._read_smaller(pairs, none, passes - turn, calls)
                return
            for (piece, extraction, view), readings in zip(left, answers, strict=True):
                extraction.languages |= languages
                self._take(piece, view, readings, extraction)

    def _view(self, piece: TextChunk, extraction: Extraction) -> Masked | None:
        """Return what the next pass sees of a piece; None if another pass is not worthwhile."""
        at = piece.chunk
        inside = _inside(extraction.spans, at) if self.masking else []
        content = sendable(piece.text.content[at.start : at.end])
        if self.passes == "need" and extraction.by_pass:
            named = [*inside, *_inside(extraction.doubts, at)]
            evidence = _inside(piece.evidence, at)
            more = more_masks(length(content), evidence, named, self.policy) if self.policy else None
            if more is None:
                return None
            inside += more
        elif len(extraction.by_pass) > 1 and extraction.by_pass[-1] == 0:
            return None
        view = masked(content, [(s.start - at.start, s.end - at.start, s.type) for s in inside])
        return view if _legible(view) else None

    async def _read_smaller(
        self, pairs: Sequence[tuple[TextChunk, Extraction]], none: NoAnswer, passes: int, calls: Calls
    ) -> None:
        """Continue with smaller requests: each of several pieces alone, or the halves of one."""
        if len(pairs) > 1 and none.code != BudgetExhausted.code and calls.left:
            await self._read_apart(pairs, passes, calls)
            return
        for piece, extraction in pairs:
            await self._read_halves(piece, extraction, none, passes, calls)

    async def _read_halves(
        self, piece: TextChunk, extraction: Extraction, none: NoAnswer, passes: int, calls: Calls
    ) -> None:
        """Ask about the halves of a piece, with earlier findings as masks.

        The piece stays unread if it cannot be split, or if too few calls are left.
        """
        extraction.clear = False
        parts = halves(piece.text.content, piece.chunk, piece.languages) if none.smaller else ()
        if not parts or calls.left < len(parts):
            extraction.unanswered.update([none.code, CAPPED] if parts else [none.code])
            return
        inner = [Extraction(spans=list(extraction.spans)) for _ in parts]
        smaller = [replace(piece, chunk=part) for part in parts]
        shares = zip(smaller, inner, calls.divided(len(parts)), strict=True)
        await gather_all([self._read([(part, into)], passes, share) for part, into, share in shares])
        for part in inner:
            extraction.join(part)

    def _take(self, piece: TextChunk, view: Masked, readings: Sequence[ParsedReply], extraction: Extraction) -> None:
        """Place the mentions of every vote, and add the combined result."""
        fits = _Evidence(piece.evidence).fits(piece.chunk, view)
        answers: list[list[TypedStretch]] = []
        for reading in readings:
            extraction.clear &= not reading.faults
            answer: list[TypedStretch] = []
            for placed in _placed(view, reading.mentions, fits):
                extraction.how[placed.how] += 1
                extraction.clear &= placed.how != "echo"  # it named something, and wrote a mask instead of the words
                if not placed.certain:
                    code = "mention-ambiguous" if placed.stretches else "mention-unplaced"
                    extraction.unsure[code, placed.mention.type] += 1
                answer += [TypedStretch(*view.back(*s), placed.mention.type) for s in placed.stretches]
            for placed in _placed(view, reading.strays, fits):
                extraction.how["stray"] += 1
                extraction.unsure["mention-of-unknown-type", placed.mention.type] += 1
                strays = [TypedStretch(*view.back(*s), placed.mention.type) for s in placed.stretches]
                extraction.doubts += [_span(piece, stray, 0.5, extraction) for stray in strays]
            extraction.unsure.update((UNMARKED, kind) for kind in reading.unmarked)
            answers.append(answer)
        if len(answers) > 1:
            at = piece.chunk.start
            extraction.by_vote = extraction.by_vote or [[] for _ in answers]
            for named, answer in zip(extraction.by_vote, answers, strict=True):
                named += [(stretch.start + at, stretch.end + at) for stretch in answer]
        before = {(s.start, s.end) for s in extraction.spans}
        agreed = counted(answers, self.asker.terms.rule)
        new = (_span(piece, stretch, score, extraction) for stretch, score in agreed.items())
        extraction.spans = merge([*extraction.spans, *new])
        extraction.by_pass.append(sum((s.start, s.end) not in before for s in extraction.spans))


def _inside(spans: Iterable[Span], chunk: Chunk) -> list[Span]:
    return [span for span in spans if chunk.start <= span.start and span.end <= chunk.end]


def _placed(view: Masked, mentions: Sequence[Mention], fits: Fits) -> list[Placement]:
    """Return the placements of mentions. Without mentions, as in most second passes, the view is not searched."""
    return place(view.text, mentions, masks=view.masks, fits=fits) if mentions else []


def _span(piece: TextChunk, stretch: TypedStretch, score: float, extraction: Extraction) -> Span:
    at = piece.chunk.start
    source = f"llm:pass{len(extraction.by_pass) + 1}"
    return Span(piece.text, stretch.start + at, stretch.end + at, stretch.type, score, (source,))


def _legible(view: Masked) -> bool:
    """Whether more than masks and punctuation is left to read."""
    at = 0
    for start, end in (*view.masks, (len(view.text), len(view.text))):
        if _CHARACTER.search(view.text, at, start):
            return True
        at = end
    return False


class _Evidence:
    """The findings of other detectors in a text, searchable by position."""

    def __init__(self, spans: Sequence[Span]) -> None:
        types = catalogue()
        self._spans = sorted((s.start, s.end, types[s.type].group) for s in spans)
        self._starts = [start for start, _, _ in self._spans]
        self._longest = max((end - start for start, end, _ in self._spans), default=0)

    def fits(self, chunk: Chunk, view: Masked) -> Fits:
        """Return a function that tells whether these spans have a type's group at a position of a chunk's view."""

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
