"""`Item`: one text or record to de-identify, in the words that the SDK, the command line and the service share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from incognote.errors import IncognoteError, UnsupportedFormat, UsageError
from incognote.nouns import Known, MutedInterval, PageBox, Region, subject_form

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.files.inputs import Input, RecordDefaults
    from incognote.formats.base import Document, Format
    from incognote.schemas.registry import Registry

ItemSpans = tuple[tuple[int, int, str], ...] | Mapping[str, tuple[tuple[int, int, str], ...]]
"""(start, end, type) of a plain text's spans, or of those of each text of a record by its field path."""


ItemInput: TypeAlias = "str | bytes | Path | Mapping[str, Any] | Item"
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
        opened: The record, if its reader has already opened it (rows of a table; pages). `content` is then its own.
        spans: All identifiers. They are used instead of detection, and only a second reader checks the output.
        regions: Parts without words that must be removed: of the pages of an image or a scan, in pixels, or of a
            recording, in seconds. Each is a character after the text, and a finding.
        media_type: The media type of bytes. With None, the content shows whether it is a record or a text.
        block: A number for inputs that are next to each other in a run. Items of different blocks share no request to
            a language model.
    """

    content: str | bytes = field(repr=False)
    id: str | None = field(default=None, repr=False)
    patient: str | None = field(default=None, repr=False)
    domain: str | None = None
    data_type: str | None = None
    known: tuple[Known, ...] = field(default=(), repr=False)
    is_record: bool = False
    fault: str | None = None
    opened: Document | None = field(default=None, repr=False)
    spans: ItemSpans | None = field(default=None, repr=False)
    media_type: str | None = None
    block: int = 0
    regions: tuple[Region, ...] = field(default=(), repr=False)

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
            document = self.opened or document.under(registry(), data_type)
            return form, self._with_regions(document)
        if not self.is_record:
            return None, None
        from incognote.formats.json import open_record

        return None, self.opened or open_record(self.content, registry(), data_type=data_type)

    def _with_regions(self, document: Document) -> Document:
        if not self.regions:
            return document
        from incognote.formats.audio.document import AudioDocument
        from incognote.formats.images.document import ImageDocument

        if not isinstance(document, ImageDocument | AudioDocument):
            raise UnsupportedFormat("regions of what is neither an image, a scan, nor a recording. Leave them out")
        return document.with_regions(self.regions)


TOGETHER = 1000
"""Records of a batch that goes through the loop of relexicalization together, unless the caller sets another number."""
MOST_CHARACTERS = 8_000_000
"""Characters (bytes of what comes as bytes) at which such a batch is complete with fewer records."""


WINDOW_RECORDS = 128
WINDOW_CHARACTERS = 500_000
"""The size of a window: consecutive records of one block, among which those of one patient may share requests."""


class WindowCuts:
    """Cuts consecutive items into windows. The cuts depend only on the items, so a replay makes the same ones."""

    def __init__(self) -> None:
        self._block: int | None = None
        self._records = self._characters = 0

    def begins(self, item: Item) -> bool:
        """Take the next item. Return whether it begins a window; the first one does."""
        size = len(item.content)
        full = self._records == WINDOW_RECORDS or self._characters + size > WINDOW_CHARACTERS
        if begins := full or item.block != self._block:
            self._block, self._records, self._characters = item.block, 0, 0
        self._records += 1
        self._characters += size
        return begins


class ItemBatch:
    """Items gathered until there are enough to be served together.

    Args:
        size: how many items complete a batch; `MOST_CHARACTERS` in fewer of them do, too.
        windows: a batch consists of whole windows, so it is complete only when the next window begins.
    """

    def __init__(self, size: int, *, windows: bool = False) -> None:
        self.items: list[Item] = []
        self._size, self._characters = size, 0
        self._cuts = WindowCuts() if windows else None

    def add(self, item: Item) -> list[Item]:
        """Take one more item. Return the batch that is complete; empty if none is."""
        complete: list[Item] = []
        if self._cuts is not None and self._cuts.begins(item) and self._full:
            complete = self.take()
        self.items.append(item)
        self._characters += len(item.content)
        return self.take() if self._cuts is None and self._full else complete

    @property
    def _full(self) -> bool:
        return len(self.items) >= self._size or self._characters >= MOST_CHARACTERS

    def take(self) -> list[Item]:
        """Return the items gathered, and begin the next batch."""
        items, self.items, self._characters = self.items, [], 0
        return items


def opened(item: Item, engine: Engine) -> Document | None:
    """Return the record if it can be opened. If not, the machine gives the reason."""
    of_str = isinstance(item.content, str)
    too_long = of_str and len(item.content) > engine.settings.max_characters
    if item.opened is not None or (of_str and not item.is_record) or too_long:
        return item.opened
    try:
        with engine.opening():
            return item.open(lambda: engine.registry, engine.settings.data_type)[1]
    except (IncognoteError, RecursionError):
        return None


def patient_of(item: Item, record: Document | None) -> str | None:
    """Return the subject in its one form (`subject_form`), stated by the caller or else by the record."""
    named = (item.patient, record.patient if record is not None else None)
    return next((subject for name in named if name is not None and (subject := subject_form(name))), None)


def as_item(content: ItemInput, *, known: KnownInput = None, **words: Any) -> Item:
    """An Item from what a caller hands over.

    Raises:
        UsageError: neither str, bytes, Path, mapping nor Item; an Item together with other words; a file that cannot
            be read; or a word, of an Item too, that is not a str.
    """
    words = {name: _written(name, value) for name, value in words.items()}
    if isinstance(content, Item):
        if known is not None or any(v is not None for v in words.values()):
            raise UsageError("set id, patient, domain, data_type, media_type, and known on the Item itself")
        own: dict[str, Any] = {name: _written(name, getattr(content, name)) for name in _WORDS}
        values: Any = content.known
        sound = isinstance(values, tuple) and all(isinstance(value, Known) for value in values)
        return replace(content, known=values if sound else _known(values), **own)
    if isinstance(content, Path):
        if content.suffix.lower() == ".gz":
            raise UsageError("the file is compressed. Decompress it, or use `incognote deid`")
        path, content = content, _file(content)
        words["media_type"] = words.get("media_type") or _media_type(path, content)
    if isinstance(content, bytes):
        return Item(content, known=_known(known), **words)
    if words.get("media_type") is not None:
        raise UsageError("media_type= is only for bytes and files. Pass bytes or a Path, or remove it")
    if isinstance(content, str):
        return Item(content, known=_known(known), is_record=words.get("data_type") is not None, **words)
    if isinstance(content, Mapping):
        try:
            raw = json.dumps(content, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return Item("", known=_known(known), is_record=True, fault=_NO_JSON, **words)
        return Item(raw, known=_known(known), is_record=True, **words)
    kinds = "a str (note), a mapping (record), bytes (any format), or a Path (file)"
    raise UsageError(f"pass {kinds}, not {type(content).__name__}")


def _file(path: Path) -> bytes:
    """Return the bytes of a file. The message of an error does not name the file: its name may be a patient's."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}") from None


