"""Data files of places, words about places and ordinary words, and their loaders. Each is read once, on first use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from incognote.languages import language
from incognote.text.characters import without_marks
from incognote.text.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, commonness, lexicon

_FALLEN = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "’": "'"})
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


def fold(word: str) -> str:
    """Lower case without diacritics, so that `Chaniá`, `CHANIA` and `chania` are the same key.

    This is not the lexicon's `fold`: the keys of the shipped places keep their apostrophes (`coeur d'alene`).
    """
    low = word.lower()
    return low if low.isascii() else without_marks(low.translate(_FALLEN))


class GazetteerPlace(NamedTuple):
    """A named place: its entity type, and a letter for the context that it needs.

    a: none; b: a preposition of place; n: also a person's name; w: also a word. See build_gazetteer.py.
    """

    type: str
    need: str


class Gazetteer(NamedTuple):
    """Places by folded name (words joined by one space), and the length of the longest name for each first word."""

    places: Mapping[str, GazetteerPlace]
    longest: Mapping[str, int]

    @classmethod
    def of(cls, places: Mapping[str, GazetteerPlace]) -> Gazetteer:
        """A gazetteer of places by folded name."""
        longest: dict[str, int] = {}
        for name in places:
            first, _, rest = name.partition(" ")
            length = 1 + rest.count(" ") + bool(rest)
            if length > longest.get(first, 0):
                longest[first] = length
        return cls(places, longest)

    def at(self, words: list[str], i: int) -> tuple[int, GazetteerPlace] | None:
        """The longest name that begins at word i, as (end, place). Periods between words do not count."""
        most = self.longest.get(words[i])
        if most is None:
            return None
        stop = min(len(words), i + 2 * most)
        key, ends, n = words[i], [(words[i], i + 1)], 1
        for j in range(i + 1, stop):
            word = words[j]
            if word == ".":
                continue
            n += 1
            if n > most or not word[0].isalpha():
                break
            key = f"{key} {word}"
            ends.append((key, j + 1))
        for key, end in reversed(ends):
            place = self.places.get(key)
            if place is not None:
                return end, place
        return None


def data(name: str) -> dict[str, Any]:
    """A TOML file of the language's gazetteer."""
    return language("en").table("gazetteer", name)


def listed(text: str) -> list[str]:
    """The entries of a list that is separated by semicolons, over several lines."""
    return [entry for entry in (" ".join(part.split()) for part in text.split(";")) if entry]


@cache
def words(name: str, section: str) -> Mapping[str, frozenset[str]]:
    """The word sets of one section of a data file: words separated by spaces, or phrases separated by semicolons."""

    def read(value: str) -> Iterable[str]:
        return listed(value) if ";" in value else value.split()

    return {key: frozenset(fold(entry) for entry in read(value)) for key, value in data(name)[section].items()}


@cache
def gazetteer() -> Gazetteer:
    """Cities, states and countries. If a name is both, the larger place wins unless it needs more context."""
    places: dict[str, GazetteerPlace] = {}
    need = {
        "a": GazetteerPlace("CITY", "a"),
        "b": GazetteerPlace("CITY", "b"),
        "n": GazetteerPlace("CITY", "n"),
        "w": GazetteerPlace("CITY", "w"),
    }
    for line in language("en").file("gazetteer", "cities.txt").read_text(encoding="utf-8").splitlines():
        if line[0] != "#":
            places[line[:-2]] = need[line[-1]]
    regions = data("regions.toml")
    for section, kind in (("location", "LOCATION"), ("state", "STATE"), ("country", "COUNTRY")):
        for letter, key in (("a", "plain"), ("n", "bound")):
            for name in listed(regions[section][key]):
                folded = " ".join(_WORD.findall(fold(name)))
                if letter == "a" or folded not in places or places[folded].need > "b":
                    places[folded] = GazetteerPlace(kind, letter)
    return Gazetteer.of(places)


@cache
def abbreviations() -> Mapping[str, frozenset[str]]:
    """State abbreviations as written: `code` in capitals, `long` like Calif. or Mass."""
    written = data("regions.toml")["abbreviation"]
    codes = " ".join(written[k] for k in ("us", "canada", "australia", "elsewhere")).split()
    return {
        "code": frozenset(codes),
        "us": frozenset(written["us"].split()),
        "long": frozenset(written["long"].split()),
    }


_KINDS = MEDICAL | BRAND | EPONYM | EPONYM_NOUN


@cache
def ordinary(rare: bool = False) -> frozenset[str]:
    """Common English words, medical words, brands and eponyms, folded; with `rare`, rare English words too."""
    least = 1 if rare else 2
    return frozenset(word for word, entry in lexicon().items() if commonness(entry) >= least or entry & _KINDS)
