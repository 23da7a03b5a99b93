"""The contextual rules detector: one View per text, every finder over it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Any

from incognote.detectors.rules.view import Candidate, View
from incognote.nouns import PACK, Span, Text
from incognote.text.parts import parts

_DATA_SUFFIXES = (".toml", ".txt", ".tsv", ".csv", ".json", ".gz")
_LOADING = Lock()


class RulesDetector:
    """Finds identifiers by rules, gazetteers and the finders of site packs; implements `Detector`.

    Args:
        packs: each offers `finders` (callables from View to candidates) and `allow(text_lower) -> bool`: a candidate
            whose whole text some pack allows is dropped.
    """

    name = "rules"
    reads = frozenset({"en"})

    def __init__(self, packs: Sequence[Any] = ()) -> None:
        from incognote.detectors.rules.finders import FINDERS

        self._packs = tuple(packs)
        self._finders: tuple[Callable[[View], Iterable[Candidate]], ...] = FINDERS
        self._sources: dict[tuple[str, bool], tuple[str, ...]] = {}  # by rule: spans of one rule share them
        self.version = data_version()

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """One list of spans per text, by offset; they may overlap. CPU work, thread-safe."""
        if not _load.cache_info().currsize:  # later no lock is taken, which a forked child might find held for ever
            with _LOADING:
                _load()
        return [self._spans(text) for text in texts]

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
def _load() -> None:
    """Read every table, by one thread: of those that began together each would read all of them for itself."""
    from incognote.detectors.rules.finders import FINDERS

    view = View(Text("Seen by Dr. Emily Carter in Springfield."))
    for finder in FINDERS:
        list(finder(view))


@cache
def data_version() -> str:
    """The SHA-256 over every data file beside this module, names and contents: changes when answers may."""
    digest = hashlib.sha256()
    for path, entry in sorted(_data_files(files(__package__), "")):
        digest.update(path.encode() + b"\0" + hashlib.sha256(entry.read_bytes()).digest())
    return digest.hexdigest()


def _data_files(folder: Traversable, prefix: str) -> Iterable[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _data_files(entry, f"{path}/")
        elif entry.name.endswith(_DATA_SUFFIXES):
            yield path, entry
