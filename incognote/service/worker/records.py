"""A record of a worker: what the ledger knows it by, and what is done with it once it was served."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from incognote.agents.item import Item, item_of
from incognote.errors import IncognoteError
from incognote.files.atomic import unwritable
from incognote.files.holding import hold, told_of
from incognote.files.inputs import Input
from incognote.files.quarantine import Quarantine
from incognote.formats.records.record import OpenRecord
from incognote.ledger import FilePart, Ledger, SettledRecord, State, Wanted
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.shards import OpenShards, line_of, shape_of
from incognote.service.review.cases import case_of

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.formats.base import Document
    from incognote.service.review import DecidedCase, ReviewCase

@dataclass(frozen=True, slots=True)
class KeyedRecord:
    """A record that was read.

    Args:
        item: None where it could not be read; `one.error` says why.
        patient: its subject, as far as it is known before anything is looked for.
    """

    part: FilePart
    one: Input
    item: Item | None = field(repr=False)
    wanted: Wanted
    patient: str | None = field(repr=False)

    @property
    def size(self) -> int:
        """Characters, or bytes of what could not be read."""
        one = self.one
        return len(one.content) if one.content is not None else len(one.data or b"")


def keyed(ledger: Ledger, engine: Engine, part: FilePart, one: Input) -> KeyedRecord:
    """Open a record, as far as that goes, and key it.

    A record's own id goes with it wherever it stands in its file; without one its place is its name, so that a line
    put in front of it makes it another record.
    """
    if one.error is not None:
        raw = one.data
        held = hashlib.sha256(raw).hexdigest() if raw is not None else one.error.code
        wanted = Wanted(_source(ledger, part, one, None), ledger.key("content", held), part.id)
        return KeyedRecord(part, one, None, wanted, None)
    item = item_of(one, engine)
    record = opened(item, engine)
    if isinstance(record, OpenRecord) and item.opened is None and not engine.settings.processes:
        item = replace(item, opened=record)  # what is open need not be opened again; processes open it themselves
    patient = subject_of(item, record)
    header = one.table.header if one.table is not None else ""
    wanted = Wanted(
        _source(ledger, part, one, record.id if record is not None else None),
        ledger.key("content", header, _wording(item)),
        part.id,
        ledger.subject(patient) if patient is not None else None,
    )
    return KeyedRecord(part, one, item, wanted, patient)


def _wording(item: Item) -> str:
    """What a record says, for a keyed hash."""
    return item.content if isinstance(item.content, str) else hashlib.sha256(item.content).hexdigest()


def _source(ledger: Ledger, part: FilePart, one: Input, id: str | None) -> str:
    place = ("id", id) if id is not None else ("place", str(part.start), str(one.position))
    return ledger.key("record", part.location, *place)


def subject_of(item: Item, record: Document | None) -> str | None:
    """The subject, be it named beside the record or in it."""
    return item.patient or (record.patient if record is not None else None)


def opened(item: Item, engine: Engine) -> Document | None:
    """The record, if it can be opened; if not, the machine says why."""
    of_str = isinstance(item.content, str)
    too_long = of_str and len(item.content) > engine.settings.max_characters
    if item.opened is not None or (of_str and not item.is_record) or too_long:
        return item.opened
    try:
        return item.open(lambda: engine.registry, engine.settings.data_type)[1]
    except (IncognoteError, RecursionError):
        return None


DIED = Reason("workers-died", "", "several workers ended without an error while they processed it")


class ReviewStore(Protocol):
    """Where records wait for a person; `incognote.service.review.ReviewQueue` is one."""

    def put(self, key: str, release: str, case: ReviewCase) -> str:
        """Take in a record; put again while it waits, it takes the place of what was there -> its id."""

    def drop(self, id: str) -> object:
        """Delete a record, for good."""

    def settled(self, *, release: str | None = None, origin: str | None = None) -> Iterator[DecidedCase]:
        """Decided records that were not delivered; those of one sender."""

    def delivered(self, id: str) -> None:
        """Say that a decided record has arrived where it belongs."""


class RecordKeeper:
    """Holds what is not released; what was held before and is released now leaves the quarantine.

    Args:
        reviews: None: what a person must look at is held with the rest.
    """

    def __init__(self, quarantine: Quarantine, engine: Engine, release: str, reviews: ReviewStore | None) -> None:
        self._quarantine, self._engine, self._release, self._reviews = quarantine, engine, release, reviews
        self._leaving: list[str] = []

    @property
    def reviews(self) -> ReviewStore | None:
        """Where records wait for a person."""
        return self._reviews

    def release(self, keyed: KeyedRecord, id: int, result: Result, shards: OpenShards) -> None:
        """Put a released record into an open shard; it leaves the quarantine when that is settled.

        Raises:
            UnicodeEncodeError: it holds what UTF-8 cannot write; it is not there.
        """
        shape = shape_of(keyed.one)
        line = line_of(keyed.one, result.content, shards.next_id(shape))
        self._leaving.append(keyed.wanted.key)
        shards.add(shape, line, id, digest_of(result.manifest))

    def settled(self) -> None:
        """What was put on the shards is released, and need not be kept any more.

        Raises:
            Unwritable: some of it is; say it again.
        """
        while self._leaving:
            try:
                self._quarantine.discard(self._leaving[-1])
            except OSError as error:
                raise unwritable(error) from None
            self._leaving.pop()

    def forget(self) -> None:
        """What was put on the shards is not released."""
        self._leaving.clear()

    def hold(
        self, keyed: KeyedRecord, id: int, verdict: Verdict, result: Result | None, refused: Callable[[str], bool]
    ) -> SettledRecord:
        """Keep a record that is not released, under its key: done again, it takes its own place.

        Args:
            refused: whether a patient opted out. It is asked last: who forgets a patient enters that first and deletes
                afterwards, so that what is kept here while they do is deleted by one of the two.

        Raises:
            Unwritable: it could not be kept.
        """
        settled, drop = self._held(keyed, id, verdict, result)
        if keyed.patient is not None and refused(keyed.patient):
            drop()
            return refusal(id)
        return settled

    def _held(
        self, keyed: KeyedRecord, id: int, verdict: Verdict, result: Result | None
    ) -> tuple[SettledRecord, Callable[[], object]]:
        """And how to delete it again."""
        manifest = result.manifest if result is not None else {}
        codes = tuple(sorted({reason.code for reason in verdict.reasons}))
        digest = digest_of(manifest) if manifest else None
        if verdict.outcome == "review" and self._reviews is not None and result is not None:
            assert keyed.item is not None  # it was served
            extra = {"told": told_of(keyed.one), "position": keyed.one.position, "kind": keyed.one.source.kind}
            case = case_of(keyed.item, result, self._engine, extra)
            item = self._reviews.put(keyed.wanted.key, self._release, case)
            self._quarantine.discard(keyed.wanted.key)
            return SettledRecord(id, "review", None, codes, digest), partial(self._reviews.drop, item)
        hold(self._quarantine, self._engine.keyring, replace(keyed.one, held=keyed.wanted.key), verdict, manifest)
        state: State = "review" if verdict.outcome == "review" else "quarantined"
        return SettledRecord(id, state, None, codes, digest), partial(self._quarantine.discard, keyed.wanted.key)


def refusal(id: int) -> SettledRecord:
    """Of a record whose subject opted out."""
    return SettledRecord(id, "refused", None, ("opted-out",))


def digest_of(manifest: Mapping[str, Any]) -> str:
    """A manifest's hash, as the ledger keeps it."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]
