"""Which format a source is of: by the suffix of its name, by its media type, or by its content.

A module of this package with `FORMATS` is found by itself; other packages add theirs under the entry point group
`incognote.formats`. Those are imported when a suffix, media type or name is asked for that no format of ours has, so
that none of them can take a source from ours. What a format writes is read again and compared before it is released.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from pkgutil import iter_modules
from typing import BinaryIO, cast

from incognote import formats as package
from incognote.errors import (
    AccountingError,
    IncognoteError,
    MalformedRecord,
    RecordProblem,
    SettingError,
    UnsupportedFormat,
)
from incognote.formats.base import Change, Document, Edit, FieldAction, FieldEdit, Format, TextEdit, Unreadable, splice
from incognote.nouns import Reason, Text
from incognote.plugins import installed, load

OTHER = "other"
"""The name of no format: of a source whose name says none, and nobody said one; nothing of it is released."""
OPTIONS = {"jsonl": "lines"}
"""What `--format` calls a format where that is not its name."""
UNENCODABLE = Reason("encoding", "", "the new record holds a character that the encoding of its file cannot write")
PROVEN = frozenset({"text", "json", "lines", "csv", "tsv"})
"""Formats whose output is not read again: property tests hold that they change nothing but what is edited."""


class FormatMismatch(RecordProblem):
    """A reader does not write back what it read: something of it may be lost, or left."""

    code = "format-mismatch"


class UnreadableSource(RecordProblem):
    """What a reader refused, with the reason it gave."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.detail, field=reason.field)
        self.code = reason.code


@cache
def ours() -> Mapping[str, Format]:
    """The formats of this package by name."""
    modules = (import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__))
    return _by_name(each for module in modules for each in getattr(module, "FORMATS", ()))


@cache
def every() -> Mapping[str, Format]:
    """All formats by name, those of installed packages behind ours.

    Raises:
        SettingError: one of them cannot be imported, or two have a name, a suffix or a media type in common.
    """
    return _by_name((*ours().values(), *(load("incognote.formats", name) for name in installed("incognote.formats"))))


def _by_name(formats: Iterable[Format]) -> Mapping[str, Format]:
    taken: dict[str, Format] = {}
    for each in formats:
        for key in (each.name, *each.suffixes, *each.media_types):
            if taken.setdefault(key, each) is not each:
                raise SettingError(f"the formats {taken[key].name} and {each.name} both claim {key}: remove one")
    return {each.name: each for each in taken.values()}


def named(name: str) -> Format:
    """The format of a name, or of what `--format` calls it.

    Raises:
        KeyError: there is none.
    """
    name = OPTIONS.get(name, name)
    return ours()[name] if name in ours() else every()[name]


def suffix_of(name: str) -> str:
    """`.jsonl.gz` of `Notes.JSONL.gz` (in lower case); "" where the name is of no readable format."""
    plain = name.lower().removesuffix(".gz")
    last = os.path.splitext(plain)[1]
    return last + name.lower()[len(plain) :] if last and _of_suffix(last) is not None else ""


def name_of(suffix: str) -> str:
    """The name of the format that a suffix says; `other` for none."""
    found = _of_suffix(suffix.removesuffix(".gz")) if suffix else None
    return found.name if found is not None else OTHER


def _of_suffix(suffix: str) -> Format | None:
    return next((each for each in _ours_first() if suffix in each.suffixes), None)


def _ours_first() -> Iterator[Format]:
    """The formats of this package, then all; those of other packages are imported when none before them serves."""
    yield from ours().values()
    yield from every().values()


def of_media_type(media_type: str) -> Format:
    """The format of a media type; any `+json` is JSON.

    Raises:
        UnsupportedFormat: there is none.
    """
    essence = media_type.partition(";")[0].strip().lower()
    for each in _ours_first():
        if essence in each.media_types:
            return each
    if essence.startswith("application/") and essence.endswith("+json"):
        return ours()["json"]
    raise UnsupportedFormat("a media type without a reader")


