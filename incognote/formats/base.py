"""The base classes of formats: Documents with their texts, and edits that are written back into the bytes.

    bytes -> Format.open -> Documents -> the machine -> edits -> Document.rebuild -> bytes

A Span on a page keeps `start` and `end` in the recognized text, and the document knows where each character is on the
page. What a page shows without words, such as a face or a signature, is the character `UNWORDED` in that text. The text
of a recording is what was said (`formats/audio`), and the document knows the time of each stretch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import field as dataclass_field
from types import MappingProxyType
from typing import TYPE_CHECKING, AnyStr, BinaryIO, Literal

from incognote.errors import AccountingError, RecordProblem, UnsupportedFormat, UsageError
from incognote.formats.encoding import MAX_BYTES, UTF8, Codec
from incognote.nouns import Known, Reason, Span, Text
from incognote.text.gaps import UNWORDED as UNWORDED

if TYPE_CHECKING:
    from incognote.schemas.record_schema import Schema
    from incognote.schemas.registry import Registry

Change = tuple[int, int, str]
"""A stretch `start:end` of a string, in code points, and the text that replaces it."""
Action = Literal["mask", "hash", "integer", "absent", "date"]


@dataclass(frozen=True, slots=True)
class FieldAction:
    """A structured field that is replaced because of its flag.

    Args:
        text: the whole value and its path; for a number or another non-string, its raw JSON.
        start, end: the stretch that is replaced, in code points of `text`.
        action: `mask` writes `[TYPE]`, `hash` a keyed hash, `integer` a keyed integer for an integer, and `absent` the
            format's marker for withheld data. `date` writes the policy's replacement for a date, or `absent` if that is
            not a date in the format.
        entity_type: the type of the value; a mask always has one.
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
    """A value that holds the text in another form, such as base64.

    Args:
        path: the path of the value in its record, as in a Text's `field`.
    """

    path: str


Place = ByteRange | Pointer
"""The position of a stretch of a text in the source."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """New words for the stretch `start:end` of a field's text, in code points."""

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


@dataclass(frozen=True, slots=True)
class Finding:
    """An identifier that a reader found by its place, such as a value beside a label, or a signature.

    Args:
        field: the field of the text.
        start, end: in code points of the text.
        type: the entity type.
        score: from 0 to 1, as of a Span.
        source: what found it, such as `label`.
    """

    field: str
    start: int
    end: int
    type: str
    score: float
    source: str


class SeenLine(str):
    """A line that a second reader sees, with the place of its words in the text of the first reader.

    Attributes:
        parts: for words in order, their stretch of the line, and the field and stretch of the text with the same ink.
            The words of a line without a part are those that the first reader shows, too.
    """

    __slots__ = ("parts",)
    parts: Sequence[tuple[int, int, tuple[str, int, int] | None]]

    @classmethod
    def of(cls, words: str, parts: Sequence[tuple[int, int, tuple[str, int, int] | None]]) -> SeenLine:
        """Return a line with its parts."""
        line = cls(words)
        line.parts = parts
        return line

    def within(self, name: str) -> SeenLine:
        """Return the line for the document that holds this one as a child with a name."""
        parts = ((a, b, own and (f"{name}/{own[0]}", *own[1:])) for a, b, own in self.parts)
        return SeenLine.of(str(self), list(parts))


