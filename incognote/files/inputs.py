"""The records of files, one by one and in order, in bounded memory.

Texts are strict UTF-8, or UTF-16 with a byte order mark. What cannot be read becomes an Input that carries the reason
and its bytes, and the records around it go on: nothing is dropped and nothing is guessed.
"""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from incognote.errors import UnsupportedFormat
from incognote.files.sources import Source, reason_of
from incognote.nouns import Known, Reason
from incognote.text.container import of_bytes, of_records

if TYPE_CHECKING:
    from incognote.files.tables import OpenTable
    from incognote.records.tabular import OpenRows

MAX_BYTES = 256 * 2**20
"""A longer record is not taken into memory; its Input carries the reason `too-large` and no bytes."""

_HEAD = 8192
_DOCUMENTS = frozenset(
    ".pdf .doc .docx .rtf .odt .xls .xlsx .ppt .pptx .htm .html .xml .hl7 .eml .msg .dcm .jpg .jpeg .png .tif .tiff"
    " .zip".split()
)
_RENAME = "rename it (.txt, .json, .jsonl, .csv, .tsv), or say --format"
_FEW = 8  # characters of another encoding that even a short text may hold
UNREADABLE = (OSError, EOFError, zlib.error)  # what a reader of files can meet; BadGzipFile is an OSError
_NOT_READ = "unreadable"


class Damaged(OSError):
    """Compressed bytes that cannot be decompressed to their end; the file itself can be read."""


_DAMAGE = (Damaged, gzip.BadGzipFile, EOFError, zlib.error)  # EOFError: gzip that ends early


class Codec(NamedTuple):
    """How a file writes characters: a Python codec name and the byte order mark in front ("" for none)."""

    encoding: str = "utf-8"
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        return data.decode(self.encoding)

    def encode(self, text: str) -> bytes:
        return text.encode(self.encoding)


UTF8 = Codec()


@dataclass(frozen=True, slots=True)
class Words:
    """What a run was told about its records, in the words every face shares.

    Args:
        patient: the subject of records that name none.
        domain: who shares hashes and date shifts.
        data_type: the schema for records that carry no dataType.
        known: identifiers known beforehand.
    """

    patient: str | None = field(default=None, repr=False)
    domain: str | None = None
    data_type: str | None = None
    known: tuple[Known, ...] = field(default=(), repr=False)


NO_WORDS = Words()


@dataclass(frozen=True, slots=True)
class Input:
    """One text or record as it stands in its source.

    Args:
        source: where it stands.
        position: its place in the source, from 1; blank lines do not count.
        content: the text, or the raw JSON of a record; None where it cannot be read.
        is_record: whether the content is a record's raw JSON.
        codec: how its source writes characters.
        ending: the line end that followed it, "" for none.
        offset: bytes of the file on disk that had been read when it was complete, for progress.
        error: why it cannot be read.
        raw: its bytes, where there is an error and they could be had.
        words: what its run was told about it.
        held: the name it bears in the quarantine it came from.
        opened, table: of rows of a table, the record they are and where they stand; `content` is then their own text,
            and stays beside an error where it could be decoded.
    """

    source: Source
    position: int
    content: str | None = field(repr=False)
    is_record: bool
    codec: Codec = UTF8
    ending: str = ""
    offset: int = 0
    error: Reason | None = None
    raw: bytes | None = field(default=None, repr=False)
    words: Words = NO_WORDS
    held: str | None = None
    opened: OpenRows | None = field(default=None, repr=False)
    table: OpenTable | None = field(default=None, repr=False)

    @property
    def data(self) -> bytes | None:
        """Its bytes in the (decompressed) source, without mark and line end; None where they could not be had."""
        return self.raw if self.content is None else self.codec.encode(self.content)

    @property
    def not_read(self) -> bool:
        """Whether it is a file, or the rest of one, whose bytes could not be had: nothing is there to be held."""
        return self.error is not None and self.error.code == _NOT_READ


def read(source: Source) -> Iterator[Input]:
    """The inputs of one source that is no table."""
    with ExitStack() as held:
        try:
            disk, stream = opened(source, held)
            codec = codec_of(stream)
            strange = source.kind == "lines" and is_container(stream)
        except UNREADABLE as error:
            yield unread(source, 1, error)
            return
        if codec is None or strange or source.kind == "other":
            yield refused(source, stream)
        elif source.kind == "lines":
            yield from _lines(source, disk, stream, codec)
        else:
            yield _whole(source, disk, stream, codec)


