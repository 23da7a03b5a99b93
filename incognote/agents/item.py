"""`Item`: one text or record to de-identify, in the words that the SDK, the command line and the service share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from incognote.errors import UsageError
from incognote.nouns import Known

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.files.inputs import Input, RecordDefaults
    from incognote.formats.base import Document, Format
    from incognote.formats.records.record import OpenRecord
    from incognote.schemas.registry import Registry

ItemSpans = tuple[tuple[int, int, str], ...] | Mapping[str, tuple[tuple[int, int, str], ...]]
"""(start, end, type) of a plain text's spans, or of those of each text of a record by its field path."""


ItemInput: TypeAlias = "str | bytes | Mapping[str, Any] | Item"
KnownInput = Mapping[str, Any] | Sequence[Any] | str | None
_WORDS = ("id", "patient", "domain", "data_type", "media_type")
_NOTE = frozenset(("id", "patient", "text", "spans"))
_NO_JSON = "the record has a value that JSON cannot represent. Use str, finite numbers, bool, None, list, and dict"


@dataclass(frozen=True, slots=True)
class Item:
    """One text or record to de-identify.

    Args:
        content: A plain text, the raw JSON of a record, or bytes of any format.
        id: Your ID for the item. It never appears in a manifest.
        patient: The subject. Without it, each document is treated as its own subject.
        domain: Items in one domain share hashes and date shifts. None uses the setting.
        data_type: The schema of a record that has no `dataType`.
        known: Identifiers that you know in advance.
        is_record: Whether `content` is the JSON of a record.
        fault: Why the item cannot be processed. It is quarantined with this message, which must not contain a value.
        opened: The record, if its reader has already opened it (rows of a table). `content` is then its own text.
        spans: All identifiers. They are used instead of detection, and the output is not audited.
        media_type: The media type of bytes. With None, the content shows whether it is a record or a text.
    """

    content: str | bytes = field(repr=False)
    id: str | None = field(default=None, repr=False)
    patient: str | None = field(default=None, repr=False)
    domain: str | None = None
    data_type: str | None = None
    known: tuple[Known, ...] = field(default=(), repr=False)
    is_record: bool = False
    fault: str | None = None
    opened: OpenRecord | None = field(default=None, repr=False)
    spans: ItemSpans | None = field(default=None, repr=False)
    media_type: str | None = None

    def open(
        self, registry: Callable[[], Registry], data_type: str | None
    ) -> tuple[Format | None, Document | None]:
        """Open the item: its format (for bytes) and its document (None for a plain text).

        Args:
            registry: Loads the schemas when they are needed.
            data_type: The schema of a record that does not name one.

        Raises:
            RecordProblem: The content cannot be opened.
            SchemaProblem: The schema is not valid or not approved.
        """
        data_type = self.data_type or data_type
        if isinstance(self.content, bytes):
            from incognote.formats.registry import open_one

            form, document = open_one(self.content, self.media_type)
            return form, document.under(registry(), data_type)
        if not self.is_record:
            return None, None
        from incognote.formats.json import open_record

        return None, self.opened or open_record(self.content, registry(), data_type=data_type)


TOGETHER = 1000
"""Records of a batch that goes through the loop of relexicalization together, unless the caller sets another number."""
MOST_CHARACTERS = 8_000_000
"""Characters (bytes of what comes as bytes) at which such a batch is complete with fewer records."""


class ItemBatch:
    """Items gathered until there are enough to be served together.

    Args:
        size: how many items complete a batch; `MOST_CHARACTERS` in fewer of them do, too.
    """

    def __init__(self, size: int) -> None:
        self.items: list[Item] = []
        self._size, self._characters = size, 0

    def add(self, item: Item) -> bool:
        """Take one more item -> whether the batch is complete."""
        self.items.append(item)
        self._characters += len(item.content)
        return len(self.items) >= self._size or self._characters >= MOST_CHARACTERS

    def take(self) -> list[Item]:
        """The items gathered; the next batch begins."""
        items, self.items, self._characters = self.items, [], 0
        return items


