"""Detect the languages of a text offline, by script and by words, to hold texts that no detector supports.

A run of four words in a script other than Latin is sufficient. In Latin script, each word has a worth: the logarithm of
how much more often it occurs in notes of other languages than in English notes. The module finds the stretches of
highest total worth (the maximal scoring subsequences of Karlin and Altschul, PNAS 87, 1990). It then checks each with
py3langid (Lui and Baldwin, ACL 2012), which also names the language. Capitalized words, numbers and medical terms carry
little or no weight, because names, drug lists, abbreviations and laboratory rows occur in every language.

Most English texts contain no such stretch, and the library is not even imported for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from incognote.languages import language
from incognote.text.parts import parts
from incognote.text.script import runs

LONG_WORDS, LONG_LINES, ROW = 25, 3, 4
"""The minimum size of a stretch that is more than a quotation: words, lines, and words in a row in another script."""
LONG_SAID, FEW = 12, 8
"""The minimum number of words that indicate the language: for a long stretch, and for a field of a record."""

_WORTH = {3: -2.5, 2: -0.4, 1: 0.7, -1: 0.0}
_LONG, _SHORT, _CAPITALIZED, _PERHAPS = 2.5, 0.2, 0.8, 0.3
_TITLE_MARGIN = 1.5  # the maximum worth of English words in a note with such a title
_DROP = 10.0  # a stretch ends where its worth has fallen by this much
_SURE = 4.0  # the minimum worth of a stretch that the library checks
_MARGIN, _EACH = 10.0, 1.5  # nats by which another language must be more likely than English, in total and per word
_ASKED, _READ = 100, 1_000  # words and characters of one stretch that are given to the library
_TOKEN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f'’]+")
_VOWEL = re.compile("[aeiouy]")
_DECIMAL = re.compile(r"(?<![\d,.])\d{1,3},\d{1,2}(?![\d,\w]|-\w)")  # no English note has two of these: K 5,3
_SPACED_SIGN = re.compile(r"\w [:;?!](?: \w|\s|$)")  # as in French

_DENSE = frozenset(("Han", "Kana", "Hangul", "Thai"))
_DENSE_RUNS, _DENSE_LETTERS = 3, 8
"""The minimum number of runs and letters in a script with one or two letters per word. Names and a single quotation
have fewer."""
_TELEGRAM_WORDS, _TELEGRAM_WORTH, _TELEGRAM_MARGIN = 30, 2.5, 8.0
"""A note with at most this many informative words is foreign if they have this worth, outweigh the English words, and
are more likely in another language by this margin."""
_TELEGRAM = ("de", "es", "fr")  # for other languages, Latin terms and names of drugs and dishes look like such notes
_LATIN = "la es fr de it pt nl tr vi pl sv da no fi ro hu cs hr id tl ht so sw ca".split()
_BY_SCRIPT: dict[str, tuple[str, ...]] = {
    "Greek": ("el",), "Cyrillic": ("ru", "uk", "bg", "sr", "mk", "be", "kk"), "Armenian": ("hy",),
    "Hebrew": ("he",), "Arabic": ("ar", "fa", "ur", "ps"), "Devanagari": ("hi", "ne", "mr"), "Bengali": ("bn",),
    "Gurmukhi": ("pa",), "Gujarati": ("gu",), "Odia": ("or",), "Tamil": ("ta",), "Telugu": ("te",),
    "Kannada": ("kn",), "Malayalam": ("ml",), "Sinhala": ("si",), "Thai": ("th",), "Lao": ("lo",),
    "Burmese": ("my",), "Georgian": ("ka",), "Hangul": ("ko",), "Ethiopic": ("am",), "Khmer": ("km",),
    "Han": ("zh",), "Kana": ("ja",),
}  # fmt: skip
_OTHER_SCRIPT = frozenset(code for codes in _BY_SCRIPT.values() for code in codes)
_PASSAGE, _SAID = 30, 5  # words of a passage in English within a text in another language, and usual ones among them
NAMES = {
    "am": "Amharic", "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan",
    "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "ht": "Haitian Creole", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese",
    "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "lo": "Lao", "mk": "Macedonian",
    "ml": "Malayalam", "mr": "Marathi", "my": "Burmese", "ne": "Nepali", "nl": "Dutch", "no": "Norwegian",
    "or": "Odia", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "si": "Sinhala", "so": "Somali", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""The languages that can be distinguished, by ISO 639-1 code (Tagalog `tl`, Haitian Creole `ht`)."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text in a language that no active detector supports.

    Args:
        start, end: code points of the text.
        language: an ISO 639-1 code, or "" for an unknown language.
        words: the number of words.
        said: the words that indicate the language, in Latin script.
    """

    start: int
    end: int
    language: str
    words: int
    said: tuple[str, ...] = field(default=(), repr=False)


