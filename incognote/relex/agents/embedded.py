"""The embedded agents: name parsing and likeness, normal forms, pools. No network, no model, the same answer always."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from incognote.relex.agents.base import Note
from incognote.relex.cluster import cluster
from incognote.relex.generate import Choices, Draw, Generators, Taken
from incognote.relex.index.nouns import Entry, Hit
from incognote.relex.nouns import Identity, Surrogate, Variant

_VERSION = "1"
_SOUGHT = frozenset(("PERSON", "ORG", "PLACE"))
"""Groups whose spellings vary; of the others equal normal forms are one and unequal ones two."""


class EmbeddedClusterer:
    """`relex.cluster`: the partition is a function of the set of variants."""

    name, version = "embedded", _VERSION

    async def cluster(self, notes: Sequence[Note], earlier: Sequence[Identity] = ()) -> list[Identity]:
        return cluster((v for note in notes for v in note.variants), earlier)


class EmbeddedQuerier:
    """The fullest way an identity is written; nothing for numbers, days and ages, which are found by their keys."""

    name, version = "embedded", _VERSION

    async def query(self, identities: Sequence[Identity], notes: Sequence[Note]) -> dict[str, str]:
        return {one.id: _fullest(one) if one.group in _SOUGHT else "" for one in identities}


class EmbeddedValidator:
    """A hit is the same referent if the clusterer, shown both, puts them together.

    All hits are shown at once, so that a lone "Wilson" is neither of two Wilsons.
    """

    name, version = "embedded", _VERSION

    async def validate(self, identity: Identity, query: str, hits: Sequence[Hit], notes: Sequence[Note]) -> list[bool]:
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
        self, identities: Sequence[Identity], draw: Draw, taken: Taken, notes: Sequence[Note]
    ) -> dict[str, Surrogate]:
        return self.generators.generate_all(identities, draw, taken)


def _fullest(identity: Identity) -> str:
    """The name a person is written by most fully; of others the longest way of writing."""
    return identity.attributes.get("name") or max((v.words for v in identity.variants), key=lambda w: (len(w), w))


def _written(entry: Entry, at: int) -> Variant | None:
    """An entry's original as a mention of a record of its own; None where the index keeps no originals."""
    if not entry.original:
        return None
    patient = entry.place.scope.removeprefix("patient:") if entry.place.scope.startswith("patient:") else ""
    record = entry.place.scope.removeprefix("record:") if entry.place.scope.startswith("record:") else f"hit {at}"
    return Variant(entry.type, entry.original, entry.place.domain, patient, record, "", 0, len(entry.original))