def as_item(content: ItemInput, *, known: KnownInput = None, **words: Any) -> Item:
    """An Item from what a caller hands over.

    Raises:
        UsageError: neither str, bytes, mapping nor Item; an Item together with other words; or a word, of an Item too,
            that is not a str.
    """
    words = {name: _written(name, value) for name, value in words.items()}
    if isinstance(content, Item):
        if known is not None or any(v is not None for v in words.values()):
            raise UsageError("set id, patient, domain, data_type, media_type, and known on the Item itself")
        own: dict[str, Any] = {name: _written(name, getattr(content, name)) for name in _WORDS}
        values: Any = content.known
        sound = isinstance(values, tuple) and all(isinstance(value, Known) for value in values)
        return replace(content, known=values if sound else _known(values), **own)
    if isinstance(content, bytes):
        return Item(content, known=_known(known), **words)
    if words.get("media_type") is not None:
        raise UsageError("media_type= is only for bytes. Pass bytes, or remove it")
    if isinstance(content, str):
        return Item(content, known=_known(known), is_record=words.get("data_type") is not None, **words)
    if isinstance(content, Mapping):
        try:
            raw = json.dumps(content, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return Item("", known=_known(known), is_record=True, fault=_NO_JSON, **words)
        return Item(raw, known=_known(known), is_record=True, **words)
    raise UsageError(f"pass a str (note), a mapping (record), or bytes (any format), not {type(content).__name__}")


def _written(name: str, value: Any) -> str | None:
    """One of an item's words; a whole number that names a subject or a record is its digits."""
    if value is None or isinstance(value, str):
        return value
    if name in ("id", "patient") and isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    raise UsageError(f"{name}= must be a str, not {type(value).__name__}")


def _known(known: KnownInput) -> tuple[Known, ...]:
    if not known:
        return ()
    from incognote.detectors.known import known_from

    return known_from(known)


def packed(item: Item) -> dict[str, Any]:
    """An Item without `opened`, `spans` and `fault`, JSON-able; all of it is PHI."""
    content = item.content
    return {
        "content": content if isinstance(content, str) else content.hex(),
        "is_bytes": isinstance(content, bytes),
        **{name: getattr(item, name) for name in (*_WORDS, "is_record")},
        "known": [[known.type, known.value] for known in item.known],
    }


def unpacked(words: Mapping[str, Any]) -> Item:
    """The inverse of `packed`; of what 0.1 packed too, which knew no bytes."""
    values = {**words, "known": tuple(Known(*known) for known in words["known"])}
    if values.pop("is_bytes", False):
        values["content"] = bytes.fromhex(values["content"])
    return Item(**values)


def item_of(source: Input, engine: Engine) -> Item:
    """Return the item of an input that could be read.

    A line {"id", "patient", "text"}, with or without "spans", is a plain text. Its spans are not used.
    """
    defaults, document, note = source.defaults, source.document, source.note
    named = defaults.data_type or engine.settings.data_type
    if note is not None and not named and {"patient", "text"} <= note.keys() <= _NOTE and isinstance(note["text"], str):
        return note_item(note, defaults)
    content: str | bytes = str(source.content)
    if source.media_type is not None and document is not None:
        content = document.head + document.data + document.after
    data_type = defaults.data_type
    if note is not None and not named:
        rule = engine.registry.get("note").root  # a record such as {"id", "text"} fits this shipped schema
        data_type = "note" if rule.required <= note.keys() <= rule.properties.keys() else None
    return Item(
        content,
        patient=defaults.patient,
        domain=defaults.domain,
        data_type=data_type,
        known=defaults.known,
        is_record=source.is_record,
        opened=source.opened,
        media_type=source.media_type,
    )


def note_item(note: Mapping[str, Any], defaults: RecordDefaults) -> Item:
    """Return the item of a parsed line with a "text". An "id" or "patient" that is empty or not a word is left out."""
    name, patient = (
        str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() else None
        for value in (note.get("id"), note.get("patient"))
    )
    return Item(
        note["text"], id=name, patient=patient or defaults.patient, domain=defaults.domain, known=defaults.known
    )
