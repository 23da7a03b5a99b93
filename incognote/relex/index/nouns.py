"""What goes through the door of the index. Nothing of an original shows in a repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError

Vector = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class IdentityPlace:
    """Where an identity lives: within it variants are told apart and surrogates are unique.

    Args:
        domain: who shares surrogates; stands in clear in the index.
        scope: the patient or the institution; "" for the whole domain. It may be PHI: never stored in clear.
        group: the evaluation group of the entity types it may bear (PERSON, LOCATION, ID ...).
    """

    domain: str
    scope: str = field(repr=False)
    group: str


@dataclass(frozen=True, slots=True)
class IndexedIdentity:
    """What the index keeps of an identity: a referent that has a surrogate.

    Args:
        id: 32 hexadecimal digits; tells nothing without the key.
        place: where it lives.
        type: its entity type.
        surrogate: the parts of its surrogate (given, family, title ...), as their generator named them.
        whole: the surrogate as a whole, which no other identity of the domain and scope has.
        attributes: what is known of the referent: gender, locale, role ...
        original: one way it is written, where the index keeps originals.
        pool: the version of the pools that the surrogate was drawn from.
        draws: how many draws before it were taken.
        created: microseconds since 1970, by the clock of who made it.
        hand: `united` or `apart` where a person merged it or split it from another.
    """

    id: str
    place: IdentityPlace
    type: str
    surrogate: Mapping[str, str] = field(repr=False)
    whole: str = field(repr=False)
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)
    original: str | None = field(default=None, repr=False)
    pool: str = ""
    draws: int = 0
    created: int = 0
    hand: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateProposal:
    """A surrogate for a referent, should it have none yet.

    Args:
        place: where it lives.
        type: its entity type.
        variants: every way it is written, in the normal form of its type; at least one.
        surrogate, whole, attributes, original, pool: as of `IndexedIdentity`.
        vector: of the original, of the index's dimension; None for none. Kept as float16.
        draws: how many draws before this one were refused.

    Raises:
        UsageError: no variant, an empty one, or no surrogate.
    """

    place: IdentityPlace
    type: str
    variants: tuple[str, ...] = field(repr=False)
    surrogate: Mapping[str, str] = field(repr=False)
    whole: str = field(repr=False)
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)
    original: str | None = field(default=None, repr=False)
    vector: Vector | None = field(default=None, repr=False)
    pool: str = ""
    draws: int = 0

    def __post_init__(self) -> None:
        if not self.variants or not all(variant.strip() for variant in self.variants):
            raise UsageError("variants: at least one, and none of them empty")
        if not self.whole.strip():
            raise UsageError("whole: the surrogate as it is written out")


@dataclass(frozen=True, slots=True)
class Sighting:
    """The mentions of one record that are sought together.

    Args:
        domain, scope: whose they are, and are forgotten with.
        block: under what they are found.
        record: which they stand in.
        said: one JSON text each.
    """

    domain: str
    scope: str = field(repr=False)
    block: str = field(repr=False)
    record: str = field(repr=False)
    said: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SurrogatePart:
    """A component of surrogates, and what it is to be drawn as.

    Args:
        domain, scope: where it stands for the same.
        type: what it is; parts whose types agree up to a colon are of one family.
        normal: its normal form.
        value: what stands for it.
    """

    domain: str
    scope: str = field(repr=False)
    type: str
    normal: str = field(repr=False)
    value: str = field(repr=False)

    @property
    def whole(self) -> str:
        """What it reserves."""
        return f"part {self.type.split(':', 1)[0]} {self.value}"


@dataclass(frozen=True, slots=True)
class SurrogateClaimed:
    """The identity that stands under the proposal's keys; `created` says whether it came of this proposal."""

    identity: IndexedIdentity
    created: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """The keys belong to several identities: `merge` them, or claim with fewer variants. Nothing was handed out."""

    identities: tuple[IndexedIdentity, ...]


@dataclass(frozen=True, slots=True)
class SurrogateTaken:
    """Another identity of the domain and scope has this surrogate: draw the next one."""


ClaimOutcome = SurrogateClaimed | Conflict | SurrogateTaken


@dataclass(frozen=True, slots=True)
class IndexHit:
    """An identity near a vector; `score` is the cosine, -1 to 1."""

    identity: IndexedIdentity
    score: float


@dataclass(frozen=True, slots=True)
class Query:
    """What `nearest` searches among. Every word of it narrows before the k nearest are taken.

    Args:
        domain, group: of the place.
        scope: None for every scope of the domain.
        type: None for every type of the group.
        pool: None for every version.
        attributes: those that must be equal.
    """

    domain: str
    group: str
    scope: str | None = field(default=None, repr=False)
    type: str | None = None
    pool: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Repair:
    """What a merge or a split did.

    Args:
        identity: the one that stands: the merged, or the new one of a split.
        gone: the ids that are no identities of their own any more.
        outputs: the ids of outputs that show a surrogate which this repair changed.
    """

    identity: IndexedIdentity
    gone: tuple[str, ...]
    outputs: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeletionReceipt:
    """What was deleted: numbers only."""

    index: str
    time: str
    identities: int
    keys: int
    reservations: int
    usages: int
    mentions: int
    parts: int
    originals: int


@dataclass(frozen=True, slots=True)
class Stats:
    """How much an index holds.

    Args:
        identities: by (domain, group).
        merged: identities that became part of another.
        pending: claims that somebody began and nobody ended yet.
        moved: identities whose first draw was taken; `draws` counts the draws that were refused.
    """

    vendor: str
    id: str
    key: str
    format: int
    identities: Mapping[tuple[str, str], int]
    merged: int
    pending: int
    keys: int
    reservations: int
    usages: int
    mentions: int
    parts: int
    moved: int
    draws: int
    vectors: int