def opened(source: Source, held: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """The file on disk and the stream of its decompressed bytes; closed with `held`, the standard input never.

    Raises:
        OSError: it cannot be opened, or its bytes are said not to be had.
    """
    if source.unread:
        raise OSError(0, source.unread)
    if source.opens is not None:
        disk = held.enter_context(source.opens())
    elif source.path is None:
        disk = cast(BinaryIO, sys.stdin.buffer)
    else:
        disk = held.enter_context(source.path.open("rb"))
    if not source.gz:
        return disk, disk
    return disk, cast(BinaryIO, held.enter_context(gzip.GzipFile(fileobj=disk)))


def codec_of(stream: BinaryIO) -> Codec | None:
    """How a stream writes characters, without taking anything from it; None for what is not text we read."""
    head = cast(io.BufferedReader, stream).peek(_HEAD)[:_HEAD]
    codec = _announced(head)
    return None if codec is None or is_binary(head, codec) else codec


def is_container(stream: BinaryIO) -> bool:
    """Whether a stream of lines or rows begins as a format without a reader; nothing is taken from it."""
    return of_bytes(cast(io.BufferedReader, stream).peek(_HEAD)[:_HEAD]) is not None


def _announced(head: bytes) -> Codec | None:
    """The codec a file's first bytes announce; None for UTF-32, which nothing here reads."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if head.startswith(codecs.BOM_UTF8):
        return Codec("utf-8", codecs.BOM_UTF8)
    if head.startswith(codecs.BOM_UTF16_LE):
        return Codec("utf-16-le", codecs.BOM_UTF16_LE)
    if head.startswith(codecs.BOM_UTF16_BE):
        return Codec("utf-16-be", codecs.BOM_UTF16_BE)
    return UTF8


def is_binary(head: bytes, codec: Codec) -> bool:
    """Whether a file's head is no text: one character in twenty is NUL, or one in ten a control or none at all.

    A stray NUL or a wrong byte in a note is not enough, so that one bad line does not condemn its file.
    """
    if codec.encoding != "utf-8":
        return False
    text = head.decode("utf-8", "surrogateescape")
    strange = sum(1 for c in text if (c < " " and c not in "\t\n\v\f\r\x1b") or "\udc80" <= c <= "\udcff")
    return text.count("\0") * 20 > len(text) or (strange > _FEW and strange * 10 > len(text))


def _whole(source: Source, disk: BinaryIO, stream: BinaryIO, codec: Codec) -> Input:
    is_record = source.kind == "json"
    try:
        stream.read(len(codec.mark))
        data = stream.read(MAX_BYTES + 1)
    except UNREADABLE as error:
        return unread(source, 1, error)
    if len(data) > MAX_BYTES:
        return _too_large(source, 1, is_record)
    what = of_bytes(codec.mark + data)
    if what is not None:
        return Input(source, 1, None, is_record, error=_unsupported(what), raw=codec.mark + data)
    try:
        content = codec.decode(data)
    except UnicodeDecodeError:
        return Input(source, 1, None, is_record, codec, error=encoding_reason(), raw=data)
    what = None if is_record else of_records(content)
    if what is not None:
        reason = Reason(UnsupportedFormat.code, "", f"{what}, in a file that is read as text: {_RENAME}")
        return Input(source, 1, None, False, codec, error=reason, raw=data)
    return Input(source, 1, content, is_record, codec, offset=at(disk))


def _lines(source: Source, disk: BinaryIO, stream: BinaryIO, codec: Codec) -> Iterator[Input]:
    """One input per line that is not blank. Undecodable bytes travel as lone surrogates to the line they break."""
    stream.read(len(codec.mark))
    lossless = "surrogateescape" if codec.encoding == "utf-8" else "surrogatepass"
    text = io.TextIOWrapper(stream, encoding=codec.encoding, errors=lossless, newline="\n")
    position = 0
    try:
        while line := text.readline(MAX_BYTES + 1):
            if len(line) > MAX_BYTES:
                position += 1
                yield _too_large(source, position, True)
                while line and not line.endswith("\n"):
                    line = text.readline(MAX_BYTES)
                continue
            content = line.removesuffix("\n").removesuffix("\r")
            if not content or content.isspace():
                continue
            position += 1
            ending = line[len(content) :]
            try:
                content.encode(codec.encoding)
            except UnicodeEncodeError:
                raw = content.encode(codec.encoding, lossless)
                yield Input(source, position, None, True, codec, ending, at(disk), encoding_reason(), raw)
            else:
                yield Input(source, position, content, True, codec, ending, at(disk))
    except UnicodeDecodeError:  # UTF-16 that ends in the middle of a character
        yield Input(source, position + 1, None, True, codec, error=encoding_reason())
    except UNREADABLE as error:
        yield unread(source, position + 1, error)
    finally:
        text.detach()  # the stream is closed by its owner; the standard input by nobody


def refused(source: Source, stream: BinaryIO, reason: Reason | None = None) -> Input:
    """A file none of whose records can be opened, as one input that says what it is.

    Args:
        reason: what to say of a text; without one, that nobody said how it is read.
    """
    try:
        raw: bytes | None = stream.read(MAX_BYTES + 1)
    except UNREADABLE as error:
        return unread(source, 1, error)
    return Input(source, 1, None, _holds_records(source), error=_refusal(source, raw or b"", reason), raw=_bounded(raw))


def _refusal(source: Source, raw: bytes, reason: Reason | None) -> Reason:
    what = of_bytes(raw)
    if what is not None:
        return _unsupported(what)
    codec = _announced(raw[:_HEAD])
    if codec is None or is_binary(raw[:_HEAD], codec):
        return Reason("binary", "", "not text, or in an encoding other than UTF-8 or UTF-16 with its mark")
    if reason is not None:
        return reason
    what = (of_records(raw.decode("utf-8", "replace")) or "a text") if raw.strip() else "an empty file"
    suffix = PurePath(source.name).suffix.lower()
    if suffix in _DOCUMENTS:  # any other may be anybody's name
        return Reason(UnsupportedFormat.code, "", f"{what}, though its name says {suffix}")
    return Reason(UnsupportedFormat.code, "", f"{what}, and the suffix of its name says no format: {_RENAME}")


def _unsupported(what: str) -> Reason:
    inside = ": name it by what is in it, as .txt.gz or .jsonl.gz" if what == "gzip" else ""
    return Reason(UnsupportedFormat.code, "", str(UnsupportedFormat.of(what)) + inside)


def unread(source: Source, position: int, error: Exception) -> Input:
    """A file that failed under the reader. Damaged compression is kept as it is on disk, compressed."""
    if not isinstance(error, _DAMAGE):
        why = reason_of(error) if isinstance(error, OSError) else type(error).__name__
        why += f", from record {position} on" * (position > 1)
        return Input(source, position, None, _holds_records(source), error=Reason(_NOT_READ, "", why))
    raw: bytes | None = None
    if source.path is not None and not source.once:
        try:
            with source.path.open("rb") as disk:
                raw = disk.read(MAX_BYTES + 1)
        except OSError as worse:
            return unread(source, position, worse)
    what = of_bytes(raw or b"")
    damaged = what in (None, "gzip") or position > 1
    reason = Reason("gzip", "", "the file is damaged or ends early") if damaged else _unsupported(str(what))
    return Input(source, position, None, _holds_records(source), error=reason, raw=_bounded(raw))


def _bounded(raw: bytes | None) -> bytes | None:
    return None if raw is not None and len(raw) > MAX_BYTES else raw


def _holds_records(source: Source) -> bool:
    return source.kind not in ("text", "other")


def _too_large(source: Source, position: int, is_record: bool) -> Input:
    reason = Reason("too-large", "", f"longer than {MAX_BYTES // 2**20} MiB; split it")
    return Input(source, position, None, is_record, error=reason)


def encoding_reason() -> Reason:
    """Of what is in another encoding than its file says."""
    return Reason("encoding", "", "neither UTF-8 nor UTF-16 with its mark; convert it")


def at(disk: BinaryIO) -> int:
    """How much of a file on disk has been read, in bytes; 0 for a pipe."""
    try:
        return disk.tell()
    except OSError:
        return 0
