"""A stretch grown to the edges of its words, trimmed of what its identifier does not have, freed of masks."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence

Stretch = tuple[int, int]

_LONGEST_RUN = 64  # a longer run of letters is not one word (base64, a rule of x's): it is not grown into
# Scripts that put no space between words, or fasten particles to names (Hangul): a run of them is not one word.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1100, 0x11FF), (0x3040, 0x30FF), (0x3130, 0x318F),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip


def kind(c: str) -> str:
    """What a code point does in a word: "a" letter, "0" digit, "+" part of the one before it, "" none of a word."""
    if c.isascii():
        return "a" if c.isalpha() else "0" if c.isdigit() else ""
    if c.isdigit():
        return "0"
    if unicodedata.category(c)[0] == "M" or c in "\u200c\u200d\u00ad":
        return "+"
    if c.isalpha() and not any(low <= ord(c) <= high for low, high in _UNSPACED):
        return "a"
    return ""


def joined(text: str, at: int) -> bool:
    """Whether a word runs on over the gap before `at`: two letters, two digits, or a mark and what it stands on."""
    if not 0 < at < len(text):
        return False
    after = kind(text[at])
    if not after:
        return False
    before = at - 1
    while before > 0 and kind(text[before]) == "+" and at - before < _LONGEST_RUN:
        before -= 1
    return after == "+" or kind(text[before]) == after


def bounded(text: str, start: int, end: int) -> bool:
    """Whether a stretch begins and ends at edges of words."""
    return not joined(text, start) and not joined(text, end)


def snapped(text: str, start: int, end: int) -> Stretch:
    """A stretch grown to the edges of the runs of letters or of digits that it begins and ends in.

    Growth stops between a letter and a digit (65 of "65yo") and at an apostrophe (Long of "Long's").
    """
    left, right = start, end
    while joined(text, left) and start - left < _LONGEST_RUN:
        left -= 1
    while joined(text, right) and right - end < _LONGEST_RUN:
        right += 1
    return left, right


def completed(text: str, start: int, end: int) -> Stretch:
    """A stretch with what it wants before it: 3/4 for "/4", (555) 123 for "555) 123"."""
    if start > 0 and text[start] in "/-.‐‑–" and text[start - 1].isalnum():
        return start - 1, end
    return (start - 1, end) if _unopened(text, start, end) else (start, end)


def _unopened(text: str, start: int, end: int) -> bool:
    """Whether a stretch closes a parenthesis that opens right before it."""
    return start > 0 and text[start - 1] == "(" and text.count(")", start, end) > text.count("(", start, end)


def trimmed(text: str, start: int, end: int, words: str) -> Stretch:
    """A stretch without white space at its ends, and without punctuation there that the identifier's words lack."""
    own = words.strip()
    heads, tails = _edge(own), _edge(own[::-1])
    first, last = start, end
    while first < end and _loose(text[first]):
        first += 1
    while last > first and _loose(text[last - 1]):
        last -= 1
    while first > start and text[first - 1] in heads:
        first -= 1
    while last < end and text[last] in tails:
        last += 1
    if first > start and _unopened(text, first, last):
        first -= 1
    return first, last


def _edge(words: str) -> str:
    """The punctuation and white space a string begins with, in every kind of it that means the same."""
    found = ""
    for c in words:
        if not _loose(c):
            break
        found += " \t\r\n" if c.isspace() else c
    return found + "".join(kin for kin in ("'’‘", '"“”„', "-‐‑–—") if set(kin) & set(found))


def _loose(c: str) -> bool:
    """Whether a code point may be cut off an end: not a letter, a digit, or a mark on one."""
    return unicodedata.category(c)[0] in "PZCS" and c not in "\u200c\u200d"


def unmasked(start: int, end: int, masks: Sequence[Stretch]) -> Iterator[Stretch]:
    """The parts of a stretch that lie in no mask; `masks` is sorted and disjoint."""
    for low, high in masks[bisect_right(masks, start, key=lambda mask: mask[1]) :]:
        if low >= end:
            break
        if start < low:
            yield start, low
        start = max(start, high)
    if start < end:
        yield start, end
