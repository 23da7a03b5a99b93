"""The index over any store of documents: programs are run here, and their operations done there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol, Self, TypeVar

from incognote.errors import IndexBusy, KeyMissing, UsageError
from incognote.keys import Keyring
from incognote.relex.index import claims, moving, remembering, repairs
from incognote.relex.index.base import Tick
from incognote.relex.index.desk import Desk, Meta
from incognote.relex.index.docs import META, Get, Near, Program, Tally
from incognote.relex.index.nouns import (
    Claimed,
    Conflict,
    Entry,
    Hit,
    Outcome,
    Part,
    Place,
    Proposal,
    Query,
    Receipt,
    Repair,
    Sighting,
    Stats,
    Taken,
    Vector,
)

T = TypeVar("T")
_PAGE = 500  # documents of an import at once


class Store(Protocol):
    """Keeps documents; one module per vendor."""

    @property
    def vendor(self) -> str:
        """Its name."""
        ...

    @property
    def seals_vectors(self) -> bool:
        """Do vectors lie sealed? Else in clear, to be searched where they lie."""
        ...

    async def run_all(self, programs: Sequence[Program[T]], *, writes: bool) -> list[T]:
        """Run programs to their ends; each may see what the others did."""
        ...

    async def refresh(self) -> None:
        """Return when vectors written so far are found."""
        ...

    async def purge(self) -> None:
        """See to it that what was deleted or replaced lies nowhere any more, as far as the store can."""
        ...

    def use(self, desk: Desk) -> None:
        """From now on vectors are sealed by this desk."""
        ...

    async def aclose(self) -> None:
        """Give back files and connections."""
        ...


class Index:
    """An index of surrogates; see `base.SurrogateIndex` for its promises.

    Args:
        store: where its documents lie, with an index made in it.
        keyring: a persistent key.

    Raises:
        KeyMissing: the key dies with this process.
    """

    def __init__(self, store: Store, keyring: Keyring) -> None:
        if not keyring.persistent:
            raise KeyMissing(
                "an index needs a persistent key: set key_file (INCOGNOTE_KEY_FILE); make one with `incognote key new`"
            )
        self.store = store
        self._keyring = keyring
        self._opened: Desk | None = None

    async def open(self, *, former: Keyring | None = None) -> Self:
        """Look at the index before the first read.

        Args:
            former: the key it was made with, to end a change of the key that was broken off.

        Raises:
            WrongKey: it is under another key.
            IndexBusy: it was left in the middle of a change of its key.
            IndexRejected: it is not there, or of a newer version.
        """
        meta = await self._run(_look())
        self._keyring.require(meta.key, meta.check)
        if meta.state == "rekeying" and (former is None or meta.detail != moving.former(former)):
            raise IndexBusy("the key of the index is being changed: end that first, by `incognote index rekey`")
        self._open(meta)
        return self

    def _open(self, meta: Meta) -> None:
        self._opened = Desk(self._keyring, meta, self.store.seals_vectors)
        self.store.use(self._opened)

    @property
    def vendor(self) -> str:
        """Who keeps it."""
        return self.store.vendor

    @property
    def desk(self) -> Desk:
        """The key at work here."""
        if self._opened is None:
            raise UsageError("the index is not open: await open() first")
        return self._opened

    @property
    def dimension(self) -> int:
        return self.desk.meta.dimension

    @property
    def embedder(self) -> str:
        return self.desk.meta.embedder

    @property
    def originals_kept(self) -> bool:
        return self.desk.meta.originals

    async def claim(self, proposal: Proposal) -> Outcome:
        (outcome,) = await self.claim_all([proposal])
        return outcome

    async def claim_all(self, proposals: Sequence[Proposal]) -> list[Outcome]:
        return await self.store.run_all([claims.claim(self.desk, one) for one in proposals], writes=True)

    async def lookup(self, place: Place, variants: Iterable[str]) -> tuple[Entry, ...]:
        return await self._run(claims.lookup(self.desk, place, variants))

    async def lookup_all(self, asked: Sequence[tuple[Place, Sequence[str]]]) -> list[tuple[Entry, ...]]:
        return await self.store.run_all([claims.lookup(self.desk, *one) for one in asked], writes=False)

    async def get(self, ids: Iterable[str]) -> dict[str, Entry]:
        return await self._run(claims.get(self.desk, ids))

    async def holder(self, domain: str, scope: str, whole: str) -> Entry | None:
        return await self._run(claims.holder(self.desk, domain, scope, whole))

    async def nearest(self, vector: Vector, query: Query, k: int) -> list[Hit]:
        return await self._run(_nearest(self.desk, vector, query, k))

    async def add_keys(self, id: str, variants: Iterable[str]) -> Claimed | Conflict:
        return await self._run(claims.extend(self.desk, id, variants), writes=True)

    async def use(self, uses: Iterable[tuple[str, str]]) -> None:
        await self._run(repairs.use(self.desk, uses), writes=True)

    async def note(self, sightings: Sequence[Sighting]) -> None:
        await self._run(remembering.note(self.desk, sightings), writes=True)

    async def noted(self, domain: str, shelves: Iterable[str]) -> list[Sighting]:
        return await self._run(remembering.noted(self.desk, domain, shelves))

    async def bearers(self, asked: Sequence[tuple[Place, str]]) -> list[Entry | None]:
        return await self._run(remembering.bearers(self.desk, asked))

    async def move(self, place: Place, variants: Iterable[str], to: str) -> None:
        await self._run(remembering.move(self.desk, place, variants, to), writes=True)

    async def hold_all(self, parts: Sequence[Part]) -> list[str | Taken]:
        return await self.store.run_all([remembering.hold(self.desk, part) for part in parts], writes=True)

    async def held(self, parts: Sequence[Part]) -> list[str | None]:
        return await self._run(remembering.held(self.desk, parts))

    async def amend(self, id: str, parts: Mapping[str, str]) -> Entry | None:
        return await self._run(remembering.amend(self.desk, id, dict(parts)), writes=True)

    async def remember(self, originals: Sequence[tuple[str, str, str]]) -> None:
        await self._run(remembering.remember(self.desk, originals), writes=True)

    async def originals(self, asked: Sequence[tuple[str, str]]) -> list[bool]:
        return await self._run(remembering.originals(self.desk, asked))

    async def merge(self, ids: Iterable[str]) -> Repair:
        return await self._run(repairs.merge(self.desk, ids), writes=True)

    async def split(self, id: str, proposal: Proposal) -> Repair | Taken:
        return await self._run(repairs.split(self.desk, id, proposal), writes=True)

    async def forget(self, domain: str, scope: str) -> Receipt:
        counts = dict.fromkeys(repairs.FORGETTING, 0)
        for kind in repairs.FORGETTING:
            over = False
            while not over:
                deleted, over = await self._run(repairs.forget(self.desk, domain, scope, kind), writes=True)
                counts[kind] += deleted
        await self.store.purge()
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        return Receipt(self.desk.meta.index, stamp, *counts.values())

    async def of_scope(self, domain: str, scope: str) -> tuple[int, tuple[str, ...]]:
        return await self._run(repairs.of_scope(self.desk, domain, scope))

    async def domains(self) -> tuple[str, ...]:
        await self.store.refresh()  # a store that is searched may not show yet what was written last
        return tuple(sorted({row.domain for row in await self._run(_tally(self.desk)) if row.kind != META}))

    async def stats(self) -> Stats:
        counted = await self._run(_tally(self.desk))
        of = {kind: sum(row.count for row in counted if row.kind == kind) for kind in repairs.FORGETTING}
        state = {name: [row for row in counted if row.state == name] for name in ("active", "merged", "pending")}
        meta = self.desk.meta
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
            of["mention"],
            of["part"],
            sum(row.moved for row in counted),
            sum(row.draws for row in counted),
            sum(row.vectors for row in state["active"]),
        )

    async def export(self, path: Path, tick: Tick = lambda _: None) -> int:
        count, after, whole = 0, None, False
        with _new(path) as out:
            out.write(moving.head(self.desk, secrets.token_hex(8)) + "\n")
            while not whole:
                page = await self._run(moving.page(self.desk, after))
                out.writelines(moving.line(self.desk, doc) + "\n" for doc in page.docs)
                count, after, whole = count + len(page.docs), page.next, page.next is None
                tick(len(page.docs))
            out.write(moving.tail(self.desk, count) + "\n")
        return count

    async def take_in(self, path: Path, tick: Tick = lambda _: None) -> int:
        count = 0
        with _opened(path) as source:
            export = moving.read_head(self.desk, source.readline())
            begin = source.tell()
            moving.check_tail(self.desk, iter(source.readline, ""))
            source.seek(begin)
            meta = self.desk.meta
            await self._run(moving.begin(self.desk, "importing", export, meta), writes=True)
            docs = moving.read_lines(self.desk, source)
            while batch := list(islice(docs, _PAGE)):
                count += await self._run(moving.take(self.desk, batch), writes=True)
                tick(len(batch))
        self._open(await self._run(moving.end(self.desk, "importing"), writes=True))
        await self.store.refresh()
        return count

    async def rekey(self, new: Keyring, tick: Tick = lambda _: None) -> int:
        if not new.persistent or new.id == self._keyring.id:
            raise UsageError("the new key is another one, and persistent; make one with `incognote key new`")
        if not self.desk.meta.originals:
            raise UsageError("the index keeps no originals, and without them no key can be computed anew")
        to = replace(self.desk.meta, key=new.id, check=new.check)
        await self._run(moving.begin(self.desk, "rekeying", moving.former(self._keyring), to), writes=True)
        old, self._keyring = self._keyring, new
        self._open(to)
        return await self.end_rekey(old, tick)

    async def end_rekey(self, old: Keyring, tick: Tick = lambda _: None) -> int:
        """Carry a change of the key, from the old one to this one, to its end -> documents."""
        former = self.desk.under(old, self.desk.meta)
        total, swept = 0, 1
        while swept:  # the last sweep finds nothing: what others still wrote during one is served by the next
            await self.store.refresh()
            swept, after, first = 0, None, True
            while first or after is not None:
                count, after = await self._run(moving.rekey(self.desk, former, after), writes=True)
                swept, first = swept + count, False
                tick(count)
            total += swept
        self._open(await self._run(moving.end(self.desk, "rekeying"), writes=True))
        await self.store.purge()
        return total

    async def refresh(self) -> None:
        await self.store.refresh()

    async def aclose(self) -> None:
        await self.store.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _run(self, program: Program[T], *, writes: bool = False) -> T:
        (result,) = await self.store.run_all([program], writes=writes)
        return result


def _opened(path: Path) -> IO[str]:
    try:
        return path.open(encoding="ascii", errors="replace")
    except OSError as error:
        raise UsageError(f"the export cannot be read: {error.strerror}") from None


@contextmanager
def _new(path: Path) -> Iterator[IO[str]]:
    """A file that is its owner's alone, and is taken away again where it is not finished."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"the export cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="ascii") as out:
            yield out
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _look() -> Program[Meta]:
    found = yield Get((META,))
    return Meta.read(found.get(META))


def _nearest(desk: Desk, vector: Vector, query: Query, k: int) -> Program[list[Hit]]:
    unit = desk.query(vector)
    if unit is None or k < 1:
        return []
    where = {"domain": query.domain, "group": query.group}
    if query.scope is not None:
        where["scope"] = desk.scope_id(query.domain, query.scope)
    where |= {name: value for name, value in (("type", query.type), ("pool", query.pool)) if value is not None}
    near = yield Near(unit, k, where, desk.tags(query.domain, query.attributes))
    found = yield from desk.fetch(*(one for one, _ in near))
    still = {one: doc for one, doc in found.items() if doc.state == "active"}
    return [Hit(desk.identity(still[one]), score) for one, score in near if one in still]


def _tally(desk: Desk) -> Program[list[Any]]:
    yield from desk.fetch()
    counted: list[Any] = yield Tally()
    return counted
