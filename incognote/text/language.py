"""Which languages a text is written in, as far as somebody must be able to read it: offline, by script and by words.

A run of four words in a script other than Latin says enough. Of Latin script the words speak: each is worth what it
says for or against English (the logarithm of how much more often it occurs in notes of another language), stretches of
the greatest worth are sought (the maximal scoring subsequences of Karlin and Altschul, PNAS 87, 1990), and such a
stretch is asked about with py3langid (Lui and Baldwin, ACL 2012), which also names the language. Capitalized words,
numbers and medical terms say nothing: names, drug lists, abbreviations and laboratory rows are of no language.

Most English texts hold no such stretch, and the library is not even imported for them.
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
"""A stretch of so many words or lines is more than a quotation; in another script, so many words in a row."""
LONG_SAID, FEW = 12, 8
"""So many words must speak for the language of a long stretch; of a record's field that is in another language."""

_WORTH = {3: -2.5, 2: -0.4, 1: 0.7, -1: 0.0}
_LONG, _SHORT, _CAPITALIZED, _PERHAPS = 2.5, 0.2, 0.8, 0.3
_TITLE_MARGIN = 1.5  # worth of the English words that a note with such a title may have
_DROP = 10.0  # a stretch ends where its worth has fallen by so much
_SURE = 4.0  # worth of a stretch that is asked about
_MARGIN, _EACH = 10.0, 1.5  # nats: by so much another language must be likelier than English, in all and per word
_ASKED, _READ = 100, 1_000  # words and characters that the library is shown of one stretch
_TOKEN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f'’]+")
_VOWEL = re.compile("[aeiouy]")
_DECIMAL = re.compile(r"(?<![\d,.])\d{1,3},\d{1,2}(?![\d,\w]|-\w)")  # two of these are of no English note: K 5,3
_SPACED_SIGN = re.compile(r"\w [:;?!](?: \w|\s|$)")  # as French has it

_DENSE = frozenset(("Han", "Kana", "Hangul", "Thai"))
_DENSE_RUNS, _DENSE_LETTERS = 3, 8
"""Names and one quotation in a script that writes a word in a letter or two are fewer."""
_TELEGRAM_WORDS, _TELEGRAM_WORTH, _TELEGRAM_MARGIN = 30, 2.5, 8.0
"""A note of so few telling words is foreign if they are worth that, outweigh the English ones, and are likelier so."""
_TELEGRAM = ("de", "es", "fr")  # of other languages, Latin terms and the names of drugs and dishes look like such notes
_LATIN = "la es fr de it pt nl tr vi pl sv da no fi ro hu cs hr id tl ht so sw ca".split()
_BY_SCRIPT: dict[str, tuple[str, ...]] = {
    "Greek": ("el",), "Cyrillic": ("ru", "uk", "bg", "sr", "mk", "be", "kk"), "Armenian": ("hy",),
    "Hebrew": ("he",), "Arabic": ("ar", "fa", "ur", "ps"), "Devanagari": ("hi", "ne", "mr"), "Bengali": ("bn",),
    "Gurmukhi": ("pa",), "Gujarati": ("gu",), "Odia": ("or",), "Tamil": ("ta",), "Telugu": ("te",),
    "Kannada": ("kn",), "Malayalam": ("ml",), "Sinhala": ("si",), "Thai": ("th",), "Lao": ("lo",),
    "Burmese": ("my",), "Georgian": ("ka",), "Hangul": ("ko",), "Ethiopic": ("am",), "Khmer": ("km",),
    "Han": ("zh",), "Kana": ("ja",),
}  # fmt: skip
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
"""The languages that are told apart, by their ISO 639-1 code (Tagalog `tl`, Haitian Creole `ht`)."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a text is in a language nobody in force reads.

    Args:
        start, end: code points of the text.
        language: an ISO 639-1 code, or "" for one that is not known.
        words: how many words it has.
        said: those that speak for the language, in Latin script.
    """

    start: int
    end: int
    language: str
    words: int
    said: tuple[str, ...] = field(default=(), repr=False)


class _Words(NamedTuple):
    """`words/foreign.toml`: fixed worths of words, words that no English note has, and titles by their language."""

    worths: dict[str, float]
    certain: frozenset[str]
    titles: dict[str, str]


@cache
def _words() -> _Words:
    written = language().table("words", "foreign.toml")
    lists = {name: written[name].split() for name in ("certain", "small", "neutral", "borrowed")}
    weights = {"certain": 2.5, "small": 1.0, "neutral": 0.0, "borrowed": 0.0}
    worths = {word: worth for name, worth in weights.items() for word in lists[name]}
    titles = {word: code for code, words in written["titles"].items() for word in words.split()}
    return _Words(worths, frozenset(lists["certain"]), titles)


