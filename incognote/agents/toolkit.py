"""What a Deidentifier works with: policy, registry, detectors, key. Built once, shared by all its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from incognote.align.merge import merge
from incognote.align.sweep import sweep
from incognote.detectors.base import Detector
from incognote.detectors.known import KnownDetector, read_roster
from incognote.detectors.packs import Pack, load_pack
from incognote.detectors.rules import RulesDetector
from incognote.detectors.rules.lexicon import is_common
from incognote.errors import SettingError, UnknownName
from incognote.keys import Keyring
from incognote.nouns import Known, Span, Text
from incognote.schemas.policy import Policy, load_policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.agents.reader import Reader
    from incognote.llm.base import LanguageModel
    from incognote.schemas.registry import Registry

LLM = "llm"
_DETECTORS: dict[str, Callable[[Sequence[Pack]], Detector]] = {"rules": RulesDetector}


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

    Raises:
        SettingError, UnknownName, PolicyProblem, SchemaProblem, KeyMissing: what is configured cannot be used.
    """

    def __init__(self, settings: Settings, models: Sequence[LanguageModel] = ()) -> None:
        self.settings = settings
        self.domain = settings.domain
        self.policy: Policy = load_policy(settings.policy)
        self.keyring: Keyring = settings.keyring()
        self.packs: tuple[Pack, ...] = tuple(load_pack(folder) for folder in settings.packs)
        embedded = [name for name in settings.detectors if name != LLM]
        unknown = [name for name in embedded if name not in _DETECTORS]
        if unknown:
            raise UnknownName("detector", unknown[0], {*_DETECTORS, LLM})
        self.detectors: tuple[Detector, ...] = tuple(_DETECTORS[name](self.packs) for name in embedded)
        self.reader = self._reader(models)
        _ = self.standing  # a roster that cannot be read stops the run, not every record of it
        if settings.schemas:
            _ = self.registry

    def _reader(self, models: Sequence[LanguageModel]) -> Reader | None:
        """What reads with language models; None where none is named, or the named detectors leave it out."""
        settings = self.settings
        wanted = LLM in settings.detectors
        if not models and settings.model is None:
            if wanted:
                raise SettingError("detectors: llm needs a model: set model (--model, INCOGNOTE_MODEL)")
            return None
        if not wanted and "detectors" in settings.model_fields_set:
            return None
        from incognote.agents.reader import Reader

        return Reader(settings, self.policy, self.keyring, models)

    @cached_property
    def registry(self) -> Registry:
        from incognote.schemas.registry import Registry

        return Registry(self.settings.schemas)

    @cached_property
    def standing(self) -> KnownDetector:
        """The identifiers known for every record: the roster and the packs' deny and staff lists."""
        listed: list[Known] = [k for pack in self.packs for k in pack.known]
        if self.settings.roster is not None:
            listed.extend(read_roster(self.settings.roster))
        return KnownDetector(listed)

    @cached_property
    def versions(self) -> dict[str, str]:
        """Content hashes of all that decides an answer, for manifests."""
        stand = {f"detector:{d.name}": d.version for d in self.detectors}
        # a pack's own hash could be guessed from a short staff list, so what is shown of it is keyed
        return {**stand, **{f"pack:{i}": self.mac_id(p.version) for i, p in enumerate(self.packs)}}

    def detect(self, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
        """What every detector says, per text, overlapping and unmerged."""
        found: list[list[Span]] = [[] for _ in texts]
        seekers: list[Detector] = [*self.detectors, self.standing, *([KnownDetector(known)] if known else [])]
        for seeker in seekers:
            for spans, more in zip(found, seeker.detect(texts), strict=True):
                spans.extend(more)
        return found

    def settle(self, text: Text, raw: Sequence[Span], policy: Policy | None = None) -> Found:
        """Divide raw spans by the policy's thresholds, merge the found, sweep the document for their repetitions."""
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
        spans = merge(strong)
        repeated = [s for s in sweep(text, spans, is_common) if not self._allowed(s.text)]
        if repeated:
            spans = merge([*spans, *repeated])
        return Found(tuple(spans), _outside(weak, spans), _outside(unserved, spans))

    def _allowed(self, words: str) -> bool:
        return any(pack.allow(words.lower()) for pack in self.packs)

    def mac_id(self, value: str) -> str:
        """A keyed short name for something whose own name may be PHI."""
        return self.keyring.mac("names", value).hex()[:16]


def _outside(spans: Sequence[Span], found: Sequence[Span]) -> tuple[Span, ...]:
    """Those of `spans` that touch none of the found (disjoint, sorted) ones, merged."""
    left: list[Span] = []
    at = 0
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        while at < len(found) and found[at].end <= span.start:
            at += 1
        if at == len(found) or found[at].start >= span.end:
            left.append(span)
    return tuple(merge(left))
