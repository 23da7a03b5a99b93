"""What an index of surrogates promises, wherever it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self

from incognote.keys import Keyring
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

Tick = Callable[[int], None]  # told how many documents were served since it was last told


class SurrogateIndex(Protocol):
    """Remembers which surrogate an identity has: one each, whoever asks first and however many ask at once.

    Every method may raise, beside what it names:

    - IndexUnavailable: no answer; nothing was handed out, the record waits, and the same call later gives the same
      surrogate.
    - WrongKey, IndexBusy, IndexRejected: the index is under another key by now, in the middle of an import or of a
      change of its key, or gone.

    Reads by variant, surrogate and id see every write that has ended. `nearest` may miss the last second's writes
    where the vendor indexes vectors in the background; `refresh` waits for that.
    """

    @property
    def dimension(self) -> int:
        """Of its vectors; 0 where it keeps none."""
        ...

    @property
    def embedder(self) -> str:
        """The version of what makes its vectors; "" where that was not said."""
        ...

    @property
    def originals_kept(self) -> bool:
        """Whether it keeps originals and mentions, sealed."""
        ...

    async def claim(self, proposal: Proposal) -> Outcome:
        """The identity under the proposal's keys; where none stands, the proposed one from now on. First writer wins.

        Keys that no identity has yet are added to the one that stands.
        """
        ...

    async def claim_all(self, proposals: Sequence[Proposal]) -> list[Outcome]:
        """As many claims, in few round trips; an error leaves some of them done or none."""
        ...

    async def lookup(self, place: Place, variants: Iterable[str]) -> tuple[Entry, ...]:
        """The identities under these variants, the oldest first; more than one means that the variants disagree."""
        ...

    async def lookup_all(self, asked: Sequence[tuple[Place, Sequence[str]]]) -> list[tuple[Entry, ...]]:
        """As many lookups, in few round trips."""
        ...

    async def get(self, ids: Iterable[str]) -> dict[str, Entry]:
        """Identities by id, merged ones as what they became; an id without one is left out."""
        ...

    async def holder(self, domain: str, scope: str, whole: str) -> Entry | None:
        """Who bears a surrogate."""
        ...

    async def nearest(self, vector: Vector, query: Query, k: int) -> list[Hit]:
        """The k nearest of those the query leaves, the nearest first. A zero vector is near nothing."""
        ...

    async def add_keys(self, id: str, variants: Iterable[str]) -> Claimed | Conflict:
        """More variants for an identity.

        Raises:
            UsageError: there is none of that id.
        """
        ...

    async def use(self, uses: Iterable[tuple[str, str]]) -> None:
        """Note which outputs (by their ids) show which identities, so that a repair can name them."""
        ...

    async def note(self, sightings: Sequence[Sighting]) -> None:
        """Remember mentions; those of the same record on the same shelf take the former ones' place."""
        ...

    async def noted(self, domain: str, shelves: Iterable[str]) -> list[Sighting]:
        """All mentions on these shelves that anybody noted before the call."""
        ...

    async def bearers(self, asked: Sequence[tuple[Place, str]]) -> list[Entry | None]:
        """Which identity each key leads to; None where nobody claimed it."""
        ...

    async def move(self, place: Place, variants: Iterable[str], to: str) -> None:
        """Let keys lead to an identity of their place, wherever they led: what was one is two now, or two are one."""
        ...

    async def hold_all(self, parts: Sequence[Part]) -> list[str | Taken]:
        """What each part stands for, first writer wins; `Taken` where another of its family has the value."""
        ...

    async def held(self, parts: Sequence[Part]) -> list[str | None]:
        """What parts stand for, None where that is open; their values are not looked at."""
        ...

    async def amend(self, id: str, parts: Mapping[str, str]) -> Entry | None:
        """More parts for an identity's surrogate; those it has stay. None where it is gone."""
        ...

    async def remember(self, originals: Sequence[tuple[str, str, str]]) -> None:
        """Keep (domain, scope, form) of originals: whoever draws for the domain avoids the form."""
        ...

    async def originals(self, asked: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether each (domain, form) is an original of the domain."""
        ...

    async def merge(self, ids: Iterable[str]) -> Repair:
        """Make one identity of several; the oldest stays."""
        ...

    async def split(self, id: str, proposal: Proposal) -> Repair | Taken:
        """Give some variants of an identity to a new one with a surrogate of its own."""
        ...

    async def forget(self, domain: str, scope: str) -> Receipt:
        """Delete all that is known within a scope. Those who write to it should have been stopped."""
        ...

    async def of_scope(self, domain: str, scope: str) -> tuple[int, tuple[str, ...]]:
        """How many documents are held within a scope, and the surrogates of its identities, merged ones too."""
        ...

    async def domains(self) -> tuple[str, ...]:
        """The domains that anything is held of, sorted."""
        ...

    async def stats(self) -> Stats:
        """How much it holds."""
        ...

    async def export(self, path: Path, tick: Tick = ...) -> int:
        """Write everything to a new file, sealed -> documents."""
        ...

    async def take_in(self, path: Path, tick: Tick = ...) -> int:
        """Fill an empty index from an export under the same key -> documents. Broken off, it can be called again."""
        ...

    async def rekey(self, new: Keyring, tick: Tick = ...) -> int:
        """Seal everything under another key -> documents. Broken off, it is ended by `rekey` of `opening`."""
        ...

    async def refresh(self) -> None:
        """Return when `nearest` sees all that was written so far."""
        ...

    async def aclose(self) -> None:
        """Give back files and connections."""
        ...

    async def __aenter__(self) -> Self:
        """Itself, to be closed at the end."""
        ...

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        ...
