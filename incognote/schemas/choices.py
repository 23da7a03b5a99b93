"""The policy class: the operator of each entity type, and the score that its spans need."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from incognote.schemas.catalogue import catalogue
from incognote.schemas.operatorfacts import operator_facts

OnReview = Literal["hold", "widen"]
OnFailure = Literal["review", "embedded"]
Route = Literal["all", "doubtful", "embedded"]
Vetoes = Literal["single", "minority", "none"]
Voice = Literal["keep", "disguise", "remove"]
OVER_MASKED = 0.6


@dataclass(frozen=True, slots=True)
class Choice:
    """The treatment of a type: an operator, its parameters (with defaults), and the minimum score of replaced spans."""

    operator: str
    params: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = 0.5


@dataclass(frozen=True, slots=True)
class ModelTerms:
    """What a policy lets a language model do, if the settings name one.

    Args:
        route: Which chunks the model reads: `all`, only `doubtful` ones, or none (`embedded`).
        share: Under `doubtful`, the expected share of the tokens that a model would use for all chunks. The model reads
            the chunks that complete the most documents for their tokens (`extraction.routing`). On your texts, the
            share can be very different (docs/routing.md).
        on_failure: What happens to a chunk that the model declined, cut short, or had no budget for: `review`, or
            `embedded`, which relies on the embedded detectors.
        veto: Whether a model that read a place and named nothing there can drop a finding: `single` (a finding of only
            one of rules and encoder; see `agents.combining`) or `none`.
        allow_provider_storage: Whether notes may be stored at a provider until a batch is collected.
    """

    route: Route = "all"
    share: float = 0.2
    on_failure: OnFailure = "review"
    veto: Vetoes = "single"
    allow_provider_storage: bool = False


@dataclass(frozen=True, slots=True)
class RelexTerms:
    """What a policy allows for surrogates.

    Args:
        reveal: Whether holders of the key may map a surrogate back to its original.
        withheld: What happens to a finding whose surrogate could state a wrong clinical fact. `label` writes its type
            in brackets. `review` leaves the words and holds the record for review.
    """

    reveal: bool = True
    withheld: Literal["label", "review"] = "label"


@dataclass(frozen=True, slots=True)
class PageTerms:
    """What a policy wants of pages that are pictures.

    Args:
        vault: Whether the index keeps what is removed from them (`relex.vault`): nothing, the words that were read
            there, or also the `pixels`.
    """

    vault: bool | Literal["pixels"] = False


@dataclass(frozen=True, slots=True)
class RecordingTerms:
    """What a policy wants of recordings.

    Args:
        voice: What happens to voices, which are biometric identifiers: `keep` them, `disguise` them, or `remove` all
            sound, so that only the transcript is left. None: what the label requires, `keep` without a label.
        unknown: What happens to speech without words if a language model cannot tell what was said: `mute`, or
            `embedded`, which relies on the embedded judge.
    """

    voice: Voice | None = None
    unknown: Literal["mute", "embedded"] = "mute"


@dataclass(frozen=True)
class Policy:
    """What happens to each entity type, and when a person must review a record.

    Attributes:
        name: The policy's name.
        about: One line about the policy.
        label: The legal label that it claims, or None.
        doubt: A span with a score below its type's threshold and above this value is a reason for review.
        audit_threshold: Minimum score at which the final check counts a finding in the output as a leak.
        on_review: `hold` for a person, or `widen`: mask the whole line and check again.
        types: The operator for each listed type. See `serves` for other types.
        without: Types that a file removed from the policy that it extends.
        models: What a language model may do.
        relex: What may be done with surrogates.
        pages: What is done with pages that are pictures.
        recordings: What is done with recordings.
        over_masked: Share of replaced words at which a text of 40 words or more goes to review.
        priority: Types that win over all others where spans overlap, the strongest first (`incognote.align.merge`).
    """

    name: str
    about: str
    label: str | None
    doubt: float
    audit_threshold: float
    on_review: OnReview
    types: Mapping[str, Choice] = field(repr=False)
    without: tuple[str, ...] = field(default=(), repr=False)
    models: ModelTerms = ModelTerms()
    relex: RelexTerms = RelexTerms()
    pages: PageTerms = PageTerms()
    recordings: RecordingTerms = RecordingTerms()
    over_masked: float = OVER_MASKED
    priority: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.version)

    def serves(self, entity_type: str) -> str | None:
        """The listed type that decides for a type: the type itself or its nearest listed parent, or None.

        Raises:
            UnknownName: The catalog does not contain the type.
        """
        if entity_type not in self._served:
            lineage = catalogue().lineage(entity_type)
            self._served[entity_type] = next((step for step in lineage if step in self.types), None)
        return self._served[entity_type]

    def choice(self, entity_type: str) -> Choice | None:
        """The operator for a type, or None if the policy does not change the type."""
        served = self.serves(entity_type)
        return None if served is None else self.types[served]

    def replaces(self, entity_type: str) -> bool:
        """Whether the policy replaces identifiers of a type."""
        choice = self.choice(entity_type)
        return choice is not None and choice.operator != "keep"

    @cached_property
    def surrogates(self) -> frozenset[str]:
        """The listed types that are replaced by surrogates."""
        return frozenset(name for name, choice in self.types.items() if choice.operator == "surrogate")

    @cached_property
    def needs_subject(self) -> bool:
        """Whether an operator uses a key for each patient. Then a record without a patient is not released."""
        return "patient" in self._keys

    @cached_property
    def keyed(self) -> bool:
        """Whether an operator uses the master key. Then another key gives other values."""
        return bool(self._keys - {"none"})

    @cached_property
    def _keys(self) -> frozenset[str]:
        facts = operator_facts()
        return frozenset(facts[c.operator].keyed_by for c in self.types.values() if c.operator in facts)

    @cached_property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over everything that affects the output; not over `about`."""
        content = {
            "name": self.name,
            "label": self.label,
            "doubt": self.doubt,
            "audit_threshold": self.audit_threshold,
            "on_review": self.on_review,
            "models": asdict(self.models),
            "types": {t: [c.operator, dict(c.params), c.threshold] for t, c in self.types.items()},
        }
        if self.relex != RelexTerms():  # so that policies written before this setting keep their version
            content["relex"] = asdict(self.relex)
        if self.pages != PageTerms():
            content["pages"] = asdict(self.pages)
        if self.recordings != RecordingTerms():
            content["recordings"] = asdict(self.recordings)
        if self.over_masked != OVER_MASKED:
            content["over_masked"] = self.over_masked
        if self.priority:
            content["priority"] = ",".join(self.priority)
        written = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    @cached_property
    def _served(self) -> dict[str, str | None]:
        return {}
