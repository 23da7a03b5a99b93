"""The four agents of relexicalization (RedactOR, Algorithm 3; the replies' shapes: §B.2), and the embedded ones.

An agent proposes; the loop (`relex.graph`) checks, remembers and applies. An agent that is asked the same says the
same: one that draws its answers records them. Nothing of a note stands in a repr or in an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from incognote.relex.cluster import cluster
from incognote.relex.generate import Choices, Draw, Generators, UsedSurrogates
from incognote.relex.index.nouns import IndexedIdentity, IndexHit
from incognote.relex.nouns import Identity, MentionVariant, Surrogate


@dataclass(frozen=True, slots=True)
class RelexNote:
    """One record as the agents read it: T of Algorithm 3, and its facts D.

    Args:
        record: its id; equal to the `record` of its variants.
        patient, domain: as of its variants.
        texts: field -> content, for the words around a mention; structured fields are among them.
        variants: its mentions, sorted.
    """

    record: str = field(repr=False)
    patient: str = field(default="", repr=False)
    domain: str = ""
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    variants: tuple[MentionVariant, ...] = field(default=(), repr=False)


class Agent(Protocol):
    """What all four have."""

    @property
    def name(self) -> str:
        """For reports: `embedded`, or the model's."""
        ...

    @property
    def version(self) -> str:
        """A hash of all that decides its answers."""
        ...


class Clusterer(Agent, Protocol):
    """M_cluster: which mentions stand for one referent."""

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        """All variants of the notes and of the earlier identities, each in exactly one identity.

        Args:
            notes: in any order; the order decides nothing.
            earlier: identities given before in the scopes of these notes, of whose records only the variants are known.

        Returns:
            Identities as `relex.cluster.cluster` makes them: one that shares variants with an earlier one keeps its id.

        Raises:
            ModelProblem: no answer that can be used, and the policy lets nobody stand in.
        """
        ...


class Querier(Agent, Protocol):
    """Q_i: the words an identity is sought by."""

    async def query(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        """Identity's id -> a query, one for each; "" where nothing is to be sought by likeness.

        The query is embedded and compared with the vectors of the originals in the index, which were made of queries.
        """
        ...


class Validator(Agent, Protocol):
    """M_decision: does a hit stand for the same referent."""

    async def validate(
        self, identity: Identity, query: str, hits: Sequence[IndexHit], notes: Sequence[RelexNote]
    ) -> list[bool]:
        """One yes or no per hit, in their order; no where it is not sure (two Wilsons, and a query of "Wilson").

        Args:
            hits: of the identity's domain, scope and group; `IndexHit.identity.original` is how one was written first.
        """
        ...


class Replacer(Agent, Protocol):
    """M_replace: what an identity is called from now on."""

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, Surrogate]:
        """Identity's id -> a surrogate, one for each, none of them an original nor another identity's.

        Args:
            identities: those that need one.
            draw: by key or at random; a language model's own answer is used instead where it may be.
            taken: what is held and refused. Whoever gives a component claims it here (`UsedSurrogates.claim`), so that
                those who share it agree; whatever is asked again after a refusal (`UsedSurrogates.refuse`) is drawn
                anew.

        Returns:
            Surrogates with the parts that the generator of the identity's group names, so that it can write them
            (`Generators.render`).
        """
        ...


_VERSION = "1"
SOUGHT = frozenset(("PERSON", "ORG", "PLACE"))
"""Groups whose spellings vary; of the others equal normal forms are one and unequal ones two."""


class EmbeddedClusterer:
    """`relex.cluster`: the partition is a function of the set of variants."""

    name, version = "embedded", _VERSION

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        return cluster((v for note in notes for v in note.variants), earlier)


class EmbeddedQuerier:
    """The fullest way an identity is written; nothing for numbers, days and ages, which are found by their keys."""

    name, version = "embedded", _VERSION

    async def query(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        return {one.id: one.fullest if one.group in SOUGHT else "" for one in identities}


class EmbeddedValidator:
    """A hit is the same referent if the clusterer, shown both, puts them together.

    All hits are shown at once, so that a lone "Wilson" is neither of two Wilsons.
    """

    name, version = "embedded", _VERSION

    async def validate(
        self, identity: Identity, query: str, hits: Sequence[IndexHit], notes: Sequence[RelexNote]
    ) -> list[bool]:
        seen = [_written(hit.identity, at) for at, hit in enumerate(hits)]
        together = cluster([*identity.variants, *(v for v in seen if v is not None)])
        home = {variant: one.id for one in together for variant in one.variants}
        own = {home[variant] for variant in identity.variants}
        return [one is not None and len(own) == 1 and home[one] in own for one in seen]


class EmbeddedReplacer:
    """Drawn from the pools, component by component.

    Args:
        generators: what the policy chose.
    """

    name = "embedded"

    def __init__(self, generators: Generators | None = None) -> None:
        self.generators = generators or Generators()

    @cached_property
    def version(self) -> str:
        return f"{_VERSION} pools {Choices().pools}"

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, Surrogate]:
        return self.generators.generate_all(identities, draw, taken)


def _written(entry: IndexedIdentity, at: int) -> MentionVariant | None:
    """An entry's original as a mention of a record of its own; None where the index keeps no originals."""
    if not entry.original:
        return None
    patient = entry.place.scope.removeprefix("patient:") if entry.place.scope.startswith("patient:") else ""
    record = entry.place.scope.removeprefix("record:") if entry.place.scope.startswith("record:") else f"hit {at}"
    return MentionVariant(entry.type, entry.original, entry.place.domain, patient, record, "", 0, len(entry.original))
