"""Find the format of a source by the suffix of its name, by its media type, or by its content.

A module of this package with `FORMATS` is registered automatically. Other packages add formats under the entry point
group `incognote.formats`. These are imported only for a suffix, media type or name that no built-in format has, so none
of them can replace a built-in format. The output of a format is read again and compared before it is released.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from itertools import islice
from pkgutil import iter_modules
from typing import BinaryIO, cast

from incognote import formats as package
from incognote.errors import (
    IncognoteError,
    MalformedRecord,
    RecordProblem,
    SettingError,
    UnsupportedFormat,
)
from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.pictures import reads_pictures
from incognote.nouns import Reason
from incognote.plugins import installed, load
from incognote.text.container import of_bytes

OTHER = "other"
"""The name for a source without a format: neither its name nor an option gives one. Nothing of it is released."""
OPTIONS = {"jsonl": "lines"}
"""The `--format` values that differ from the name of the format."""
PROVEN = frozenset({"text", "json", "lines", "csv", "tsv", "parquet"})
"""Formats whose output is not read again: property tests show that they change only what is edited."""


MOST_DEPTH = 5
"""The most documents inside each other."""
_DEPTH: ContextVar[int] = ContextVar("depth of nested documents", default=0)
_OUTPUTS: ContextVar[dict[bytes, bool]] = ContextVar("outputs that were read", default={})  # noqa: B039  # stays empty


class FormatMismatch(RecordProblem):
    """A reader does not write back what it read, so content may be lost, or identifiers may be left."""

    code = "format-mismatch"


class UnreadableSource(RecordProblem):
    """A reader rejected a source, with a reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.detail, field=reason.field)
        self.code = reason.code


@cache
def ours() -> Mapping[str, Format]:
    """Return the formats of this package by name."""
    modules = (import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__))
    return _by_name(each for module in modules for each in getattr(module, "FORMATS", ()))


@cache
def every() -> Mapping[str, Format]:
    """Return all formats by name: the built-in ones first, then those of installed packages.

    Raises:
        SettingError: one of them cannot be imported, or two share a name, a suffix or a media type.
    """
    return _by_name((*ours().values(), *(load("incognote.formats", name) for name in installed("incognote.formats"))))


def _by_name(formats: Iterable[Format]) -> Mapping[str, Format]:
    taken: dict[str, Format] = {}
    for each in formats:
        for key in (each.name, *each.suffixes, *each.media_types):
            if taken.setdefault(key, each) is not each:
                raise SettingError(f"The formats {taken[key].name} and {each.name} both claim {key}. Remove one.")
    return {each.name: each for each in taken.values()}


def named(name: str) -> Format:
    """Return the format with this name or `--format` value.

    Raises:
        KeyError: there is no such format.
    """
    name = OPTIONS.get(name, name)
    return ours()[name] if name in ours() else every()[name]


def suffix_of(name: str) -> str:
    """Return the suffix of a file name in lower case: `.jsonl.gz` for `Notes.JSONL.gz`. "" if no format has it."""
    plain = name.lower().removesuffix(".gz")
    last = os.path.splitext(plain)[1]
    return last + name.lower()[len(plain) :] if last and _of_suffix(last) is not None else ""


def is_gzip(name: str) -> bool:
    """Whether the name of a file says that it is compressed with gzip."""
    return name.lower().endswith((".gz", ".tgz"))


def name_of(suffix: str) -> str:
    """Return the name of the format with this suffix, or `other`."""
    found = _of_suffix(suffix.removesuffix(".gz")) if suffix else None
    return found.name if found is not None else OTHER


def _of_suffix(suffix: str) -> Format | None:
    return next((each for each in _ours_first() if suffix in each.suffixes), None)


def _ours_first() -> Iterator[Format]:
    """Yield the formats of this package, then all. Other packages are imported only if no built-in format matches."""
    yield from ours().values()
    yield from every().values()


def of_media_type(media_type: str) -> Format:
    """Return the format of a media type. Any `+json` type is JSON.

    Raises:
        UnsupportedFormat: there is no such format.
    """
    essence = media_type.partition(";")[0].strip().lower()
    for each in _ours_first():
        if essence in each.media_types:
            return each
    if essence.startswith("application/") and essence.endswith("+json"):
        return ours()["json"]
    raise UnsupportedFormat("no installed reader supports this media type")


def of_content(head: bytes) -> Format:
    """Return the format of bytes by their content alone: a container, a record, lines of records, or a text.

    Args:
        head: all bytes, or at least the first 8 KiB.
    """
    container = of_container(head)
    if container is not None:
        return container
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] != b"{":
        return ours()["text"]
    first, _, rest = head.partition(b"\n")
    try:
        json.loads(first)
    except ValueError:  # a record over several lines, or a line longer than `head`
        return ours()["json"]
    return ours()["lines" if rest.lstrip()[:1] == b"{" else "json"]


def of_container(head: bytes) -> Format | None:
    """Return the format that reads a container such as RTF, recognized by its content, or None."""
    what = of_bytes(head)
    return next((each for each in _ours_first() if what in each.contents), None) if what is not None else None


def has_reader(what: str) -> bool:
    """Whether a format reads a container, given the name that `text/container.py` has for it."""
    return any(what in each.contents for each in _ours_first())


def is_exempt(form: Format) -> bool:
    """Whether outputs of a format are released without a second reader."""
    return form.name in PROVEN or not form.needs_second


