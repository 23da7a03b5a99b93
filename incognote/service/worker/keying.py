"""What a record is known by in the ledger: its place and id, and its content, each as a keyed hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incognote.agents.item import Item, item_of
from incognote.errors import IncognoteError
from incognote.files.inputs import Input
from incognote.ledger import Ledger, Part, Wanted

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.formats.records.record import OpenRecord


@dataclass(frozen=True, slots=True)
class Keyed:
    """A record that was read.

    Args:
        item: None where it could not be read; `one.error` says why.
        patient: its subject, as far as it is known before anything is looked for.
    """

    part: Part
    one: Input
    item: Item | None = field(repr=False)
    wanted: Wanted
    patient: str | None = field(repr=False)

    @property
    def size(self) -> int:
        """Characters, or bytes of what could not be read."""
        one = self.one
        return len(one.content) if one.content is not None else len(one.raw or b"")


def keyed(ledger: Ledger, tools: Engine, part: Part, one: Input) -> Keyed:
    """Open a record, as far as that goes, and key it.

    A record's own id goes with it wherever it stands in its file; without one its place is its name, so that a line
    put in front of it makes it another record.
    """
    if one.error is not None:
        raw = one.data
        held = hashlib.sha256(raw).hexdigest() if raw is not None else one.error.code
        wanted = Wanted(_source(ledger, part, one, None), ledger.key("content", held), part.id)
        return Keyed(part, one, None, wanted, None)
    item = item_of(one, tools)
    record = opened(item, tools)
    if record is not None and item.opened is None and not tools.settings.processes:
        item = replace(item, opened=record)  # what is open need not be opened again; processes open it themselves
    patient = subject_of(item, record)
    header = one.table.header if one.table is not None else ""
    wanted = Wanted(
        _source(ledger, part, one, record.id if record is not None else None),
        ledger.key("content", header, item.content),
        part.id,
        ledger.subject(patient) if patient is not None else None,
    )
    return Keyed(part, one, item, wanted, patient)


def _source(ledger: Ledger, part: Part, one: Input, id: str | None) -> str:
    place = ("id", id) if id is not None else ("place", str(part.start), str(one.position))
    return ledger.key("record", part.location, *place)


def subject_of(item: Item, record: OpenRecord | None) -> str | None:
    """The subject, be it named beside the record or in it."""
    return item.patient or (record.patient if record is not None else None)


def opened(item: Item, tools: Engine) -> OpenRecord | None:
    """The record, if it can be opened; if not, the machine says why."""
    if item.opened is not None or not item.is_record or len(item.content) > tools.settings.max_characters:
        return item.opened
    from incognote.formats.json import open_record

    try:
        return open_record(item.content, tools.registry, data_type=item.data_type or tools.settings.data_type)
    except (IncognoteError, RecursionError):
        return None
