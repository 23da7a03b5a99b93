"""The pools that surrogates are drawn from.

    pools().people["es"].surname
    pools().towns["US", "California"]

Each surrogate carries the version of the pools that it was drawn from. A keyed draw without an index depends on the
data, so raise `VERSION` when a release changes the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, NamedTuple

from incognote.languages import language
from incognote.relex.pools.people import Culture, cultures
from incognote.text.lexicon import fold

VERSION = "5"


class Town(NamedTuple):
    """A town with its region, postal codes and telephone area codes, which match each other.

    `zips` are patterns: `#` is a digit, `@` a letter. US codes are written out.
    """

    name: str
    country: str
    region: str
    zips: tuple[str, ...]
    areas: tuple[str, ...]
    county: str = ""


class Pools:
    """The pools. No list has duplicates."""

    version = VERSION

    @cached_property
    def people(self) -> Mapping[str, Culture]:
        """Culture → its names."""
        return cultures(self.data("people"), self.data("nicknames"))

    @cached_property
    def towns(self) -> Mapping[tuple[str, str], tuple[Town, ...]]:
        """(country, region) → its towns."""
        found: dict[tuple[str, str], list[Town]] = {}
        for region in self.data("us").values():
            for line in region["towns"]:
                name, zips, areas, county = line.split("|")
                town = Town(name, "US", region["name"], tuple(zips.split()), tuple(areas.split()), county)
                found.setdefault(("US", region["name"]), []).append(town)
        for country, listed in self.data("world").items():
            for line in listed.get("towns", ()):
                name, where, zips, areas = line.split("|")
                town = Town(name, country, where, _patterns(zips, country), tuple(areas.split()))
                found.setdefault((country, where), []).append(town)
        return {key: tuple(sorted(towns)) for key, towns in sorted(found.items())}

    @cached_property
    def regions(self) -> Mapping[str, tuple[tuple[str, str, str], ...]]:
        """A region's name or short form, folded → (country, name, short form or "") of each region called so."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        shorts = [("US", code, table["name"]) for code, table in self.data("us").items()]
        shorts += [
            (country, code, name) for country, t in self.data("world")["short"].items() for code, name in t.items()
        ]
        for country, code, name in shorts:
            for form in (name, code, *self.data("world")["old"].get(code, "").split() * (country == "US")):
                found.setdefault(fold(form), []).append((country, name, code))
        for country, name in self.towns:
            if fold(name) not in found and country in self.data("world")["written"]["countries"].split():
                found[fold(name)] = [(country, name, "")]
        return {form: tuple(regions) for form, regions in found.items()}

    def region(self, words: str, country: str = "") -> tuple[str, str, str] | None:
        """(country, name, short form or "") of a region's name or short form; None if it is none.

        If two countries have one, the given country counts, or else the United States.
        """
        form = fold(words).strip(" .")
        found = self.regions.get(form) or self.regions.get(form.replace(".", "").replace(" ", ""), ())
        return next((region for region in found if region[0] == country), found[0] if found else None)

    def is_old_form(self, word: str) -> bool:
        """Return True for a traditional short form of a US state: Tex, Calif."""
        return any(fold(word) == fold(old) for forms in self.data("world")["old"].values() for old in forms.split())

    def country(self, words: str) -> str:
        """The code of a country's name; "" if it is none."""
        return self._countries.get(fold(words).replace(".", "").strip(), "")

    @cached_property
    def _countries(self) -> Mapping[str, str]:
        names = self.data("world")["names"].items()
        return {fold(name).replace(".", ""): code for code, listed in names for name in listed.split(";")}

    @cached_property
    def home_of(self) -> Mapping[str, tuple[str, str]]:
        """A town's name, folded → (country, region), if only one town of the pool has that name."""
        found: dict[str, set[tuple[str, str]]] = {}
        for home, towns in self.towns.items():
            for town in towns:
                found.setdefault(fold(town.name), set()).add(home)
        return {name: next(iter(homes)) for name, homes in found.items() if len(homes) == 1}

    @cached_property
    def home_of_area(self) -> Mapping[str, tuple[str, str]]:
        """A North American area code → (country, region)."""
        found = {area: ("US", t["name"]) for t in self.data("us").values() for area in t["areas"].split()}
        for country, regions in self.data("world")["areas"].items():
            found |= {area: (country, name) for name, areas in regions.items() for area in areas.split()}
        return found

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


def _patterns(zips: str, country: str) -> tuple[str, ...]:
    """Postal codes: two words each in some countries, one elsewhere."""
    words = zips.split()
    if country in ("CA", "GB", "IE", "NL", "SE", "CZ", "SK", "GR", "SO"):
        return tuple(f"{a} {b}" for a, b in zip(words[::2], words[1::2], strict=True))
    return tuple(words)