def open_documents(form: Format, stream: BinaryIO, media_type: str = "") -> Iterator[Document | Unreadable]:
    """Yield the documents of a stream. If the reader raises an error of its own, the rest becomes Unreadable.

    Raises:
        OSError, EOFError, zlib.error: the stream cannot be read. UsageError: a layout does not fit a table.
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
        yield Unreadable(Reason(MalformedRecord.code, "", f"the {form.name} reader failed: {type(bug).__name__}"))


def open_one(data: bytes, media_type: str | None) -> tuple[Format, Document]:
    """Open bytes that hold a single document.

    Args:
        data: the bytes.
        media_type: the media type; None or `application/octet-stream` detects the format from the content.

    Raises:
        UnsupportedFormat: no format has the media type.
        RecordProblem: the bytes cannot be read, or do not hold exactly one document.
        FormatMismatch: the reader loses bytes.
    """
    media_type = None if _says_nothing(media_type) else media_type
    form = of_media_type(media_type) if media_type else of_content(data[:8192])
    stream = cast(BinaryIO, io.BufferedReader(io.BytesIO(data)))
    found = list(islice(open_documents(form, stream, media_type or ""), 2))
    if found and isinstance(found[0], Unreadable):
        raise UnreadableSource(found[0].reason)
    if len(found) != 1:
        raise MalformedRecord("several documents. Send one at a time" if found else "no document")
    document = cast(Document, found[0])
    whole = data if form.kept is None or _DEPTH.get() else form.kept(data)  # nested, nothing is left out
    if form.name not in PROVEN and document.head + document.data + document.after != whole:
        raise FormatMismatch(f"the {form.name} reader does not return all bytes of the input")
    return form, document


def nested(data: bytes, media_type: str | None, field: str) -> tuple[Format, Document]:
    """Open a document inside another one, such as an attachment. Its container calls `under` on it.

    Args:
        data: the decoded bytes.
        media_type: the declared media type. The content decides if no format has that type.
        field: the path in the container, for messages and as the child's name.

    Raises:
        RecordProblem: no format reads it, it does not hold exactly one document, or it is nested too deeply.
    """
    depth = _DEPTH.get()
    if depth >= MOST_DEPTH:
        raise MalformedRecord(f"more than {MOST_DEPTH} documents inside each other. Send the inner one", field=field)
    token = _DEPTH.set(depth + 1)
    try:
        return open_one(data, _readable_type(data, media_type))
    except RecordProblem as problem:
        inner = f"{field}/{problem.field}" if problem.field else field
        raise UnreadableSource(Reason(problem.code, inner, str(problem))) from None
    finally:
        _DEPTH.reset(token)


def reads_picture(data: bytes) -> bool:
    """Whether a picture in a letter, workbook, or message is read. If not, its container replaces it."""
    from incognote.formats.images import FORMATS
    from incognote.formats.images.files import is_tiny

    return reads_pictures() and of_container(data) in FORMATS and not is_tiny(data)


def _readable_type(data: bytes, media_type: str | None) -> str:
    """Return the media type of the format that reads a nested document: of its content if that is a container.

    Raises:
        UnsupportedFormat: it is a container without a reader, or has a media type without one.
    """
    what = of_bytes(data)
    if what is not None:
        form = of_container(data)
        if form is None:
            raise UnsupportedFormat.of(what)
        return form.media_types[0] + _charset(media_type)
    if _says_nothing(media_type):
        return of_content(data).media_types[0] + _charset(media_type)
    return str(media_type)


def _says_nothing(media_type: str | None) -> bool:
    return (media_type or "").partition(";")[0].strip().lower() in ("", "application/octet-stream")


def _charset(media_type: str | None) -> str:
    _, separator, parameters = (media_type or "").partition(";")
    return separator + parameters


@contextmanager
def knowing_outputs(outputs: dict[bytes, bool]) -> Iterator[None]:
    """Let `second_reading` leave out these bytes within the block, and mark those that it saw."""
    token = _OUTPUTS.set(outputs)
    try:
        yield
    finally:
        _OUTPUTS.reset(token)


def second_reading(data: bytes, media_type: str | None = None) -> list[str]:
    """Return the texts of a nested document as the second reader of its format sees them.

    Within `knowing_outputs`, known outputs give none.

    Texts and tables have no second reader: their characters are returned. That of JSON shows attachments and pages.

    Raises:
        Exception: it cannot be read.
        LookupError: its format needs a second reader and has none.
    """
    outputs = _OUTPUTS.get()
    if data in outputs:
        outputs[data] = True
        return []
    form = of_media_type(_readable_type(data, media_type))
    if form.second is not None:
        return list(form.second(data))
    if not is_exempt(form):
        raise LookupError("a format without a second reader")
    return [data.decode("utf-8", "replace") if form.name in PROVEN else data.decode("latin-1")]


def reopened_one(name: str, data: bytes) -> Document | Unreadable:
    """Reopen the single document of held bytes by the name of its format, or say why it can no longer be opened."""
    try:
        return open_one(data, named(name).media_types[0])[1]
    except KeyError:
        reason = Reason(UnsupportedFormat.code, "", "its format is no longer installed")
    except RecordProblem as problem:
        reason = Reason(problem.code, problem.field, str(problem))
    return Unreadable(reason, data)
