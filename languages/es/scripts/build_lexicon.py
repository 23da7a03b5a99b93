"""Builds incognote_es/lexicon from the lists in scripts/lists. The same lists give the same bytes.

    python languages/es/scripts/build_lexicon.py

A name that is also a word counts as a rare word, so that a title or a second name must confirm it. If the list
`blocked.txt` names it, it also loses weight.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from incognote.text.lexicon import fold

LISTS = Path(__file__).parent / "lists"
TARGET = Path(__file__).parents[1] / "incognote_es/lexicon"
HEAD = "# Made by languages/es/scripts/build_lexicon.py from lists that large language models wrote; see the NOTICE.\n"
_FIRM = 6  # a name of this weight stays usual although it is also a word


def lines(name: str) -> Iterator[list[str]]:
    for line in (LISTS / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def weighted(name: str) -> dict[str, int]:
    """Return folded word → the highest number at the beginning of its lines."""
    found: dict[str, int] = {}
    for number, *words in lines(name):
        for word in map(fold, words):
            found[word] = max(found.get(word, 0), int(number))
    return found


def unweighted(name: str) -> set[str]:
    return {fold(part) for words in lines(name) for word in words for part in (word, *word.split("-")) if len(part) > 1}


def tables() -> tuple[dict[str, tuple[int, int]], dict[str, int], set[str]]:
    """Return names with both weights, words with their commonness, and medical words."""
    given, surnames, words = weighted("given_names.txt"), weighted("surnames.txt"), weighted("usual_words.txt")
    blocked, medical, prose = unweighted("blocked.txt"), unweighted("medical.txt"), unweighted("prose_words.txt")
    for word in sorted(prose | medical):
        words.setdefault(word, 2)
    names: dict[str, tuple[int, int]] = {}
    for name in sorted(given.keys() | surnames.keys()):
        pair = given.get(name, 0), surnames.get(name, 0)
        common = words.get(name, 0)
        if common == 3:
            continue
        if common:
            limit = 5 if name not in medical else 4
            if name in blocked and max(pair) < _FIRM:
                limit = 1
            elif max(pair) < 4:
                limit = 2
            pair = min(pair[0], limit), min(pair[1], limit)
            words[name] = 2 if limit == 1 else 1
        names[name] = pair
    return names, words, medical - set(names)


def write(name: str, groups: dict[str, list[str]]) -> None:
    body = "".join(f"{key} {' '.join(sorted(words))}\n" for key, words in sorted(groups.items()) if words)
    (TARGET / name).write_bytes(gzip.compress((HEAD + body).encode("utf-8"), compresslevel=9, mtime=0))


def main() -> None:
    names, words, medical = tables()
    by_weight: dict[str, list[str]] = defaultdict(list)
    by_use: dict[str, list[str]] = defaultdict(list)
    for name, (g, s) in names.items():
        by_weight[f"{g}{s}"].append(name)
    for word, common in words.items():
        by_use[str(common)].append(word)
    write("names.txt.gz", by_weight)
    write("words.txt.gz", by_use)
    write("medical.txt.gz", {"1": sorted(medical)})
    print(len(names), "names", len(words), "words", len(medical), "medical words")  # noqa: T201 - a build script


if __name__ == "__main__":
    main()
