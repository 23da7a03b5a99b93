"""The data for measuring routes: per text, the findings of rules and encoder; per chunk, a model's findings and tokens.

Replies come from a recording, which shows what a real model finds. For texts without a recorded reply, they are
scripted from the gold, which shows what a model that finds everything would add.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import ModelProblem, UsageError
from incognote.evaluation.corpus import CorpusProblem, Gold, LabeledSpan, read_gold
from incognote.extraction.asking import AskingTerms, ChunkAsker
from incognote.extraction.chunks import Chunk, chunks
from incognote.extraction.extractor import Extraction, Extractor, TextChunk
from incognote.extraction.routing import Chance, chances
from incognote.llm.base import LanguageModel
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span, Text
from incognote.prompts.loader import Prompt, asked, load
from incognote.schemas.policy import Policy
from incognote.sdk import Deidentifier
from incognote.testing import ScriptedLLM
from incognote_benchmarks.reading.counting import Counter
from incognote_benchmarks.reading.material import Heard, Note, script
from incognote_benchmarks.recorded import MODEL

PROMPT = "extract/v2"
PASSES = (2, 1)


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk as a model read it.

    Args:
        spans: the model's findings, placed with the help of the findings of rules and encoder.
        alone: the model's findings, placed without that help.
        tokens: of all messages and replies for the chunk, in all passes.
        instructions: the tokens among them that are the same for every chunk.
    """

    chunk: Chunk
    spans: tuple[Span, ...] = field(repr=False)
    alone: tuple[Span, ...] = field(repr=False)
    tokens: int
    instructions: int


@dataclass(frozen=True, slots=True)
class Read:
    """A text, its gold, the findings of rules and encoder, and its chunks as a model read them in `passes` passes."""

    gold: Gold
    text: Text
    raw: tuple[Span, ...] = field(repr=False)
    chances: tuple[Chance, ...] = field(repr=False)
    parts: tuple[Part, ...]
    passes: int


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


class Reading:
    """Reads texts. Rules and encoder run once per text.

    Args:
        opened: with rules and encoder, and no model.
        count: counts tokens.
    """

    def __init__(self, opened: Deidentifier, count: Counter) -> None:
        self._tools, self._count = opened.engine, count
        self._known: dict[str, tuple[Text, tuple[Span, ...], tuple[Chance, ...]]] = {}

    @property
    def policy(self) -> Policy:
        return self._tools.policy

    def settled(self, text: Text, spans: Iterable[Span]) -> tuple[Span, ...]:
        """The spans that are replaced, out of all findings."""
        return self._tools.detection.settle(text, [*spans], self._tools.policy).spans

    def embedded(self, gold: Gold) -> tuple[Text, tuple[Span, ...], tuple[Chance, ...]]:
        """The text, the findings of rules and encoder, and the places where they may have missed something."""
        if gold.id not in self._known:
            text = Text(gold.text)
            (raw,) = self._tools.detection.detect([text])
            self._known[gold.id] = text, tuple(raw), tuple(chances(raw, self.policy))
        return self._known[gold.id]

    def recorded(self, among: Sequence[Gold], replies: Path, passes: Sequence[int] = PASSES) -> list[Read]:
        """The texts that a recording answers completely, with the first of these numbers of passes that is recorded.

        Args:
            replies: a plain recording, named after the prompt it answers: `extract-v2.jsonl`.

        Raises:
            SettingError: there is no such recording.
            UnknownName: there is no such prompt.
        """
        prompt = load(replies.stem.replace("-", "/", 1))
        model = Replayed(MODEL, Recording(replies, plain=True, create=False))
        made = (next(filter(None, (self._read(g, model, prompt, n) for n in passes)), None) for g in among)
        return [read for read in made if read is not None]

    def scripted(self, among: Sequence[Gold]) -> list[Read]:
        """All texts, read by a model that names everything in the first pass."""
        prompt = load(PROMPT)
        made = (self._read(gold, ScriptedLLM(script(self._note(gold))), prompt, PASSES[0]) for gold in among)
        return [read for read in made if read is not None]

    def _note(self, gold: Gold) -> Note:
        served = (LabeledSpan(label.start, label.end, self.policy.serves(label.type) or "") for label in gold.labels)
        return Note(gold.id, gold.text, tuple(label for label in served if label.type))

    def _read(self, gold: Gold, model: LanguageModel, prompt: Prompt, passes: int) -> Read | None:
        """Read one text. Returns None if the model did not answer all of it."""
        text, raw, found = self.embedded(gold)
        parts: list[Part] = []
        for chunk in chunks(gold.text):
            heard = Heard(model)
            asker = ChunkAsker(AskingTerms((heard,), prompt, asked(self.policy)))
            try:
                made = _extracted(Extractor(asker, passes), TextChunk(text, chunk, raw))
                said = list(heard.said)
                alone = _extracted(Extractor(asker, passes), TextChunk(text, chunk))
            except ModelProblem:
                return None
            if made.unanswered or alone.unanswered:
                return None
            requests = [request for request, _ in said]
            parts.append(
                Part(
                    chunk,
                    tuple(made.spans),
                    tuple(alone.spans),
                    self._count.messages(requests) + sum(self._count(reply) for _, reply in said),
                    sum(self._count(r.messages[0].content) for r in requests),
                )
            )
        return Read(gold, text, raw, found, tuple(parts), passes)


def _extracted(extractor: Extractor, piece: TextChunk) -> Extraction:
    return asyncio.run(extractor.extract([piece]))[0]
