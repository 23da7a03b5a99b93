"""The language models of an engine, opened once from the settings, and how they read notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from incognote.agents.breaker import Breaker
from incognote.agents.stages import Planned
from incognote.detectors.rules import packaged
from incognote.errors import KeyMissing, SettingError
from incognote.extraction.asking import AskingTerms, Budget, ChunkAsker
from incognote.extraction.chunks import Chunk, chunks, grouped, length, room
from incognote.extraction.extractor import Extraction, Extractor, TextChunk
from incognote.extraction.gaps import TimeOf, gap_places, judge, within
from incognote.extraction.routing import chances, valuable
from incognote.keys import Keyring
from incognote.llm.base import LanguageModel, Usage, left_out_by
from incognote.llm.retry import OwnThread
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.schemas.policy import Policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.llm.opening import ModelSpec
    from incognote.llm.recording import Recording
    from incognote.speech.asr.base import SpeechRecognizer

BATCHED = 1_000
"""Twice as many records are in work at once in batch mode. Only requests that wait together share a batch."""


class Models:
    """The language models. The same ones read notes and run agents.

    Args:
        recording: stores their answers; its owner closes it.
        objects: objects with the protocol `LanguageModel`, used instead of the models in the settings.
        own_thread: call them on a separate thread, which helps if the processor is not yet the limit.

    Raises:
        SettingError, EgressRefused, PolicyProblem, MissingExtra: the models cannot be used as configured; nothing was
            sent.
    """

    def __init__(
        self,
        settings: Settings,
        policy: Policy,
        recording: Recording | None = None,
        objects: Sequence[LanguageModel] = (),
        *,
        own_thread: bool = False,
    ) -> None:
        names = settings.model_names
        self.first: Settings = settings.for_model(names[0] if names else objects[0].name)
        """The settings of the first model, which also apply to all requests."""
        self.budget = Budget(settings.budget_tokens, settings.budget_usd)
        replays = settings.replay or any(getattr(model, "replays", False) for model in objects)
        self.breaker = Breaker(active=not replays)
        self.all: tuple[LanguageModel, ...] = (
            tuple(_kept(model, recording, replay=settings.replay) for model in objects)
            if objects
            else tuple(
                _opened(settings, name, policy, recording, self.permit, own_thread=own_thread) for name in names
            )
        )
        self.fewest_slots = min(settings.for_model(model.name).model_slots for model in self.all)

    def permit(self) -> None:
        """Check before each call, when a slot is free for it.

        Raises:
            BudgetExhausted, ModelStopped: no further call may be made.
        """
        self.budget.permit()
        self.breaker.permit()

    @property
    def hits(self) -> int:
        """The number of answers that came from the recording."""
        return sum(getattr(model, "hits", 0) for model in self.all)

    async def aclose(self) -> None:
        """Close the models."""
        for model in self.all:
            await model.aclose()


class NoteReader:
    """Reads chunks with language models. An engine has one for all its records.

    Args:
        models: the models to ask. The first one's settings apply.

    Raises:
        SettingError, UnknownName: the prompt or the chunking cannot be used.
    """

    def __init__(self, settings: Settings, policy: Policy, models: Models) -> None:
        first = models.first
        self.words, self.overlap = first.chunk_words, first.chunk_overlap
        if self.overlap is not None and self.overlap >= self.words:
            raise SettingError("chunk_overlap must be smaller than chunk_words")
        self._policy = policy
        self._prompt = replace(load(first.prompt), generic=first.reply_schema == "generic")
        terms = AskingTerms(
            models.all,
            self._prompt,
            self._prompt.types(policy),
            first.votes,
            first.vote_rule,
            first.temperature,
            first.spread,
            first.max_tokens,
        )
        self.composes = first.composite and self._prompt.composes
        prompt_tokens = len(self._prompt.render(["", ""], terms.types).system) // 4 if self.composes else 0
        self._room = room(self.words, first.context_tokens, prompt_tokens, first.max_tokens // 2)
        self.breaker = models.breaker
        self.reads = languages_read(settings, [model.name for model in models.all])
        """The languages (ISO 639-1) that all of the models are trusted to read."""
        self._extractor = Extractor(ChunkAsker(terms, models.budget), first.passes, policy=policy)
        self.slots = BATCHED if settings.batch else max(settings.for_model(m.name).model_slots for m in models.all)

    async def extract(self, pieces: Sequence[TextChunk], policy: Policy, *, apart: bool = False) -> list[Extraction]:
        """Run all passes over the pieces of one request.

        Args:
            apart: as in `Extractor.extract`.

        Raises:
            ModelUnavailable, ModelRejected, EgressRefused: the model failed.
            ModelStopped: it failed so often before that it is not called any more.
        """
        self.breaker.permit()
        return await self.extractor(policy).extract(pieces, apart=apart)

    async def judge_gaps(self, piece: TextChunk, into: Extraction, time_of: TimeOf, policy: Policy) -> None:
        """Judge the speech without words and the doubted words of a chunk, if it has any (RedactOR, Algorithm 2).

        Args:
            into: the result for the chunk. It gets the verdicts and the usage.
            time_of: the time of a stretch of the text.

        Raises:
            ModelUnavailable, ModelRejected, EgressRefused: the model failed.
        """
        places = within(gap_places(piece.text, piece.evidence, time_of), piece.chunk)
        if places:
            asker = self.extractor(policy).asker
            into.judged |= await judge(asker, piece.text, piece.chunk, places, policy, into.tally)

    def extractor(self, policy: Policy) -> Extractor:
        """Return the extractor for a policy, which may ask for other types than the reader's own policy."""
        if policy is self._policy:
            return self._extractor
        asker = self._extractor.asker
        terms = replace(asker.terms, types=self._prompt.types(policy))
        return replace(self._extractor, asker=ChunkAsker(terms, asker.budget), policy=policy)

    def plan(self, text: Text, raw: Sequence[Span], policy: Policy) -> list[Chunk]:
        """Return the chunks of a text that a model reads under the policy's route.

        Chunks without a letter or digit are left out.

        Args:
            raw: what the embedded detectors found in the text.
        """
        terms = policy.models
        if terms.route == "embedded":
            return []
        parts = chunks(text.content, self.words, self.overlap, packaged(text))
        if terms.route == "doubtful":
            own = gap_places(text, raw, lambda start, end: (0.0, 0.0))
            worth = valuable(text.content, parts, chances(raw, policy), terms.share)
            parts = [part for part in parts if part in worth or within(own, part)]
        return [c for c in parts if any(map(str.isalnum, text.content[c.start : c.end]))]

    def requests(self, pieces: Sequence[TextChunk]) -> list[list[int]]:
        """Group the chunks of one patient into requests, by index. Without `composes`, each is alone."""
        if not self.composes or len(pieces) < 2:
            return [[i] for i in range(len(pieces))]
        sizes = []
        for piece in pieces:
            start, end = piece.chunk.start, piece.chunk.end
            findings = sum(s.start < end and start < s.end for s in piece.evidence)
            sizes.append((length(piece.text.content[start:end]), findings))
        return grouped(sizes, self._room)

    def facts(self) -> dict[str, Any]:
        """Return, for manifests, the names and versions of everything that decides the answers."""
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

    def work(self, planned: Planned, read: Mapping[int, Extraction], silent: int) -> dict[str, Any]:
        """Return, for the manifest, the models of a record and counts of what they did."""
        usage, how, unanswered, passes = Usage(), Counter[str](), Counter[str](), 0
        languages = sorted(frozenset().union(*(extraction.languages for extraction in read.values())))
        for extraction in read.values():
            usage, how, unanswered = usage + extraction.usage, how + extraction.how, unanswered + extraction.unanswered
            passes += len(extraction.by_pass)
        facts = self.facts()
        if languages:
            versions = {code: self._prompt.localized(frozenset((code,))).version for code in languages}
            facts["prompt"] |= {"languages": versions}
        if verdicts := Counter(v for extraction in read.values() for v in extraction.judged.values()):
            from incognote.prompts.verdicts import NAME, gaps_prompt

            version = gaps_prompt().version
            facts["gaps"] = {"prompt": NAME, "version": version, "verdicts": dict(sorted(verdicts.items()))}
        return {
            **facts,
            "route": planned.route,
            "chunks": len(planned.chunks),
            "requests": len(planned.requests),
            "shared": planned.shared,
            "passes_made": passes,
            "usage": asdict(usage),
            "placed": dict(sorted(how.items())),
            "silent": silent,
            "left_out": sorted(frozenset().union(*map(left_out_by, self._extractor.asker.terms.models))),
            "unanswered": dict(sorted(unanswered.items())),
        }


