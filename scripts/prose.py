#!/usr/bin/env python3
"""Measure the sentence lengths of Markdown pages.

    python scripts/prose.py [PAGE ...]

Prints, for each page, the number of sentences, the median number of words, and the share of sentences over 25 words.
Only paragraphs and list items count. Code, tables, headings, quotes, front matter, and HTML are left out.
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path

LONG = 25
ROOT = Path(__file__).resolve().parents[1]


def sentences(markdown: str) -> list[list[str]]:
    """Return the words of each sentence of a page, in order. Words are separated by whitespace."""
    text = re.sub(r"\A---\n.*?\n---\n", "", markdown, flags=re.S)
    text = re.sub(r"^(\s*)(```|~~~).*?^\s*\2[ \t]*$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        for line in block.splitlines():
            bare = line.strip()
            if not bare or re.match(r"[#|><]|!!!|\?\?\?|===|\[!|\[[^]]+\]: ", bare):
                blocks.append("")
            elif re.match(r"([-*+]|\d+[.)])\s", bare):
                blocks.append(re.sub(r"^([-*+]|\d+[.)])\s+", "", bare))
            elif blocks and blocks[-1]:
                blocks[-1] += " " + bare
            else:
                blocks.append(bare)
        blocks.append("")
    result = []
    for block in blocks:
        plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", block)
        plain = re.sub(r"`+([^`]*)`+", lambda match: match[1].replace(" ", "_").replace(".", "·"), plain)
        plain = re.sub(r"\b(e\.g|i\.e|vs|Dr|Mr|Mrs|No|etc)\.", r"\1", plain.replace("**", "").replace("__", ""))
        for sentence in re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9·_])", plain):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > 2:
                result.append(words)
    return result


def measure(pages: list[Path]) -> tuple[int, float, float]:
    """Return, for all pages together, the number of sentences, the median words, and the share over `LONG` words."""
    counts = [len(words) for page in pages for words in sentences(page.read_text(encoding="utf-8"))]
    if not counts:
        return 0, 0.0, 0.0
    return len(counts), statistics.median(counts), sum(count > LONG for count in counts) / len(counts)


def main() -> None:
    """Print a line for each page and one for all pages."""
    pages = [Path(name) for name in sys.argv[1:]] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for group in [*([page] for page in pages), pages]:
        count, median, long = measure(group)
        name = str(group[0]) if len(group) == 1 else "all"
        sys.stdout.write(f"{name:60} {count:5} sentences, median {median:4.1f} words, {long:5.1%} over {LONG}\n")


if __name__ == "__main__":
    main()
