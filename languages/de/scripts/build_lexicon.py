"""Write the German lexicon (`lexicon/*.txt.gz`) from the lists in `lists/` and the unmarked words of training texts.

Run from a checkout: `python languages/de/scripts/build_lexicon.py`. The output depends only on these files.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from pathlib import Path

from incognote.text.lexicon import fold

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
OUT = HERE.parent / "incognote_de" / "lexicon"
TEXTS = ROOT / "training" / "incognote_training" / "corpus" / "languages" / "de"
KEPT_ASIDE = ("ps.txt", "nw.txt", "rx.txt")  # the words of these files are not used, so that they can measure
ENDINGS = ("", "s", "es", "n", "en", "e", "er", "ern")
SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
MARK = re.compile(r"⟦[A-Z_]+:[^⟧]*⟧s?")


def entries(name: str) -> list[tuple[int, list[str]]]:
    """Return the lines of a list: class or weight, and words."""
    lines = [line for line in (HERE / "lists" / name).read_text(encoding="utf-8").split("\n") if line]
    return [(int(line[0]), line[2:].split()) for line in lines if line[0].isdecimal()]


def spellings(word: str) -> set[str]:
    """Return a word folded, also with ae, oe and ue for umlauts."""
    return {fold(word), fold(word.translate(SPELLED))}


def weights(name: str) -> dict[str, int]:
    """Return the weights of names. A name in the last class is also a word and keeps the lowest weight."""
    found: dict[str, int] = {}
    for weight, names in entries(name):
        for each in names:
            for key in spellings(each):
                found[key] = (
                    min(found.get(key, 9), weight)
                    if weight == 1 and name == "given.txt"
                    else max(found.get(key, 0), weight)
                )
    return found


def training() -> set[str]:
    """Return the words outside the marks of the training texts, except capitalized words that occur once."""
    counts: dict[str, int] = defaultdict(int)
    small: set[str] = set()
    for file in sorted(TEXTS.glob("*.txt")):
        if file.name in KEPT_ASIDE:
            continue
        for line in MARK.sub(" ", file.read_text(encoding="utf-8")).split("\n"):
            if not line.startswith("==="):
                for word in WORD.findall(line):
                    counts[fold(word)] += 1
                    if not word[0].isupper():
                        small.add(fold(word))
    return {word for word, count in counts.items() if len(word) > 2 and (count > 1 or word in small)}


def words(names: dict[str, int]) -> dict[str, int]:
    """Return how common each word is."""
    found: dict[str, int] = {}
    for common, listed in entries("words.txt"):
        for word in listed:
            for key in spellings(word):
                found[key] = max(found.get(key, 0), common)
    nouns = (HERE / "lists" / "nouns.txt").read_text(encoding="utf-8").split("\n")
    for noun in " ".join(line for line in nouns if not line.startswith("#")).split():
        for ending in ENDINGS:
            for key in spellings(noun + ending):
                if not ending or key not in names:
                    found.setdefault(key, 2)
    for word in training():
        if names.get(word, 0) < 2:
            found.setdefault(word, 2)
    for word in medical():
        found.setdefault(word, 2)
    return found


def medical() -> set[str]:
    """Return the medical words."""
    lines = (HERE / "lists" / "medical.txt").read_text(encoding="utf-8").split("\n")
    listed = " ".join(line for line in lines if not line.startswith("#")).split()
    return {key for word in listed for key in spellings(word)}


def write(name: str, lines: list[str]) -> None:
    """Write a compressed file that is the same in every run."""
    text = "# Written by scripts/build_lexicon.py. Large language models wrote the lists.\n" + "\n".join(lines) + "\n"
    (OUT / name).write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Write the three files."""
    given, surname = weights("given.txt"), weights("surnames.txt")
    by_weight: dict[str, list[str]] = defaultdict(list)
    for key in sorted(given.keys() | surname.keys()):
        by_weight[f"{given.get(key, 0)}{surname.get(key, 0)}"].append(key)
    write("names.txt.gz", [f"{weight} {' '.join(keys)}" for weight, keys in sorted(by_weight.items())])
    common: dict[int, list[str]] = defaultdict(list)
    names = {key: max(given.get(key, 0), surname.get(key, 0)) for key in given.keys() | surname.keys()}
    for key, value in sorted(words(names).items()):
        common[value].append(key)
    write("words.txt.gz", [f"{value} {' '.join(keys)}" for value, keys in sorted(common.items())])
    write("medical.txt.gz", [f"1 {' '.join(sorted(medical()))}"])


if __name__ == "__main__":
    main()
