"""What an index is made of, whoever keeps it: documents under ids, and the few operations on them.

The logic of the index is written once, as programs: generators that yield operations and are sent their results. So a
program neither knows whether it runs in one transaction (SQLite) or among others that run at the same time
(OpenSearch, where only the single document is atomic), nor waits for anything itself; tests may interleave programs
as they like.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Kind = Literal["meta", "identity", "key", "reservation", "usage", "mention", "part", "original"]
State = Literal["", "pending", "active", "merged"]
META = "meta"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Doc:
    """One document.

    Args:
        id: an HMAC in hexadecimal digits, or `META`.
        key: the id of the master key that made the HMACs in it and sealed it.
        domain: in clear; `scope` is an HMAC.
        group, type, state, pool, tags, draws: of an identity; each tag is the HMAC of an attribute.
        into: the identity that a key, reservation or usage belongs to, or into which an identity was merged; of a
            mention its block; of a part's reservation the part.
        created: microseconds since 1970.
        body: all else, sealed; the label is the id. The body of `META` is in clear.
        vector: float16, little-endian; sealed where the place where it lies says so. Only `Scan` returns it.
        version: of the place where it lies; a `Swap` or `Delete` holds only while the version is the same.
    """

    id: str
    kind: Kind
    key: str
    domain: str = ""
    scope: str = ""
    group: str = ""
    type: str = ""
    state: State = ""
    pool: str = ""
    tags: tuple[str, ...] = ()
    into: str = ""
    draws: int = 0
    created: int = 0
    body: bytes = field(default=b"", repr=False)
    vector: bytes | None = field(default=None, repr=False)
    version: Any = None


@dataclass(frozen=True, slots=True)
class Get:
    """Documents by id, real-time -> dict of those there are, without their vectors."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Create:
    """Documents under ids where none stands -> a list: the version of what this made, None where another stands."""

    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Swap:
    """Fields of documents anew, each if its version is still the same -> a list: was it?"""

    changes: tuple[tuple[Doc, Mapping[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """Documents away, each if its version is still the same -> how many."""

    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """A page of the documents whose fields are these -> Page. It sees what was written before its first page.

    Args:
        where: field to value; a tuple of values means any of them.
        without: field to value that it must not have.
        vectors: return vectors too.
        after: the former page's `next`.
    """

    where: Mapping[str, str | tuple[str, ...]]
    without: Mapping[str, str] = field(default_factory=dict)
    vectors: bool = False
    after: Any = None


@dataclass(frozen=True, slots=True)
class Page:
    """Documents, and where the next page begins; None at the end."""

    docs: list[Doc]
    next: Any


@dataclass(frozen=True, slots=True)
class NearestIdentities:
    """The ids of the k identities nearest to a vector among those whose fields are these -> list of (id, cosine)."""

    vector: NDArray[np.float32] = field(repr=False)
    k: int
    where: Mapping[str, str]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CountDocs:
    """Counts -> list of `Counted`."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many documents share kind, state, domain and group; and of these, the sums."""

    kind: str
    state: str
    domain: str
    group: str
    count: int
    moved: int
    draws: int
    vectors: int


Op = Get | Create | Swap | Delete | Scan | NearestIdentities | CountDocs
Program = Generator[Op, Any, T]


def reserve(doc: Doc) -> Generator[Op, Any, tuple[bool, bool]]:
    """Create a reservation -> whether this made it, and whether another owner holds it."""
    (made,) = yield Create((doc,))
    if made:
        return True, False
    found: dict[str, Doc] = yield Get((doc.id,))
    return False, doc.id in found and found[doc.id].into != doc.into


def scan_all(where: Mapping[str, str | tuple[str, ...]]) -> Generator[Op, Any, list[Doc]]:
    """All documents whose fields are these, without their vectors."""
    docs: list[Doc] = []
    after: Any = None
    while True:
        page: Page = yield Scan(where, after=after)
        docs += page.docs
        if page.next is None:
            return docs
        after = page.next


async def side_by_side(programs: Sequence[Program[T]], do: Callable[[list[Op]], Awaitable[list[Any]]]) -> list[T]:
    """What the programs return, in their order.

    Args:
        programs: where one fails, the others are left where they stand; what they did so far is what a claimant that
            died would leave, and hurts nobody.
        do: the operations of a round, in any order -> their results.
    """
    ended: dict[int, T] = {}
    results: dict[int, Any] = dict.fromkeys(range(len(programs)))
    try:
        while results:
            ops: dict[int, Op] = {}
            for index, result in results.items():
                try:
                    ops[index] = programs[index].send(result)
                except StopIteration as stop:
                    ended[index] = stop.value
            results = dict(zip(ops, await do(list(ops.values())), strict=True)) if ops else {}
    finally:
        for program in programs:
            program.close()
    return [ended[index] for index in range(len(programs))]
