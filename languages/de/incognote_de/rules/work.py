"""Occupations of patients and relatives, from the word lists in `work.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.listed import lists
from incognote.detectors.rules.view import Candidate, View, cases
from incognote.languages import language
from incognote.text.lexicon import commonness, fold, given, lexicon, surname

_EMPLOYER = re.compile(
    r"[,)]?[ ](?:bei|beim|bei der|bei den|in der|im|auf|an der|am|auf der|\()[ ]?(?:Fa\.[ ]|Firma[ ])?"
    r"(?P<v>[A-ZÄÖÜ][^\W\d_]{1,24}(?:-[A-ZÄÖÜ][^\W\d_]{1,20})?(?:[ ][A-ZÄÖÜ][^\W\d_]{1,20}){0,2})"
)
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
    first = r"(?:[a-zäöü]{4,16}en?[ ](?=[A-ZÄÖÜ])|[A-ZÄÖÜ][a-zäöü]{3,14}en[ ](?=[A-ZÄÖÜ]))?"  # an adjective
    return re.compile(rf"(?<![^\W_])(?i:{cues})[ \t:]{{1,12}}(?P<v>{first}{word}{more})")


def is_work(word: str) -> bool:
    """Whether a word names an occupation."""
    return _known(fold(word))


@cache
def _known(key: str) -> bool:
    if key in _words("never"):
        return False
    bare = key.removesuffix("innen").removesuffix("in")
    return bool({key, bare} & _words("plain")) or bool(_suffix().match(key))


def is_common(word: str) -> bool:
    """Whether a word is a usual word of the lexicon or has the ending of one."""
    entry = lexicon("de").get(fold(word), 0)
    return commonness(entry) >= 2 or (not entry and fold(word).endswith(lists("de").suffixes))


def _before_name(view: View, i: int) -> bool:
    """Whether a name or its title is at token i: the occupation is then a title."""
    if i >= len(view) or view.gap(i) != " " or not view.words[i][0].isalpha():
        return False
    entry = lexicon("de").get(fold(view.words[i]), 0)
    named = view.words[i][0].isupper() and max(given(entry), surname(entry)) >= 2
    return named or view.lowers[i] in ("frau", "herr", "herrn", "hr", "fr", "dr")


def find(view: View) -> Iterator[Candidate]:
    """Yield occupations: after a cue any word, elsewhere the words of the lists."""
    for match in _cue().finditer(view.text):
        first = match["v"].split(" ")[0]
        if fold(first) not in _words("never") and fold(first) not in _words("not_after_cue"):
            yield Candidate(*match.span("v"), "OCCUPATION", 0.85, "work.cue")
    upper, lower = cases(view.text)
    small = 60 * upper < lower  # dictated or typed without capitals
    for i, word in enumerate(view.words):
        if len(word) > 4 and (word[0].isupper() or small) and _known(fold(word)) and not _before_name(view, i + 1):
            yield Candidate(view.starts[i], view.ends[i], "OCCUPATION", 0.7, "work.word")
            employer = _EMPLOYER.match(view.text, view.ends[i])
            if employer and not is_common(employer["v"].split(" ")[0]):
                yield Candidate(*employer.span("v"), "ORGANIZATION", 0.75, "work.employer")
