"""The test double of the surrogate index: documents in a dictionary, with rounds between which others may act."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from incognote.errors import IndexUnavailable
from incognote.keys import Keyring
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.docs import (
    CountDocs,
    Counted,
    Create,
    Delete,
    Doc,
    Get,
    NearestIdentities,
    Op,
    Page,
    Program,
    Scan,
    Swap,
    side_by_side,
)
from incognote.relex.index.matrix import filled, matches
from incognote.relex.index.sealing import DIMENSION, Meta, Sealer

T = TypeVar("T")


class MemoryStore:
    """Documents of one process, which end with it. As in a cluster, only a single operation is atomic.

    Args:
        meta: the metadata of the index.
    """

    vendor = "memory"
    seals_vectors = True

    def __init__(self, meta: Meta) -> None:
        self.docs: dict[str, Doc] = {}
        self.down = False  # True simulates an index that does not answer
        self._version = 0
        self._sealer: Sealer | None = None
        self._create((meta.doc(),))

    def use(self, sealer: Sealer) -> None:
        """Use this sealer to open and seal vectors."""
        self._sealer = sealer

    async def run_all(self, programs: Sequence[Program[T]], *, writes: bool) -> list[T]:
        """Run programs concurrently. They take turns between the rounds."""

        async def do(ops: list[Op]) -> list[Any]:
            await asyncio.sleep(0)
            return [self.do(op) for op in ops]

        return await side_by_side(programs, do)

    async def refresh(self) -> None:
        """Do nothing, since there is nothing to wait for."""

    async def purge(self) -> None:
        """Do nothing, since deleted documents are already gone."""

    async def aclose(self) -> None:
        """Do nothing, since there is nothing to close."""

    def do(self, op: Op) -> Any:
        """Run one operation.

        Raises:
            IndexUnavailable: it was set to be down.
        """
        if self.down:
            raise IndexUnavailable("the index was set to be down")
        match op:
            case Get(ids):
                return {one: replace(self.docs[one], vector=None) for one in ids if one in self.docs}
            case Create(docs):
                return self._create(docs)
            case Swap(changes):
                return [self._swap(doc, dict(fields)) for doc, fields in changes]
            case Delete(docs):
                return sum(self._delete(doc) for doc in docs)
            case Scan():
                found = [doc for doc in self.docs.values() if matches(doc, op.where, op.without)]
                return Page(found, None)
            case NearestIdentities():
                sealer = self._sealer
                assert sealer is not None
                wanted = {"kind": "identity", "domain": op.where["domain"], "group": op.where["group"]}
                among = [doc for doc in self.docs.values() if matches(doc, wanted, {})]
                return filled(sealer.meta.dimension, ((doc, sealer.raw(doc)) for doc in among)).near(op)
            case CountDocs():
                return self._tally()

    def _create(self, docs: Sequence[Doc]) -> list[int | None]:
        return [None if doc.id in self.docs else self._put(doc) for doc in docs]

    def _swap(self, doc: Doc, fields: dict[str, Any]) -> bool:
        existing = self.docs.get(doc.id)
        if existing is None or existing.version != doc.version:
            return False
        self._put(replace(existing, **fields))
        return True

    def _delete(self, doc: Doc) -> int:
        existing = self.docs.get(doc.id)
        if existing is None or existing.version != doc.version:
            return 0
        del self.docs[doc.id]
        return 1

    def _put(self, doc: Doc) -> int:
        self._version += 1
        self.docs[doc.id] = replace(doc, version=self._version)
        return self._version

    def _tally(self) -> list[Counted]:
        groups: dict[tuple[str, str, str, str], Counter[str]] = {}
        for doc in self.docs.values():
            sums = groups.setdefault((doc.kind, doc.state, doc.domain, doc.group), Counter())
            sums.update(n=1, moved=doc.draws > 0, draws=doc.draws, vectors=doc.vector is not None)
        return [Counted(*of, sums["n"], sums["moved"], sums["draws"], sums["vectors"]) for of, sums in groups.items()]


class MemoryIndex(SurrogateIndex):
    """A surrogate index for our tests and yours.

    Args:
        keyring: the master key; a new one by default.
        originals, dimension, embedder: as in `Meta`.
        store: the store of another index, to access the same data through a second one.
    """

    def __init__(
        self,
        keyring: Keyring | None = None,
        *,
        originals: bool = True,
        dimension: int = DIMENSION,
        embedder: str = "",
        store: MemoryStore | None = None,
    ) -> None:
        own = keyring or replace(Keyring.ephemeral(), persistent=True)
        meta = Meta.new(own, originals=originals, dimension=dimension, embedder=embedder)
        self.memory = store or MemoryStore(meta)
        super().__init__(self.memory, own)
        if store is None:
            self.reopen(meta)
