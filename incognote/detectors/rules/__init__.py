"""The contextual rules detector: every finder reads one View per text. The rules come from the languages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Any

from incognote.detectors.rules import patterns, tables
from incognote.detectors.rules.view import Candidate, View
from incognote.languages import Language, language
from incognote.nouns import PACK, Span, Text
from incognote.text.parts import parts

_DATA_FOLDERS = ("rules", "lexicon", "gazetteer")
_DATA_SUFFIXES = (".toml", ".txt", ".tsv", ".csv", ".json", ".gz")
_LOADING = Lock()
Finder = Callable[[View], Iterable[Candidate]]


class RulesDetector:
    """Finds identifiers with the rules of languages and the finders of site packs. Implements `Detector`.

    Args:
        languages: the languages whose rules run (ISO 639-1).
        packs: each has `finders` (callables from View to candidates) and `allow(text_lower) -> bool`. A candidate is
            dropped if a pack allows its whole text.

    Raises:
        MissingLanguage: no installed package provides one of the languages.
    """

    name = "rules"

    def __init__(self, packs: Sequence[Any] = (), languages: Sequence[str] = ("en",)) -> None:
        self._packs = tuple(packs)
        self.reads = frozenset(languages)
        self._finders = tuple(finder for code in languages for finder in finders(code))
        self._loaded = False
        self._sources: dict[tuple[str, bool], tuple[str, ...]] = {}  # by rule: the spans of a rule share one tuple
        self.version = data_version(tuple(languages))

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Return one list of spans per text, ordered by offset. They may overlap. CPU-bound and thread-safe."""
        if not self._loaded:  # after loading, no lock is taken: a forked child might find it locked forever
            with _LOADING:
                self._load()
        return [self._spans(text) for text in texts]

    def _load(self) -> None:
        """Read every table in one thread. Otherwise, threads that start together would each read all of them."""
        if not self._loaded:
            for bundle in map(language, sorted(self.reads)):
                self._spans(Text(getattr(bundle.part("rules"), "EXAMPLE", "")))
            self._loaded = True

    def _spans(self, text: Text) -> list[Span]:
        if not text.content:
            return []
        spans: list[Span] = []
        for part in parts(text.content):
            view, at = View(Text(part.content, text.field)), part.first
            found = {(c, False) for finder in self._finders for c in finder(view)}
            if self._packs:
                found |= {(c, True) for pack in self._packs for finder in pack.finders for c in finder(view)}
                found = {(c, own) for c, own in found if not self._allowed(view.text[c.start : c.end])}
            if len(part.content) < len(text):
                found = {(c, own) for c, own in found if part.owns(c.start)}
            spans += (
                Span(text, at + c.start, at + c.end, c.type, c.score, self._source(c.rule, own))
                for c, own in sorted(found)
            )
        return spans

    def _source(self, rule: str, own: bool) -> tuple[str, ...]:
        made = self._sources.get((rule, own))
        if made is None:
            made = self._sources[rule, own] = (f"{self.name}:{rule}", *([f"{PACK}rules"] if own else []))
        return made

    def _allowed(self, words: str) -> bool:
        return any(pack.allow(words.lower()) for pack in self._packs)


@cache
def finders(code: str) -> tuple[Finder, ...]:
    """Return the finders of a language: its patterns, its tables, and the finders of its bundle.

    Raises:
        MissingLanguage: no installed package provides the language.
    """
    own = language(code).part("rules")
    return (patterns.finder(code), tables.finder(code), *(own.FINDERS if own is not None else ()))


@cache
def data_version(languages: tuple[str, ...] = ("en",)) -> str:
    """Return the SHA-256 of the names and contents of the languages' rule files and word lists.

    It changes when the detected spans may change.
    """
    digest = hashlib.sha256()
    for bundle in map(language, languages):
        for path, entry in sorted(_data_files(bundle)):
            digest.update(path.encode() + b"\0" + hashlib.sha256(entry.read_bytes()).digest())
    return digest.hexdigest()


def _data_files(bundle: Language) -> Iterator[tuple[str, Traversable]]:
    for folder in (folder for folder in map(bundle.file, _DATA_FOLDERS) if folder.is_dir()):
        for entry in folder.iterdir():
            if entry.name.endswith(_DATA_SUFFIXES):
                yield f"{bundle.code}/{folder.name}/{entry.name}", entry
