"""The index of surrogates over any document store. Programs run here, and the store performs their operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, Self, TypeVar

from incognote.errors import IndexBusy, KeyMissing, UsageError
from incognote.keys import Keyring
from incognote.relex.index import claims, remembering, repairs
from incognote.relex.index.docs import META, CountDocs, Get, NearestIdentities, Program
from incognote.relex.index.nouns import (
    IMAGE,
    VAULT,
    ClaimOutcome,
    Conflict,
    DeletionReceipt,
    IdentityPlace,
    IndexedIdentity,
    IndexHit,
    Query,
    Repair,
    Sighting,
    Stats,
    SurrogateClaimed,
    SurrogatePart,
    SurrogateProposal,
    SurrogateTaken,
    Vector,
)
from incognote.relex.index.sealing import Meta, Sealer, key_reference

T = TypeVar("T")


class IndexStore(Protocol):
    """Stores documents; one module per vendor."""

    @property
    def vendor(self) -> str:
        """The vendor's name."""

    @property
    def seals_vectors(self) -> bool:
        """Whether vectors are stored sealed.

        Otherwise they are stored in plain form, so that the store can search them.
        """

    async def run_all(self, programs: Sequence[Program[T]], *, writes: bool) -> list[T]:
        """Run programs to completion. Each may see what the others did."""

    async def refresh(self) -> None:
        """Wait until all vectors written so far can be found."""

    async def purge(self) -> None:
        """Erase all traces of deleted or replaced documents, as far as the store can."""

    def use(self, sealer: Sealer) -> None:
        """Seal vectors with this sealer from now on."""

    async def aclose(self) -> None:
        """Close files and connections."""


