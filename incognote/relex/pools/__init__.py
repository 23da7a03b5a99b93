"""The pools that surrogates are drawn from.

    pools().surnames("es")
    pools().towns["US", "California"]

Each surrogate carries the version of the pools that it was drawn from. A keyed draw without an index depends on the
data, so raise `VERSION` when a release changes the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.languages import language

VERSION = "3"
_FEWEST = 30
"""The minimum size of a pool. English names are added to smaller ones."""
_ELSEWHERE = "en"
_UNISEX = 12  # a locale with fewer unisex names also uses its male and female ones


class Town(NamedTuple):
    """A town with its region, postal codes and telephone area codes, which match each other.

    `zips` are patterns: `#` is a digit, `@` a letter. US codes are written out.
    """

    name: str
    country: str
    region: str
    zips: tuple[str, ...]
    areas: tuple[str, ...]


class Pools:
    """The pools. Every list is sorted alphabetically and has no duplicates."""

    version = VERSION

    def surnames(self, locale: str) -> tuple[str, ...]:
        """Surnames of a locale. If it has few, those of the English-speaking world are added."""
        return _people(locale, "surname")

    def given(self, locale: str, gender: str) -> tuple[str, ...]:
        """Given names of a locale: female, male, or for any other gender the unisex names.

        A locale with few unisex names also uses its female and male ones.
        """
        return _people(locale, gender if gender in ("female", "male") else "both")

    @cached_property
    def towns(self) -> Mapping[tuple[str, str], tuple[Town, ...]]:
        """(country, region) → its towns."""
        found: dict[tuple[str, str], list[Town]] = {}
        for region in self.data("us").values():
            for line in region["towns"]:
                name, zips, areas = line.split("|")
                town = Town(name, "US", region["name"], tuple(zips.split()), tuple(areas.split()))
                found.setdefault(("US", region["name"]), []).append(town)
        for country, listed in self.data("world").items():
            for line in listed.get("towns", ()):
                name, where, zips, areas = line.split("|")
                town = Town(name, country, where, _patterns(zips, country), tuple(areas.split()))
                found.setdefault((country, where), []).append(town)
        return {key: tuple(sorted(towns)) for key, towns in sorted(found.items())}

    @cached_property
    def regions(self) -> Mapping[str, tuple[str, str, str]]:
        """A region's name or short form, folded → (country, name, short form or "")."""
        found = {fold(name): (country, name, "") for country, name in self.towns}
        shorts = [("US", code, table["name"]) for code, table in self.data("us").items()]
        shorts += [
            (country, code, name) for country, t in self.data("world")["short"].items() for code, name in t.items()
        ]
        for country, code, name in shorts:
            found[fold(name)] = (country, name, code)
            found.setdefault(fold(code), (country, name, code))
        return found

    @cached_property
    def home_of(self) -> Mapping[str, tuple[str, str]]:
        """A town's name, folded → (country, region), if only one town of the pool has that name."""
        found: dict[str, set[tuple[str, str]]] = {}
        for home, towns in self.towns.items():
            for town in towns:
                found.setdefault(fold(town.name), set()).add(home)
        return {name: next(iter(homes)) for name, homes in found.items() if len(homes) == 1}

    @cached_property
    def home_of_area(self) -> Mapping[str, str]:
        """A US area code → its state."""
        return {area: t["name"] for t in self.data("us").values() for area in t["areas"].split()}

    def words(self, file: str, table: str, key: str) -> tuple[str, ...]:
        """A list of a data file, unchanged."""
        held = self.data(file)[table][key] if table else self.data(file)[key]
        return tuple(str(held).split())

    def data(self, name: str) -> dict[str, Any]:
        """A data file, parsed."""
        return _read(name)


@cache
def pools() -> Pools:
    """The pools of the language."""
    return Pools()


@cache
def _read(name: str) -> dict[str, Any]:
    return language().table("pools", f"{name}.toml")


@cache
def _people(locale: str, kind: str) -> tuple[str, ...]:
    table = _read("people")
    found = set(table.get(locale, {}).get(kind, "").split())
    unisex = kind == "both"
    if unisex and len(found) < _UNISEX:
        found |= {name for other in ("male", "female") for name in table.get(locale, {}).get(other, "").split()}
    if len(found) < (_UNISEX if unisex else _FEWEST):
        found |= set(table[_ELSEWHERE][kind].split())
    return tuple(sorted(found))


def _patterns(zips: str, country: str) -> tuple[str, ...]:
    """Postal codes: two words each in Canada, Britain and Ireland, one elsewhere."""
    words = zips.split()
    if country in ("CA", "GB", "IE"):
        return tuple(f"{a} {b}" for a, b in zip(words[::2], words[1::2], strict=True))
    return tuple(words)
