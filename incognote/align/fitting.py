"""Choose among several places with the same words, by the text beside a number and by the words of a hint.

Example: "The patient is 76 years old and takes 76 mg of aspirin" (RedactOR, §A.4). The word lists are data of the
language: `words/fitting.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from incognote.align.matching import folded, similarity
from incognote.languages import language
from incognote.schemas.catalogue import catalogue

STRONG = 2.0
"""The evidence that decides for or against a type."""
EPONYM = 48
"""The number of characters after a name that `eponym` needs."""
_REACH = 24  # characters on each side of a number that are searched for evidence
_SHORT = 4  # with more letters and digits than this, including a digit, an identifier is unique
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_PIECE_BEFORE = re.compile(r"(?:\d[.,:/\-]|[^\W\d_]-)\Z")
_PIECE_AFTER = re.compile(r"[.,:/\-]\d|\s?%")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")


def parts(words: str) -> list[str]:
    """Return the runs of letters and the runs of digits in folded words."""
    return _PARTS.findall(words)


def numberlike(words: str) -> bool:
    """Whether folded words may be any number: at most four letters and digits, or a word such as "nineteen"."""
    letters = "".join(parts(words))
    if any(c.isdigit() for c in letters):
        return len(letters) <= _SHORT
    return letters in _words("spelled")


def ordinary(words: str) -> bool:
    """Whether folded words are too short or too common to always be a name: "may", "Li"."""
    pieces = parts(words)
    return len("".join(pieces)) < 3 or all(word in _words("ordinary") for word in pieces)


def echoes(rest: str) -> bool:
    """Whether folded text around masks is not an identifier itself: titles, "year old"."""
    return all(word in _words("echo") for word in parts(rest))


def evidence(text: str, start: int, end: int, type: str) -> float:
    """Rate the folded text beside a number: above 0 if it supports the type, below 0 if it suggests something else."""
    before, after = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    number = any(c.isdigit() for c in text[start:end])
    left = _side(before, type, "before", number)
    right = _side(after, type, "after", number)
    if number and (_PIECE_BEFORE.search(before) or _PIECE_AFTER.match(after)):
        left -= 1.0
    if number and left + right <= 0 and (before[-1:].isalpha() or after[:1].isalpha()):
        left -= 0.5  # 6 of "L6" or "6th"
    if _YEAR.match(text[start:end]) and "DATE" in _lineage(type):
        left += 1.0
    return left + right


def eponym(after: str) -> bool:
    """Whether the text after a name shows that it is a device, a disease, or a score: "Foley catheter"."""
    return bool(_eponyms().match(after.lower()))


def votes(text: str, start: int, end: int, left: Sequence[str], right: Sequence[str]) -> float:
    """Return how much of a hint is around a place in folded text, in 0..1.

    Words out of order or on the other side count less.

    Args:
        left, right: the parts of the hint before and after the identifier, in reading order.
    """
    reach = sum(map(len, (*left, *right))) + 4 * (len(left) + len(right)) + 24
    before = parts(text[max(0, start - reach) : start])[::-1][: len(left) + 5]
    after = parts(text[end : end + reach])[: len(right) + 5]
    won = total = 0.0
    for hint, here, there in ((left[::-1], before, after), (right, after, before)):
        for rank, word in enumerate(hint):
            weight = 1.0 if len(word) > 3 or word.isdigit() else 0.6
            total += weight
            if _same(word, here[rank : rank + 1]):
                won += weight
            elif _same(word, here):
                won += 0.7 * weight
            elif _same(word, there):
                won += 0.3 * weight
    return won / total if total else 0.0


def _same(word: str, others: Iterable[str]) -> bool:
    return any(word == other or (min(len(word), len(other)) > 3 and similarity(word, other) >= 0.7) for other in others)


def _side(beside: str, type: str, side: str, number: bool) -> float:
    """Return the evidence on one side of a number. The type's own words take precedence over measurement words."""
    for name in _lineage(type):
        strongly, weakly, never = (_pattern(name, f"{how}{side}") for how in ("strongly_", "", "never_"))
        if never and never.search(beside):
            return -STRONG
        if strongly and strongly.search(beside):
            return STRONG
        if weakly and weakly.search(beside):
            return 1.0
    measure = _pattern("", side) if number else None
    return -STRONG if measure and measure.search(beside) else 0.0


@cache
def _lineage(type: str) -> tuple[str, ...]:
    types = catalogue()
    return types.lineage(type) if type in types else (type,)


@cache
def _data() -> dict[str, Any]:
    return language().table("words", "fitting.toml")


@cache
def _eponyms() -> re.Pattern[str]:
    """Return the pattern of the text after a name that denotes a thing. Its words are those of the sweep."""
    listed = language().table("words", "sweep.toml")["eponyms"]
    between, always, bare = (
        "|".join(re.escape(word) for word in sorted(listed[key], key=len, reverse=True))
        for key in ("between", "always", "bare")
    )
    return re.compile(
        rf"(?:(?:['’]s?)?[ \t]+(?:(?:{between}) )?(?:{always})|[ \t]+(?:(?:{between}) )?(?:{bare}))(?![^\W_])"
    )


@cache
def _words(table: str) -> frozenset[str]:
    return frozenset(_data()[table]["words"])


@cache
def _pattern(type: str, key: str) -> re.Pattern[str] | None:
    """Return one list of words beside a number as a pattern, or None if there is no list.

    The type "" is the table of measurements.
    """
    table = _data()["type"].get(type, {}) if type else _data()["measure"]
    if key not in table:
        return None
    listed = sorted(table[key], key=lambda words: (-len(words), words))
    choice = "|".join(re.escape(folded(words)).replace(r"\ ", r"[\s\-]{1,2}") for words in listed)
    if key.endswith("before"):
        return re.compile(rf"(?<![^\W_])(?:{choice})[\s:.=#(~\-,/]{{0,3}}\Z")
    gap = r"[\s\-]{0,2}" if not type else r"[\s\-,/]{0,2}"
    return re.compile(rf"\A{gap}(?:{choice})(?![^\W_])")
