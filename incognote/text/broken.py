"""Months and kinds of streets that a blank breaks, with the digits beside them: "Octo ber 2 6, 20 23"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cache

from incognote.text.escapes import Edit

_MONTHS = "January February March April June July August September October November December".split()
_STREETS = "Street Avenue Circle Court Drive Lane Road Boulevard Terrace Parkway Crescent Square Highway".split()
_WORDS = frozenset("arch way race ace are cent quare".split())


def _ends(words: list[str]) -> frozenset[str]:
    """What may stand behind the break, in small letters: three letters or more."""
    return frozenset(word[i:] for word in words for i in range(1, len(word) - 2)) - _WORDS


_MONTH_ENDS, _STREET_ENDS = _ends(_MONTHS), _ends(_STREETS)
_ALL_ENDS = _MONTH_ENDS | _STREET_ENDS


def broken(text: str, said: Set[str]) -> Iterator[Edit]:
    """The edits that join broken months in dates, and broken kinds of streets behind the number of a house.

    Args:
        said: the words of the text, in small letters.
    """
    if _ALL_ENDS.isdisjoint(said):
        return
    if not _MONTH_ENDS.isdisjoint(said):
        for match in _date().finditer(text):
            yield from ((match.start(1) + i, match.start(1) + i + 1, "") for i, c in enumerate(match[1]) if c == " ")
            for part in (2, 3):
                at, digits = match.start(part), match[part] or ""
                yield from ((at + i, at + i + 1, "") for i, c in enumerate(digits) if c == " ")
    if not _STREET_ENDS.isdisjoint(said):
        for match in _street().finditer(text):
            blank = text.index(" ", match.start(1))
            yield blank, blank + 1, ""


def _pieces(words: list[str], ends: frozenset[str]) -> str:
    return "|".join(f"{w[:i]} {w[i:]}" for w in words for i in range(1, len(w) - 1) if w[i:] in ends)


@cache
def _date() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W_])({_pieces(_MONTHS, _MONTH_ENDS)})[ ]([0-3]?[ ]?\d)(?:st|nd|rd|th)?"
        r"(?:,?[ ](\d[ ]?\d[ ]?\d[ ]?\d))?(?!\w)"
    )


@cache
def _street() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w.,/])\d{1,5}[ ](?:[A-Z][\w'’-]{0,24}[ ](?:[a-z]{2,12}[ ])?){1,3}?"
        rf"({_pieces(_STREETS, _STREET_ENDS)})(?!\w)"
    )