class Lexicon:
    """What is known of English words.

    Args:
        entries: folded word → entry, a number.
        english: for each entry how common the English word is, 0 (unknown) to 3 (very frequent in clinical prose);
            -1 for a medical term or a brand, -2 for a word that is only a name.
        fold: makes the key of a word in lower case.
    """

    def __init__(self, entries: Mapping[str, int], english: Sequence[int], fold: Callable[[str], str]) -> None:
        self._names, self._fold = entries, fold  # what is in `entries` and not in `_worths` is only a name
        worths = [_WORTH.get(common) for common in english]
        self._worths = {word: worth for word, entry in entries.items() if (worth := worths[entry]) is not None}
        self._fixed = _words().worths
        self._worths.update(self._fixed)

    def worths(self, words: Sequence[str]) -> list[float]:
        """What each word says for another language than English, in nats, estimated on development notes."""
        if 2 * sum(map(str.isupper, words)) > len(words):
            return [self._of_one_case(word.lower(), 0.0) for word in words]
        if all(map(str.islower, words)):
            return [self._of_one_case(word, _PERHAPS) for word in words]
        worths = map(self._worths.get, words)
        return [self._unknown(word) if worth is None else worth for word, worth in zip(words, worths, strict=True)]

    def _unknown(self, word: str) -> float:
        """The worth of a word that the lexicon has not as it is written."""
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
        """The worth of a word of a text in capitals only or without any, where a name looks like any other word.

        Args:
            doubtful: the worth of what may be a name or an abbreviation.
        """
        if len(low) == 1:
            return 0.0
        key = low if low in self._fixed or (low.isascii() and low.isalpha()) else self._fold(low)
        if (worth := self._worths.get(key)) is not None:
            return worth
        short = low.isascii() and (len(low) < 5 or not _VOWEL.search(low))
        return doubtful if short or key in self._names else 0.6 * _LONG


def name_of(language: str) -> str:
    """A language's English name, for people."""
    return NAMES.get(language, "another language")


def unread(text: str, reads: frozenset[str], lexicon: Lexicon, *, part: bool = False) -> list[Stretch]:
    """The stretches of a text in languages nobody reads, in order; empty for a text that may be released as read.

    A text is also unread where such words are most of it, however short it is; a field of a record from `FEW` on.

    Args:
        reads: ISO 639-1 codes of the languages that what is in force reads.
        lexicon: what is known of English words.
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


def foreign_words(text: str, reads: frozenset[str]) -> list[tuple[int, int]]:
    """Every run of letters in a script that nobody reads, of any length; in a Latin word only from half on."""
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
    told = ((s, _latin(s.said, text[s.start : min(s.end, s.start + _READ)])) for s in stretches)
    named = [replace(s, language=code) for s, code in told if code is not None and code not in reads]
    return named if _matter(text, named, weighty, part=part) else []


def _telegram(text: str, words: Sequence[str], worths: Sequence[float]) -> str | None:
    """The language of a short note of abbreviations and nouns, which has no stretch of its own; None for English.

    "" where only its decimal commas say that it is foreign.
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
    """The language of a title that comes before a name; "Smith Sr" is an English suffix."""
    titles = _words().titles
    for before, title, name in zip(("", *words), words, words[1:], strict=False):
        if (code := titles.get(title)) and name[0].isupper() and not (title == "Sr" and before.istitle()):
            return code
    return None


def _matter(text: str, stretches: Sequence[Stretch], weighty: int, *, part: bool) -> bool:
    """Whether one is long, or all of them together are, or are most of what the text says.

    Args:
        weighty: how many words of the text say anything for or against English.
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
    """The stretches of greatest worth, each of at least `_SURE`, as first and last index."""
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
    """The language of a stretch in Latin script; None for English, Latin, or what may be one of these as well.

    Args:
        said: the words that speak for another language.
        whole: the stretch with what stands between them.
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
    """The library's model, read once (about 0.5 s)."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


@cache
def _library(languages: tuple[str, ...]) -> Any:
    """The model limited to some languages; the process's own instance of the library stays as it is."""
    made = copy(_model())
    made.set_languages(languages)
    return made


def names_of(stretches: Iterable[Stretch]) -> str:
    """The languages of stretches, as the detail of a reason."""
    return ", ".join(sorted({name_of(s.language) for s in stretches}))
