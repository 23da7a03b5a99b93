"""Occupations of patients and relatives, from the word lists in `work.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.lexicon import fold
from incognote.detectors.rules.view import Candidate, View
from incognote.languages import language

_SHORTEST = 3  # letters before a suffix


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(map(fold, language("de").table("rules", "work.toml").get(key, ())))


@cache
def _suffix() -> re.Pattern[str]:
    ends = sorted(_words("suffixes"), key=len, reverse=True)
    return re.compile(rf"[a-z-]{{{_SHORTEST},30}}(?:{'|'.join(map(re.escape, ends))})(?:s|n|en|in|innen)?\Z")


@cache
def _cue() -> re.Pattern[str]:
    cues = "|".join(language("de").table("rules", "work.toml")["cues"])
    word = r"[^\W\d_]{3,30}(?:-[^\W\d_]{2,20}){0,2}"
    more = r"(?:[ ](?:für[ ])?[A-ZÄÖÜ][a-zäöüß]{3,20}(?![^\W_]))?"
    return re.compile(rf"(?<![^\W_])(?i:{cues})[ \t:]{{1,12}}(?P<v>(?:[a-zäöü]{{4,16}}en?[ ](?=[A-ZÄÖÜ])|[A-ZÄÖÜ][a-zäöü]{{3,14}}en[ ](?=[A-ZÄÖÜ]))?{word}{more})")


def is_work(word: str) -> bool:
    """Whether a word names an occupation."""
    return _known(fold(word))


@cache
def _known(key: str) -> bool:
    if key in _words("never"):
        return False
    bare = key.removesuffix("innen").removesuffix("in")
    return bool({key, bare} & _words("plain")) or bool(_suffix().match(key))


def find(view: View) -> Iterator[Candidate]:
    """Yield occupations: after a cue any word, elsewhere the words of the lists."""
    for match in _cue().finditer(view.text):
        first = match["v"].split(" ")[0]
        if fold(first) not in _words("never") and fold(first) not in _words("not_after_cue"):
            yield Candidate(*match.span("v"), "OCCUPATION", 0.85, "work.cue")
    for i, word in enumerate(view.words):
        if len(word) > 4 and word[0].isupper() and _known(fold(word)):
            yield Candidate(view.starts[i], view.ends[i], "OCCUPATION", 0.7, "work.word")
