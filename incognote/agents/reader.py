"""The language models' side of a toolkit: opened from the settings, asked as the policy allows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from incognote.errors import KeyMissing, SettingError
from incognote.extraction.asking import Asker, Terms
from incognote.extraction.budget import Budget
from incognote.extraction.chunks import Chunk, chunks, length
from incognote.extraction.composite import grouped, room
from incognote.extraction.extractor import Extractor, Piece
from incognote.keys import Keyring
from incognote.llm.aside import Aside
from incognote.llm.base import LanguageModel
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.prompts.types import asked
from incognote.schemas.policy import Policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.llm.opening import ModelSpec
    from incognote.llm.recording import Recording

BATCHED = 1_000
"""Records in work at once in batch mode are twice as many: only requests that wait together share a batch."""


class Reader:
    """What reads chunks with language models; one for all records of a Deidentifier.

    Args:
        models: instead of those the settings name: objects that serve the door's protocol.
        aside: ask them on a thread of their own (`llm.aside`), which pays where the processor is not yet the limit.

    Raises:
        SettingError, UnknownName, EgressRefused, PolicyProblem, MissingExtra: the models cannot be asked as configured;
            nothing was sent.
    """

    def __init__(
        self, settings: Settings, policy: Policy, keyring: Keyring, models: Sequence[LanguageModel] = (), *,
        aside: bool = False,
    ) -> None:  # fmt: skip
        names = [name.strip() for name in (settings.model or "").split(",") if name.strip()]
        first = settings.for_model(names[0] if names else models[0].name)
        self.words, self.overlap = first.chunk_words, first.chunk_overlap
        if self.overlap is not None and self.overlap >= self.words:
            raise SettingError("chunk_overlap is smaller than chunk_words")
        self._policy = policy
        self._prompt = load(first.prompt)
        self._recording = _recording(settings, keyring)
        self.models: tuple[LanguageModel, ...] = (
            tuple(_kept(model, self._recording, replay=settings.replay) for model in models)
            if models
            else tuple(_opened(settings, name, policy, self._recording, aside=aside) for name in names)
        )
        self.budget = Budget(settings.budget_tokens, settings.budget_usd)
        terms = Terms(
            self.models,
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
        self._extractor = Extractor(Asker(terms, self.budget), first.passes)
        slots = [settings.for_model(model.name).model_slots for model in self.models]
        self.slots = BATCHED if settings.batch else max(slots)
        self.fewest_slots = min(slots)

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
            doubts = list(_doubts(raw, policy))
            made = [c for c in made if expected(doubts, c.start, c.end) >= terms.missed]
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
            "names": [model.name for model in self.models],
            "prompt": {"name": terms.prompt.name, "version": terms.prompt.version, "contract": terms.prompt.contract},
            "chunk_words": self.words,
            "chunk_overlap": self.overlap,
            "passes": self._extractor.passes,
            "votes": terms.votes,
            "vote_rule": terms.rule,
            "temperature": terms.spread if terms.votes > 1 else terms.temperature,
        }

    async def aclose(self) -> None:
        """Close models and recording."""
        for model in self.models:
            await model.aclose()
        if self._recording is not None:
            self._recording.close()


def _doubts(raw: Sequence[Span], policy: Policy) -> Iterator[Span]:
    """What the embedded detectors gave a chance and did not find: outside of all that the policy will replace."""
    served = [(s, c.threshold) for s in raw if policy.replaces(s.type) and (c := policy.choice(s.type))]
    reach: list[int] = []  # per found span, by start, how far it and those before it go
    starts: list[int] = []
    for start, end in sorted((span.start, span.end) for span, threshold in served if span.score >= threshold):
        starts.append(start)
        reach.append(max(end, reach[-1] if reach else 0))
    for span, threshold in served:
        before = bisect_left(starts, span.end)
        if span.score < threshold and not (before and reach[before - 1] > span.start):
            yield span


def expected(doubts: Sequence[Span], start: int, end: int) -> float:
    """How many identifiers are expected to have been missed in a stretch."""
    return sum(span.score for span in doubts if span.start < end and start < span.end)


def _recording(settings: Settings, keyring: Keyring) -> Recording | None:
    if settings.recording is None:
        if settings.replay or settings.batch:
            word = "replay" if settings.replay else "batch"
            raise SettingError(f"{word}: name the recording (--recording) that answers come from and are kept in")
        return None
    if not keyring.persistent:
        raise KeyMissing("a recording is sealed, so it needs a persistent key: set key_file (INCOGNOTE_KEY_FILE)")
    from incognote.llm.recording import Recording

    return Recording(settings.recording, keyring)


def _kept(model: LanguageModel, recording: Recording | None, *, replay: bool = False) -> LanguageModel:
    """A model whose answers are kept in the recording, or come from it alone."""
    if recording is None:
        return model
    from incognote.llm.recording import Recorded, Replayed

    return Replayed(model.name, recording) if replay else Recorded(model, recording)


def _opened(
    settings: Settings, name: str, policy: Policy, recording: Recording | None, *, aside: bool
) -> LanguageModel:
    """One model of the settings, opened; of a replay only its name is needed."""
    from incognote.llm.opening import open_batch, open_model, price_of

    if recording is not None and settings.replay:
        from incognote.llm.recording import Replayed

        return Replayed(name, recording)
    spec = _spec(settings, name)
    if settings.budget_usd is not None and price_of(spec) is None:
        raise SettingError(f"budget_usd: no price is known for {name}: name a table (prices), or bound budget_tokens")
    if recording is not None and settings.batch:
        return open_batch(spec, recording, allow_provider_storage=policy.models.allow_provider_storage)
    model = open_model(spec)
    return _kept(Aside(model) if aside else model, recording)


def _spec(settings: Settings, name: str, *, last: bool = False) -> ModelSpec:
    """How to open a model, with what the settings say of it.

    Args:
        name: vendor/name, for a fallback also vendor/name@URL.
        last: it is a fallback, and has none itself.
    """
    from incognote.llm.opening import ModelSpec

    name, _, address = name.partition("@")
    own = settings.for_model(name)
    return ModelSpec(
        name,
        settings.home,
        api_base=address or own.api_base,
        api_key=own.api_key.get_secret_value() if own.api_key else None,
        timeout=own.model_timeout,
        attempts=own.model_attempts,
        slots=own.model_slots,
        fallbacks=() if last else tuple(_spec(settings, each, last=True) for each in own.fallbacks),
        prices=settings.prices,
    )
