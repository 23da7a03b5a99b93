"""What a run reads, as the machine takes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from incognote.agents.case import Item

if TYPE_CHECKING:
    from incognote.agents.toolkit import Toolkit
    from incognote.files.inputs import Input


def item_of(one: Input, tools: Toolkit) -> Item:
    """The Item of an Input that could be read."""
    words = one.words
    return Item(
        str(one.content),
        patient=words.patient,
        domain=words.domain,
        data_type=words.data_type or _plain_note(one, tools),
        known=words.known,
        is_record=one.is_record,
        opened=one.opened,
    )


def _plain_note(one: Input, tools: Toolkit) -> str | None:
    """The shipped schema `note`, for a record without any data type that it fits: `{"id", "text"}` and the like."""
    content = str(one.content)
    if not one.is_record or one.opened or tools.settings.data_type:
        return None
    if '"dataType"' in content or '"resourceType"' in content:
        return None
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return None  # the machine says what is wrong with it
    rule = tools.registry.get("note").root
    fits = isinstance(record, dict) and rule.required <= record.keys() <= rule.properties.keys()
    return "note" if fits else None
