"""The documents that make up an index in any store, and the few operations on them.

The logic of the index is written once, as programs: generators that yield operations and receive their results. A
program does not know whether it runs in one transaction (SQLite) or concurrently with others (OpenSearch, where only
single documents are atomic). It never waits itself, and tests may interleave programs in any order.
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
        key: the id of the master key that made its HMACs and sealed it.
        domain: in plain text; `scope` is an HMAC.
        group, type, state, pool, tags, draws: of an identity; each tag is the HMAC of an attribute.
        into: the identity that a key, reservation or usage belongs to, or into which an identity was merged. For a
            mention, its block. For the reservation of a part, the part.
        created: microseconds since 1970.
        body: everything else, sealed; the label is the id. The body of `META` is in plain text.
        vector: float16, little-endian; sealed if the store requires it. Only `Scan` returns it.
        version: set by the store. A `Swap` or `Delete` succeeds only if the version is unchanged.
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
    """Get documents by id, in real time -> dict of the existing ones, without their vectors."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Create:
    """Create documents under unused ids -> a list: the version of each new one, None if the id is in use."""

    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Swap:
    """Set fields of documents, each if its version is unchanged -> a list: whether each was set."""

    changes: tuple[tuple[Doc, Mapping[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete documents, each if its version is unchanged -> how many."""

    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """A page of the documents with these fields -> Page. It sees everything written before its first page.

    Args:
        where: field to value; a tuple means any of its values.
        without: field to value that it must not have.
        vectors: return vectors too.
        after: the previous page's `next`.
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
    """The ids of the k identities nearest to a vector, among those with these fields -> list of (id, cosine)."""

    vector: NDArray[np.float32] = field(repr=False)
    k: int
    where: Mapping[str, str]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CountDocs:
    """Count documents -> list of `Counted`."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many documents share kind, state, domain and group, and the sums over them."""

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
    """Create a reservation -> whether this call made it, and whether another owner holds it."""
    (made,) = yield Create((doc,))
    if made:
        return True, False
    found: dict[str, Doc] = yield Get((doc.id,))
    return False, doc.id in found and found[doc.id].into != doc.into


def scan_all(where: Mapping[str, str | tuple[str, ...]]) -> Generator[Op, Any, list[Doc]]:
    """All documents with these fields, without their vectors."""
    docs: list[Doc] = []
    after: Any = None
    while True:
        page: Page = yield Scan(where, after=after)
        docs += page.docs
        if page.next is None:
            return docs
        after = page.next


async def side_by_side(programs: Sequence[Program[T]], do: Callable[[list[Op]], Awaitable[list[Any]]]) -> list[T]:
    """Run programs side by side and return their results in order.

    Args:
        programs: if one fails, the others are stopped. What they did so far is like the work of a claimant that died,
            and does no harm.
        do: performs the operations of a round, in any order -> their results.
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
