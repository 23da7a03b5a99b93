"""A policy as a noun: what is done to each entity type, and how sure one must be."""

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
OVER_MASKED = 0.6


@dataclass(frozen=True, slots=True)
class Choice:
    """What serves a type: an operator, its parameters (defaults filled in), the least score of a span it replaces."""

    operator: str
    params: Mapping[str, Any] = field(default_factory=dict)
    threshold: float = 0.5


@dataclass(frozen=True, slots=True)
class ModelTerms:
    """What a policy lets a language model do, where one is named in the settings.

    Args:
        route: `all` chunks are read by the model; `doubtful` ones only; none (`embedded`).
        missed: under `doubtful`, a chunk is read where the embedded detectors expect to have missed at least so many
            identifiers in it, by their doubts and disagreements (`extraction.routing`). The default keeps 99 % of the
            recall of a model that reads all, for 19 to 27 % of its tokens; 0.2 nearly all, for 69 % (docs/routing.md).
        on_failure: what a chunk becomes that the model declined, cut short or had no budget left for: `review`, or
            `embedded`, which lets what the embedded detectors found stand for it.
        allow_provider_storage: whether notes may lie at a provider until a batch is collected.
    """

    route: Route = "all"
    missed: float = 1.1
    on_failure: OnFailure = "review"
    allow_provider_storage: bool = False


@dataclass(frozen=True, slots=True)
class RelexTerms:
    """What a policy lets be done with surrogates, where it has any.

    Args:
        reveal: whether holders of the key may map a surrogate back to its original.
    """

    reveal: bool = True


@dataclass(frozen=True)
class Policy:
    """What becomes of each entity type, and when a person must review a record.

    Attributes:
        label: the legal label it claims, or None.
        doubt: a span below its type's threshold but above this is a reason for review.
        audit_threshold: the least score at which the audit counts a finding in the output as a leak.
        on_review: `hold` for a person, or `widen` (mask the whole line and audit again).
        models: what a language model may do.
        relex: what may be done with surrogates.
        types: what serves the listed types; see `serves` for the others.
        without: types a file took out of the policy it extends, for the lint.
        over_masked: the share of the words of a text of 40 or more that, replaced, make it one for review.
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
    over_masked: float = OVER_MASKED

    def __hash__(self) -> int:
        return hash(self.version)

    def serves(self, entity_type: str) -> str | None:
        """The nearest listed type in the lineage, itself first; None where this policy does not touch the type.

        Raises:
            UnknownName: the catalogue has no such type.
        """
        if entity_type not in self._served:
            lineage = catalogue().lineage(entity_type)
            self._served[entity_type] = next((step for step in lineage if step in self.types), None)
        return self._served[entity_type]

    def choice(self, entity_type: str) -> Choice | None:
        """What serves a type, None where this policy does not touch it."""
        served = self.serves(entity_type)
        return None if served is None else self.types[served]

    def replaces(self, entity_type: str) -> bool:
        """Whether this policy lets no such identifier stand."""
        choice = self.choice(entity_type)
        return choice is not None and choice.operator != "keep"

    @cached_property
    def surrogates(self) -> frozenset[str]:
        """The listed types that surrogates stand for."""
        return frozenset(name for name, choice in self.types.items() if choice.operator == "surrogate")

    @cached_property
    def needs_subject(self) -> bool:
        """Some operator is keyed per patient: without a patient there is no releasing."""
        return "patient" in self._keys

    @cached_property
    def keyed(self) -> bool:
        """Some operator uses the key: what it writes cannot be repeated under another."""
        return bool(self._keys - {"none"})

    @cached_property
    def _keys(self) -> frozenset[str]:
        facts = operator_facts()
        return frozenset(facts[c.operator].keyed_by for c in self.types.values() if c.operator in facts)

    @cached_property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over all that decides; `about` does not."""
        content = {
            "name": self.name, "label": self.label, "doubt": self.doubt, "audit_threshold": self.audit_threshold,
            "on_review": self.on_review, "models": asdict(self.models),
            "types": {t: [c.operator, dict(c.params), c.threshold] for t, c in self.types.items()},
        }
        if self.relex != RelexTerms():  # so that policies from before it keep their version
            content["relex"] = asdict(self.relex)
        if self.over_masked != OVER_MASKED:
            content["over_masked"] = self.over_masked
        written = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    @cached_property
    def _served(self) -> dict[str, str | None]:
        return {}
