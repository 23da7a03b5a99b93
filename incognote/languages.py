"""The data and models of a language: rules, dates, number words, names, word lists, pools of surrogates, encoders.

A bundle is a package that registers under the entry point group `incognote.languages`. It holds files in folders, and
parts, which are modules with fixed names. A bundle need not hold all of them (docs/languages.md lists both).
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import Any, NamedTuple

from incognote.errors import MissingLanguage
from incognote.plugins import installed, load


@dataclass(frozen=True, slots=True)
class Language:
    """The bundle of one language. Call `language` to get it.

    Attributes:
        code: ISO 639-1.
        package: the name of the package that holds the bundle.
    """

    code: str
    package: str

    def file(self, *path: str) -> Traversable:
        """Return a file or folder of the bundle, even if it does not exist."""
        return files(self.package).joinpath(*path)

    def table(self, *path: str) -> dict[str, Any]:
        """Return a parsed TOML file of the bundle; empty if the bundle has no such file."""
        file = self.file(*path)
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def tables(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the TOML files of a folder by name: (name without suffix, content).

        Yield nothing if the folder does not exist.
        """
        if self.file(folder).is_dir():
            for entry in sorted(self.file(folder).iterdir(), key=lambda e: e.name):
                if entry.name.endswith(".toml"):
                    yield entry.name.removesuffix(".toml"), tomllib.loads(entry.read_text(encoding="utf-8"))

    def part(self, name: str) -> Any:
        """Return a module of the bundle, loaded on first use; None if the bundle has no such module."""
        return _part(f"{self.package}.{name}")


@cache
def _part(module: str) -> Any:
    spec = find_spec(module)
    return import_module(module) if spec is not None and spec.origin else None  # a folder of data is not a module


@cache
def language(code: str = "en") -> Language:
    """Return the bundle of a language.

    Args:
        code: ISO 639-1.

    Raises:
        MissingLanguage: no installed package provides the language.
    """
    if code not in installed("incognote.languages"):
        raise MissingLanguage(code)
    return Language(code, load("incognote.languages", code).__name__)


@dataclass(frozen=True, slots=True)
class WrittenStretch:
    """A part of a written text, `start` up to `end`, that comes from the words `first` up to `last`.

    Attributes:
        spelled: it was said letter by letter or figure by figure, and is no known abbreviation.
    """

    start: int
    end: int
    first: int
    last: int
    spelled: bool = False


class Identifier(NamedTuple):
    """An identifier in a transcript: the words `first` up to `last`, and its entity type."""

    first: int
    last: int
    type: str


@dataclass(frozen=True, slots=True)
class Written:
    """The written form of spoken words.

    Args:
        text: one line for each utterance.
        stretches: in order. Each word belongs to exactly one. Only blanks and periods are between them.
    """

    text: str = field(repr=False)
    stretches: tuple[WrittenStretch, ...] = ()

    def words(self, start: int, end: int) -> range:
        """Return the words that the text from `start` up to `end` comes from; empty if it is between stretches."""
        low = bisect_right(self.stretches, start, key=lambda stretch: stretch.end)
        high = bisect_left(self.stretches, end, key=lambda stretch: stretch.start)
        return range(self.stretches[low].first, self.stretches[high - 1].last) if low < high else range(0)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the text of the stretches that contain any of the words `first` up to `last`.

        Raises:
            ValueError: there is no such word.
        """
        low = bisect_right(self.stretches, first, key=lambda stretch: stretch.last)
        high = bisect_left(self.stretches, last, key=lambda stretch: stretch.first)
        if not (first < last and low < high):
            raise ValueError("no stretch of the text comes from these words")
        return self.stretches[low].start, self.stretches[high - 1].end


def written(words: Sequence[str], pauses: Sequence[float] | None = None, code: str = "en") -> Written:
    """Return the written form of the words of a transcript, by the part `spoken_words` of a language's bundle.

    Args:
        words: as a recognizer writes them, without spaces around them.
        pauses: the silence after each word, in seconds. None if it is not known.
        code: ISO 639-1. The words of a language whose bundle has no such part are joined with spaces.

    Raises:
        MissingLanguage: no installed package provides the language.
        ValueError: words and pauses differ in number.
    """
    part = language(code).part("spoken_words")
    if part is not None:
        result: Written = part.written(words, pauses)
        return result
    at, stretches = 0, []
    for i, word in enumerate(words):
        stretches.append(WrittenStretch(at, at + len(word), i, i + 1))
        at += len(word) + 1
    return Written(" ".join(words), tuple(stretches))


def identifiers(words: Sequence[str], pauses: Sequence[float] | None = None, code: str = "en") -> Iterator[Identifier]:
    """Yield what the words of a transcript announce, by the part `spoken_words` of a language's bundle.

    Args:
        words, pauses, code: as for `written`. A language whose bundle has no such part yields nothing.

    Raises:
        MissingLanguage: no installed package provides the language.
        ValueError: words and pauses differ in number.
    """
    part = language(code).part("spoken_words")
    if part is not None:
        yield from map(Identifier._make, part.identifiers(words, pauses))