def languages_read(settings: Settings, names: Iterable[str]) -> frozenset[str]:
    """Return the languages that all of these models are trusted to read: their `reads`, or else those of the prompt.

    Raises:
        SettingError, UnknownName: the prompt cannot be used.
    """
    own = [settings.for_model(name) for name in names]
    written = load(own[0].prompt).languages
    return frozenset.intersection(*(frozenset(each.reads or written) for each in own))


def open_recording(settings: Settings, keyring: Keyring) -> Recording | None:
    """Return the recording that the settings name.

    Raises:
        SettingError: none is named, and a replay or batches need one.
        KeyMissing: the key exists only in this process.
    """
    if settings.recording is None:
        if settings.replay or settings.batch:
            word = "replay" if settings.replay else "batch"
            raise SettingError(f"{word} needs a recording. Name the file with --recording.")
        return None
    if not keyring.persistent:
        raise KeyMissing("A recording is encrypted, so it needs a persistent key. Set key_file (INCOGNOTE_KEY_FILE).")
    from incognote.llm.recording import Recording

    return Recording(settings.recording, keyring)


def _kept(model: LanguageModel, recording: Recording | None, *, replay: bool = False) -> LanguageModel:
    """Return a model whose answers are recorded, or come from the recording only."""
    if recording is None:
        return model
    from incognote.llm.recording import Recorded, Replayed

    return Replayed(model.name, recording) if replay else Recorded(model, recording)


