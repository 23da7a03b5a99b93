"""Input files for readers: which files to read, their first bytes, and their JSON values."""

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
WHOLE = "document"  # the place of a value that is its whole file
_UNREADABLE = (OSError, EOFError, zlib.error)


class File(NamedTuple):
    """A file and the name of its document: the path below the given folder, without the suffix."""

    path: Path
    name: str


def suffix(path: Path) -> str:
    """The suffix in lower case, ignoring a compression suffix."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def files(path: Path, suffixes: Iterable[str]) -> list[File]:
    """The file itself, or the files of a folder with one of the suffixes, at any depth, sorted by name.

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
    """The name without the suffix, and without a `.txt` before it, for findings named after their text."""
    bare = Path(path.name.removesuffix(".gz"))
    return bare.stem.removesuffix(".txt") or bare.name


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for its decompressed bytes.

    Raises:
        UsageError: it cannot be read. The message holds its name without the folder.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            yield stream  # type: ignore[misc]  # GzipFile has every method of a BinaryIO that is used here
    except _UNREADABLE as error:
        why = getattr(error, "strerror", None) or type(error).__name__  # zlib.error and EOFError have none
        raise UsageError(f"{path.name} cannot be read: {why}.") from None


def content(path: Path) -> bytes:
    """Read all bytes of a file."""
    with opened(path) as stream:
        return stream.read()


def decoded(data: bytes) -> str:
    """Decode text from UTF-8.

    Raises:
        MalformedRecord: it is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedRecord("not UTF-8") from None


@dataclass(frozen=True)
class Look:
    """The input for detecting a format: the name and first bytes of a file, or of one file in a folder."""

    path: Path
    folder: bool
    head: bytes = field(repr=False)

    @property
    def suffix(self) -> str:
        return suffix(self.path)

    @cached_property
    def tag(self) -> str:
        """The name of the root element of an XML file; "" for any other file."""
        import re

        found = re.match(
            rb"(?:\xef\xbb\xbf)?(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|\s)*<([A-Za-z_][\w.-]*)",
            self.head,
            re.DOTALL,
        )
        return found[1].decode() if found else ""

    @cached_property
    def first(self) -> Any:
        """The first JSON value of the file, or the first item if that is a list. None for any other file."""
        try:
            for _, value in _values(iter((self.head,)), whole=False):
                return None if isinstance(value, MalformedRecord) else value
        except (MalformedRecord, ValueError):
            pass  # not JSON, or cut off inside the first value: another format may fit
        return None

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of `first`. For an object longer than the head, the keys that are visible in it."""
        import re

        if isinstance(self.first, dict):
            return frozenset(self.first)
        if self.suffix == ".json" and self.head.lstrip()[:1] in (b"{", b"["):
            return frozenset(name.decode("utf-8", "replace") for name in re.findall(rb'"([%@\w.]+)"\s*:', self.head))
        return frozenset()


Row = tuple[str, Any]
"""The place of a JSON value and the value, or the MalformedRecord with the reason why there is none."""


def rows(file: File) -> Iterator[Row]:
    """The JSON values of a file: one per line (.jsonl), the items of a list, or the single value of the file.

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
    """Return a row's value as an object.

    Raises:
        MalformedRecord: it is not an object.
    """
    if isinstance(value, MalformedRecord):
        raise value
    if not isinstance(value, dict):
        raise MalformedRecord("not a JSON object")
    return value


def _lines_of_json(stream: BinaryIO) -> bool:
    """Return True if a .json file actually holds one value per line."""
    first = stream.readline(1 << 24)
    try:
        return isinstance(json.loads(first), dict) and bool(stream.readline(16).strip())
    except (ValueError, RecursionError):
        return False


def _values(chunks: Iterator[bytes], *, whole: bool) -> Iterator[Row]:
    """Yield the items of a JSON list one at a time, without holding more than one in memory, or the single value.

    Each failed attempt at an incomplete item doubles the amount read for the next one, so the cost is linear.
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
