"""Patterns of `searched.toml`, which are searched in the whole text because they begin with any word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from incognote.detectors.rules.lexicon import commonness, fold, given, lexicon, surname
from incognote.detectors.rules.listed import lists
from incognote.detectors.rules.patterns.context import expand
from incognote.detectors.rules.patterns.rule import shipped_macros
from incognote.detectors.rules.view import Candidate, View
from incognote.languages import language
from incognote_de.rules.work import is_work

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MEDICAL = ~((1 << 8) - 1)


@dataclass(frozen=True, slots=True)
class Search:
    """A pattern whose named groups are types. With `proper`, no word of a match may be a usual word or occupation."""

    id: str
    pattern: re.Pattern[str]
    score: float
    proper: bool


@cache
def searches() -> tuple[Search, ...]:
    """Return the patterns of `rules/searched.toml`."""
    macros = shipped_macros("de")
    return tuple(
        Search(raw["id"], re.compile(expand(raw["pattern"], macros)), raw["score"], raw.get("proper", False))
        for raw in language("de").table("rules", "searched.toml")["search"]
    )


def find(view: View) -> Iterator[Candidate]:
    """Yield the matches of every pattern."""
    for search in searches():
        for match in search.pattern.finditer(view.text):
            for group, words in match.groupdict().items():
                if words and not (search.proper and is_usual(words)):
                    start, end = match.span(group)
                    kind = group.rstrip("0123456789")
                    yield Candidate(start, end, kind, search.score, f"searched.{search.id}")


def is_usual(words: str) -> bool:
    """Whether any word of a name is a usual word, a medical word or an occupation, and not a usual name."""
    return any(_usual(fold(word), word) for word in _WORD.findall(words))


def _usual(key: str, word: str) -> bool:
    entry = lexicon("de").get(key, 0)
    if key in lists("de").never:
        return True
    weight = max(given(entry), surname(entry))
    if commonness(entry) >= 2 or entry & _MEDICAL:
        return weight < 3 * commonness(entry) or not weight
    return not weight and (is_work(word) or any(key.endswith(end) and key != end for end in lists("de").suffixes))