class SurrogateIndex:
    """Stores the surrogate of each identity. Concurrent callers get the same surrogate.

    In addition to the errors it names, every method may raise:

    - IndexUnavailable: no answer. Nothing was handed out, the record waits, and the same call later gives the same
      surrogate.
    - WrongKey, IndexBusy, IndexRejected: the index is now under another key, in the middle of an import or of a
      change of its key, or gone.

    Reads by variant, surrogate and id see every completed write. `nearest` may miss writes of the last second if the
    vendor indexes vectors in the background; `refresh` waits for that.

    Args:
        store: the store of its documents, with an index in it.
        keyring: a persistent key.

    Raises:
        KeyMissing: the key exists only in this process.
    """

    def __init__(self, store: IndexStore, keyring: Keyring) -> None:
        if not keyring.persistent:
            raise KeyMissing(
                "an index needs a persistent key. Set key_file (INCOGNOTE_KEY_FILE) to its key. Only for a new index, "
                "create one with `incognote key new`"
            )
        self.store = store
        self.keyring = keyring
        self._opened: Sealer | None = None

    async def open(self, *, begun_with: Keyring | None = None) -> Self:
        """Check the index before the first read.

        Args:
            begun_with: the key it was made with, to finish an interrupted change of the key.

        Raises:
            WrongKey: it is under another key.
            IndexBusy: it was left in the middle of a change of its key.
            IndexRejected: it does not exist, or has a newer version.
        """
        meta = await self.run(_look())
        self.keyring.require(meta.key, meta.check)
        if meta.state == "rekeying" and (begun_with is None or meta.detail != key_reference(begun_with)):
            raise IndexBusy("the key of the index is being changed. Finish that first with `incognote index rekey`")
        self.reopen(meta)
        return self

    def reopen(self, meta: Meta) -> None:
        """Continue with the index's current metadata."""
        self._opened = Sealer(self.keyring, meta, self.store.seals_vectors)
        self.store.use(self._opened)

    @property
    def sealer(self) -> Sealer:
        """The sealer in use."""
        if self._opened is None:
            raise UsageError("the index is not open. Call open() first")
        return self._opened

    @property
    def dimension(self) -> int:
        """The dimension of its vectors; 0 if it stores none."""
        return self.sealer.meta.dimension

    @property
    def embedder(self) -> str:
        """The version of the embedder that made its vectors; "" if unknown."""
        return self.sealer.meta.embedder

    @property
    def originals_kept(self) -> bool:
        """Whether it stores originals and mentions, sealed."""
        return self.sealer.meta.originals

    async def claim(self, proposal: SurrogateProposal) -> ClaimOutcome:
        """Return the identity under the proposal's keys, or create the proposed one. The first writer wins.

        Keys that have no identity yet are added to the existing one.
        """
        (outcome,) = await self.claim_all([proposal])
        return outcome

    async def claim_all(self, proposals: Sequence[SurrogateProposal]) -> list[ClaimOutcome]:
        """Make several claims in few round trips. After an error, some or none of them are done."""
        return await self.store.run_all([claims.claim(self.sealer, one) for one in proposals], writes=True)

    async def lookup(self, place: IdentityPlace, variants: Iterable[str]) -> tuple[IndexedIdentity, ...]:
        """The identities under these variants, oldest first. More than one means that the variants disagree."""
        return await self.run(claims.lookup(self.sealer, place, variants))

    async def get(self, ids: Iterable[str]) -> dict[str, IndexedIdentity]:
        """Identities by id. A merged one is returned as the identity it became; unknown ids are left out."""
        return await self.run(claims.get(self.sealer, ids))

    async def holder(self, domain: str, scope: str, whole: str) -> IndexedIdentity | None:
        """The identity that has a surrogate."""
        return await self.run(claims.holder(self.sealer, domain, scope, whole))

    async def nearest(self, vector: Vector, query: Query, k: int) -> list[IndexHit]:
        """The k nearest identities that match the query, nearest first. A zero vector is near nothing."""
        return await self.run(_nearest(self.sealer, vector, query, k))

    async def add_keys(self, id: str, variants: Iterable[str]) -> SurrogateClaimed | Conflict:
        """Add variants to an identity.

        Raises:
            UsageError: there is no identity with that id.
        """
        return await self.run(claims.extend(self.sealer, id, variants), writes=True)

    async def use(self, uses: Iterable[tuple[str, str]]) -> None:
        """Note which outputs (by their ids) show which identities, so that a repair can name them."""
        await self.run(repairs.use(self.sealer, uses), writes=True)

    async def note(self, sightings: Sequence[Sighting]) -> None:
        """Remember mentions. They replace earlier ones of the same record in the same block."""
        await self.run(remembering.note(self.sealer, sightings), writes=True)

    async def noted(self, domain: str, blocks: Iterable[str]) -> list[Sighting]:
        """All mentions in these blocks that were noted before the call."""
        return await self.run(remembering.noted(self.sealer, domain, blocks))

    async def blocks(self, domain: str, scope: str, group: str) -> tuple[str, ...]:
        """The blocks in which a scope has mentions of a group."""
        return await self.run(remembering.blocks(self.sealer, domain, scope, group))

    async def drop(self, domain: str, block: str) -> int:
        """Delete all mentions in a block, and erase their traces -> how many."""
        deleted = await self.run(remembering.drop(self.sealer, domain, block), writes=True)
        await self.store.purge()
        return deleted

    async def bearers(self, asked: Sequence[tuple[IdentityPlace, str]]) -> list[IndexedIdentity | None]:
        """The identity that each key leads to; None if the key was never claimed."""
        return await self.run(remembering.bearers(self.sealer, asked))

    async def move(self, place: IdentityPlace, variants: Iterable[str], to: str) -> None:
        """Redirect keys to an identity of their place, after one identity became two or two became one."""
        await self.run(remembering.move(self.sealer, place, variants, to), writes=True)

    async def hold_all(self, parts: Sequence[SurrogatePart]) -> list[str | SurrogateTaken]:
        """The value of each part; the first writer wins.

        `SurrogateTaken` if another part of its family has the value.
        """
        return await self.store.run_all([remembering.hold(self.sealer, part) for part in parts], writes=True)

    async def held(self, parts: Sequence[SurrogatePart]) -> list[str | None]:
        """The values that parts have; None for those without one. The `value` of each argument is ignored."""
        return await self.run(remembering.held(self.sealer, parts))

    async def amend(self, id: str, parts: Mapping[str, str]) -> IndexedIdentity | None:
        """Add parts to an identity's surrogate; existing parts stay. None if the identity is gone."""
        return await self.run(remembering.amend(self.sealer, id, dict(parts)), writes=True)

    async def remember(self, originals: Sequence[tuple[str, str, str]]) -> None:
        """Store (domain, scope, form) of originals. Draws for the domain avoid these forms."""
        await self.run(remembering.remember(self.sealer, originals), writes=True)

    async def originals(self, asked: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether each (domain, form) is an original of the domain."""
        return await self.run(remembering.originals(self.sealer, asked))

    async def merge(self, ids: Iterable[str]) -> Repair:
        """Merge several identities into one; the oldest stays."""
        return await self.run(repairs.merge(self.sealer, ids), writes=True)

    async def unite(self, id: str) -> IndexedIdentity:
        """Let an identity serve several that the clusterer keeps apart, as after a merge."""
        return await self.run(repairs.unite(self.sealer, id), writes=True)

    async def split(self, id: str, proposal: SurrogateProposal) -> Repair | SurrogateTaken:
        """Give some variants of an identity to a new one with a surrogate of its own."""
        return await self.run(repairs.split(self.sealer, id, proposal), writes=True)

    async def forget(self, domain: str, scope: str) -> DeletionReceipt:
        """Delete everything in a scope. Stop all writers to the scope first."""
        counts = dict.fromkeys(repairs.FORGETTING, 0)
        for kind in repairs.FORGETTING:
            over = False
            while not over:
                deleted, over = await self.run(repairs.forget(self.sealer, domain, scope, kind), writes=True)
                counts[kind] += deleted
        await self.store.purge()
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        return DeletionReceipt(self.sealer.meta.index, stamp, *counts.values())

    async def of_scope(self, domain: str, scope: str) -> tuple[int, tuple[str, ...]]:
        """The number of documents in a scope, and the surrogates of its identities, including merged ones."""
        return await self.run(repairs.of_scope(self.sealer, domain, scope))

    async def domains(self) -> tuple[str, ...]:
        """The domains that have any documents, sorted."""
        await self.store.refresh()  # a searched store may not show the latest writes yet
        return tuple(sorted({row.domain for row in await self.run(_tally(self.sealer)) if row.kind != META}))

    async def stats(self) -> Stats:
        """How much it holds."""
        counted = await self.run(_tally(self.sealer))
        of = {kind: sum(row.count for row in counted if row.kind == kind) for kind in repairs.FORGETTING}
        kept = {name: sum(r.count for r in counted if (r.kind, r.group) == ("mention", name)) for name in VAULT}
        state = {name: [row for row in counted if row.state == name] for name in ("active", "merged", "pending")}
        meta = self.sealer.meta
        return Stats(
            self.store.vendor,
            meta.index,
            meta.key,
            meta.format,
            {(row.domain, row.group): row.count for row in sorted(state["active"], key=lambda r: (r.domain, r.group))},
            sum(row.count for row in state["merged"]),
            sum(row.count for row in state["pending"]),
            of["key"],
            of["reservation"],
            of["usage"],
            of["mention"] - sum(kept.values()),
            of["part"],
            sum(row.moved for row in counted),
            sum(row.draws for row in counted),
            sum(row.vectors for row in state["active"]),
            kept[IMAGE],
        )

    async def refresh(self) -> None:
        """Wait until `nearest` sees everything written so far."""
        await self.store.refresh()

    async def aclose(self) -> None:
        """Close files and connections."""
        await self.store.aclose()

    async def __aenter__(self) -> Self:
        """Return the index itself; it is closed at the end."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()

    async def run(self, program: Program[T], *, writes: bool = False) -> T:
        """Run one program to completion."""
        (result,) = await self.store.run_all([program], writes=writes)
        return result


def _look() -> Program[Meta]:
    found = yield Get((META,))
    return Meta.read(found.get(META))


def _nearest(sealer: Sealer, vector: Vector, query: Query, k: int) -> Program[list[IndexHit]]:
    unit = sealer.query(vector)
    if unit is None or k < 1:
        return []
    where = {"domain": query.domain, "group": query.group}
    if query.scope is not None:
        where["scope"] = sealer.scope_id(query.domain, query.scope)
    where |= {name: value for name, value in (("type", query.type), ("pool", query.pool)) if value is not None}
    near = yield NearestIdentities(unit, k, where, sealer.tags(query.domain, query.attributes))
    found = yield from sealer.fetch(*(one for one, _ in near))
    still = {one: doc for one, doc in found.items() if doc.state == "active"}
    return [IndexHit(sealer.identity(still[one]), score) for one, score in near if one in still]


def _tally(sealer: Sealer) -> Program[list[Any]]:
    yield from sealer.fetch()
    counted: list[Any] = yield CountDocs()
    return counted