class Document(ABC):
    """One text or record of a source, or a container of documents.

    Attributes:
        data: the bytes of the document in the source.
        texts: the free texts to de-identify. Their fields are unique. A text has its language if it is known.
        actions: the structured fields that are replaced.
        known: the identifiers that its structured fields reveal, to search for in its texts.
        findings: the identifiers in its texts that the reader found by their place.
        remarks: why a person must review its output, such as a page that was hard to read.
        patient: the subject, if the source names one. id: the document's own id, if the source names it.
        schema: the schema that opened it, if its format needs one.
        registry: the schemas that opened it or its children. Its output is opened with them again.
        children: documents within it, by name. The machine sees their texts and structured fields with the name and a
            slash before the field, and `rebuild` gets their edits in that form (`of_child`).
        head: the bytes before the first document of the source, written before the first released one.
        after: the bytes that follow the document (a line end), written after it.
        separator: the bytes written between two documents of a source if `after` is empty.
        position: the position in the source, from 1. None: one more than that of the previous document.
    """

    data: bytes
    texts: tuple[Text, ...] = ()
    actions: tuple[FieldAction, ...] = ()
    known: tuple[Known, ...] = ()
    findings: Sequence[Finding] = ()
    remarks: Sequence[Reason] = ()
    patient: str | None = None
    id: str | None = None
    schema: Schema | None = None
    registry: Registry | None = None
    children: Mapping[str, Document] = MappingProxyType({})
    head: bytes = b""
    after: bytes = b""
    separator: bytes = b""
    position: int | None = None

    @abstractmethod
    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        """Write the document with its edits. Bytes outside the edits do not change.

        Raises:
            AccountingError: an edit is not for a text of this document, edits overlap, or an action has no edit.
            UnicodeEncodeError: the encoding of the source cannot represent the new words.
        """

    @abstractmethod
    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        """Return the places of a stretch of a text in `data`. There are several if other bytes are in between."""

    def written(self, action: FieldAction, value: str) -> str | None:
        """Return how a new value of a structured field reads in the output, or None if the field is then absent.

        A format overrides it if it gives a hash the form of an id, or marks a value as withheld.
        """
        return value

    def always(self, field: str) -> Sequence[Change]:
        """Return the changes of a structured field that the format makes besides those of its actions."""
        return ()

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Document | None:
        """Return an output opened with what this document knows of it, or None if it is opened like any other.

        Raises:
            RecordProblem: it cannot be read.
        """
        return None

    def second(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Iterable[str] | None:
        """Return what a second reader sees in an output, or None if it is read with `Format.second`.

        A document of pages overrides it, because it knows what is covered, and what was read where. Its lines may be
        `SeenLine`.

        Raises:
            Exception: the output cannot be read.
        """
        return None

    def widened(self, spans: Sequence[Span]) -> Sequence[Span]:
        """Return the spans of a text that are removed, with what must go with them.

        Args:
            spans: disjoint and in order. So is what is returned.
        """
        return spans

    def findings_with(self, known: Sequence[Known]) -> Sequence[Finding]:
        """Return the findings, if some identifiers are known. A recording overrides it: known names are misheard."""
        return self.findings

    def under(self, registry: Registry, data_type: str | None) -> Document:
        """Return the document opened with its record schema, or the document itself if its format needs no schema.

        Its children are opened with their own schemas.

        Raises:
            RecordProblem, SchemaProblem: there is no schema for it, or it does not fit.
        """
        if self.children:
            self.registry = registry
            self.children = {name: child.under(registry, None) for name, child in self.children.items()}
        return self


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of a source that cannot be read. The documents around it are still read.

    Args:
        reason: why it cannot be read.
        data: its bytes, if they are available.
        document: the decoded document, if it could be decoded. It goes to the quarantine with the bytes.
        position: the position, as in a Document.
    """

    reason: Reason
    data: bytes | None = field(default=None, repr=False)
    document: Document | None = field(default=None, repr=False)
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A file format, such as JSON or CSV: how to read documents from bytes and write them back.

    Args:
        name: the name in `--format` and in the quarantine.
        media_types: the media types, in lower case, without parameters.
        suffixes: the suffixes of file names, in lower case, with the dot. Outputs have the first one.
        open: takes a stream of bytes and its media type with parameters, and yields its documents in order. It imports
            slow modules only when it is called. If it raises an error, the rest of the source is quarantined.
        is_record: whether its documents are records that need a schema.
        contents: the names that `text.container` gives to bytes that this format reads. A source with such content is
            read by this format if its name ends in `.txt` or in no known suffix.
        second: the second reader. It takes the bytes of an output and returns all text that another library sees in it,
            with headers, attributes, comments, properties, and attachments. It may leave out what the rules keep in
            every document, such as the names of styles, and may raise any error.
        needs_second: whether outputs go to review (`not-verified`) if the format has no second reader.
        kept: takes the bytes of a source and returns those that its documents hold. Without it, they hold all bytes.
        packed: whether its bytes are compressed. Then only the second reader can search them for identifiers.
        most: the most bytes of a source that are read. A longer one is held (`too-large`).
    """

    name: str
    media_types: Sequence[str]
    suffixes: Sequence[str]
    open: Callable[[BinaryIO, str], Iterator[Document | Unreadable]] = field(repr=False)
    is_record: bool = False
    contents: Sequence[str] = ()
    second: Callable[[bytes], Iterable[str]] | None = field(default=None, repr=False)
    needs_second: bool = True
    kept: Callable[[bytes], bytes] | None = field(default=None, repr=False)
    packed: bool = False
    most: int = MAX_BYTES


class DecodedDocument(Document):
    """A document whose source consists of characters.

    Attributes:
        content: the characters, without byte order mark and line end.
        codec: the encoding of the source.
        is_record: whether the content is a record.
    """

    content: str
    codec: Codec = UTF8
    is_record: bool = False

    @property
    def data(self) -> bytes:  # type: ignore[override]  # a read-only attribute is also allowed
        return self.codec.encode(self.content)

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """Return the new content. Characters outside the changes and actions stay the same.

        This base method returns the content of a document without texts unchanged.

        Args:
            changes: the changes by field of a text.
            values: the new value of every action.

        Raises:
            AccountingError: as in `rebuild`.
        """
        account(self, changes, values)
        return self.content

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        """Return the places of a stretch of a text in `content`, or None if `content` holds it in another form."""
        return None

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        out.write(self.codec.encode(self.rewritten(*split_edits(edits))))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        if (stretches := self.stretches(field, start, end)) is None:
            return (Pointer(field),)
        return tuple(ByteRange(*(len(self.codec.encode(self.content[:at])) for at in pair)) for pair in stretches)


class StretchDocument(DecodedDocument):
    """A document in which some stretches are texts and all other characters stay the same.

    Args:
        content: the whole content.
        stretches: the position of each text, by its field; they do not overlap.
        language: the language of all texts, if it is known.
        known: identifiers that the source reveals outside its texts.
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


def texts_of(document: Document) -> tuple[Text, ...]:
    """Return the texts of a document and of its children, whose fields begin with the child's name and a slash.

    Raises:
        RecordProblem, UsageError: the pixels of a page cannot be read. For a child, the error names the field.
    """
    inner = (
        replace(text, field=f"{name}/{text.field}")
        for name, child in document.children.items()
        for text in _texts_within(child, name)
    )
    return (*document.texts, *inner)


def _texts_within(child: Document, name: str) -> tuple[Text, ...]:
    try:
        return texts_of(child)
    except RecordProblem as problem:
        problem.field = f"{name}/{problem.field}" if problem.field else name
        raise
    except UsageError as missing:  # a program or library that reads pages
        raise UnsupportedFormat(str(missing), field=name) from None


def actions_of(document: Document) -> tuple[FieldAction, ...]:
    """Return the structured fields of a document and of its children, with fields as in `texts_of`."""
    inner = (
        replace(each, text=replace(each.text, field=f"{name}/{each.text.field}"))
        for name, child in document.children.items()
        for each in actions_of(child)
    )
    return (*document.actions, *inner)


def written_of(document: Document, action: FieldAction, value: str) -> str | None:
    """Return `Document.written` of the document, or of the child that has the field."""
    name = next((name for name in document.children if action.text.field.startswith(f"{name}/")), None)
    if name is None:
        return document.written(action, value)
    [own] = of_child([FieldEdit(action, value)], name)
    return written_of(document.children[name], own.action, value) if isinstance(own, FieldEdit) else value


def always_of(document: Document, field: str) -> Sequence[Change]:
    """Return `Document.always` of the document, or of the child that has the field."""
    name = next((name for name in document.children if field.startswith(f"{name}/")), None)
    if name is None:
        return document.always(field)
    return always_of(document.children[name], field.removeprefix(f"{name}/"))


def widened_of(document: Document, spans: Sequence[Span]) -> Sequence[Span]:
    """Return `Document.widened` of the document, or of the child that has the field."""
    field = spans[0].field if spans else ""
    name = next((name for name in document.children if field.startswith(f"{name}/")), None)
    if name is None:
        return document.widened(spans)
    source = replace(spans[0].source, field=field.removeprefix(f"{name}/"))
    own = widened_of(document.children[name], [replace(each, source=source) for each in spans])
    return [replace(each, source=spans[0].source) for each in own]


def known_of(document: Document) -> tuple[Known, ...]:
    """Return the identifiers that the structured fields of a document and of its children reveal."""
    return (*document.known, *(known for child in document.children.values() for known in known_of(child)))


def of_child(edits: Iterable[Edit], name: str) -> list[Edit]:
    """Return the edits for one child, with the child's own field names. For a container's `rebuild`."""
    prefix = f"{name}/"
    own: list[Edit] = []
    for edit in edits:
        if isinstance(edit, TextEdit):
            if edit.field.startswith(prefix):
                own.append(replace(edit, field=edit.field.removeprefix(prefix)))
        elif (text := edit.action.text).field.startswith(prefix):
            inner = replace(text, field=text.field.removeprefix(prefix))
            own.append(replace(edit, action=replace(edit.action, text=inner)))
    return own


def findings_of(document: Document, known: Sequence[Known] = ()) -> tuple[Finding, ...]:
    """Return the findings of a document and of its children, with fields as in `texts_of`.

    Args:
        known: the identifiers that are known of the record.
    """
    inner = (
        replace(each, field=f"{name}/{each.field}")
        for name, child in document.children.items()
        for each in findings_of(child, known)
    )
    return (*document.findings_with(known), *inner)


def remarks_of(document: Document) -> tuple[Reason, ...]:
    """Return the remarks of a document and of its children."""
    inner = (
        replace(each, field=f"{name}/{each.field}")
        for name, child in document.children.items()
        for each in remarks_of(child)
    )
    return (*document.remarks, *inner)


def joined_edits(changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> list[Edit]:
    """Return the edits that `split_edits` splits into these."""
    edits: list[Edit] = [TextEdit(field, *change) for field, each in changes.items() for change in each]
    return [*edits, *(FieldEdit(action, value) for action, value in values.items())]


def split_edits(edits: Iterable[Edit]) -> tuple[dict[str, list[Change]], dict[FieldAction, str]]:
    """Split edits into the changes of texts by field, and the new values of structured fields."""
    changes: dict[str, list[Change]] = {}
    values: dict[FieldAction, str] = {}
    for edit in edits:
        if isinstance(edit, FieldEdit):
            values[edit.action] = edit.value
        else:
            changes.setdefault(edit.field, []).append((edit.start, edit.end, edit.new))
    return changes, values


def account(document: Document, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> None:
    """Check that every action has a value and that every change is for a text of the document or of its children.

    Raises:
        AccountingError: an action has no value, or a change is not for a text of the document.
    """
    if differing := len(set(actions_of(document)) ^ set(values)):
        raise AccountingError(f"{differing} structured fields have no new value, or do not belong to this record")
    if strangers := len(changes.keys() - {text.field for text in texts_of(document)}):
        raise AccountingError(f"edits refer to {strangers} texts that do not belong to this record")


def splice(raw: AnyStr, edits: Iterable[tuple[int, int, AnyStr]]) -> AnyStr:
    """Return the characters or bytes with `raw[start:end]` replaced for each edit. All others do not change.

    Raises:
        AccountingError: edits overlap or are outside the text.
    """
    pieces: list[AnyStr] = []
    at = 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        if not at <= start <= end <= len(raw):
            raise AccountingError(f"an edit at {start}..{end} overlaps another, or is outside the text")
        pieces += (raw[at:start], text)
        at = end
    pieces.append(raw[at:])
    return raw[:0].join(pieces)
