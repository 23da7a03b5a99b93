"""Names of the world: the cultures of names.toml with Faker's lists, rare names of our lexicon, names that are words.

The pools are filled once per process. Names are drawn with the document's own random source, so that a seed gives the
same names whatever else was drawn.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import accumulate
from random import Random
from typing import Any

from incognote.errors import MissingExtra
from incognote.text import lexicon

_KEYS = {
    "male": ("first_names_male", "first_male_romanized_names", "first_romanized_names_male"),
    "female": ("first_names_female", "first_female_romanized_names", "first_romanized_names_female"),
    "last": ("last_names", "last_names_male", "male_last_names", "unisex_last_names", "last_romanized_names"),
}


@dataclass(frozen=True, slots=True)
class Culture:
    """The source of a person's names."""

    name: str
    male: tuple[str, ...]
    female: tuple[str, ...]
    last: tuple[str, ...]
    particles: tuple[str, ...]
    inverted: bool
    middle: float
    double: float

    def first(self, sex: str) -> tuple[str, ...]:
        """The given names for a sex."""
        return self.male if sex == "M" else self.female


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("names.toml").read_text(encoding="utf-8"))


@cache
def cultures() -> tuple[tuple[Culture, ...], tuple[int, ...]]:
    """The cultures and their cumulative weights.

    Raises:
        MissingExtra: Faker is not installed.
    """
    entries = {name: entry for name, entry in _file().items() if name != "nicknames"}
    made = tuple(_culture(name, entry) for name, entry in entries.items())
    return made, tuple(accumulate(entry["weight"] for entry in entries.values()))


def culture(random: Random) -> Culture:
    """Draw a culture by weight."""
    some, weights = cultures()
    return random.choices(some, cum_weights=weights)[0]


def _culture(name: str, entry: dict[str, Any]) -> Culture:
    lists = {key: [word.replace("_", " ") for word in entry.get(key, "").split()] for key in _KEYS}
    for locale in entry.get("faker", ()):
        provider = _provider(locale)
        for key, attributes in _KEYS.items():
            for attribute in attributes:
                value = getattr(provider, attribute, None)
                if isinstance(value, (dict, list, tuple)):
                    lists[key] += [word for word in value if _latin(word)]
    either = [] if lists["male"] else [word for word in _provider(entry["faker"][0]).first_names if _latin(word)]
    return Culture(
        name,
        _pool(lists["male"] or either),
        _pool(lists["female"] or either),
        _pool(lists["last"]),
        tuple(filter(None, entry.get("particles", "").split(";"))),
        entry.get("order") == "last first",
        entry.get("middle", 8) / 100,
        entry.get("double", 3) / 100,
    )


def _provider(locale: str) -> Any:
    try:
        return import_module(f"faker.providers.person.{locale}").Provider
    except ModuleNotFoundError:
        raise MissingExtra("distill", "making a training corpus") from None


def _latin(word: str) -> bool:
    """Return True for a plausible name in Latin letters. "Doe" is a placeholder in the annotation guide."""
    return (
        word != "Doe"
        and 1 < len(word) < 22
        and all(c < "ɐ" or c in "’'ʼ‘-. " or "Ḁ" <= c <= "ỿ" for c in word)
        and word[0].isupper()
    )


def _pool(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.title() if word.isupper() else word for word in words))


@cache
def rare() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Given names and surnames of the lexicon that have no other meaning, capitalized."""
    given, last = [], []
    for word, entry in lexicon.lexicon().items():
        if lexicon.commonness(entry) or entry >> 8 or len(word) < 3 or not word.isascii():
            continue
        if lexicon.given(entry) >= 2:
            given.append(word.capitalize())
        if lexicon.surname(entry) >= 2:
            last.append(word.capitalize())
    return tuple(given), tuple(last)


@cache
def wordlike() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Given names and surnames that are also words, places, brands, or eponyms: Hope, Young, Paris, Parkinson."""
    given, last = [], []
    for word, entry in lexicon.lexicon().items():
        if (lexicon.commonness(entry) >= 1 or entry >> 8) and len(word) > 2 and word.isalpha():
            if lexicon.given(entry) >= 3:
                given.append(word.capitalize())
            if lexicon.surname(entry) >= 4:
                last.append(word.capitalize())
    return tuple(given), tuple(last)


@cache
def nicknames() -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The short forms of each given name, and those that fit any name."""
    pairs: dict[str, tuple[str, ...]] = {}
    for pair in _file()["nicknames"]["pairs"].split(";"):
        name, short = pair.split()
        pairs[name] = (*pairs.get(name, ()), short)
    return pairs, tuple(_file()["nicknames"]["loose"].split())
