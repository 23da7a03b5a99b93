"""Deliver review decisions: approved records go to the destination, rejected ones to the quarantine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from incognote.agents.item import item_of, opened
from incognote.errors import UsageError, retryable_code
from incognote.files.holding import data_of, input_of
from incognote.formats.records.typed import TypedRow
from incognote.ledger import FilePart, Wanted
from incognote.ledger.nouns import KEY
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.driver import Outage
from incognote.service.review import DecidedCase
from incognote.service.review.cases import corrected
from incognote.service.worker.records import KeyedRecord, ReviewStore, subject_of

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

REJECTED = Reason("rejected", "", "a person rejected it")
UNMENDED = Reason("not-mended", "", "a person approved it, but it could not be released")
_MANY = 64


async def waiting(reviews: ReviewStore, release: str, ours: Callable[[str], bool]) -> list[DecidedCase]:
    """Return the next decided records of a release.

    Args:
        ours: whether the ledger knows a key. Workers on another ledger may use the same release name, and the API has
            its own decisions. Those are not ours to deliver or to mark as delivered.
    """

    def some() -> list[DecidedCase]:
        decided = reviews.settled(release=release, origin="worker")
        return list(islice((one for one in decided if ours(one.entry.key)), _MANY))

    return await asyncio.to_thread(some)


class Arrivals:
    """Decided records that are on their way. Each is marked as delivered once it has arrived."""

    def __init__(self, reviews: ReviewStore | None) -> None:
        self._reviews = reviews
        self._ids: list[str] = []

    def add(self, id: str) -> None:
        """Add a record that is under way, or was settled before."""
        self._ids.append(id)

    def forget(self) -> None:
        """Forget all of them, since none will arrive."""
        self._ids.clear()

    def say(self) -> None:
        """Mark them as delivered.

        Raises:
            Unwritable: the queue failed; call it again.
        """
        while self._reviews is not None and self._ids:
            self._reviews.delivered(self._ids[-1])
            self._ids.pop()


async def outcome(made: Deidentifier, decided: DecidedCase) -> tuple[KeyedRecord, Verdict, Result | None]:
    """Return the outcome of a decided record. The Result is included if it is released.

    Raises:
        Outage: a service failed for it.
    """
    one = _keyed(made, decided)
    if decided.entry.state == "rejected":
        return one, Verdict("quarantine", (REJECTED,)), None
    try:
        result = await corrected(made, decided.case, decided.spans, one.item, regions=decided.regions)
    except UsageError:  # changing spans cannot fix the reason it is held
        return one, Verdict("quarantine", decided.case.reasons), None
    if result.verdict.released:
        return one, result.verdict, result
    if code := retryable_code(reason.code for reason in result.verdict.reasons):
        raise Outage(code)
    return one, Verdict("quarantine", (*result.verdict.reasons, UNMENDED)), None


def _keyed(made: Deidentifier, decided: DecidedCase) -> KeyedRecord:
    case, key = decided.case, decided.entry.key
    extra = case.extra
    told = extra["told"]
    one = input_of(data_of(case.item.content, told), told, extra["position"], extra["kind"], made.engine.registry.get)
    item = item_of(one, made.engine)
    nowhere = FilePart(0, 0, "", "", "", 0, None, 0, 0)  # it is not read from a part: its content is here
    patient = subject_of(item, opened(item, made.engine))
    version = one.document.version if isinstance(one.document, TypedRow) else None
    return KeyedRecord(nowhere, one, item, Wanted(key[:KEY], key[KEY:], 0, version=version), patient)
