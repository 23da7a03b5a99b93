"""Files as readers need them: which ones, what they begin with, their lines, the JSON in them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from incognote.errors import MalformedRecord, UsageError

HEAD = 1 << 16
WHOLE = "document"  # the place of a value that is all of its file
_UNREADABLE = (OSError, EOFError, zlib.error)


class File(NamedTuple):
    """A file and what it calls its document: the path below the folder that was named, without the suffix."""

    path: Path
    name: str


def suffix(path: Path) -> str:
    """The suffix in small letters, that of the compression left aside."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def files(path: Path, suffixes: Iterable[str]) -> list[File]:
    """The file itself; of a folder those with one of the suffixes, at any depth, in order of their names.

    Raises:
        UsageError: the folder has none.
    """
    if not path.is_dir():
        return [File(path, _stem(path))]
    wanted, found = tuple(suffixes), []
    for one in sorted(path.rglob("*")):
        inner = one.relative_to(path)
        if suffix(one) in wanted and not any(p.startswith((".", "__MACOSX")) for p in inner.parts) and one.is_file():
            found.append(File(one, inner.with_name(_stem(one)).as_posix()))
    if not found:
        raise UsageError(f"{path.name} has no file that ends in {', '.join(wanted)}.")
    return found


def _stem(path: Path) -> str:
    """The name without the suffix, and without the `.txt` before it of an answer that is named like its text."""
    bare = Path(path.name.removesuffix(".gz"))
    return bare.stem.removesuffix(".txt") or bare.name


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed.

    Raises:
        UsageError: it cannot be read. The message holds its name without the folder.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            yield stream  # type: ignore[misc]  # GzipFile has every method of a BinaryIO that is used here
    except _UNREADABLE as error:
        raise UsageError(f"{path.name} cannot be read: {type(error).__name__}.") from None


def content(path: Path) -> bytes:
    """All bytes of a file."""
    with opened(path) as stream:
        return stream.read()


def decoded(data: bytes) -> str:
    """Text of UTF-8.

    Raises:
        MalformedRecord: it is something else.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedRecord("not UTF-8") from None


@dataclass(frozen=True)
class Look:
    """What telling a format looks at: the name and the beginning of a file, of a folder those of one file in it."""

    path: Path
    folder: bool
    head: bytes = field(repr=False)

    @property
    def suffix(self) -> str:
        return suffix(self.path)

    @cached_property
    def tag(self) -> str:
        """The name of an XML file's first element; "" for any other file."""
        import re

        found = re.match(
            rb"(?:\xef\xbb\xbf)?(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|\s)*<([A-Za-z_][\w.-]*)",
            self.head,
            re.DOTALL,
        )
        return found[1].decode() if found else ""

    @cached_property
    def first(self) -> Any:
        """The first JSON value of the file, of a list its first item; None for any other file."""
        try:
            for _, value in _values(iter((self.head,)), whole=False):
                return None if isinstance(value, MalformedRecord) else value
        except (MalformedRecord, ValueError):
            pass  # not JSON, or not to where the head was cut: another format may know the file
        return None

    @cached_property
    def keys(self) -> frozenset[str]:
        """The members of `first`, or, of an object longer than the beginning, those that can be seen."""
        import re

        if isinstance(self.first, dict):
            return frozenset(self.first)
        if self.suffix == ".json" and self.head.lstrip()[:1] in (b"{", b"["):
            return frozenset(name.decode("utf-8", "replace") for name in re.findall(rb'"([%@\w.]+)"\s*:', self.head))
        return frozenset()


Row = tuple[str, Any]
"""Where a JSON value stands, and the value; or the MalformedRecord that says why there is none."""


def rows(file: File) -> Iterator[Row]:
    """The JSON values of a file: of each line (.jsonl), of a list its items, else the one value of the file.

    Raises:
        UsageError: the file cannot be read.
    """
    with opened(file.path) as stream:
        if suffix(file.path) == ".json" and not _lines_of_json(stream):
            stream.seek(0)
            yield from _values(iter(lambda: stream.read(HEAD), b""), whole=True)
            return
        stream.seek(0)
        for number, line in enumerate((line for line in stream if line.strip()), 1):
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError):
                yield f"line {number}", MalformedRecord("not a JSON document in UTF-8")


def row(value: Any) -> Mapping[str, Any]:
    """The object that a row is.

    Raises:
        MalformedRecord: it is none.
    """
    if isinstance(value, MalformedRecord):
        raise value
    if not isinstance(value, dict):
        raise MalformedRecord("not a JSON object")
    return value


def _lines_of_json(stream: BinaryIO) -> bool:
    """Whether a .json file holds a value a line after all."""
    first = stream.readline(1 << 24)
    try:
        return isinstance(json.loads(first), dict) and bool(stream.readline(16).strip())
    except (ValueError, RecursionError):
        return False


def _values(chunks: Iterator[bytes], *, whole: bool) -> Iterator[Row]:
    """The items of a JSON list as they come, never more than one in memory; or the one value that there is.

    Each attempt at an item that is not all there yet doubles what is read for the next, so its cost is linear.
    """
    import codecs

    decoder, incremental = json.JSONDecoder(), codecs.getincrementaldecoder("utf-8-sig")()
    text, at, number, in_list, ended, want = "", 0, 0, None, False, HEAD
    while True:
        try:
            while not ended and len(text) - at < want:
                chunk = next(chunks, b"")
                ended = not chunk
                text, at = text[at:] + incremental.decode(chunk, ended and whole), 0
            while at < len(text) and (text[at] in " \t\r\n" or (in_list and text[at] == ",")):
                at += 1
            if in_list is None and at < len(text):
                in_list = text[at] == "["
                at += in_list
                continue
            if (at == len(text) and ended) or (in_list and text[at : at + 1] == "]"):
                return
            if at == len(text):
                want *= 2
                continue
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if not ended:
                want = max(want, len(text) - at) * 2
                continue
            place = f"item {number + 1}" if in_list else WHOLE
            yield place, MalformedRecord("not a JSON document in UTF-8; the rest was not read")
            return
        if not in_list:
            yield WHOLE, value
            return
        number, want = number + 1, HEAD
        yield f"item {number}", value
