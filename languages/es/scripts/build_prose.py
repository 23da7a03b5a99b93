"""Builds lists/prose_words.txt: the unmarked words of annotated texts, which are words and not names.

    python languages/es/scripts/build_prose.py TEXT.txt … CASES.jsonl …

A .txt file has the project's marks, and a .jsonl file has the fields `text` and `spans`. A word that occurs in small
letters is a word. A word that occurs only with a capital is taken if it never occurs in a mark.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from incognote.text.lexicon import fold

TARGET = Path(__file__).parent / "lists/prose_words.txt"
HEAD = """\
# Words of clinical prose outside names: from the project's training texts (written by large language models) and from
# the training cases of MEDDOCAN (SPACCC, CC BY 4.0). Made by languages/es/scripts/build_prose.py.
"""
_WORD = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"⟦[A-Z_]+:([^⟧]*)⟧")


def parts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the unmarked and the marked words of each text."""
    if path.suffix == ".txt":
        for text in re.split(r"^=== .*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            yield _MARK.sub(" ", text), " ".join(_MARK.findall(text))
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        rest, marked, at = [], [], 0
        for span in sorted(case["spans"], key=lambda s: int(s["start"])):
            rest.append(case["text"][at : span["start"]])
            marked.append(case["text"][span["start"] : span["end"]])
            at = span["end"]
        yield " ".join([*rest, case["text"][at:]]), " ".join(marked)


def collect(paths: Iterable[Path]) -> list[str]:
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    names: set[str] = set()
    for path in paths:
        for rest, marked in parts(path):
            for word in _WORD.findall(rest):
                (small if word[0].islower() else large)[fold(word)] += 1
            names.update(fold(word) for word in _WORD.findall(marked) if word[0].isupper())
    words = {word for word in small if len(word) > 1}
    words |= {word for word in large if word not in names and len(word) > 1}
    return sorted(words)


def main() -> None:
    words = collect(map(Path, sys.argv[1:]))
    lines = [" ".join(words[i : i + 14]) for i in range(0, len(words), 14)]
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
