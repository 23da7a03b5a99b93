"""The shared lexicon: one lookup says what a word may be (given name, surname, English word, drug, eponym …).

The data files are in the language bundle's folder `lexicon/`. Their headers name sources and licenses. A word's entry
is an int:

    bits 0-2   weight as a given name, 0 (none), 1 (rare) … 7 (very common)
    bits 3-5   weight as a surname, the same scale
    bits 6-7   how common it is as an English word: 0 (none), 1 rare, 2 usual, 3 very frequent in clinical prose
    from 8     one flag per kind: MEDICAL, BRAND, EPONYM, PLACE, ORGANIZATION, EPONYM_NOUN
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache, lru_cache

from incognote.languages import language
from incognote.text import Vocabulary
from incognote.text.characters import without_marks

MEDICAL, BRAND, EPONYM, PLACE, ORGANIZATION, EPONYM_NOUN = (1 << bit for bit in range(8, 14))
KINDS = ~((1 << 8) - 1)
"""All of these flags. An entry with any of them is a term."""
_SECTIONS = {
    "eponym": EPONYM,
    "people": EPONYM,
    "brand": BRAND,
    "place": PLACE,
    "organization": ORGANIZATION,
    "noun_after_eponym": EPONYM_NOUN,
}
# Letters that Unicode does not decompose into a base letter and a mark.
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ə": "e"}
    | {"ɓ": "b", "ɗ": "d", "ƙ": "k", "ħ": "h", "ŋ": "ng", "ɛ": "e", "ɔ": "o"}
    | {"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ـ": ""}  # Arabic: forms of ya and kaf, ta marbuta, tatweel
    | dict.fromkeys("'’ʼ`‘", "")
)


def fold(word: str) -> str:
    """Return a word in the form of the lexicon: lower case, without diacritics and apostrophes ("O’Dówd" → "odowd").

    Do not use it for the gazetteer: the lexicon's names have no apostrophes, but the gazetteer's places do.
    """
    word = word.lower()
    if word.isascii() and "'" not in word and "`" not in word:
        return word
    word = word.translate(_LETTERS)
    if word.isascii():
        return word
    return without_marks(word)


def given(entry: int) -> int:
    """Return the weight as a given name, 0 to 7."""
    return entry & 7


def surname(entry: int) -> int:
    """Return the weight as a surname, 0 to 7."""
    return entry >> 3 & 7


def commonness(entry: int) -> int:
    """Return how common the English word is, 0 to 3."""
    return entry >> 6 & 3


def _read(name: str, code: str = "en") -> list[str]:
    file = language(code).file("lexicon", name)
    if not file.is_file():
        return []
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("#")]


@cache
def lexicon(code: str = "en") -> dict[str, int]:
    """Return the entries of a language by folded word, read once per process (English: about 0.2 s).

    Callers must not change the result.
    """
    table: dict[str, int] = {}
    for line in _read("names.txt.gz", code):
        weights, _, names = line.partition(" ")
        table.update(dict.fromkeys(names.split(" "), int(weights[0]) | int(weights[1]) << 3))
    get = table.get
    for line in _read("words.txt.gz", code):
        common, _, words = line.partition(" ")
        bits = int(common) << 6
        table.update([(word, get(word, 0) | bits) for word in words.split(" ")])
    for line in _read("medical.txt.gz", code):
        words = line.partition(" ")[2]
        table.update([(word, get(word, 0) | MEDICAL) for word in words.split(" ")])
    bits = 0
    for line in _read("terms.txt", code):
        if line.startswith("["):
            bits = _SECTIONS[line[1:-1]]
        else:
            table.update([(word, get(word, 0) | bits) for word in map(fold, line.split(" "))])
    return table


@cache
def beside(code: str) -> tuple[str, ...]:
    """Return the languages whose words texts in this language also hold, by `beside` in bundle.toml."""
    return tuple(language(code).table("bundle.toml").get("beside", ()))


@lru_cache(maxsize=1)
def titles() -> frozenset[str]:
    """Return titles that precede a name and are not names themselves, in lower case."""
    return frozenset(word for line in _read("titles.txt") for word in line.split())


def only_titles(words: Sequence[str]) -> bool:
    """Whether all words are titles ("Dr", "Shri"), and none is also a usual name ("Captain" is, in part)."""
    entries = [lexicon().get(fold(word), 0) for word in words]
    return all(word.lower() in titles() for word in words) and all(max(given(e), surname(e)) < 3 for e in entries)


@lru_cache(maxsize=1)
def eponym_pairs() -> frozenset[str]:
    """Return two-word eponyms, brands and institutions that look like a name, folded: "bradford hill"."""
    return frozenset(pair for pair in " ".join(_read("pairs.txt")).split(", ") if pair)


def is_common(word: str, code: str = "en") -> bool:
    """Whether a single word is too common to count as a name: a common word of a language or a medical term."""
    entry = lexicon(code).get(fold(word), 0)
    return commonness(entry) >= 2 or bool(entry & (MEDICAL | BRAND | EPONYM))


def is_only_brand(word: str) -> bool:
    """Whether a single word is the brand of a drug or device, and not a usual name: "Mirena", but not "Allegra"."""
    entry = lexicon().get(fold(word), 0)
    return bool(entry & BRAND) and max(given(entry), surname(entry)) < 4


class _English:
    """The lexicon as a `Vocabulary` for text readings (incognote/text/__init__.py)."""

    def usual(self, word: str) -> bool:
        entry = lexicon().get(word, 0)
        return commonness(entry) >= 2 or bool(entry & (MEDICAL | BRAND | EPONYM))

    def name(self, word: str) -> int:
        entry = lexicon().get(word, 0)
        return max(given(entry), surname(entry))

    def known(self, word: str) -> bool:
        return word in lexicon()


LEXICON: Vocabulary = _English()


@lru_cache(maxsize=1)
def english() -> tuple[int, ...]:
    """Return what each lexicon entry says about the English word, indexed by the entry.

    0 to 3: how common the English word is. -1: only a medical term, a brand or an eponym. -2: only a name.
    """
    return tuple(commonness(entry) or (-1 if entry >> 8 else -2 if entry else 0) for entry in range(1 << 14))
