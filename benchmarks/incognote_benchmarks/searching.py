"""Search texts for identifiers, with any white space between their words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from incognote_benchmarks.unpacked import IGNORABLE

_LIGATURES = (
    ("ffi", "\ufb03|\ufb00i|f\ufb01"), ("ffl", "\ufb04|\ufb00l|f\ufb02"), ("ff", "\ufb00"), ("fi", "\ufb01"),
    ("fl", "\ufb02"),
)  # fmt: skip
_TYPED = {"'": "'\u2018\u2019", '"': '"\u201c\u201d', "-": "-\u2010\u2011\u2013"}
_BETWEEN = rf"[{IGNORABLE}]*(?:[-\u00ad\u2010]\s*\n\s*)?"


@cache
def pattern(words: str) -> re.Pattern[str]:
    """Return the pattern of an identifier, with any white space between its words. A short one must stand alone."""
    return _alone(words, r"\s+".join(map(re.escape, words.split())))


@cache
def loose_pattern(words: str) -> re.Pattern[str]:
    """Return `pattern` that also finds other ways to write the same words.

    These are invisible characters between letters, a hyphen at a line's end, ligatures, combining accents, and
    typographic quotes and hyphens.
    """
    return _alone(words, r"\s+".join(map(_loose, words.split())))


def _loose(word: str) -> str:
    letters = []
    for letter in word:
        typed = _TYPED.get(letter, letter)
        forms = dict.fromkeys((*typed, *(unicodedata.normalize(form, letter) for form in ("NFC", "NFD"))))
        letters.append("(?:" + "|".join(map(re.escape, forms)) + ")" if len(forms) > 1 else re.escape(letter))
    body = _BETWEEN.join(letters)
    for plain, ligature in _LIGATURES:
        together = "\0".join(plain)  # not split again by a shorter ligature
        body = body.replace(_BETWEEN.join(plain), f"(?:{ligature}|{together})")
    return body.replace("\0", _BETWEEN)


def _alone(words: str, body: str) -> re.Pattern[str]:
    return re.compile(body if sum(map(str.isalnum, words)) > 5 else rf"(?<![^\W_]){body}(?![^\W_])")


def left_in(texts: Iterable[str], identifiers: Iterable[str]) -> set[str]:
    """Return the identifiers that stand anywhere in texts."""
    whole = "\n".join(texts)
    likely = [words for words in identifiers if all(word in whole for word in words.split())]  # faster than patterns
    return {words for words in likely if pattern(words).search(whole)}