def _media_type(path: Path, data: bytes) -> str | None:
    """Return the media type of a file by its suffix, or None if the content must decide."""
    from incognote.formats.registry import OTHER, name_of, named, of_container, suffix_of

    kind = name_of(suffix_of(path.name))
    if kind == "text" and (container := of_container(data)):
        kind = container.name
    return None if kind == OTHER else named(kind).media_types[0]


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
        "regions": [region.as_dict() for region in item.regions],
    }


def unpacked(words: Mapping[str, Any]) -> Item:
    """The inverse of `packed`; of what 0.1 packed too, which knew no bytes."""
    values = {**words, "known": tuple(Known(*known) for known in words["known"])}
    values["regions"] = regions_of(words.get("regions", ()))
    if values.pop("is_bytes", False):
        values["content"] = bytes.fromhex(values["content"])
    return Item(**values)


def regions_of(told: Iterable[Mapping[str, Any]]) -> tuple[Region, ...]:
    """Return parts of pages and recordings from their `as_dict`."""
    rows = ({**one, "sources": tuple(one["sources"])} for one in told)
    return tuple(PageBox(**row) if "page" in row else MutedInterval(**row) for row in rows)


def item_of(source: Input, engine: Engine) -> Item:
    """Return the item of an input that could be read.

    A line {"id", "patient", "text"}, with or without "spans", is a plain text. Its spans are not used.
    """
    defaults, document, note = source.defaults, source.document, source.note
    named = defaults.data_type or engine.settings.data_type
    if note is not None and not named and {"patient", "text"} <= note.keys() <= _NOTE and isinstance(note["text"], str):
        return replace(note_item(note, defaults), block=source.source.block)
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
        block=source.source.block,
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
