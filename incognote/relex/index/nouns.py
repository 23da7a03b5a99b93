"""The values that go into and out of the index. No repr shows any part of an original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError

Vector = NDArray[np.floating]
IMAGE, CUT_OUT = "IMAGE", "CUT_OUT"
VAULT = (IMAGE, CUT_OUT)
"""The groups of what was removed from an image, and of the pixels that were cut out of it (`relex.vault`)."""


@dataclass(frozen=True, slots=True)
class IdentityPlace:
    """Where an identity is valid. Within it, variants are distinguished and surrogates are unique.

    Args:
        domain: who shares surrogates; stored in plain text in the index.
        scope: the patient or the institution; "" for the whole domain. It may be PHI and is never stored in plain text.
        group: the evaluation group of its possible entity types (PERSON, LOCATION, ID ...).
    """

    domain: str
    scope: str = field(repr=False)
    group: str


@dataclass(frozen=True, slots=True)
class IndexedIdentity:
    """What the index stores of an identity: a referent that has a surrogate.

    Args:
        id: 32 hexadecimal digits; reveals nothing without the key.
        place: where it is valid.
        type: its entity type.
        surrogate: the parts of its surrogate (given, family, title ...), as named by their generator.
        whole: the whole surrogate, which no other identity of the domain and scope has.
        attributes: what is known of the referent: gender, locale, role ...
        original: one way it is written, if the index stores originals.
        pool: the version of the pools that the surrogate was drawn from.
        draws: the number of earlier draws whose surrogate was already taken.
        created: microseconds since 1970, by the clock of its creator.
        hand: `united` or `apart` if a person merged it or split it from another.
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
    """A surrogate for a referent that may have none yet.

    Args:
        place: where it is valid.
        type: its entity type.
        variants: every way it is written, in the normal form of its type; at least one.
        surrogate, whole, attributes, original, pool: as in `IndexedIdentity`.
        vector: the original's vector, with the index's dimension; None for none. Stored as float16.
        draws: the number of earlier draws that were refused.

    Raises:
        UsageError: there is no variant, an empty one, or no surrogate.
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
            raise UsageError("variants: must have at least one, and none may be empty")
        if not self.whole.strip():
            raise UsageError("whole: the full surrogate must not be empty")


@dataclass(frozen=True, slots=True)
class Sighting:
    """The mentions of one record that are searched for together.

    Args:
        domain, scope: where they belong; they are forgotten with it.
        block: the block in which they are found.
        record: the record that contains them.
        said: one JSON text each.
        group: what they are, in plain text; "" for mentions.
    """

    domain: str
    scope: str = field(repr=False)
    block: str = field(repr=False)
    record: str = field(repr=False)
    said: tuple[str, ...] = field(repr=False)
    group: str = ""


@dataclass(frozen=True, slots=True)
class SurrogatePart:
    """A component of surrogates, and the value to draw for it.

    Args:
        domain, scope: where it has the same value.
        type: its kind. Parts whose types are equal up to a colon are one family.
        normal: its normal form.
        value: the value that replaces it.
    """

    domain: str
    scope: str = field(repr=False)
    type: str
    normal: str = field(repr=False)
    value: str = field(repr=False)

    @property
    def group(self) -> str:
        """The group within which the value is unique; "" for all of the scope."""
        return self.normal.partition("\x1f")[2]

    @property
    def whole(self) -> str:
        """The string that it reserves."""
        return f"part {self.type.split(':', 1)[0]} {self.group} {self.value}"


@dataclass(frozen=True, slots=True)
class SurrogateClaimed:
    """The identity under the proposal's keys. `created` is True if this proposal made it."""

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
    """What `nearest` searches. Every field narrows the search before the k nearest are taken.

    Args:
        domain, group: those of the place.
        scope: None for every scope of the domain.
        type: None for every type of the group.
        pool: None for every version.
        attributes: attributes that must be equal.
    """

    domain: str
    group: str
    scope: str | None = field(default=None, repr=False)
    type: str | None = None
    pool: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of a merge or a split.

    Args:
        identity: the remaining identity after a merge, or the new one after a split.
        gone: the ids that are no longer identities of their own.
        outputs: the ids of outputs that show a surrogate that this repair changed.
    """

    identity: IndexedIdentity
    gone: tuple[str, ...]
    outputs: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeletionReceipt:
    """The number of deleted documents by kind."""

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
        pending: claims that were begun and not finished.
        moved: identities whose first draw was taken; `draws` counts the draws that were refused.
        images: records of images whose removed parts are kept (`relex.vault`).
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
    images: int = 0
