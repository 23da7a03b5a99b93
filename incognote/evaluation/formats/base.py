"""What defines a format, and its writers: one file or one folder, written completely or not at all."""

from __future__ import annotations

import gzip
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self
from unicodedata import is_normalized

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold
from incognote.evaluation.formats.source import Look
from incognote.files.atomic import AtomicFile, unwritable

_PART = re.compile(r"[\w][\w .+@=-]{0,99}\Z")


class CorpusWriter(Protocol):
    """Takes documents one by one. The output appears at its path when the `with` block ends without an error."""

    def add(self, document: Gold) -> None:
        """Write a document. Raises MalformedRecord, without writing any of it, if the format cannot represent it."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class OneFile:
    """Documents one after the other in a file, compressed if its name ends in .gz.

    Args:
        encode: turns a document into text.
        head, between, tail: text before the first document, between two, and after the last.
    """

    def __init__(
        self, path: Path, encode: Callable[[Gold], str], *, head: str = "", between: str = "", tail: str = ""
    ) -> None:
        self._encode, self._between, self._tail = encode, between, tail
        self._count = 0
        self._whole = AtomicFile(path)
        self._gz = None
        if path.name.lower().endswith(".gz"):
            self._gz = gzip.GzipFile(filename="", mode="wb", fileobj=self._whole.stream, mtime=0)
        self._put(head.encode())

    def add(self, document: Gold) -> None:
        self._put(utf8(self._encode(document), self._between if self._count else ""))
        self._count += 1

    def _put(self, data: bytes) -> None:
        if self._gz is not None:
            self._gz.write(data)
        else:
            self._whole.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._put(self._tail.encode())
        if self._gz is not None:
            self._gz.close()
        self._whole.__exit__(kind, error, trace)


class Folder:
    """Documents as files of a new folder. They are named by their ids, which must be valid file names.

    Args:
        encode: turns a document into the contents of its files, by suffix.

    Raises:
        UsageError: the path exists and is not an empty folder.
    """

    def __init__(self, path: Path, encode: Callable[[Gold], Mapping[str, str]]) -> None:
        self._path, self._encode = path, encode
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UsageError("OUT must be a new folder, but it already exists. Choose another path.")
        try:
            self._part = path.parent / f".incognote-{secrets.token_hex(8)}"
            self._part.mkdir(parents=True)
        except OSError as error:
            raise unwritable(error) from None

    def add(self, document: Gold) -> None:
        parts = document.id.split("/")
        if not all(_PART.match(part) and is_normalized("NFC", part) and part[-1] not in " ." for part in parts):
            raise MalformedRecord("its id cannot be a file name. Use letters, digits, and . _ -")
        made = {ending: utf8(text) for ending, text in self._encode(document).items()}
        base = self._part.joinpath(*parts)
        try:
            base.parent.mkdir(parents=True, exist_ok=True)
            for ending, data in made.items():
                with base.with_name(base.name + ending).open("xb") as stream:
                    stream.write(data)
        except FileExistsError:
            raise MalformedRecord("another document has the same file name") from None
        except OSError as error:
            raise unwritable(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            shutil.rmtree(self._part, ignore_errors=True)
            return
        try:
            os.replace(self._part, self._path)  # replaces an empty folder
        except OSError as error:
            shutil.rmtree(self._part, ignore_errors=True)
            raise unwritable(error) from None


def utf8(text: str, before: str = "") -> bytes:
    """Encode text as bytes. Raises MalformedRecord for half a surrogate pair."""
    try:
        return (before + text).encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedRecord("its text has half a surrogate pair, which UTF-8 cannot represent") from None


@dataclass(frozen=True)
class CorpusFormat:
    """A file format for annotated texts, or for the findings of a system.

    Attributes:
        name: as for `--from` and `--to`.
        about: one line for people.
        fits: whether a file or folder looks like this format.
        read: yields its documents, one after the other if the format allows it.
        write: opens a writer at a path; None if only the format's own system writes it.
        scheme: the naming scheme of its types (`names.toml`); "" if they may be from any scheme.
        suffixes: suffixes of outputs that select this format if none is given.
    """

    name: str
    about: str
    fits: Callable[[Look], bool]
    read: Callable[[Path], Iterator[CorpusDocument | CorpusProblem]]
    write: Callable[[Path], CorpusWriter] | None = None
    scheme: str = ""
    suffixes: tuple[str, ...] = ()
