"""What a format makes of bytes: Documents with their texts, and edits that are written back into the bytes.

    bytes -> Format.open -> Documents -> the machine -> edits -> Document.rebuild -> bytes

A reader of pages adds a `Region` to `Place` and a `RegionEdit` to `Edit`; a reader of recordings adds an interval and
its edit. Both are places beside the text's own offsets: a Span keeps `start` and `end` of the text that was read
(by recognition of characters or of speech), and `Document.places` says where in the source that text stands. What has
no text at all (a face, a signature) is such a place without offsets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import field as dataclass_field
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Literal

from incognote.errors import AccountingError
from incognote.formats.encoding import UTF8, Codec
from incognote.nouns import Known, Reason, Text

if TYPE_CHECKING:
    from incognote.schemas.record_schema import Schema
    from incognote.schemas.registry import Registry

Change = tuple[int, int, str]
"""A stretch `start:end` of a string, in code points, and the text that replaces it."""
Action = Literal["mask", "hash", "absent", "date"]


@dataclass(frozen=True, slots=True)
class FieldAction:
    """A structured field that its flag replaces.

    Args:
        text: the whole value and its path; of a number or another non-string, its raw JSON.
        start, end: the stretch that is replaced, code points of `text`.
        action: `mask` becomes `[TYPE]`, `hash` a keyed hash, `absent` whatever its format has for withheld data,
            `date` what the policy makes of a date; where that is no date of its format, it is absent.
        entity_type: what the value is; a mask always has one.
    """

    text: Text
    start: int
    end: int
    action: Action
    entity_type: str | None = None


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes `start:end` of a document's `data`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """A value that holds the text in another form (base64, say).

    Args:
        path: of the value in its record, as a Text's field.
    """

    path: str


Place = ByteRange | Pointer
"""Where a stretch of a text stands in the source."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """New words for the stretch `start:end` of the text of a field, in code points."""

    field: str
    start: int
    end: int
    new: str = dataclass_field(repr=False)


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """The new value of a structured field."""

    action: FieldAction = field(repr=False)
    value: str = field(repr=False)


Edit = TextEdit | FieldEdit


class Document(ABC):
    """One text or record of a source, or a container of documents.

    Attributes:
        data: its bytes as they stand in the source.
        texts: the free texts to de-identify; their fields are unique. A text in a known language says so.
        actions: the structured fields that are replaced.
        known: the identifiers that its structured fields reveal, to be sought in its texts.
        patient: the subject, where the source names one. id: the document's own id, likewise.
        schema: that it was opened by, where its format needs one.
        children: documents within it, by name; they have texts and no structured fields. The machine sees their texts
            with the name and a slash before the field, and `rebuild` gets their edits so (`of_child`).
        head: what stands before the first document of the source and is written before the first one released.
        after: what follows the document (a line end) and is written after it.
        separator: what is written between two documents of a source where `after` is empty.
        position: its place in its source, from 1; None for one more than the place of the document before it.
    """

    data: bytes
    texts: tuple[Text, ...] = ()
    actions: tuple[FieldAction, ...] = ()
    known: tuple[Known, ...] = ()
    patient: str | None = None
    id: str | None = None
    schema: Schema | None = None
    children: Mapping[str, Document] = MappingProxyType({})
    head: bytes = b""
    after: bytes = b""
    separator: bytes = b""
    position: int | None = None

    @abstractmethod
    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        """Write the document with its edits; whatever no edit touches keeps its bytes.

        Raises:
            AccountingError: an edit of what is no text of this document, edits that overlap, or an action without one.
            UnicodeEncodeError: the source's encoding cannot hold the new words.
        """

    @abstractmethod
    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        """Where a stretch of a text stands in `data`: several places where other bytes stand between."""

    def under(self, registry: Registry, data_type: str | None) -> Document:
        """The document opened by the record schema that serves it; itself where its format needs none.

        Raises:
            RecordProblem, SchemaProblem: no schema serves it, or it does not fit.
        """
        return self


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands in a source and cannot be read; the documents around it are.

    Args:
        reason: why.
        data: its bytes, where they could be had.
        document: what it is, where it could be decoded; it goes with the bytes to the quarantine.
        position: as a Document's.
    """

    reason: Reason
    data: bytes | None = field(default=None, repr=False)
    document: Document | None = field(default=None, repr=False)
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A file format, such as JSON or CSV: how to read documents from bytes and write them back.

    Args:
        name: as `--format` and the quarantine have it.
        media_types: in lower case, without parameters.
        suffixes: of file names, in lower case, with the dot; the first is that of outputs.
        open: reads a stream of bytes, whose media type is given with its parameters -> its documents, in order. It
            imports what is slow to load when it is called. What it raises, with a RecordProblem's reason or without,
            quarantines the rest of the source.
        is_record: whether its documents are records that a schema serves.
    """

    name: str
    media_types: Sequence[str]
    suffixes: Sequence[str]
    open: Callable[[BinaryIO, str], Iterator[Document | Unreadable]] = field(repr=False)
    is_record: bool = False


class DecodedDocument(Document):
    """A document whose source is characters.

    Attributes:
        content: the characters, without byte order mark and line end.
        codec: how the source writes them.
        is_record: whether the content is a record's.
    """

    content: str
    codec: Codec = UTF8
    is_record: bool = False

    @property
    def data(self) -> bytes:  # type: ignore[override]  # a read-only attribute is one, too
        return self.codec.encode(self.content)

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """The new content; whatever is neither changed nor acted on keeps its characters. One without texts stays.

        Args:
            changes: by field of a text.
            values: the new value of every action.

        Raises:
            AccountingError: as `rebuild`.
        """
        account(self, changes, values)
        return self.content

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        """Where a stretch of a text stands in `content`; None where it stands there in another form."""
        return None

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        out.write(self.codec.encode(self.rewritten(*split_edits(edits))))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        stretches = self.stretches(field, start, end)
        if stretches is None:
            return (Pointer(field),)
        return tuple(ByteRange(*(len(self.codec.encode(self.content[:at])) for at in pair)) for pair in stretches)


class StretchDocument(DecodedDocument):
    """Characters of which some stretches are texts and all others stay as they are.

    Args:
        content: all of it.
        stretches: where each text stands, by its field; no two overlap.
        language: of all texts, where it is known.
        known: identifiers that the source reveals beside its texts.
    """

    def __init__(
        self,
        content: str,
        stretches: Mapping[str, tuple[int, int]],
        codec: Codec = UTF8,
        *,
        language: str | None = None,
        known: Collection[Known] = (),
    ) -> None:
        self.content, self.codec, self.known = content, codec, tuple(known)
        self.head = codec.mark
        self._stretches = dict(stretches)
        self.texts = tuple(Text(content[start:end], name, language) for name, (start, end) in stretches.items())

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        account(self, changes, values)
        texts = {text.field: text.content for text in self.texts}
        new = [(*self._stretches[name], splice(texts[name], edits)) for name, edits in changes.items()]
        return splice(self.content, new)

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]]:
        begin = self._stretches[field][0]
        return ((begin + start, begin + end),)


def of_child(edits: Iterable[Edit], name: str) -> list[Edit]:
    """The edits of one child's texts, with the fields that they bear in the child; for a container's `rebuild`."""
    prefix = f"{name}/"
    return [
        TextEdit(edit.field.removeprefix(prefix), edit.start, edit.end, edit.new)
        for edit in edits
        if isinstance(edit, TextEdit) and edit.field.startswith(prefix)
    ]


def split_edits(edits: Iterable[Edit]) -> tuple[dict[str, list[Change]], dict[FieldAction, str]]:
    """Edits of texts by their field, and the new values of structured fields."""
    changes: dict[str, list[Change]] = {}
    values: dict[FieldAction, str] = {}
    for edit in edits:
        if isinstance(edit, FieldEdit):
            values[edit.action] = edit.value
        else:
            changes.setdefault(edit.field, []).append((edit.start, edit.end, edit.new))
    return changes, values


def account(
    document: Document, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]
) -> None:
    """Refuse to put together what was not wholly served.

    Raises:
        AccountingError: an action without a value, or a change of what is no text of the document.
    """
    differing = len(set(document.actions) ^ set(values))
    if differing:
        raise AccountingError(f"{differing} structured fields were not served, or are not of this record")
    strangers = len(changes.keys() - {text.field for text in document.texts})
    if strangers:
        raise AccountingError(f"edits name {strangers} texts that are not of this record")


def splice(raw: str, edits: Iterable[Change]) -> str:
    """The raw text with `raw[start:end]` replaced for each edit; every other character stays as it is.

    Raises:
        AccountingError: edits overlap or lie outside the text.
    """
    pieces: list[str] = []
    at = 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        if not at <= start <= end <= len(raw):
            raise AccountingError(f"an edit at {start}..{end} overlaps another, or lies outside the text")
        pieces += (raw[at:start], text)
        at = end
    pieces.append(raw[at:])
    return "".join(pieces)
