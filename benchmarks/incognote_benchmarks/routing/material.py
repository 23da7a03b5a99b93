"""The data for measuring routes: per text, the findings of rules and encoder; per chunk, a model's findings and tokens.

Replies come from a recording, which shows what a real model finds. For texts without a recorded reply, they are
scripted from the gold, which shows what a model that finds everything would add.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incognote.agents.combining import restored, veto
from incognote.agents.detection import TextView
from incognote.agents.stages import Detected, Opened, Planned
from incognote.errors import ModelProblem, UsageError
from incognote.evaluation.corpus import CorpusProblem, Gold, LabeledSpan, read_gold
from incognote.extraction.asking import AskingTerms, ChunkAsker
from incognote.extraction.chunks import Chunk, chunks
from incognote.extraction.extractor import Extraction, Extractor, TextChunk
from incognote.extraction.routing import Chance, chances
from incognote.jsonlines import read_rows
from incognote.llm.base import LanguageModel
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.schemas.policy import Policy
from incognote.sdk import Deidentifier
from incognote.testing import ScriptedLLM
from incognote.text.reading import Reading as ReadText
from incognote_benchmarks.reading.counting import Counter
from incognote_benchmarks.reading.material import Heard, Note, script
from incognote_benchmarks.recorded import MODEL

_LANGUAGES = frozenset(("en",))
_QUESTION = re.compile(r"\b(?:questions?|query|queries|search)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk as a model read it once.

    Args:
        extraction: what the model found, placed with the help of the findings of rules and encoder.
        alone: what it found, placed without that help.
        tokens: of all messages and replies for the chunk.
    """

    chunk: Chunk
    extraction: Extraction = field(repr=False)
    alone: Extraction = field(repr=False)
    tokens: int


@dataclass(frozen=True, slots=True)
class Read:
    """A text, its gold, the findings of rules and encoder, and its chunks as a model read them.

    Args:
        recorded: whether all replies are recorded. Otherwise, they are scripted from the gold.
    """

    gold: Gold
    text: Text
    raw: tuple[Span, ...] = field(repr=False)
    chances: tuple[Chance, ...] = field(repr=False)
    parts: tuple[Part, ...]
    recorded: bool


def gold_of(path: Path) -> list[Gold]:
    """Read the annotated texts of a file.

    Raises:
        UsageError: it cannot be read, or one of its documents is not usable.
    """
    made: list[Gold] = []
    for document in read_gold(path):
        if isinstance(document, CorpusProblem):
            raise UsageError(f"{path.name}, {document.id}: {document.what}")
        made.append(document)
    return made


def questions(paths: Iterable[Path]) -> frozenset[str]:
    """Return the ids of the texts that are a question or a search, by their style."""
    rows = (row for path in paths for _, row in read_rows(path))
    return frozenset(row["id"] for row in rows if _QUESTION.search(row.get("style", "")))


class Reading:
    """Reads texts. Rules and encoder run once per text.

    Args:
        opened: with rules and encoder, and no model.
        count: counts tokens.
        replies: a plain recording of replies to `extract/v3`.

    Raises:
        SettingError: there is no such recording.
    """

    def __init__(self, opened: Deidentifier, count: Counter, replies: Path) -> None:
        self._tools, self._count = opened.engine, count
        self._prompt = load("extract/v3")
        self._recorded = Replayed(MODEL, Recording(replies, plain=True, create=False))

    @property
    def policy(self) -> Policy:
        return self._tools.policy

    def alone(self, read: Read) -> tuple[Span, ...]:
        """The spans that are replaced if only the model reads the text."""
        return self._settled(read.text, [span for part in read.parts for span in part.alone.spans])

    def combined(self, read: Read, sent: Collection[int] = ()) -> tuple[Span, ...]:
        """The spans that are replaced if the model reads some chunks. Its silence counts only in these."""
        text, parts = read.text, [read.parts[i] for i in sorted(sent)]
        view = TextView(text, ReadText(text.content, text.content), text)
        vetoed = veto(
            Opened(texts=(text,)), Detected((view,), (read.raw,), ((),)),
            Planned("doubtful", tuple((0, part.chunk) for part in parts)),
            {at: part.extraction for at, part in enumerate(parts)}, self._tools.detection, _LANGUAGES, self.policy,
        )  # fmt: skip
        spans = self._settled(text, [*vetoed.raw[0], *(span for part in parts for span in part.extraction.spans)])
        return restored({text.field: spans}, vetoed.dropped, self.policy)[0][text.field]

    def _settled(self, text: Text, spans: Sequence[Span]) -> tuple[Span, ...]:
        return self._tools.detection.settle(text, spans, self.policy).spans

    def reads(self, among: Sequence[Gold]) -> list[Read]:
        """All texts, with their recorded replies, or scripted ones for texts without."""
        return [self._read(gold) for gold in among]

    def _read(self, gold: Gold) -> Read:
        text = Text(gold.text)
        (raw,) = self._tools.detection.detect([text])
        named = (LabeledSpan(label.start, label.end, self.policy.serves(label.type) or "") for label in gold.labels)
        note = Note(gold.id, gold.text, tuple(label for label in named if label.type))
        parts = self._parts(text, raw, self._recorded)
        recorded = parts is not None
        if parts is None:
            parts = self._parts(text, raw, ScriptedLLM(script(note)))
        if parts is None:
            raise UsageError(f"{gold.id}: the scripted model gave no answer")
        among = tuple(chances(raw, self.policy))
        return Read(gold, text, tuple(raw), among, tuple(parts), recorded)

    def _parts(self, text: Text, raw: Sequence[Span], model: LanguageModel) -> list[Part] | None:
        """Read each chunk once. Returns None if the model did not answer all of them."""
        parts: list[Part] = []
        for chunk in chunks(text.content):
            heard = Heard(model)
            extractor = Extractor(ChunkAsker(AskingTerms((heard,), self._prompt, self._prompt.types(self.policy))), 1)
            try:
                extraction = _extracted(extractor, TextChunk(text, chunk, raw))
                tokens = self._count.messages([request for request, _ in heard.said])
                tokens += sum(self._count(reply) for _, reply in heard.said)
                alone = _extracted(extractor, TextChunk(text, chunk))
            except ModelProblem:
                return None
            if extraction.unanswered or alone.unanswered:
                return None
            parts.append(Part(chunk, extraction, alone, tokens))
        return parts


def _extracted(extractor: Extractor, piece: TextChunk) -> Extraction:
    return asyncio.run(extractor.extract([piece]))[0]
