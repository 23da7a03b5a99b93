"""Holidays by the names of `words/holidays.toml`. Nobody and no place is called Mardi Gras after "on"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.view import Candidate, View
from incognote.text.lexicon import PLACE, commonness, fold, given, lexicon, surname
from incognote_en.dates.feasts import feasts, holiday

_MOST = 5  # words
_FREQUENT = 6  # the lexicon's weight of a frequent surname
_CUE = re.compile(
    r"(?i)\b(?:on|since|over|before|after|until|till|during|through|thru|around|by|for|lmp:?|last|this|next|every|celebrat\w+|observ\w+)"
    r"(?:\s+the)?\s+\Z"
)
_DAY_BESIDE = re.compile(r"(?i)\b(?:day|eve|night|morning|week|weekend)s? (?:after|before|of)(?: the)? \Z")
_NOT_AFTER = re.compile(
    r"(?i)[ ](?:disease|trees?|island|hospital|memorial|clinic|cent(?:er|re)|church|parish|school|university|street|"
    r"st\b|avenue|ave\b|road|rd\b)|['’]s [A-Z]"
)
_TIME = re.compile(r"(?i)\b(?:days?|d[ií]a|night|eve|gras|year['’]?s?|week|festival|mayo|muertos|friday|wednesday)\b")
_BEFORE = re.compile(r"(?:(?i:(?:the )?day (?:after|before) (?:the )?)|\b[A-Z][a-z]+(?:[ai]an|can|ish|ese|dox) )\Z")
_UNIT = re.compile(r"(?i)['’]?s? (?:weekend|week|morning|evening|afternoon|night|nite)\b")
_HAPPY = re.compile(r"(?i)\b(?:happy|merry|dr\.?|mrs?\.?|ms\.?|rn)\s+\Z")


def find(view: View) -> Iterator[Candidate]:
    """Candidates for holidays that are written with a capital, the longest at each place."""
    end, firsts = 0, first_words()
    for i in view.capitals:
        if view.starts[i] < end or fold(view.words[i].partition("'")[0].partition("’")[0]) not in firsts:
            continue
        for last in range(min(i + 2 * _MOST, len(view)), i, -1):
            words = view.text[view.starts[i] : view.ends[last - 1]]
            if "\n" not in words and is_holiday(view.text, view.starts[i], view.ends[last - 1]):
                start, end = _with_neighbors(view.text, view.starts[i], view.ends[last - 1])
                yield Candidate(start, end, "DATE", 0.85, "holidays.named")
                break


def _with_neighbors(text: str, start: int, end: int) -> tuple[int, int]:
    """Add the words that belong to the day: "the day after", "Mexican", "weekend"."""
    before = _BEFORE.search(text, max(0, start - 24), start)
    after = _UNIT.match(text, end)
    return before.start() if before else start, after.end() if after else end


def is_holiday(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a text is the name of a holiday. A name that is also a person's or place's needs a cue."""
    words = text[start:end]
    if len(words) > 60 or not words[-1:].isalnum() or holiday(words) is None or _NOT_AFTER.match(text, end):
        return False
    before = text[max(0, start - 24) : start]
    if _HAPPY.search(before):
        return False
    entries = [lexicon().get(fold(word), 0) for word in re.findall(r"[^\W\d_]+", words)]
    if any(surname(entry) >= _FREQUENT for entry in entries) and len(entries) == 1:  # "the weekend after Reyes"
        return _DAY_BESIDE.search(before) is not None and text[end : end + 1] in ".,;)\n"
    ordinary = len(entries) == 1 and (len(words) < 4 or commonness(entries[0]) > 0)
    named = any(entry & PLACE or max(given(entry), surname(entry)) >= 2 for entry in entries)
    doubtful = words[0].islower() or ordinary or (named and _TIME.search(words) is None)
    return not doubtful or _CUE.search(before) is not None


@cache
def first_words() -> frozenset[str]:
    """The first words of the names, also without a plural s (Mother's Day)."""
    words = {name.split()[0] for name in feasts()}
    return frozenset(words | {word.removesuffix("s") for word in words})
