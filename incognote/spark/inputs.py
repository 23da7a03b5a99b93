"""Rows as items of the machine, and as inputs in the form that the quarantine and the shards of all runs take."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from incognote.agents.item import Item, item_of
from incognote.detectors.known import known_from
from incognote.errors import MalformedRecord, UnsupportedFormat, UsageError
from incognote.files.inputs import Input, RecordDefaults, read_all
from incognote.files.sources import Source
from incognote.formats import registry
from incognote.formats.base import Unreadable
from incognote.formats.text import plain
from incognote.nouns import Known, Reason

if TYPE_CHECKING:
    from incognote.keys import Keyring
    from incognote.sdk import Deidentifier

_NOT_SOUGHT = "a column of `known` has a value that cannot be searched for. Cast it to a string"
_NOT_ONE = Reason(MalformedRecord.code, "", "the text is not exactly one line of JSON")
_HEAD = 8192


@dataclass(frozen=True)
class SparkRow:
    """A row of the table: what the machine gets, and its own names.

    Args:
        at: its position among the rows that are served together.
        item: None if it has no text, or if it cannot be read.
        id, path: its own names, which may be PHI.
        line: the record that its text is a line of; its `error` says why it cannot be read.
        patient: the patient that its column names.
    """

    at: int
    item: Item | None = field(repr=False)
    id: str | None = field(default=None, repr=False)
    path: str | None = field(default=None, repr=False)
    line: Input | None = field(default=None, repr=False)
    patient: str | None = field(default=None, repr=False)

    def input(self, keyring: Keyring) -> Input:
        """Return the row as an input, for the quarantine or a shard. Its name there depends on the row alone.

        So a repeated task replaces what an earlier attempt stored.
        """
        held = held_name(self, keyring)
        if self.line is not None:
            return replace(self.line, source=replace(self.line.source, name=self.id or held), held=held)
        assert self.item is not None  # a row without a text is never held
        return input_of(self.item, self.path or self.id or held, held)


@dataclass(frozen=True)
class RowWords:
    """What the other columns of a row say about its text."""

    patient: str | None = field(repr=False)
    known: Mapping[str, Any] = field(repr=False)
    path: str | None = field(default=None, repr=False)
    media_type: str | None = None

    def item(self, content: str | bytes) -> Item:
        """Return a note or a document as the machine takes it."""
        try:
            known = self._identifiers()
        except UsageError:
            return Item(content, patient=self.patient, fault=_NOT_SOUGHT)
        if isinstance(content, str):
            return Item(content, patient=self.patient, known=known)
        media_type = self.media_type or media_type_of(self.path, content)
        return Item(content, patient=self.patient, known=known, media_type=media_type)

    def record(self, line: str, made: Deidentifier) -> tuple[Item | None, Input]:
        """Return a line of JSON as the machine takes it, and as an input.

        It is read as a line of a .jsonl file. The item is None if it cannot be read. Then the input has the reason.
        """
        data = line.encode("utf-8", "surrogatepass")
        source = Source(None, "line", "lines", size=len(data), opens=lambda: _stream(data))
        try:
            defaults = RecordDefaults(self.patient, known=self._identifiers())
        except UsageError:
            return None, _unread(source, Reason(MalformedRecord.code, "", _NOT_SOUGHT), data)
        inputs = list(read_all((source,), defaults))
        if len(inputs) != 1 or inputs[0].not_read:
            return None, _unread(source, _NOT_ONE, data)
        (one,) = inputs
        return (item_of(one, made.engine) if one.error is None else None), one

    def _identifiers(self) -> tuple[Known, ...]:
        return known_from(dict(self.known)) if self.known else ()


def media_type_of(path: str | None, data: bytes) -> str | None:
    """Return the media type of a file by the suffix of its name; None if its content must decide."""
    kind = registry.OTHER if path is None else registry.name_of(registry.suffix_of(path))
    if kind == "text" and (container := registry.of_container(data)):
        kind = container.name
    return None if kind == registry.OTHER else registry.named(kind).media_types[0]


def input_of(item: Item, name: str, held: str) -> Input:
    """Return a note or a document as an input.

    Args:
        name: the name of its source, which may be PHI.
        held: its name in the quarantine.
    """
    defaults = RecordDefaults(item.patient, item.domain, item.data_type, item.known)
    if isinstance(item.content, str):
        return Input(Source(None, name, "text"), 1, plain(item.content), defaults=defaults, held=held)
    try:
        form = registry.of_media_type(item.media_type) if item.media_type else registry.of_content(item.content[:_HEAD])
    except UnsupportedFormat as problem:
        reason = Reason(problem.code, "", str(problem))
        return Input(Source(None, name, registry.OTHER), 1, None, error=reason, raw=item.content,
                     defaults=defaults, held=held)  # fmt: skip
    document = registry.reopened_one(form.name, item.content)
    source = Source(None, name, form.name)
    if isinstance(document, Unreadable):
        return Input(source, 1, None, error=document.reason, raw=item.content, defaults=defaults, held=held)
    return Input(source, 1, document, defaults=defaults, held=held)


def held_name(row: SparkRow, keyring: Keyring) -> str:
    """Return the name of a row in the quarantine. Rows with the same id, path, patient, and content are one."""
    content: str | bytes | None = row.item.content if row.item is not None else None
    if content is None and row.line is not None:
        content = row.line.data
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content or b""
    patient = row.item.patient if row.item is not None else None
    return keyring.name("\x1f".join((row.id or "", row.path or "", patient or "", sha256(data).hexdigest())))


def _stream(data: bytes) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(io.BytesIO(data)))


def _unread(source: Source, reason: Reason, data: bytes) -> Input:
    return Input(source, 1, None, error=reason, raw=data)
