"""The contextual rules detector: every finder reads one View per text. The rules come from the languages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from incognote.detectors.rules import patterns, tables
from incognote.detectors.rules.patterns.rule import shipped_rules, source_of
from incognote.detectors.rules.view import TOKEN, Candidate, View
from incognote.languages import Language, language
from incognote.nouns import PACK, Span, Text
from incognote.plugins import installed
from incognote.text import lexicon
from incognote.text.language import Lexicon, Stretch, spoken, unread
from incognote.text.parts import parts

_DATA_FOLDERS = ("rules", "lexicon", "gazetteer")
_DATA_SUFFIXES = (".toml", ".txt", ".tsv", ".csv", ".json", ".gz")
_LOADING = Lock()
Finder = Callable[[View], Iterable[Candidate]]


class RulesDetector:
    """Finds identifiers with the rules of languages and the finders of site packs. Implements `Detector`.

    With several languages, each text is read by the English rules and by those of the languages that it is written in.
    If the text is in an accepted language, only those English rules read it that hold in every language (`NEUTRAL` in
    the English bundle).

    Args:
        languages: the languages whose rules run (ISO 639-1), English among them.
        accepted: languages in which a text is likely. The common words decide which of them and of English read a
            text that is too short to show its language.
        read: languages that something else reads, too. Only those English rules read a text in one of them.
        packs: each has `finders` (callables from View to candidates) and `allow(text_lower) -> bool`. A candidate is
            dropped if a pack allows its whole text.

    Raises:
        MissingLanguage: no installed package provides one of the languages.
    """

    name = "rules"

    def __init__(
        self, packs: Sequence[Any] = (), languages: Sequence[str] = ("en",), accepted: Sequence[str] = (),
        read: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self._packs = tuple(packs)
        self.languages = frozenset(languages)
        self.reads = frozenset(code for code in languages if released(code))
        self._accepted = self.languages.intersection(accepted)
        self._alone = self._accepted.union(read) | {"en"}
        self._loaded: dict[str, tuple[Finder, ...]] = {}
        self._sources: dict[tuple[str, str, bool], tuple[str, ...]] = {}  # the spans of a rule share one tuple
        self.version = data_version(tuple(languages))

    def detect(self, texts: Sequence[Text], languages: Sequence[frozenset[str]] | None = None) -> list[list[Span]]:
        """Return one list of spans per text, ordered by offset. They may overlap. CPU-bound and thread-safe.

        Args:
            languages: what `spoken` returned for each text. It is called here otherwise.
        """
        by_text = list(map(self.spoken, texts)) if languages is None else languages
        return [self._spans(text, self._finders(codes)) for text, codes in zip(texts, by_text, strict=True)]

    def spoken(self, text: Text) -> frozenset[str]:
        """Return the languages whose rules read a text. English is left out only for an accepted language."""
        if len(self.languages) == 1:
            return self.languages
        found = languages_of(text, self.languages) or self._by_words(text.content)
        return found if found <= self._alone else found | {"en"}

    def _by_words(self, text: str) -> frozenset[str]:
        """Return the languages of a short text, out of English and the accepted ones: those with the most common words.

        A language with half as many is included, because a name or a line of an address shows no language.
        """
        if not self._accepted:
            return frozenset({"en"})
        keys = [lexicon.fold(word) for word in TOKEN.findall(text) if word[0].isalpha()]
        tables = {code: lexicon.lexicon(code) for code in self._accepted | {"en"}}
        said = {code: sum(lexicon.commonness(table.get(key, 0)) for key in keys) for code, table in tables.items()}
        return frozenset(code for code, weight in said.items() if 2 * weight >= max(said.values()))

    def _finders(self, languages: frozenset[str]) -> list[tuple[str, Finder]]:
        """Return the finders for a text in these languages, with their languages. One is loaded for its first text."""
        for code in sorted(languages - self._loaded.keys()):
            with _LOADING:  # later, no lock is taken: a forked child might find it locked forever
                self._load(code)
        found = [(code, finder) for code in sorted(languages) for finder in self._loaded[code]]
        return found if "en" in languages or "en" not in self.languages else [*found, ("en", neutral())]

    def _load(self, code: str) -> None:
        """Read every table in one thread. Otherwise, threads that start together would each read all of them."""
        if code not in self._loaded:
            loaded = finders(code)
            self._spans(Text(getattr(language(code).part("rules"), "EXAMPLE", "")), [(code, each) for each in loaded])
            self._loaded[code] = loaded

    def _spans(self, text: Text, finders: Sequence[tuple[str, Finder]]) -> list[Span]:
        if not text.content:
            return []
        spans: list[Span] = []
        for part in parts(text.content):
            view, at = View(Text(part.content, text.field)), part.first
            found = {(c, code, False) for code, finder in finders for c in finder(view)}
            if self._packs:
                found |= {(c, "en", True) for pack in self._packs for finder in pack.finders for c in finder(view)}
                found = {each for each in found if not self._allowed(view.text[each[0].start : each[0].end])}
            if len(part.content) < len(text):
                found = {each for each in found if part.owns(each[0].start)}
            spans += (
                Span(text, at + c.start, at + c.end, c.type, c.score, self._source(c.rule, code, own))
                for c, code, own in sorted(found)
            )
        return spans

    def _source(self, rule: str, code: str, own: bool) -> tuple[str, ...]:
        made = self._sources.get((rule, code, own))
        if made is None:
            made = (source_of(rule, code), *([f"{PACK}rules"] if own else []))
            self._sources[rule, code, own] = made
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
def neutral() -> Finder:
    """Return a finder with the English rules that hold in every language, such as those of email addresses."""
    files = tuple(f"{name}." for name in language().part("rules").NEUTRAL)
    rules, retypes = shipped_rules("en")
    return patterns.PatternFinder([rule for rule in rules if rule.id.startswith(files)], retypes).find


@cache
def released(code: str) -> bool:
    """Whether records in a language may be released without `languages` in the settings.

    A bundle states it as `release = true` in `bundle.toml`, if its measured detection is good enough.
    """
    return code == "en" or bool(language(code).table("bundle.toml").get("release"))


@cache
def foreign_lexicon() -> Lexicon:
    """Return the lexicon of English words for `text.language`. It is read once."""
    return Lexicon(lexicon.lexicon(), lexicon.english(), lexicon.fold)


def stretches(text: Text) -> tuple[Stretch, ...]:
    """Return the stretches of a text in all languages that are recognized. They are kept as long as the text."""
    found = _stretches.get(text)
    if found is None:
        found = _stretches[text] = tuple(unread(text.content, frozenset(), foreign_lexicon()))
    return found


_stretches: WeakKeyDictionary[Text, tuple[Stretch, ...]] = WeakKeyDictionary()


def languages_of(text: Text, known: frozenset[str]) -> frozenset[str]:
    """Return the languages of a text, out of the known ones, as `incognote.text.language.spoken` does."""
    return spoken(text.content, known, foreign_lexicon(), stretches(text))


def packaged(text: Text) -> frozenset[str]:
    """Return the languages other than English in which most of a text is written, and that have a package.

    The result is kept for as long as the text is.
    """
    found = _packaged.get(text)
    if found is None:
        found = languages_of(text, frozenset(installed("incognote.languages")))
        if "en" in found:
            words = len(text.content.split())
            own = {code: sum(s.words for s in stretches(text) if s.language == code) for code in found}
            found = frozenset(code for code in found if 2 * own[code] > words)
        found = _packaged[text] = found - {"en"}
    return found


_packaged: WeakKeyDictionary[Text, frozenset[str]] = WeakKeyDictionary()


def unread_in(text: Text, reads: frozenset[str]) -> list[Stretch]:
    """Return the stretches of a text in languages that are not read, as `incognote.text.language.unread` does."""
    if all(stretch.language == "en" for stretch in stretches(text)):
        return [] if "en" in reads else list(stretches(text))
    return unread(text.content, reads, foreign_lexicon(), part=bool(text.field))


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
