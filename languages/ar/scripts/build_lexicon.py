"""Write the lexicon of the Arabic package from the plain lists in `lists/`.

    python languages/ar/scripts/build_lexicon.py

Arabic writes the article, conjunctions, and prepositions together with the word. rules/words.py removes them, so the
lists have only the words themselves. The result is the same in every run.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from incognote.text.lexicon import fold

LISTS = Path(__file__).parent / "lists"
GAZETTEER = Path(__file__).parents[1] / "incognote_ar" / "gazetteer"
TARGET = Path(__file__).parents[1] / "incognote_ar" / "lexicon"
SOURCE = "# Written by large language models for incognote. Built by scripts/build_lexicon.py from scripts/lists."
_DIVINE = """
الرحمن الرحيم الله العزيز الكريم المجيد القادر السلام الحميد الحليم الحكيم العليم
اللطيف الغني الغفار الغفور الستار الجبار الوهاب الرزاق الفتاح الباسط الواحد الاحد
الصمد الناصر النصير النور الهادي البديع الباقي الوارث الرشيد الصبور الملك القدوس
المؤمن المهيمن الخالق البارئ القهار السميع البصير العدل الخبير العظيم الشكور العلي
الكبير الحفيظ الحسيب الجليل الرقيب المجيب الواسع الودود الحق الوكيل القوي المتين
الولي المحسن المنعم المعطي المعز المحيي الحي القيوم الماجد المقتدر الاول الظاهر
المتعال التواب العفو الرؤوف الجواد النبي الرسول الحسين الامير الزهرة الزهره الرضا
المهدي علي ربه المسيح الملاك الشهيد الكافي المطلب الدايم الدائم الراضي الخضر
الاله الله المقصود الموجود العال العاطي الجليل اللاه القوي الباري السيد المولى
المغيث الشافي السلامي المحمود الفضيل
""".split()


def rows(name: str) -> Iterator[str]:
    """Yield the lines of a list without comments."""
    for line in (LISTS / name).read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def forms(word: str) -> Iterator[str]:
    """Yield a name folded, with its parts if it is written with a space."""
    parts = word.replace("\u200c", " ").split()
    yield fold("".join(parts))
    if len(parts) > 1:
        yield fold(parts[-1])


def names() -> tuple[dict[str, int], dict[str, int]]:
    """Return the weights of given names and of surnames."""
    given: dict[str, int] = defaultdict(int)
    family: dict[str, int] = defaultdict(int)
    for row in rows("given.txt"):
        weight, *words = row.split()
        for form in (form for word in words for form in forms(word)):
            given[form] = max(given[form], int(weight))
            family[form] = max(family[form], int(weight) - 1)
    for divine in map(fold, _DIVINE):
        given["عبد" + divine] = max(given["عبد" + divine], 5)
        family["عبد" + divine] = 4
        given[divine] = max(given[divine], 2 if divine.startswith("ال") else 0)
    for word in ("عبد", "امه"):
        given[fold(word)] = 3
    for row in rows("surnames.txt"):
        head, *words = row.split()
        for form in (form for word in words for form in forms(word)):
            weight = int(head.lstrip("+"))
            if head.startswith("+") and not form.startswith("ال"):
                family["ال" + form] = max(family["ال" + form], weight)
                weight = max(weight - 2, 1)
            family[form] = max(family[form], weight)
    return given, family


def words(given: dict[str, int], family: dict[str, int]) -> dict[str, int]:
    """Return how common each word is, from 1 to 3. A word that is also a usual name never has more than 1."""
    common: dict[str, int] = {}
    listed: set[str] = set()
    for row in rows("verbs.txt"):
        kind, *stems = row.split()
        listed |= {fold(stem if kind == "past" else "ي" + stem) for stem in stems}
    for row in rows("nouns.txt"):
        listed |= {form for word in row.split() for form in (fold(word), "ال" + fold(word))}
    common.update(dict.fromkeys(listed, 2))
    function: set[str] = set()
    seen = [fold(word) for row in rows("seen.txt") for word in row.split()]
    places = {line for file in GAZETTEER.glob("*.txt") for line in file.read_text(encoding="utf-8").split("\n")}
    common.update(dict.fromkeys([word for word in seen if word not in places], 2))
    for row in rows("function.txt"):
        for word in (fold(word) for part in row.split() for word in part.split("\u200c")):
            common[word] = 3
            function.add(word)
    listed |= function
    ambiguous = {fold(word) for row in rows("ambiguous.txt") for word in row.split()}
    for word in ambiguous:
        common[word] = 1
    for word in [word for word in common if word in given or word in family]:
        weight = max(given.get(word, 0), family.get(word, 0))
        if word in ambiguous or (weight >= 4 and word not in listed) or (weight >= 5 and word not in function):
            common[word] = 1
        else:
            given.pop(word, None)
            family.pop(word, None)
    return common


def write(name: str, lines: list[str]) -> None:
    """Write a list so that its bytes depend only on its content."""
    text = "\n".join([SOURCE, *lines]) + "\n"
    with (TARGET / name).open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(text.encode("utf-8"))


def main() -> None:
    """Write the three lists."""
    TARGET.mkdir(exist_ok=True)
    given, family = names()
    common = words(given, family)
    by_weight: dict[str, list[str]] = defaultdict(list)
    for name in {*given, *family}:
        if re.fullmatch(r"[^\W\d_]{2,}", name) and (given.get(name) or family.get(name)):
            by_weight[f"{given.get(name, 0)}{family.get(name, 0)}"].append(name)
    write("names.txt.gz", [f"{key} {' '.join(sorted(by_weight[key]))}" for key in sorted(by_weight, reverse=True)])
    usual: dict[int, list[str]] = defaultdict(list)
    for word, weight in common.items():
        usual[weight].append(word)
    write("words.txt.gz", [f"{key} {' '.join(sorted(usual[key]))}" for key in sorted(usual, reverse=True)])
    medical = {fold(word) for row in rows("medical.txt") for word in row.split()}
    medical = {before + word for word in medical for before in ("", "ال", "و", "ب", "لل", "وال", "بال", "ل")}
    write("medical.txt.gz", ["1 " + " ".join(sorted(medical))])


if __name__ == "__main__":
    main()
