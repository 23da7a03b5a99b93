"""The tools of the loop and the state of one batch. No repr shows words of a note."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from incognote.embedding.base import Embedder
from incognote.errors import IndexProblem, SettingError, Unread
from incognote.keys import Keyring
from incognote.relex.agents.base import (
    Clusterer,
    EmbeddedClusterer,
    EmbeddedQuerier,
    EmbeddedReplacer,
    EmbeddedValidator,
    Querier,
    RelexNote,
    Replacer,
    Validator,
)
from incognote.relex.generate import Choices, Component, Draw, Generators, KeyedDraw, RandomDraw, UsedSurrogates
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import IndexedIdentity, IndexHit, Vector
from incognote.relex.nouns import Identity, MentionVariant, Surrogate


class LoopState(TypedDict, total=False):
    """The state that LangGraph sees: counts and codes."""

    mentions: int
    identities: int
    queries: int
    hits: int
    fitting: int
    new: int
    next: str
    shown: int


@dataclass(frozen=True, slots=True)
class Agents:
    """The four agents. Each is the embedded one unless you name another."""

    clusterer: Clusterer = field(default_factory=EmbeddedClusterer)
    querier: Querier = field(default_factory=EmbeddedQuerier)
    validator: Validator = field(default_factory=EmbeddedValidator)
    replacer: Replacer = field(default_factory=EmbeddedReplacer)


class Tools:
    """What all batches share.

    Args:
        index: the opened index.
        keyring: the persistent keyring of the index.
        agents: the four agents; None for the embedded ones under these choices.
        choices: the policy's choices.
        random: draw at random and let the index remember (Safe Harbor), instead of drawing by key.
        embedder: makes the vectors by which spellings are found; None: exact keys only.
        roster: words that no surrogate may be.
        reveal: False marks new identities as never to be mapped back.

    Raises:
        SettingError: the index stores no originals, or its vectors are from another embedder.
    """

    def __init__(
        self,
        index: SurrogateIndex,
        keyring: Keyring,
        *,
        agents: Agents | None = None,
        choices: Choices | None = None,
        random: bool = False,
        embedder: Embedder | None = None,
        roster: Sequence[str] = (),
        reveal: bool = True,
    ) -> None:
        if not index.originals_kept:
            raise SettingError(
                "index: it was created with originals=off, so stored mentions cannot be compared again later. "
                "Create an index with originals=on"
            )
        if embedder is not None and index.dimension:
            if index.dimension != embedder.dimension:
                raise SettingError(
                    f"index: its vectors have {index.dimension} dimensions, but the embedder has {embedder.dimension}"
                )
            if index.embedder not in ("", embedder.version):
                raise SettingError("index: its vectors are from another embedder. Use that one, or create a new index")
        self.index, self.keyring, self.random = index, keyring, random
        self.generators = Generators(choices)
        self.agents = agents or Agents(replacer=EmbeddedReplacer(self.generators))
        self.embedder = embedder if index.dimension else None
        self.roster = tuple(roster)
        self.reveal = reveal

    def draw(self) -> Draw:
        """Draw by key, or at random for one batch. The index remembers what was drawn."""
        return RandomDraw() if self.random else KeyedDraw(self.keyring)


@dataclass(frozen=True, slots=True)
class ShownSurrogate:
    """The replacement of one mention, and the id of its identity, which reveals nothing without the key."""

    text: str = field(repr=False)
    identity: str


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch did, in counts. `outdated` holds record ids and may be PHI.

    Args:
        mentions, identities: the numbers in the batch.
        new: identities that had no surrogate before.
        fitting: identities for which a hit by likeness was accepted.
        moved: draws that collided with a taken surrogate, in the batch or in the index, and moved on.
        rounds: how often the mentions were clustered; more than once if others changed the index meanwhile.
        outdated: earlier records whose last output shows another surrogate or identity than they would get now.
    """

    mentions: int = 0
    identities: int = 0
    new: int = 0
    fitting: int = 0
    moved: int = 0
    rounds: int = 0
    outdated: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """The result of a batch.

    Args:
        shown: the replacement of each mention of the records that did not fail.
        report: what the batch did, in counts.
        failed: (domain, owner, record) -> the error that occurred while a mention of that record was written.
    """

    shown: Mapping[MentionVariant, ShownSurrogate] = field(repr=False)
    report: BatchReport
    failed: Mapping[tuple[str, str, str], Exception] = field(default_factory=dict, repr=False)