class _Words(NamedTuple):
    """The content of `words/foreign.toml`: fixed worths, words that no English note has, and titles by language."""

    worths: dict[str, float]
    certain: frozenset[str]
    titles: dict[str, str]


@cache
def _usual() -> frozenset[str]:
    return frozenset(language().table("words", "foreign.toml")["usual"].split())


@cache
def _words() -> _Words:
    written = language().table("words", "foreign.toml")
    lists = {name: written[name].split() for name in ("certain", "small", "neutral", "borrowed")}
    weights = {"certain": 2.5, "small": 1.0, "neutral": 0.0, "borrowed": 0.0}
    worths = {word: worth for name, worth in weights.items() for word in lists[name]}
    titles = {word: code for code, words in written["titles"].items() for word in words.split()}
    return _Words(worths, frozenset(lists["certain"]), titles)


class Lexicon:
    """The English lexicon, with the worth of each word.

    Args:
        entries: folded word → entry, a number.
        english: for each entry, how common the English word is, 0 (unknown) to 3 (very frequent in clinical prose);
            -1 for a medical term or a brand, -2 for a word that is only a name.
        fold: returns the key for a word in lower case.
    """

    def __init__(self, entries: Mapping[str, int], english: Sequence[int], fold: Callable[[str], str]) -> None:
        self._names, self._fold = entries, fold  # a word in `entries` but not in `_worths` is only a name
        worths = [_WORTH.get(common) for common in english]
        self._worths = {word: worth for word, entry in entries.items() if (worth := worths[entry]) is not None}
        self._fixed = _words().worths
        self._worths.update(self._fixed)

    def worths(self, words: Sequence[str]) -> list[float]:
        """Return each word's evidence for a language other than English, in nats, estimated on development notes."""
        if 2 * sum(map(str.isupper, words)) > len(words):
            return [self._of_one_case(word.lower(), 0.0) for word in words]
        if all(map(str.islower, words)):
            return [self._of_one_case(word, _PERHAPS) for word in words]
        worths = map(self._worths.get, words)
        return [self._unknown(word) if worth is None else worth for word, worth in zip(words, worths, strict=True)]

    def _unknown(self, word: str) -> float:
        """Return the worth of a word that the lexicon does not contain as written."""
        if word.isupper():
            return 0.0
        if word[0].isupper():  # a name, a heading, a noun in German
            low = word.lower()
            if (known := self._worths.get(low)) is None:
                if low in self._names:
                    return 0.0
                if low.isascii() and low.isalpha():
                    return _CAPITALIZED if len(word) > 4 else 0.0
                key = self._fold(low)
                if (known := self._worths.get(key)) is None:
                    return 0.0 if key in self._names or len(word) < 5 else _CAPITALIZED
            return 0.6 * min(known, 0.0)
        if len(word) == 1 or not word.islower():  # eGFR, mmHg
            return 0.0
        if not word.isascii() and "’" not in word:
            return _LONG
        if not word.isalpha() and (known := self._worths.get(self._fold(word))) is not None:
            return known
        return _LONG if len(word) > 3 and _VOWEL.search(word) else 1.0 if len(word) > 2 else _SHORT

    def _of_one_case(self, low: str, doubtful: float) -> float:
        """Return the worth of a word in a text of one case, where a name looks like any other word.

        Args:
            doubtful: the worth of a word that may be a name or an abbreviation.
        """
        if len(low) == 1:
            return 0.0
        key = low if low in self._fixed or (low.isascii() and low.isalpha()) else self._fold(low)
        if (worth := self._worths.get(key)) is not None:
            return worth
        short = low.isascii() and (len(low) < 5 or not _VOWEL.search(low))
        return doubtful if short or key in self._names else 0.6 * _LONG


def name_of(language: str) -> str:
    """Return the English name of a language, for people."""
    return NAMES.get(language, "another language")


def unread(text: str, reads: frozenset[str], lexicon: Lexicon, *, part: bool = False) -> list[Stretch]:
    """Return the stretches of a text in unsupported languages, in order. Empty if nothing needs to be held.

    A short text also counts if most of its words are in such a language. A field of a record needs at least `FEW` such
    words.

    Args:
        reads: ISO 639-1 codes of the languages that the active detectors support.
        lexicon: the English lexicon.
        part: the text is a field of a record, not a note.
    """
    found: list[Stretch] = []
    for start, end in ((piece.start, piece.end) for piece in parts(text)):
        here = _unread(text[start:end], reads, lexicon, part=part)
        found += (replace(s, start=start + s.start, end=start + s.end) if start else s for s in here)
    return found


