"""Towns and institutions that the shared finder leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.listed import lists
from incognote.detectors.rules.view import Candidate, View
from incognote.text.lexicon import commonness, fold, given, lexicon, surname

_TO = frozenset(("en", "desde", "hacia"))
_ARTICLES = (("en", "el"), ("al",), ("del",))
_LONGEST = 5


def find(view: View) -> Iterator[Candidate]:
    """Yield towns of several words, unknown places after a preposition, and institutions with a short name."""
    towns, table = lists("es").towns, lexicon("es")
    keys = [fold(word) for word in view.words]
    for i, word in enumerate(view.words):
        if not word[0].isupper():
            continue
        if n := _town(view, keys, i):
            yield Candidate(view.starts[i], view.ends[i + n - 1], towns[" ".join(keys[i : i + n])], 0.6, "places.town")
        entry = table.get(keys[i], 0)
        if not i or "\n" in view.gap(i) or len(word) < 4 or keys[i] in lists("es").never:
            continue
        unknown = not entry and word.isalpha() and word[1:].islower()
        if keys[i - 1] in _TO and unknown:
            end = _end(view, i)
            yield Candidate(view.starts[i], view.ends[end - 1], "CITY", 0.55, "places.unknown")
        elif _article(keys, i) and not commonness(entry) and surname(entry) >= 2 > given(entry):
            end = _end(view, i)
            yield Candidate(view.starts[i], view.ends[end - 1], "HOSPITAL", 0.55, "places.article")
    for i in range(len(view) - 1):
        word = view.words[i]
        short = word.isupper() and 3 <= len(word) <= 8 and not table.get(keys[i], 0)
        if short and view.words[i + 1][0].isupper() and view.gap(i + 1) == " " and keys[i + 1] in towns:
            yield Candidate(view.starts[i], view.ends[i + 1], "HOSPITAL", 0.6, "places.short")


def _town(view: View, keys: list[str], i: int) -> int:
    """Return the number of words of a town of two words or more at token i, 0 if there is none."""
    for n in range(min(_LONGEST, len(keys) - i), 1, -1):
        if " ".join(keys[i : i + n]) in lists("es").towns and view.words[i + n - 1][0].isupper():
            return n
    return 0


def _article(keys: list[str], i: int) -> bool:
    return any(tuple(keys[max(0, i - len(words)) : i]) == words for words in _ARTICLES)


def _end(view: View, i: int) -> int:
    """Return the index after the capitalized words from token i."""
    at = i + 1
    while at < len(view) and at - i < 4 and view.gap(at) == " " and view.words[at][0].isupper():
        entry = lexicon("es").get(fold(view.words[at]), 0)
        if commonness(entry) >= 2 or len(view.words[at]) < 3:
            break
        at += 1
    return at