@dataclass(slots=True, eq=False)
class RelexBatch:
    """The state of one batch. Each attribute below the line is written by the node named beside it."""

    notes: Sequence[RelexNote] = field(repr=False)
    tools: Tools = field(repr=False)
    draw: Draw = field(repr=False)
    # ----
    own: frozenset[MentionVariant] = field(default=frozenset(), repr=False)  # cluster
    seen: set[MentionVariant] = field(default_factory=set, repr=False)  # cluster: all mentions that matter
    found: dict[MentionVariant, dict[str, IndexedIdentity]] = field(
        default_factory=dict, repr=False
    )  # cluster: by scope, by exact key
    everybody: list[Identity] = field(default_factory=list, repr=False)  # cluster: all identities of `seen`
    identities: list[Identity] = field(default_factory=list, repr=False)  # cluster: those of them to be served
    entries: dict[str, IndexedIdentity] = field(
        default_factory=dict, repr=False
    )  # cluster, validate, index: by identity's id
    queries: dict[str, str] = field(default_factory=dict, repr=False)  # query
    hits: dict[str, list[IndexHit]] = field(default_factory=dict, repr=False)  # retrieve
    accepted: set[str] = field(default_factory=set, repr=False)  # validate
    taken: UsedSurrogates = field(default_factory=UsedSurrogates, repr=False)  # generate
    # generate, index: the parts that the index holds
    settled: dict[Component, str] = field(default_factory=dict, repr=False)
    wave: int = 0  # cluster, index: which identities are served now; `settling.WAVES`
    pending: dict[str, Identity] = field(default_factory=dict, repr=False)  # generate: those to be drawn
    drawn: Mapping[str, Surrogate] = field(default_factory=dict, repr=False)  # generate
    surrogates: dict[str, Surrogate] = field(default_factory=dict, repr=False)  # generate, index
    done: set[str] = field(default_factory=set, repr=False)  # index: identities that are served
    vectors: dict[str, Vector] = field(default_factory=dict, repr=False)  # retrieve
    draws: Counter[str] = field(default_factory=Counter)  # index: how often each identity's draw was refused
    new: set[str] = field(default_factory=set, repr=False)  # index: ids of entries
    moved: int = 0  # generate, index
    rounds: int = 0  # cluster
    outdated: set[str] = field(default_factory=set, repr=False)  # apply
    shown: dict[MentionVariant, ShownSurrogate] = field(default_factory=dict, repr=False)  # apply
    failed: dict[tuple[str, str, str], Exception] = field(default_factory=dict, repr=False)  # apply: by record

    @property
    def report(self) -> BatchReport:
        served = {one.identity for one in self.shown.values()}
        return BatchReport(
            len(self.own),
            len(served),
            len(self.new),
            len(self.accepted),
            self.moved,
            self.rounds,
            tuple(sorted(self.outdated)),
        )


class BatchBarrier:
    """A barrier at which the records of one batch wait, so that the loop sees the mentions of all of them at once.

    Each record either brings its note (`outcome`) and then withdraws, or only withdraws because it has no mentions or
    failed before. The last record to arrive runs the loop.

    Args:
        records: the number of records.
        loop: relexicalizes notes.

    Attributes:
        fault: why the index failed; None if it did not.
    """

    def __init__(self, records: int, loop: Callable[[Sequence[RelexNote]], Awaitable[BatchOutcome]]) -> None:
        self._expected, self._loop = records, loop
        self._arrived: list[tuple[RelexNote, asyncio.Future[BatchOutcome]]] = []
        self._open = True
        self.fault: IndexProblem | None = None

    async def outcome(self, note: RelexNote) -> BatchOutcome:
        """The loop's result for the batch, or for this note only if the batch is over, as in a repeated check.

        Raises:
            IndexProblem, ModelProblem: nothing was handed out; the record waits.
        """
        if not self._open:
            return await self._loop([note])
        future: asyncio.Future[BatchOutcome] = asyncio.get_running_loop().create_future()
        self._arrived.append((note, future))
        if len(self._arrived) == self._expected:
            await self._run()
        return await future

    async def withdraw(self) -> None:
        """A record is done, whether or not it brought a note."""
        self._expected -= self._open
        if self._open and 0 < len(self._arrived) == self._expected:
            await self._run()

    async def _run(self) -> None:
        self._open = False
        by_patient: dict[tuple[str, str], list[RelexNote]] = {}
        for note, _ in self._arrived:
            by_patient.setdefault((note.domain, note.patient or f"of {note.record}"), []).append(note)
        await self._serve(list(by_patient.values()))

    async def _serve(self, patients: Sequence[Sequence[RelexNote]]) -> None:
        """Serve all patients at once.

        If a model has no answer about one, serve each separately so the others still succeed.
        """
        notes = [note for some in patients for note in some]
        try:
            outcome = await self._loop(notes)
        except Unread as problem:
            if len(patients) > 1:
                for some in patients:
                    await self._serve([some])
                return
            self._fail(problem, notes)
        except Exception as problem:
            self.fault = problem if isinstance(problem, IndexProblem) else self.fault
            self._fail(problem, notes)
        except BaseException:  # an interrupt: no record waits any longer
            for _, future in self._arrived:
                future.cancel()
            raise
        else:
            for future in self._waiting(notes):
                future.set_result(outcome)

    def _fail(self, problem: Exception, notes: Sequence[RelexNote]) -> None:
        for future in self._waiting(notes):
            future.set_exception(problem)

    def _waiting(self, notes: Sequence[RelexNote]) -> list[asyncio.Future[BatchOutcome]]:
        served = set(map(id, notes))
        return [future for note, future in self._arrived if id(note) in served and not future.done()]
