"""What a Deidentifier works with: policy, registry, detectors, key. Built once, shared by all its records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from incognote.agents.embedded import LLM, Embedded
from incognote.agents.language import foreign
from incognote.agents.shards import Shards
from incognote.align.merge import merge
from incognote.align.sweep import sweep
from incognote.detectors.rules.lexicon import is_common
from incognote.errors import SettingError
from incognote.keys import Keyring
from incognote.nouns import Known, Span, Text
from incognote.schemas.policy import Policy, load_policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.agents.models import Models
    from incognote.agents.reader import Reader
    from incognote.agents.relexing import Relexing
    from incognote.detectors.base import Detector
    from incognote.llm.base import LanguageModel
    from incognote.llm.recording import Recording
    from incognote.schemas.registry import Registry


class Found:
    """What the detectors' spans of one text amount to under a policy.

    Attributes:
        spans: to be replaced; disjoint, in order.
        doubts: too weak to replace, too strong to ignore; they make the verdict `review`.
        unserved: found, of a type the policy leaves alone.
    """

    __slots__ = ("doubts", "spans", "unserved")

    def __init__(self, spans: tuple[Span, ...], doubts: tuple[Span, ...], unserved: tuple[Span, ...]) -> None:
        self.spans, self.doubts, self.unserved = spans, doubts, unserved


class Toolkit:
    """See the module's line. Thread-safe after construction.

    Args:
        models: instead of those the settings name.
        keyring: instead of the one the settings name.
        aside: ask the models on a thread of their own.
        detectors: beside those the settings name.

    Raises:
        SettingError, UnknownName, PolicyProblem, SchemaProblem, KeyMissing: what is configured cannot be used.
    """

    def __init__(
        self, settings: Settings, models: Sequence[LanguageModel] = (), keyring: Keyring | None = None, *,
        aside: bool = False, detectors: Sequence[Detector] = (),
    ) -> None:  # fmt: skip
        self.settings = settings
        self.domain = settings.domain
        self.policy: Policy = load_policy(settings.policy)
        self.keyring: Keyring = settings.keyring() if keyring is None else keyring
        self.embedded = Embedded(
            settings.detectors,
            settings.packs,
            settings.roster,
            point=settings.encoder_point,
            fast=settings.encoder_fast,
            objects=detectors,
        )
        if detectors and settings.processes:
            raise SettingError("processes: a detector that is an object lives in this process; name one instead")
        self.packs, self.standing = self.embedded.packs, self.embedded.standing
        self.recording = self._recording(models)
        self.models = self._models(models, aside=aside)
        """The language models, whatever they are asked for; None where nobody asks any."""
        self.reader = self._reader()
        self.shards = Shards(self, settings.processes) if settings.processes else None
        if settings.schemas:
            _ = self.registry

    @cached_property
    def _reads(self) -> bool:
        """Whether named models read notes: unless the named detectors leave them out."""
        return LLM in self.settings.detectors or "detectors" not in self.settings.model_fields_set

    @cached_property
    def plays(self) -> bool:
        """Whether a model plays agents of relexicalization."""
        return bool(self.settings.agents) and bool(self.policy.surrogates)

    def _recording(self, models: Sequence[LanguageModel]) -> Recording | None:
        """What keeps the answers of models, and those of the index."""
        asked = (bool(models) or self.settings.model is not None) and (self._reads or self.plays)
        if not asked and (not self.policy.surrogates or self.settings.recording is None):
            return None
        from incognote.agents.models import open_recording

        return open_recording(self.settings, self.keyring)

    def _models(self, models: Sequence[LanguageModel], *, aside: bool) -> Models | None:
        """Those that are named, where they are asked for anything."""
        settings = self.settings
        if not models and settings.model is None:
            if LLM in settings.detectors:
                raise SettingError("detectors: llm needs a model: set model (--model, INCOGNOTE_MODEL)")
            if self.plays:
                raise SettingError("agents: they need a model: set model (--model, INCOGNOTE_MODEL)")
            return None
        if not (self._reads or self.plays):
            return None
        from incognote.agents.models import Models

        return Models(settings, self.policy, self.recording, models, aside=aside)

    def _reader(self) -> Reader | None:
        """What reads with language models; None where none is asked to."""
        if self.models is None or not self._reads:
            return None
        from incognote.agents.reader import Reader

        return Reader(self.settings, self.policy, self.models)

    @cached_property
    def registry(self) -> Registry:
        from incognote.schemas.registry import Registry

        return Registry(self.settings.schemas)

    @cached_property
    def relexing(self) -> Relexing:
        """What asks for surrogates.

        Raises:
            SettingError, KeyMissing: no index or no persistent key is configured.
        """
        from incognote.agents.relexing import Relexing

        return Relexing(self.settings, self.policy, self.keyring, self.models, self.recording)

    @cached_property
    def versions(self) -> dict[str, str]:
        """Content hashes of all that decides an answer, for manifests."""
        stand = {f"detector:{d.name}": d.version for d in self.embedded.detectors}
        if self.plays:
            stand |= self.relexing.players.versions
        stand["languages"] = " ".join(sorted(self.embedded.reads | frozenset(self.settings.languages)))
        # a pack's own hash could be guessed from a short staff list, so what is shown of it is keyed
        return {**stand, **{f"pack:{i}": self.mac_id(p.version) for i, p in enumerate(self.packs)}}

    def detect(self, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
        """What every embedded detector says, per text, overlapping and unmerged."""
        return self.embedded.detect(texts, known)

    def rescan(self, texts: Sequence[Text]) -> list[list[Span]]:
        """What the audit hears: the embedded detectors, and the rules where only a language model was asked before."""
        return self._rules.detect(texts) if not self.embedded.detectors else self.detect(texts)

    @cached_property
    def _rules(self) -> Embedded:
        return Embedded(("rules",), self.settings.packs)

    @property
    def hits(self) -> int:
        """Answers that came from the recording."""
        return (self.models.hits if self.models else 0) + (self.shards.hits if self.shards else 0)

    async def aclose(self) -> None:
        """Give back processes, connections and the recording."""
        if self.shards is not None:
            await self.shards.aclose()
        if "relexing" in self.__dict__:
            await self.relexing.aclose()
        if self.models is not None:
            await self.models.aclose()
        if self.recording is not None:
            self.recording.close()

    def settle(
        self, text: Text, raw: Sequence[Span], policy: Policy | None = None, reads: frozenset[str] | None = None
    ) -> Found:
        """Divide raw spans by the policy's thresholds, merge the found, sweep the document for their repetitions.

        Args:
            reads: the languages that what is in force reads; words in the script of another one are found, too. By
                default those of the embedded detectors and the settings.
        """
        policy = policy or self.policy
        reads = self.embedded.reads | frozenset(self.settings.languages) if reads is None else reads
        found = self.divide(raw, policy)
        spans = list(found.spans)
        if policy.replaces("PERSON") and (words := foreign(text, spans, reads)):
            spans = merge([*spans, *words])
        repeated = [s for s in sweep(text, spans, is_common) if not self._allowed(s.text)]
        if repeated:
            spans = merge([*spans, *repeated])
        return Found(tuple(spans), outside(found.doubts, spans), outside(found.unserved, spans))

    def divide(self, raw: Sequence[Span], policy: Policy | None = None) -> Found:
        """Divide raw spans of one text by the policy's thresholds; the found ones merged, the others as they are."""
        policy = policy or self.policy
        strong: list[Span] = []
        weak: list[Span] = []
        unserved: list[Span] = []
        for span in raw:
            choice = policy.choice(span.type)
            if choice is None:
                unserved.append(span)
            elif span.score >= choice.threshold:
                strong.append(span)
            elif span.score >= policy.doubt:
                weak.append(span)
        return Found(tuple(merge(strong)), tuple(weak), tuple(unserved))

    def _allowed(self, words: str) -> bool:
        return any(pack.allow(words.lower()) for pack in self.packs)

    def mac_id(self, value: str) -> str:
        """A keyed short name for something whose own name may be PHI."""
        return self.keyring.mac("names", value).hex()[:16]


def outside(spans: Sequence[Span], found: Sequence[Span]) -> tuple[Span, ...]:
    """Those of `spans` that touch none of the found (disjoint, sorted) ones, merged."""
    left: list[Span] = []
    at = 0
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        while at < len(found) and found[at].end <= span.start:
            at += 1
        if at == len(found) or found[at].start >= span.end:
            left.append(span)
    return tuple(merge(left))
