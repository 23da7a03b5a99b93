"""A worker's record: its identity in the ledger, and what happens to it after it was served."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from incognote.agents.item import Item, item_of, opened
from incognote.files.atomic import unwritable
from incognote.files.holding import hold, told_of
from incognote.files.inputs import Input
from incognote.files.quarantine import Quarantine
from incognote.formats.records.record import OpenRecord
from incognote.formats.records.typed import TypedRow
from incognote.ledger import FilePart, Ledger, SettledRecord, State, Wanted
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.shards import OpenShards, digest_of, line_of, shape_of
from incognote.service.review.cases import case_of

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.formats.base import Document
    from incognote.service.review import DecidedCase, ReviewCase

@dataclass(frozen=True, slots=True)
class KeyedRecord:
    """A record that was read.

    Args:
        item: None if it could not be read; `one.error` gives the reason.
        patient: its subject, as far as it is known before detection.
    """

    part: FilePart
    one: Input
    item: Item | None = field(repr=False)
    wanted: Wanted
    patient: str | None = field(repr=False)

    @property
    def size(self) -> int:
        """The number of characters, or the bytes of an unreadable record."""
        one = self.one
        return len(one.content) if one.content is not None else len(one.data or b"")


def keyed(ledger: Ledger, engine: Engine, part: FilePart, one: Input) -> KeyedRecord:
    """Open a record as far as possible, and key it.

    A record with an id is identified by it, wherever it is in its file. Without an id its position is its name, so a
    line inserted before it makes it another record.
    """
    if one.error is not None:
        raw = one.data
        held = hashlib.sha256(raw).hexdigest() if raw is not None else one.error.code
        wanted = Wanted(_source(ledger, part, one, None), ledger.key("content", held), part.id)
        return KeyedRecord(part, one, None, wanted, None)
    item = item_of(one, engine)
    record = opened(item, engine)
    if isinstance(record, OpenRecord) and item.opened is None and not engine.settings.processes:
        item = replace(item, opened=record)  # avoids opening it again; other processes open it themselves
    patient = subject_of(item, record)
    header = one.table.header if one.table is not None else ""
    version = one.document.version if isinstance(one.document, TypedRow) else None
    wanted = Wanted(
        _source(ledger, part, one, record.id if record is not None else None),
        ledger.key("content", header, _wording(item), *(() if version is None else (str(version),))),
        part.id,
        ledger.subject(patient) if patient is not None else None,
        version,
    )
    return KeyedRecord(part, one, item, wanted, patient)


def _wording(item: Item) -> str:
    """Return a record's content for a keyed hash."""
    return item.content if isinstance(item.content, str) else hashlib.sha256(item.content).hexdigest()


def _source(ledger: Ledger, part: FilePart, one: Input, id: str | None) -> str:
    place = ("id", id) if id is not None else ("place", str(part.start), str(one.position))
    within = tuple(source.inner_name for source in one.source.chain[1:])  # in an archive
    return ledger.key("record", part.location, *within, *place)


def subject_of(item: Item, record: Document | None) -> str | None:
    """Return the subject, whether it is named beside the record or in it."""
    return item.patient or (record.patient if record is not None else None)


DIED = Reason("workers-died", "", "several workers ended without an error while they processed it")


class ReviewStore(Protocol):
    """The store for records in review. `incognote.service.review.ReviewQueue` implements it."""

    def put(self, key: str, release: str, case: ReviewCase) -> str:
        """Store a record and return its id. If it is put again while it waits, it replaces the earlier one."""

    def drop(self, id: str) -> object:
        """Delete a record permanently."""

    def settled(self, *, release: str | None = None, origin: str | None = None) -> Iterator[DecidedCase]:
        """Yield decided records that were not delivered, optionally of one sender."""

    def delivered(self, id: str) -> None:
        """Mark a decided record as delivered."""


class RecordKeeper:
    """Holds records that are not released. A record that was held before and is now released leaves the quarantine.

    Args:
        reviews: the review store. If it is None, records for review are held with the rest.
    """

    def __init__(self, quarantine: Quarantine, engine: Engine, release: str, reviews: ReviewStore | None) -> None:
        self._quarantine, self._engine, self._release, self._reviews = quarantine, engine, release, reviews
        self._leaving: list[str] = []

    @property
    def reviews(self) -> ReviewStore | None:
        """The store for records in review."""
        return self._reviews

    def release(self, keyed: KeyedRecord, id: int, result: Result, shards: OpenShards) -> None:
        """Add a released record to an open shard. It leaves the quarantine when the shard is settled.

        Raises:
            UnicodeEncodeError: it contains characters that UTF-8 cannot encode. It was not added.
        """
        shape = shape_of(keyed.one, result.content)
        line = line_of(keyed.one, result.content, shards.next_id(shape))
        self._leaving.append(keyed.wanted.key)
        shards.add(shape, line, id, digest_of(result.manifest), keyed.wanted.version, result.image)

    def settled(self) -> None:
        """Remove from the quarantine what was added to the shards, since it is now released.

        Raises:
            Unwritable: some of it is still there; call it again.
        """
        while self._leaving:
            try:
                self._quarantine.discard(self._leaving[-1])
            except OSError as error:
                raise unwritable(error) from None
            self._leaving.pop()

    def forget(self) -> None:
        """Forget what was added to the shards, since it is not released."""
        self._leaving.clear()

    def hold(
        self, keyed: KeyedRecord, id: int, verdict: Verdict, result: Result | None, refused: Callable[[str], bool]
    ) -> SettledRecord:
        """Hold a record that is not released, under its key. A second call replaces the first.

        Args:
            refused: whether a patient opted out. It is called last. To forget a patient, the opt-out is entered first
                and the data deleted afterwards. So a record that is stored meanwhile is deleted by one of the two.

        Raises:
            Unwritable: it could not be stored.
        """
        settled, drop = self._held(keyed, id, verdict, result)
        if keyed.patient is not None and refused(keyed.patient):
            drop()
            return refusal(id)
        return settled

    def _held(
        self, keyed: KeyedRecord, id: int, verdict: Verdict, result: Result | None
    ) -> tuple[SettledRecord, Callable[[], object]]:
        """Hold a record. Return also a function that deletes it again."""
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
    """Return the state of a record whose subject opted out."""
    return SettledRecord(id, "refused", None, ("opted-out",))