def _unread(text: str, reads: frozenset[str], lexicon: Lexicon, *, part: bool) -> list[Stretch]:
    found = [*_in_other_scripts(text, reads, part=part)]
    if not found or any(c.isascii() and c.isalpha() for c in text):
        found += _in_latin(text, reads, lexicon, part=part)
    return sorted(found, key=lambda s: s.start)


def spoken(
    text: str, known: frozenset[str], lexicon: Lexicon, stretches: Sequence[Stretch] | None = None
) -> frozenset[str]:
    """Return the languages of a text whose rules must read it, out of the known ones. Empty if nothing shows one.

    English is left out if most words are in another known language and no passage in English is left. It stays if a
    note in another script also has words in Latin letters, such as drugs and staff.

    Args:
        known: ISO 639-1 codes, English among them.
        lexicon: the English lexicon.
        stretches: those of all languages (`unread` with no language that is read), if they are known already.
    """
    words = dict.fromkeys(known, 0)
    for stretch in unread(text, frozenset(), lexicon) if stretches is None else stretches:
        if stretch.language in words:
            words[stretch.language] += stretch.words
    found = frozenset(code for code, count in words.items() if count)
    latin = len(_TOKEN.findall(text))
    mostly = any(2 * words[code] > latin and code not in _OTHER_SCRIPT for code in found)
    left = latin - sum(words[code] for code in found - _OTHER_SCRIPT)
    passage = left >= max(_PASSAGE, latin / 5) and says_english(text)
    return found if (mostly and not passage) or not found or not latin else found | {"en"}


def says_english(text: str) -> bool:
    """Whether a text has several of the usual English words, so that more than names and drugs of it is in English."""
    usual = _usual()
    return sum(token.lower() in usual for token in _TOKEN.findall(text)) >= _SAID


def foreign_words(text: str, reads: frozenset[str]) -> list[tuple[int, int]]:
    """Return every run of letters in an unsupported script. In a partly Latin word, it must be at least half of it."""
    found = []
    for run in runs(text):
        if not reads.isdisjoint(_BY_SCRIPT.get(run.script, ())):
            continue
        start, end = run.start, run.end
        while start and text[start - 1].isalpha():
            start -= 1
        while end < len(text) and text[end].isalpha():
            end += 1
        if 2 * run.letters >= end - start - (run.end - run.start - run.letters):
            found.append((start, end))
    return found


def _in_other_scripts(text: str, reads: frozenset[str], *, part: bool) -> list[Stretch]:
    every = [*runs(text)]
    if not every:
        return []
    words = sum(run.words for run in every)
    share = sum(run.letters for run in every) / sum(c.isalpha() for c in text)
    dense = [run for run in every if run.script in _DENSE]
    if len(dense) >= _DENSE_RUNS and sum(run.letters for run in dense) >= _DENSE_LETTERS:
        share = 1.0
    all_of_it = (share > 0.5 and words >= (ROW if part else 1)) or (share > 0.3 and words >= ROW)
    kana = any(run.script == "Kana" for run in every)
    found = []
    for run in every:
        if not all_of_it and run.words < ROW:
            continue
        language = _named(
            text if all_of_it else text[run.start : run.end], "Kana" if kana and run.script == "Han" else run.script
        )
        if language not in reads:
            found.append(Stretch(run.start, run.end, language, run.words))
    return found


def _in_latin(text: str, reads: frozenset[str], lexicon: Lexicon, *, part: bool) -> list[Stretch]:
    words = _TOKEN.findall(text)
    worths = lexicon.worths(words)
    parts = _maximal(worths)
    if not part and (code := _telegram(text, words, worths)) is not None and code not in reads:
        return [Stretch(0, len(text), code, len(words))]
    if not parts:
        unknown = "en" not in reads and sum(worths) < -_SURE
        return [Stretch(0, len(text), "en", len(worths))] if unknown else []
    tokens = [*_TOKEN.finditer(text)]
    stretches = []
    for first, last in parts:
        said = [tokens[i][0] for i in range(first, last + 1) if worths[i] > 0]
        stretches.append(Stretch(tokens[first].start(), tokens[last].end(), "", last + 1 - first, tuple(said)))
    weighty = sum(map(bool, worths))
    if not _matter(text, stretches, weighty, part=part):
        return []
    codes = ((s, _latin(s.said, text[s.start : min(s.end, s.start + _READ)])) for s in stretches)
    named = [replace(s, language=code) for s, code in codes if code is not None and code not in reads]
    return named if _matter(text, named, weighty, part=part) else []