def _opened(
    settings: Settings, name: str, policy: Policy, recording: Recording | None, permit: Callable[[], None],
    *, own_thread: bool,
) -> LanguageModel:  # fmt: skip
    """Open one model of the settings. For a replay only its name is needed."""
    from incognote.llm.opening import open_batch, open_model, price_of

    if recording is not None and settings.replay:
        from incognote.llm.recording import Replayed

        return Replayed(name, recording)
    spec = _spec(settings, name, permit)
    if settings.budget_usd is not None and price_of(spec) is None:
        raise SettingError(
            f"budget_usd: no price is known for {name}. Add it to a file in the setting `prices`, or use "
            "budget_tokens."
        )
    if recording is not None and settings.batch:
        return open_batch(spec, recording, allow_provider_storage=policy.models.allow_provider_storage)
    model = open_model(spec)
    return _kept(OwnThread(model) if own_thread else model, recording)


def recognizer_of(settings: Settings) -> str | SpeechRecognizer:
    """Return the speech recognizer of the settings if it is behind a server, or its name if it is on this machine.

    Raises:
        EgressRefused, MissingExtra, SettingError: as in `incognote.llm.opening.open_recognizer`.
    """
    from incognote.speech.asr.registry import WHISPER

    name = settings.recognizer
    if "/" not in name or name.startswith(WHISPER):
        return name
    from incognote.llm.opening import open_recognizer

    return open_recognizer(_spec(settings, name, lambda: None, last=True))


def _spec(settings: Settings, name: str, permit: Callable[[], None], *, last: bool = False) -> ModelSpec:
    """Return how to open a model, with its settings.

    Args:
        name: vendor/name, for a fallback also vendor/name@URL.
        permit: called before each request is sent.
        last: it is a fallback and has no fallbacks of its own.
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
        context=own.context_tokens,
        fallbacks=() if last else tuple(_spec(settings, each, permit, last=True) for each in own.fallbacks),
        prices=settings.prices,
        permit=permit,
    )
