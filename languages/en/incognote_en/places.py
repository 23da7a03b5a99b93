"""The US state of a place, and the three digits of a ZIP code that may stay."""

from __future__ import annotations

import gzip
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from incognote.languages import language
from incognote.text.lexicon import fold

NO_ZIP = "000"
_FEWEST = 5
_ENDING = 40  # characters at the end of a place with a postal abbreviation and a ZIP code
_ZIP = re.compile(r"\s*(\d{5})(?:[-\s]?\d{4})?\s*\Z", re.ASCII)
_CODE = re.compile(r"(?:\A|[\s,])([A-Z]{2})\.?(?:[\s,]+(\d{5})(?:-\d{4})?)?\s*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class USState:
    """A US state or the District of Columbia, with its Census region."""

    code: str
    name: str
    region: str


@dataclass(frozen=True)
class _Atlas:
    codes: dict[str, USState]
    names: dict[str, USState | None]
    zips: dict[str, USState]
    restricted: frozenset[str]
    pattern: re.Pattern[str]


def state_of(place: str) -> USState | None:
    """The state of a place: by ZIP code or postal abbreviation at its end, else by the longest known name in it.

    Known are the states, cities whose name is unique, and well-known hospitals.
    """
    atlas = _atlas()
    end = place[-_ENDING:]
    ended = _CODE.search(end)
    if ended and ended[1] in atlas.codes:
        return atlas.codes[ended[1]]
    zipped = re.search(r"\b(\d{3})\d{2}(?:-\d{4})?\s*\Z", end, re.ASCII)
    if zipped and zipped[1] in atlas.zips:
        return atlas.zips[zipped[1]]
    plain = " ".join(place.replace("’", "'").split()).casefold()
    named = max(atlas.pattern.findall(plain), key=len, default=None)
    return atlas.names[named] if named else None


def state_named(word: str) -> USState | None:
    """The state for a word that is known to be a state: name, postal or older abbreviation, in any case."""
    atlas = _atlas()
    plain = " ".join(word.split()).rstrip(".")
    if plain.upper().replace(".", "") in atlas.codes:
        return atlas.codes[plain.upper().replace(".", "")]
    return next((state for state in atlas.codes.values() if state.name.casefold() == plain.casefold()), state_of(plain))


def zip3(code: str) -> str | None:
    """The first three digits of a US ZIP code, 000 if at most 20,000 people live there; None for anything else.

    Source: 45 CFR 164.514(b)(2)(i)(B) and the areas listed in `places.toml`.
    """
    match = _ZIP.match(code)
    if match is None:
        return None
    return NO_ZIP if match[1][:3] in _atlas().restricted else match[1][:3]


def homes_of(town: str) -> tuple[str, ...]:
    """The homes of towns with this name, the largest town first: `US-OH` for a US state, else a country (`DE`).

    A star follows the home of a town of 40,000 people or more.
    """
    return _homes().get(fold(" ".join(town.split())), ())


@cache
def towns_of(country: str) -> tuple[str, ...]:
    """Towns of a country other than the United States: those of 40,000 people or more, or all if few have."""
    every = [(name, home) for name, homes in _homes().items() for home in homes if home.rstrip("*") == country]
    large = [name for name, home in every if home.endswith("*")]
    return tuple(sorted(string.capwords(name) for name in (large if len(large) > _FEWEST else dict(every))))


@cache
def _homes() -> dict[str, tuple[str, ...]]:
    body = gzip.decompress(language("en").file("gazetteer", "homes.txt.gz").read_bytes()).decode()
    return {name: tuple(homes.split()) for name, homes in (line.split("\t") for line in body.splitlines())}


@cache
def _atlas() -> _Atlas:
    written = language("en").table("words", "places.toml")
    codes = {code: USState(code, fields["name"], fields["region"]) for code, fields in written["states"].items()}
    names: dict[str, USState | None] = {}
    zips: dict[str, USState] = {}
    for code, fields in written["states"].items():
        for key in ("cities", "hospitals", "written"):
            names.update((name.casefold(), codes[code]) for name in _listed(fields, key))
        names[fields["name"].casefold()] = codes[code]
        zips.update((prefix, codes[code]) for prefix in _prefixes(fields["zips"]))
    names.update((name.casefold(), None) for name in _listed(written["silent"], "names"))
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    restricted = frozenset(" ".join(written["restricted_zips"].values()).split())
    return _Atlas(codes, names, zips, restricted, re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)"))


def _listed(fields: dict[str, Any], key: str) -> list[str]:
    return [name.strip() for name in fields.get(key, "").split(";") if name.strip()]


def _prefixes(ranges: str) -> Iterator[str]:
    for part in ranges.split():
        first, _, last = part.partition("-")
        yield from (f"{number:03d}" for number in range(int(first), int(last or first) + 1))