def _telegram(text: str, words: Sequence[str], worths: Sequence[float]) -> str | None:
    """Return the language of a short note of abbreviations and nouns that has no foreign stretch. None for English.

    Returns "" if only decimal commas show that the note is foreign.
    """
    if sum(map(bool, worths)) > _TELEGRAM_WORDS:
        return None
    if (code := _titled(words)) and sum(worth for worth in worths if worth < 0) > -_TITLE_MARGIN:
        return code
    said = dict.fromkeys(word for word, worth in zip(words, worths, strict=True) if worth >= _CAPITALIZED)
    foreign = sum(worth for worth in worths if worth > 0)
    english = -sum(worth for worth in worths if worth < 0)
    commas = len(_DECIMAL.findall(text)) if "," in text else 0
    by_numbers = commas > 1 and foreign + commas > english
    if foreign > max(_TELEGRAM_WORTH, 8 * english) and _SPACED_SIGN.search(text):
        return "fr"
    if not said or ((foreign < _TELEGRAM_WORTH or foreign <= 1.5 * english) and not by_numbers):
        return "" if by_numbers else None
    ranked = dict(_library(("en", *_LATIN)).rank(" ".join(said).lower()))
    best = max(_TELEGRAM, key=lambda code: ranked[code])
    if by_numbers:
        return best
    certain = any(word.lower() in _words().certain or not word.isascii() for word in said)
    least = _TELEGRAM_MARGIN / 4 if certain else _TELEGRAM_MARGIN if foreign > 2 * english else 2.5 * _TELEGRAM_MARGIN
    return best if ranked[best] - max(ranked["en"], ranked["la"] - least / 2) >= least else None


def _titled(words: Sequence[str]) -> str | None:
    """Return the language of a title before a name. "Smith Sr" is an English suffix."""
    titles = _words().titles
    for before, title, name in zip(("", *words), words, words[1:], strict=False):
        if (code := titles.get(title)) and name[0].isupper() and not (title == "Sr" and before.istitle()):
            return code
    return None


def _matter(text: str, stretches: Sequence[Stretch], weighty: int, *, part: bool) -> bool:
    """Whether a stretch is long, or all stretches together are long, or they are most of the text's evidence.

    Args:
        weighty: the number of words in the text with evidence for or against English.
    """
    words, said = sum(s.words for s in stretches), sum(len(s.said) for s in stretches)
    if said >= LONG_SAID and words >= LONG_WORDS:
        return True
    if 2 * said > weighty and said >= (FEW if part else 2):
        return True
    return any(
        len(s.said) >= LONG_SAID and sum(bool(_TOKEN.search(line)) for line in _lines(text, s)) >= LONG_LINES
        for s in stretches
    )


def _lines(text: str, stretch: Stretch) -> list[str]:
    return text[stretch.start : stretch.end].splitlines()


def _maximal(worths: Sequence[float]) -> list[tuple[int, int]]:
    """Return the stretches of highest worth, each with at least `_SURE`, as first and last index."""
    found: list[tuple[int, int]] = []
    first = last = 0
    total = best = 0.0
    for i, worth in enumerate(worths):
        total += worth
        if total > best:
            best, last = total, i
        elif total <= 0 or total < best - _DROP:
            if best >= _SURE:
                found.append((first, last))
            first, total, best = i + 1, 0.0, 0.0
    if best >= _SURE:
        found.append((first, last))
    return [(next(i for i in range(first, last + 1) if worths[i] > 0), last) for first, last in found]


def _latin(said: Sequence[str], whole: str) -> str | None:
    """Return the language of a stretch in Latin script, or None if it is or may be English or Latin.

    Args:
        said: the words that indicate another language.
        whole: the whole stretch, including the words in between.
    """
    library = _library(("en", *_LATIN))
    asked = " ".join(said[:_ASKED])
    if 2 * sum(map(str.isupper, said)) > len(said):
        asked, whole = asked.lower(), whole.lower()
    ranked, all_of_it = dict(library.rank(asked)), dict(library.rank(whole))
    if max(ranked[code] for code in _LATIN) - ranked["en"] < max(_MARGIN, _EACH * len(said[:_ASKED])):
        return None
    likeliest = max(("en", *_LATIN), key=lambda code: all_of_it[code] + ranked[code])
    return None if likeliest in ("en", "la") else likeliest


def _named(text: str, script: str) -> str:
    among = _BY_SCRIPT.get(script, ("",))
    return among[0] if len(among) == 1 else str(_library(among).classify(text)[0])


@cache
def _model() -> Any:
    """Return the library's model, loaded once (about 0.5 s)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


@cache
def _library(languages: tuple[str, ...]) -> Any:
    """Return a copy of the model, limited to some languages. The shared model does not change."""
    made = copy(_model())
    made.set_languages(languages)
    return made


def names_of(stretches: Iterable[Stretch]) -> str:
    """Return the language names of stretches, as the detail of a reason."""
    return ", ".join(sorted({name_of(s.language) for s in stretches}))
