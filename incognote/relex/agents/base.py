"""The four agents of relexicalization (RedactOR, Algorithm 3; reply formats: §B.2), and the embedded agents.

An agent proposes; the loop (`relex.graph`) checks, remembers and applies. Equal questions get equal answers, so an
agent whose answers are sampled records them. No repr and no error shows words of a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from incognote.relex.cluster import cluster
from incognote.relex.generate import Draw, Generators, UsedSurrogates
from incognote.relex.index.nouns import IndexedIdentity, IndexHit
from incognote.relex.nouns import Identity, MentionVariant, Surrogate
from incognote.relex.pools import VERSION as POOLS


@dataclass(frozen=True, slots=True)
class RelexNote:
    """One record as the agents read it: T of Algorithm 3, and its facts D.

    Args:
        record: its id; equal to the `record` of its variants.
        patient, domain: as in its variants.
        texts: field -> content, including structured fields. They give the words around a mention.
        variants: its mentions, sorted.
    """

    record: str = field(repr=False)
    patient: str = field(default="", repr=False)
    domain: str = ""
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    variants: tuple[MentionVariant, ...] = field(default=(), repr=False)


class Agent(Protocol):
    """The properties that all four agents have."""

    @property
    def name(self) -> str:
        """The name for reports: `embedded`, or the model's name."""
        ...

    @property
    def version(self) -> str:
        """A hash of everything that decides its answers."""
        ...


class Clusterer(Agent, Protocol):
    """M_cluster: decides which mentions have the same referent."""

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        """Put all variants of the notes and of the earlier identities into exactly one identity each.

        Args:
            notes: in any order; the order has no effect.
            earlier: identities given earlier in the scopes of these notes. Only the variants of their records are
                known.

        Returns:
            Identities as `relex.cluster.cluster` makes them. One that shares variants with an earlier one keeps its id.

        Raises:
            ModelProblem: there is no usable answer, and the policy allows no fallback.
        """
        ...


class Querier(Agent, Protocol):
    """Q_i: the words by which an identity is searched for."""

    async def query(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        """Map each identity's id to a query; "" if it must not be searched for by likeness.

        The query is embedded and compared with the vectors in the index, which were also made from queries.
        """
        ...


@dataclass(frozen=True, slots=True)
class HitQuestion:
    """Whether hits of the index have the same referent as an identity.

    Args:
        identity: the identity that was searched for.
        query: the words by which it was searched for.
        hits: from its domain, scope and group, nearest first. `IndexHit.identity.original` is one written form.
    """

    identity: Identity
    query: str = field(repr=False)
    hits: tuple[IndexHit, ...] = field(repr=False)


class Validator(Agent, Protocol):
    """M_decision: decides whether a hit has the same referent."""

    async def validate(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
        """For each question, decide yes or no for each hit, in order.

        The answer is no in doubt (two Wilsons, and a query of "Wilson").
        """
        ...


class Replacer(Agent, Protocol):
    """M_replace: chooses the surrogate of an identity."""

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, Surrogate]:
        """Map each identity's id to a surrogate. No surrogate is an original or belongs to another identity.

        Args:
            identities: those that need a surrogate.
            draw: by key or at random. A language model's own answer is used instead where that is allowed.
            taken: what is held and refused. An agent claims each component here (`UsedSurrogates.claim`), so that
                identities that share it agree. After a refusal (`UsedSurrogates.refuse`) the component is drawn again.

        Returns:
            Surrogates with the parts that the generator of the identity's group names, so that it can write them
            (`Generators.render`).
        """
        ...


_VERSION = "1"
SOUGHT = frozenset(("PERSON", "ORG"))
"""Groups whose spellings vary and that patients share. Only these are searched for by likeness."""


class EmbeddedClusterer:
    """Clusters with `relex.cluster`: the partition is a function of the set of variants."""

    name, version = "embedded", _VERSION

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        return cluster((v for note in notes for v in note.variants), earlier)


class EmbeddedQuerier:
    """Uses the fullest form of an identity. Numbers, dates and places get no query, because their keys find them."""

    name, version = "embedded", _VERSION

    async def query(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        return {one.id: one.fullest if one.group in SOUGHT else "" for one in identities}


class EmbeddedValidator:
    """Accepts a hit if the clusterer puts it and the identity together.

    All hits are compared at once, so that a lone "Wilson" matches neither of two Wilsons.
    """

    name, version = "embedded", _VERSION

    async def validate(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
        return [self._decided(question) for question in questions]

    @staticmethod
    def _decided(question: HitQuestion) -> list[bool]:
        variants = question.identity.variants
        seen = [mention_of(hit.identity, at) for at, hit in enumerate(question.hits)]
        together = cluster([*variants, *(v for v in seen if v is not None)])
        home = {variant: one.id for one in together for variant in one.variants}
        own = {home[variant] for variant in variants}
        return [one is not None and len(own) == 1 and home[one] in own for one in seen]


class EmbeddedReplacer:
    """Draws from the pools, component by component.

    Args:
        generators: the generators that the policy chose.
    """

    name, version = "embedded", f"{_VERSION} pools {POOLS}"

    def __init__(self, generators: Generators | None = None) -> None:
        self.generators = generators or Generators()

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, Surrogate]:
        return self.generators.generate_all(identities, draw, taken)


def mention_of(entry: IndexedIdentity, at: int) -> MentionVariant | None:
    """An entry's original as a mention in a record of its own; None if the index stores no originals."""
    if not entry.original:
        return None
    patient = entry.place.scope.removeprefix("patient:") if entry.place.scope.startswith("patient:") else ""
    record = entry.place.scope.removeprefix("record:") if entry.place.scope.startswith("record:") else f"hit {at}"
    return MentionVariant(entry.type, entry.original, entry.place.domain, patient, record, "", 0, len(entry.original))
