"""Where writers put documents: one file that appears whole or not at all, or a folder that does.

What a format is to the rest of the program.
"""

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
    """Takes documents one by one; what it was given stands in its place when its `with` ends well."""

    def add(self, document: Gold) -> None:
        """Write a document; raises MalformedRecord where the format cannot say it, and then writes nothing of it."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class OneFile:
    """Documents one after the other in a file, compressed where its name ends in .gz.

    Args:
        encode: a document as bytes.
        head, between, tail: what stands before the first, between two, and after the last.
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
    """Documents as files of a new folder, named by their ids, which therefore must be plain.

    Args:
        encode: a document as the contents of its files, by suffix.

    Raises:
        UsageError: there is something in that place already.
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
            os.replace(self._part, self._path)  # an empty folder in that place gives way
        except OSError as error:
            shutil.rmtree(self._part, ignore_errors=True)
            raise unwritable(error) from None


def utf8(text: str, before: str = "") -> bytes:
    """Text as bytes; raises MalformedRecord for half a surrogate pair."""
    try:
        return (before + text).encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedRecord("its text has half a surrogate pair, which UTF-8 cannot represent") from None


@dataclass(frozen=True)
class CorpusFormat:
    """A way in which annotated texts, or what a system found in them, are written.

    Attributes:
        name: as `--from` and `--to` take it.
        about: one line for people.
        fits: whether a file or folder looks like it.
        read: its documents, as far as it can one after the other.
        write: a sink for documents at a place; None where only its own system writes it.
        scheme: whose names its types are (`names.toml`); "" where anybody's may be.
        suffixes: of outputs that are taken for it when nobody says what they shall be.
    """

    name: str
    about: str
    fits: Callable[[Look], bool]
    read: Callable[[Path], Iterator[CorpusDocument | CorpusProblem]]
    write: Callable[[Path], CorpusWriter] | None = None
    scheme: str = ""
    suffixes: tuple[str, ...] = ()