def of_content(head: bytes) -> Format:
    """The format of bytes of which nothing else is known: a record, lines of records, or a text."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] != b"{":
        return ours()["text"]
    first, _, rest = head.partition(b"\n")
    try:
        json.loads(first)
    except ValueError:  # a record of several lines, or a line longer than what can be seen of it
        return ours()["json"]
    return ours()["lines" if rest.lstrip()[:1] == b"{" else "json"]


def open_documents(form: Format, stream: BinaryIO, media_type: str = "") -> Iterator[Document | Unreadable]:
    """The documents of a stream; what a reader raises beside the errors of the stream refuses the rest.

    Raises:
        OSError, EOFError, zlib.error: of the stream. UsageError: a layout does not fit a table.
    """
    try:
        yield from form.open(stream, media_type or form.media_types[0])
    except RecordProblem as problem:
        yield Unreadable(Reason(problem.code, problem.field, str(problem)))
    except (IncognoteError, OSError, EOFError):
        raise
    except Exception as bug:
        if type(bug).__module__ == "zlib":
            raise
        yield Unreadable(Reason(MalformedRecord.code, "", f"the reader of {form.name} failed: {type(bug).__name__}"))


def open_one(data: bytes, media_type: str | None) -> tuple[Format, Document]:
    """The one document of some bytes.

    Args:
        media_type: None takes what the content says.

    Raises:
        UnsupportedFormat: no format has the media type.
        RecordProblem: the bytes cannot be read, or hold no document or several.
        FormatMismatch: the reader loses bytes.
    """
    form = of_media_type(media_type) if media_type else of_content(data[:8192])
    stream = cast(BinaryIO, io.BufferedReader(io.BytesIO(data)))
    found = list(islice(open_documents(form, stream, media_type or ""), 2))
    if found and isinstance(found[0], Unreadable):
        raise UnreadableSource(found[0].reason)
    if len(found) != 1:
        raise MalformedRecord("several documents: give one at a time" if found else "no document")
    document = cast(Document, found[0])
    if form.name not in PROVEN and document.head + document.data + document.after != data:
        raise FormatMismatch(f"the reader of {form.name} does not give back all bytes")
    return form, document


def reopened_one(name: str, data: bytes) -> Document | Unreadable:
    """The one document of bytes that were held, by the name of their format; or why it cannot be opened any more."""
    try:
        return open_one(data, named(name).media_types[0])[1]
    except KeyError:
        reason = Reason(UnsupportedFormat.code, "", "its format is not installed any more")
    except RecordProblem as problem:
        reason = Reason(problem.code, problem.field, str(problem))
    return Unreadable(reason, data)


def rebuilt(
    form: Format, document: Document, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]
) -> bytes:
    """The new bytes of a document and of what stands around it in its source.

    Args:
        changes: by field of a text.
        values: the new value of every structured field.

    Raises:
        AccountingError: as `Document.rebuild`.
        UnreadableSource: the source's encoding cannot hold the new words.
        FormatMismatch: what was written does not read as the texts and structured fields with their edits.
    """
    edits: list[Edit] = [TextEdit(field, *change) for field, each in changes.items() for change in each]
    edits += (FieldEdit(action, value) for action, value in values.items())
    out = io.BytesIO()
    try:
        document.rebuild(edits, out)
    except UnicodeEncodeError:
        raise UnreadableSource(UNENCODABLE) from None
    data = document.head + out.getvalue() + document.after
    if form.name in PROVEN:
        return data
    try:
        again = _readable(open_one(data, form.media_types[0])[1])
    except RecordProblem:
        again = None
    if again != _expected(document, changes, values):
        raise FormatMismatch(f"the reader of {form.name} does not write back what it was given")
    return data


def _readable(document: Document) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """The texts by their fields, in order, and the structured fields by their paths."""
    fields = {action.text.field: action.text.content for action in document.actions}
    return [(text.field, text.content) for text in texts_of(document)], fields


def _expected(
    document: Document, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """What a document is to hold once it was edited.

    Raises:
        AccountingError: an edit is of what it does not hold.
    """
    texts, fields = _readable(document)
    if changes.keys() - {field for field, _ in texts} or set(values) != set(document.actions):
        raise AccountingError("edits that are not of this document, or structured fields without one")
    stretches: dict[str, list[Change]] = {}
    for action, value in values.items():
        stretches.setdefault(action.text.field, []).append((action.start, action.end, value))
    return (
        [(field, splice(content, changes.get(field, ()))) for field, content in texts],
        {path: splice(content, stretches.get(path, ())) for path, content in fields.items()},
    )


def texts_of(document: Document) -> tuple[Text, ...]:
    """The texts of a document and of those within it, whose fields begin with the child's name and a slash.

    Raises:
        MalformedRecord: a child has structured fields, which nothing would serve.
    """
    inner: list[Text] = []
    for name, child in document.children.items():
        if child.actions:
            raise MalformedRecord("a document within another has structured fields: its reader must raise them")
        inner += (Text(text.content, f"{name}/{text.field}", text.language) for text in texts_of(child))
    return (*document.texts, *inner)
