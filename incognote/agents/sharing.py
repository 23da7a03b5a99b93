"""Units of records that are served together: those of one patient whose short texts share requests (RedactOR §5).

A run is cut into windows of consecutive records, and a unit never crosses a window. Windows and units depend only on
the records and their order, so a replay gets the same ones. This module does not import LangGraph or any format.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incognote.agents.item import Item, ItemBatch, ItemInput, WindowCuts, as_item, opened
from incognote.nouns import Result

if TYPE_CHECKING:
    from incognote.agents.engine import Engine

_FOREIGN = re.compile(r'"reference"\s*:\s*"(?:#|[A-Za-z]+:)|"subject"\s*:\s*\{(?![^{}]*"reference")')
"""A FHIR subject by URL, identifier, or name: elsewhere, the same id or name can be another patient's."""
_NOBODY = {"unknown", "unk", "none", "null", "n/a", "na", "anonymous", "patient", "0", "test"}
"""Words that stand in a patient's place if nobody knows the patient. Records with them share nothing."""
LONGEST = 8_000
"""The maximum number of characters, or bytes, of a record that shares requests. A longer one fills its own."""


def units(items: Sequence[Item], engine: Engine) -> list[list[tuple[int, Item]]]:
    """Group items that begin with a window. Each unit has the positions and the items of one patient in one window.

    Only records with a short text and a patient, stated by the record or the caller, share a unit. All others are
    alone. Records are opened once: an item whose record was opened here keeps it.
    """
    if not engine.shares:
        return [[(at, item)] for at, item in enumerate(items)]
    found: dict[object, list[tuple[int, Item]]] = {}
    cuts, window = WindowCuts(), 0
    for at, item in enumerate(items):
        window += cuts.begins(item)
        item, patient = _with_patient(item, engine)
        key = at if patient is None else (window, patient, item.domain or engine.domain)
        found.setdefault(key, []).append((at, item))
    return list(found.values())


def _with_patient(item: Item, engine: Engine) -> tuple[Item, str | None]:
    """Return the item, opened, and its patient if it has a text that may share a request."""
    from incognote.extraction.chunks import LIGHT, length
    from incognote.formats.base import texts_of
    from incognote.formats.records.record import OpenRecord

    if item.spans is not None or item.fault or len(item.content) > LONGEST:
        return item, None
    record = opened(item, engine)
    if record is None:
        if item.is_record or isinstance(item.content, bytes):  # the machine gives the reason
            return item, None
        texts = [item.content]
    else:
        texts = [text.content for text in texts_of(record)]
        if isinstance(record, OpenRecord) and not engine.settings.processes:  # other processes open it themselves
            item = replace(item, opened=record)
    stated = next((name for name in (item.patient, record.patient if record else None) if name and name.strip()), "")
    written = item.content if isinstance(item.content, str) else item.content.decode("utf-8", "replace")
    somebody = stated != "" and stated.strip().casefold() not in _NOBODY
    certain = somebody and bool(item.patient or not _FOREIGN.search(written))
    # not `patient_of`, which folds case and width: ids that differ only in these are those of two patients
    return item, stated if certain and any(0 < length(text) <= LIGHT for text in texts) else None


@dataclass(slots=True, eq=False)
class _Unit:
    items: list[Item]
    future: Future[list[Result]] | None = field(default=None)


class Line:
    """Items in order while their units are served.

    Args:
        serve: starts to serve a unit and returns its results later, one per item.
        most: how many records are in work at once. A unit begins as soon as there is room for one of its records.
    """

    def __init__(self, serve: Callable[[Sequence[Item]], Future[list[Result]]], most: int) -> None:
        self._serve, self._most = serve, most
        self._waiting: deque[tuple[_Unit, int]] = deque()
        self._units: deque[_Unit] = deque()
        self._begun: list[_Unit] = []

    def __len__(self) -> int:
        """Return the number of items whose results were not taken."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether results must be taken before more items are added."""
        return len(self._waiting) >= self._most

    def add(self, found: Sequence[Sequence[tuple[int, Item]]]) -> None:
        """Add the units of consecutive items. Each unit has the items and their positions."""
        places: dict[int, tuple[_Unit, int]] = {}
        for members in found:
            unit = _Unit([item for _, item in members])
            places.update({at: (unit, index) for index, (at, _) in enumerate(members)})
            self._units.append(unit)
        self._waiting += (places[at] for at in sorted(places))
        self._begin()

    @property
    def first(self) -> Future[list[Result]]:
        """The results of the unit of the first item."""
        future = self._waiting[0][0].future
        assert future is not None  # units begin in the order of their first items
        return future

    def take(self, results: list[Result]) -> Result:
        """Remove the first item.

        Args:
            results: those of its unit, from `first`.
        """
        _, index = self._waiting.popleft()
        self._begin()
        return results[index]

    def _begin(self) -> None:
        self._begun = [unit for unit in self._begun if unit.future is not None and not unit.future.done()]
        in_work = sum(len(unit.items) for unit in self._begun)
        while self._units and (in_work < self._most or self._waiting[0][0] is self._units[0]):
            unit = self._units.popleft()
            unit.future = self._serve(unit.items)
            self._begun.append(unit)
            in_work += len(unit.items)

    def cancel(self) -> None:
        """Cancel everything in work."""
        for unit in self._begun:
            if unit.future is not None:
                unit.future.cancel()


def batches(items: Iterable[ItemInput], batch: ItemBatch, faults: list[Exception]) -> Iterator[list[Item]]:
    """Yield the items in batches. An error of the caller, while an item is read, ends them and is added to `faults`."""
    try:
        for each in items:
            if complete := batch.add(as_item(each)):
                yield complete
    except Exception as raised:
        faults.append(raised)
    if batch.items:
        yield batch.take()


async def abatches(
    items: Iterable[ItemInput] | AsyncIterable[ItemInput], batch: ItemBatch, faults: list[Exception]
) -> AsyncIterator[list[Item]]:
    """Like `batches`, for a synchronous or an asynchronous iterable."""
    if not isinstance(items, AsyncIterable):
        for complete in batches(items, batch, faults):
            yield complete
        return
    try:
        async for each in items:
            if complete := batch.add(as_item(each)):
                yield complete
    except Exception as raised:
        faults.append(raised)
    if batch.items:
        yield batch.take()
