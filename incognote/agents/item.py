"""`Item`: one text or record to de-identify, in the words that the SDK, the command line and the service share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incognote.nouns import Known

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.files.inputs import Input
    from incognote.formats.records.record import OpenRecord

GivenSpans = tuple[tuple[int, int, str], ...] | Mapping[str, tuple[tuple[int, int, str], ...]]
"""(start, end, type) of a plain text's spans, or of those of each text of a record by its field path."""


@dataclass(frozen=True, slots=True)
class Item:
    """One text or record to de-identify.

    Args:
        content: the plain text, or the raw JSON of a record.
        id: what the caller calls it; never appears in a manifest.
        patient: the subject; without one each document is its own.
        domain: who shares hashes and date shifts; None takes the setting.
        data_type: the schema for a record that carries no dataType.
        known: identifiers known beforehand.
        is_record: whether `content` is JSON of a record.
        fault: why it cannot be processed at all; it is quarantined with these words, which hold no value.
        opened: the record, where its reader has opened it already (rows of a table); `content` is then its own text.
        spans: all identifiers, to be used as they are instead of looking for any; the output is then not audited
            either.
    """

    content: str = field(repr=False)
    id: str | None = field(default=None, repr=False)
    patient: str | None = field(default=None, repr=False)
    domain: str | None = None
    data_type: str | None = None
    known: tuple[Known, ...] = field(default=(), repr=False)
    is_record: bool = False
    fault: str | None = None
    opened: OpenRecord | None = field(default=None, repr=False)
    spans: GivenSpans | None = field(default=None, repr=False)


def item_of(source: Input, engine: Engine) -> Item:
    """The Item of an Input that could be read."""
    words = source.words
    return Item(
        str(source.content),
        patient=words.patient,
        domain=words.domain,
        data_type=words.data_type or _plain_note(source, engine),
        known=words.known,
        is_record=source.is_record,
        opened=source.opened,
    )


def _plain_note(source: Input, engine: Engine) -> str | None:
    """The shipped schema `note`, for a record without any data type that it fits: `{"id", "text"}` and the like."""
    content = str(source.content)
    if not source.is_record or source.opened or engine.settings.data_type:
        return None
    if '"dataType"' in content or '"resourceType"' in content:
        return None
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return None  # the machine says what is wrong with it
    rule = engine.registry.get("note").root
    fits = isinstance(record, dict) and rule.required <= record.keys() <= rule.properties.keys()
    return "note" if fits else None
