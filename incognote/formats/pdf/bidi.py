"""Words from right to left: the order in which the characters of a line are read (after Unicode Standard Annex 9)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import groupby


def is_rtl(character: str) -> bool:
    """Whether a character belongs to words from right to left."""
    return unicodedata.bidirectional(character) in ("R", "AL")


def logical(shown: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield characters of a line with words from right to left in the order in which they are read."""
    kinds = []
    for character, _ in shown:
        kind = unicodedata.bidirectional(character)
        kinds.append("L" if kind in ("L", "EN", "AN") else "R" if kind in ("R", "AL", "NSM") else "N")
    for i, (character, _) in enumerate(shown):  # Unicode's rule W2: hyphens of a number after Arabic words
        if character in "+-" and kinds[max(i - 1, 0)] == kinds[min(i + 1, len(kinds) - 1)] == "L":
            kinds[i] = "L" if _has_letters(shown, kinds, i) else "R"
    for i, (character, _) in enumerate(shown):  # a bracket belongs to the word in it
        beside = kinds[i + 1 : i + 2] if character in "([{" else kinds[max(i - 1, 0) : i] if character in ")]}" else []
        if beside == ["L"]:
            kinds[i] = "L"
    for i, kind in enumerate(kinds):  # signs between words or digits of one direction belong to them
        if kind == "N":
            before = next((k for k in reversed(kinds[:i]) if k != "N"), "R")
            after = next((k for k in kinds[i:] if k != "N"), "R")
            between = (shown[i - 1][0] if i else "", "".join(c for c, _ in shown[i : i + 2]).strip())
            kinds[i] = "L" if before == after == "L" and between != ("]", "[") else "R"
    groups = [(kind, [each for each, _ in group])
              for kind, group in groupby(zip(shown, kinds, strict=True), key=lambda pair: pair[1])]  # fmt: skip
    for kind, group in reversed(groups):
        yield from group if kind == "L" else _whole_glyphs_reversed(group)


def _has_letters(shown: list[tuple[str, int]], kinds: list[str], at: int) -> bool:
    """Whether the word from left to right around a position has letters, and not only digits."""
    start = next((i + 1 for i in range(at, -1, -1) if kinds[i] == "R"), 0)
    end = next((i for i in range(at, len(kinds)) if kinds[i] == "R"), len(kinds))
    return any(character.isalpha() for character, _ in shown[start:end])


def _whole_glyphs_reversed(group: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    pieces = [list(piece) for _, piece in groupby(group, key=lambda each: each[1] if each[1] >= 0 else id(each))]
    for piece in reversed(pieces):
        yield from piece
