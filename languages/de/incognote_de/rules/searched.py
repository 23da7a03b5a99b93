"""Patterns of `searched.toml`, which are searched in the whole text because they begin with any word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from incognote.detectors.rules.listed import lists
from incognote.detectors.rules.patterns.context import expand
from incognote.detectors.rules.patterns.rule import shipped_macros
from incognote.detectors.rules.view import Candidate, View
from incognote.languages import language
from incognote.text.lexicon import KINDS, commonness, fold, given, lexicon, surname
from incognote_de.rules.work import is_work

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_WHOLE = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)*")
_HEAD = re.compile(
    r"(?i)(?:klinik(?:um|en)?|apotheke|krankenhaus(?:es)?|spital|hospiz|zentrum|heim|stift|[lb]kh|sanatorium|haus|amt|gericht"
    r"|verband|verein|werke?|schule|gymnasium|akademie|stiftung|kasse|bank|feuerwehr|dienst|verlag|museum|theater|universität"
    r"|gemeinde|betriebe|institut|ministerium|präsidium|inspektion|kita|garten|hort|fabrik|versicherung|anstalt|genossenschaft"
    r"|bau|bäckerei|metzgerei|brauerei|gärtnerei|kloster|pfarrei|orchester|chor|klub|club|club|treff|gruppe|hof|studio|labor"
    r"|pathologie|radiologie)\Z"
)
_COMPOUND = re.compile(r"(?i)(?:klinik(?:um|en)?|krankenhaus|spital|hospiz|apotheke|-haus)\Z")
_ADJECTIVES = ("isches", "ische", "ischen", "St", "Sankt")


@dataclass(frozen=True, slots=True)
class Search:
    """A pattern whose named groups are types.

    Attributes:
        proper: no word of a match may be a usual word or an occupation.
        named: "any" or "all" of the words must be names of the lexicon, or the "last" a given name.
        trim: the match is an institution. Usual words at its ends do not belong to it.
    """

    id: str
    pattern: re.Pattern[str]
    score: float
    proper: bool = False
    named: str = ""
    trim: bool = False


@cache
def searches() -> tuple[Search, ...]:
    """Return the patterns of `rules/searched.toml`."""
    macros = shipped_macros("de")
    return tuple(
        Search(**{**raw, "pattern": re.compile(expand(raw["pattern"], macros))})
        for raw in language("de").table("rules", "searched.toml")["search"]
    )


def find(view: View) -> Iterator[Candidate]:
    """Yield the matches of every pattern."""
    for search in searches():
        for match in search.pattern.finditer(view.text):
            for group, words in match.groupdict().items():
                if not words or (search.proper and is_usual(words)) or (search.named and not _named(words, search)):
                    continue
                start, end = match.span(group)
                if search.trim:
                    start, end = _trimmed(view.text, start, end)
                if start < end:
                    kind = group.rstrip("0123456789")
                    yield Candidate(start, end, kind, search.score, f"searched.{search.id}")


def _named(words: str, search: Search) -> bool:
    entries = [lexicon("de").get(fold(word), 0) for word in _WORD.findall(words)]
    if search.named == "last":
        return bool(entries) and given(entries[-1]) >= 3
    return (all if search.named == "all" else any)(max(given(entry), surname(entry)) >= 2 for entry in entries)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return an institution without usual words before its head and after its last proper word."""
    words = [(start + m.start(), start + m.end()) for m in _WHOLE.finditer(text[start:end])]
    proper = [n for n, (a, b) in enumerate(words) if _is_proper(text[a:b])]
    heads = [n for n, (a, b) in enumerate(words) if _HEAD.search(text[a:b])]
    if not proper or not heads or (len(words) == 1 and not _COMPOUND.search(text[start:end])):
        return start, start
    first = min(proper[0], heads[0])
    while first and text[slice(*words[first - 1])].endswith(_ADJECTIVES):
        first -= 1
    return words[first][0], words[max(proper[-1], heads[0])][1]


def _is_proper(word: str) -> bool:
    return word[0].isupper() and len(word) > 2 and (fold(word) in lists("de").towns or not is_usual(word))


def is_usual(words: str) -> bool:
    """Whether any word of a name is a usual word, a medical word or an occupation, and not a usual name."""
    return any(_usual(fold(word), word) for word in _WORD.findall(words) if len(word) > 1)


def _usual(key: str, word: str) -> bool:
    entry = lexicon("de").get(key, 0)
    if key in lists("de").never:
        return True
    weight = max(given(entry), surname(entry))
    if commonness(entry) >= 2 or entry & KINDS:
        return weight < 3 * commonness(entry) or not weight
    return not weight and (is_work(word) or any(key.endswith(end) and key != end for end in lists("de").suffixes))
