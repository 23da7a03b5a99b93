"""The reading side of a toolkit: language models asked about chunks of notes, as the policy allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from incognote.agents.models import Models
from incognote.agents.watch import Watch
from incognote.errors import SettingError
from incognote.extraction.asking import Asker, Terms
from incognote.extraction.chunks import Chunk, chunks, length
from incognote.extraction.composite import grouped, room
from incognote.extraction.extractor import Extractor, Piece
from incognote.extraction.routing import chances, expected
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.prompts.types import asked
from incognote.schemas.policy import Policy
from incognote.settings import Settings

BATCHED = 1_000
"""Records in work at once in batch mode are twice as many: only requests that wait together share a batch."""


class Reader:
    """What reads chunks with language models; one for all records of a Deidentifier.

    Args:
        models: who is asked; the first one's settings say how.

    Raises:
        SettingError, UnknownName: the prompt or the chunking cannot be used.
    """

    def __init__(self, settings: Settings, policy: Policy, models: Models) -> None:
        first = models.first
        self.words, self.overlap = first.chunk_words, first.chunk_overlap
        if self.overlap is not None and self.overlap >= self.words:
            raise SettingError("chunk_overlap is smaller than chunk_words")
        self._policy = policy
        self._prompt = load(first.prompt)
        terms = Terms(
            models.all,
            self._prompt,
            asked(policy),
            first.votes,
            first.vote_rule,
            first.temperature,
            first.spread,
            first.max_tokens,
        )
        self._composes = first.composite and self._prompt.composes
        prompt_tokens = len(self._prompt.render(["", ""], terms.types).system) // 4 if self._composes else 0
        self._room = room(self.words, first.context_tokens, prompt_tokens, first.max_tokens // 2)
        self.watch = Watch()
        self.reads = frozenset.intersection(
            *(frozenset(settings.for_model(model.name).reads or self._prompt.languages) for model in models.all)
        )
        """The languages (ISO 639-1) that all of the models are trusted to read."""
        self._extractor = Extractor(Asker(terms, models.budget), first.passes)
        self.slots = BATCHED if settings.batch else max(settings.for_model(m.name).model_slots for m in models.all)

    def extractor(self, policy: Policy) -> Extractor:
        """What reads under a policy, which may ask for other types than the one the reader was made with."""
        if policy is self._policy:
            return self._extractor
        asker = self._extractor.asker
        return replace(self._extractor, asker=Asker(replace(asker.terms, types=asked(policy)), asker.budget))

    def plan(self, text: Text, raw: Sequence[Span], policy: Policy) -> list[Chunk]:
        """The chunks of a text that the policy's route lets a model read; those without a letter or digit never are.

        Args:
            raw: what the embedded detectors said of the text.
        """
        terms = policy.models
        if terms.route == "embedded":
            return []
        made = chunks(text.content, self.words, self.overlap)
        if terms.route == "doubtful":
            among = chances(raw, policy)
            made = [c for c in made if expected(among, c.start, c.end) >= terms.missed]
        return [c for c in made if any(map(str.isalnum, text.content[c.start : c.end]))]

    def requests(self, pieces: Sequence[Piece]) -> list[list[int]]:
        """Which chunks of one record are asked about together, by index; each alone where the prompt cannot compose."""
        if not self._composes or len(pieces) < 2:
            return [[i] for i in range(len(pieces))]
        sizes = []
        for piece in pieces:
            start, end = piece.chunk.start, piece.chunk.end
            found = sum(s.start < end and start < s.end for s in piece.evidence)
            sizes.append((length(piece.text.content[start:end]), found))
        return grouped(sizes, self._room)

    def facts(self) -> dict[str, Any]:
        """Names and versions of what decides, for manifests."""
        terms = self._extractor.asker.terms
        return {
            "names": [model.name for model in terms.models],
            "prompt": {"name": terms.prompt.name, "version": terms.prompt.version, "contract": terms.prompt.contract},
            "chunk_words": self.words,
            "chunk_overlap": self.overlap,
            "passes": self._extractor.passes,
            "votes": terms.votes,
            "vote_rule": terms.rule,
            "reads": sorted(self.reads),
            "temperature": terms.spread if terms.votes > 1 else terms.temperature,
        }
