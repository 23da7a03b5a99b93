"""What is done with a record that was served: its line, its place in quarantine, its place in the queue of review."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from incognote.errors import IncognoteError, StoreProblem, Unwritable
from incognote.files.atomic import unwritable
from incognote.files.holding import hold, told_of
from incognote.files.quarantine import Quarantine
from incognote.ledger import Settled, State
from incognote.nouns import Reason, Result, Verdict
from incognote.service.review.cases import case_of
from incognote.service.sinks.packing import line_of, shape_of
from incognote.service.worker.keying import Keyed
from incognote.service.worker.shelf import Shelf

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.service.review import Case
    from incognote.service.review import Settled as Decided

UNENCODABLE = Reason("encoding", "", "the new record holds a character that UTF-8 cannot write")
DIED = Reason("workers-died", "", "workers ended without a word while they had it in hand")


class Reviews(Protocol):
    """Where records wait for a person; `incognote.service.review.ReviewQueue` is one."""

    def put(self, key: str, release: str, case: Case) -> str:
        """Take in a record; put again while it waits, it takes the place of what was there -> its id."""

    def drop(self, id: str) -> object:
        """Delete a record, for good."""

    def settled(self, *, release: str | None = None, origin: str | None = None) -> Iterator[Decided]:
        """Decided records that were not delivered; those of one sender."""

    def delivered(self, id: str) -> None:
        """Say that a decided record has arrived where it belongs."""


class Hands:
    """Holds what is not released; what was held before and is released now leaves the quarantine.

    Args:
        reviews: None: what a person must look at is held with the rest.
    """

    def __init__(self, quarantine: Quarantine, tools: Engine, release: str, reviews: Reviews | None) -> None:
        self._quarantine, self._tools, self._release, self._reviews = quarantine, tools, release, reviews
        self._leaving: list[str] = []

    @property
    def reviews(self) -> Reviews | None:
        """Where records wait for a person."""
        return self._reviews

    def release(self, keyed: Keyed, id: int, result: Result, shelf: Shelf) -> None:
        """Put a released record on the shelf; it leaves the quarantine when that is settled.

        Raises:
            UnicodeEncodeError: it holds what UTF-8 cannot write; it is not there.
        """
        shape = shape_of(keyed.one)
        line = line_of(keyed.one, result.output(), shelf.next_id(shape))
        self._leaving.append(keyed.wanted.key)
        shelf.add(shape, line, id, digest_of(result.manifest))

    def settled(self) -> None:
        """What was put on the shelf is released, and need not be kept any more.

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
        """What was put on the shelf is not released."""
        self._leaving.clear()

    def hold(
        self, keyed: Keyed, id: int, verdict: Verdict, result: Result | None, refused: Callable[[str], bool]
    ) -> Settled:
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
        self, keyed: Keyed, id: int, verdict: Verdict, result: Result | None
    ) -> tuple[Settled, Callable[[], object]]:
        """And how to delete it again."""
        manifest = result.manifest if result is not None else {}
        codes = tuple(sorted({reason.code for reason in verdict.reasons}))
        digest = digest_of(manifest) if manifest else None
        if verdict.outcome == "review" and self._reviews is not None and result is not None:
            assert keyed.item is not None  # it was served
            extra = {"told": told_of(keyed.one), "position": keyed.one.position, "kind": keyed.one.source.kind}
            with serving():
                case = case_of(keyed.item, result, self._tools, extra)
                item = self._reviews.put(keyed.wanted.key, self._release, case)
            self._quarantine.discard(keyed.wanted.key)
            return Settled(id, "review", None, codes, digest), partial(self._reviews.drop, item)
        hold(self._quarantine, self._tools.keyring, replace(keyed.one, held=keyed.wanted.key), verdict, manifest)
        state: State = "review" if verdict.outcome == "review" else "quarantined"
        return Settled(id, state, None, codes, digest), partial(self._quarantine.discard, keyed.wanted.key)


def refusal(id: int) -> Settled:
    """Of a record whose subject opted out."""
    return Settled(id, "refused", None, ("opted-out",))


@contextmanager
def serving() -> Iterator[None]:
    """A queue of review that does not answer, as a place that cannot be written: records wait for it."""
    try:
        yield
    except StoreProblem:
        raise
    except IncognoteError as error:
        if type(error) is not IncognoteError:  # it has a name of its own, so it is of the record
            raise
        raise Unwritable("the queue of review does not serve") from None


def digest_of(manifest: Mapping[str, Any]) -> str:
    """A manifest's hash, as the ledger keeps it."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]
