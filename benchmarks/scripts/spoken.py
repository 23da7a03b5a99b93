"""Which languages' rules read pieces of 200 and of 40 characters of texts in five languages.

    python benchmarks/scripts/spoken.py --out docs/measured/spoken.json

The pieces are cut at white space, at most ten from a text, from the handwritten training texts of each language and the
English development notes (synthetic). The settings accept the language of the text. A piece counts as wrong if its
language does not read it, or if a language other than its own and English does. In an Arabic text, French may read it
too. Pieces in which fewer than half of the characters are letters are left out. So are pieces of an Arabic text with
fewer than half of the letters in Arabic script, which are lines in English.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from incognote.detectors.rules import RulesDetector
from incognote.evaluation.intervals import share
from incognote.nouns import Text
from incognote_training.corpus import marked

ROOT = Path(__file__).parents[2]
CODES = ("en", "ar", "de", "es", "fr")
ALLOWED = {code: {code, "en"} for code in CODES} | {"ar": {"ar", "en", "fr"}}


def texts(code: str) -> Iterator[str]:
    """Yield the texts of a language."""
    if code == "en":
        notes = (ROOT / "tests/data/notes.jsonl").read_text(encoding="utf-8").split("\n")
        yield from (json.loads(line)["text"] for line in notes if line)
        return
    for file in sorted((ROOT / "training/incognote_training/corpus/languages" / code).glob("*.txt")):
        yield from (note.text for note in marked.read(file))


def pieces(text: str, size: int, code: str) -> Iterator[str]:
    """Yield pieces of about `size` characters, cut at white space."""
    at = cut = 0
    while at + size <= len(text) and cut < 10:
        end = text.rfind(" ", at + size // 2, at + size)
        piece = text[at : end if end > 0 else at + size].strip()
        at += max(len(piece), 1) + 1
        letters = [c for c in piece if c.isalpha()]
        own = sum("\u0600" <= c <= "\u06ff" for c in letters) * 2 >= len(letters) if code == "ar" else True
        if 2 * len(letters) >= len(piece) > 0 and own:
            cut += 1
            yield piece


def main() -> None:
    """Measure and write."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("--out", type=Path, required=True)
    given = asked.parse_args()
    found: dict[str, dict[str, object]] = {}
    for code in CODES:
        rules = RulesDetector(languages=CODES, accepted=[code])
        for size in (200, 40):
            read: Counter[str] = Counter()
            wrong = n = 0
            for text in texts(code):
                for piece in pieces(text, size, code):
                    languages = rules.spoken(Text(piece))
                    n += 1
                    wrong += code not in languages or not languages <= ALLOWED[code]
                    read[" ".join(sorted(languages))] += 1
            found.setdefault(code, {})[str(size)] = {"wrong": share(wrong, n).as_dict(), "read_by": dict(read)}
            print(code, size, wrong, n, dict(read.most_common(5)), flush=True)  # noqa: T201 -- progress
    given.out.write_text(json.dumps({"synthetic": True, "pieces": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
