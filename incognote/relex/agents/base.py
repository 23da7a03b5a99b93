"""What an agent of relexicalization promises, whoever plays it (RedactOR, Algorithm 3; the replies' shapes: §B.2).

An agent proposes; the loop (`relex.graph`) checks, remembers and applies. An agent that is asked the same says the
same: one that draws its answers records them. Nothing of a note stands in a repr or in an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from incognote.relex.generate.base import Draw
from incognote.relex.generate.taken import Taken
from incognote.relex.index.nouns import Hit
from incognote.relex.nouns import Identity, Surrogate, Variant


@dataclass(frozen=True, slots=True)
class Note:
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
    variants: tuple[Variant, ...] = field(default=(), repr=False)


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

    async def cluster(self, notes: Sequence[Note], earlier: Sequence[Identity] = ()) -> list[Identity]:
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

    async def query(self, identities: Sequence[Identity], notes: Sequence[Note]) -> dict[str, str]:
        """Identity's id -> a query, one for each; "" where nothing is to be sought by likeness.

        The query is embedded and compared with the vectors of the originals in the index, which were made of queries.
        """
        ...


class Validator(Agent, Protocol):
    """M_decision: does a hit stand for the same referent."""

    async def validate(self, identity: Identity, query: str, hits: Sequence[Hit], notes: Sequence[Note]) -> list[bool]:
        """One yes or no per hit, in their order; no where it is not sure (two Wilsons, and a query of "Wilson").

        Args:
            hits: of the identity's domain, scope and group; `Hit.identity.original` is how one was written first.
        """
        ...


class Replacer(Agent, Protocol):
    """M_replace: what an identity is called from now on."""

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: Taken, notes: Sequence[Note]
    ) -> dict[str, Surrogate]:
        """Identity's id -> a surrogate, one for each, none of them an original nor another identity's.

        Args:
            identities: those that need one.
            draw: by key or at random; a language model's own answer is used instead where it may be.
            taken: what is held and refused. Whoever gives a component claims it here (`Taken.claim`), so that those
                who share it agree; whatever is asked again after a refusal (`Taken.refuse`) is drawn anew.

        Returns:
            Surrogates with the parts that the generator of the identity's group names, so that it can write them
            (`Generators.render`).
        """
        ...
