"""Finder of RACE, ETHNICITY, MARITAL_STATUS and PARENTHOOD: words of demographics.toml that describe a person."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from incognote.detectors.rules.view import TOKEN, Candidate, View, among
from incognote.languages import language

_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve several 1 2 3 4 5 6 7 8 9 10 11 12".split()
)
_RULES = {"RACE": "race", "ETHNICITY": "ethnicity", "MARITAL_STATUS": "marital-status", "PARENTHOOD": "parenthood"}
_RATIO = frozenset(("in", "every", "per", "of", "age", "aged", "than", "x"))
_LETTER_STATUS = frozenset("smdw")


class DemographicPhrase(NamedTuple):
    """The words of a phrase after its first ("{n}" a number), its type, and the context it needs ("" for none)."""

    rest: tuple[str, ...]
    type: str
    need: str


class DemographicPhrases(NamedTuple):
    """Phrases by first word, longest first; the possible words after it ("" for any); the words of contexts."""

    by_first: dict[str, tuple[DemographicPhrase, ...]]
    second: dict[str, frozenset[str]]
    person: frozenset[str]
    keys: frozenset[str]
    status_keys: frozenset[str]
    status_before: frozenset[str]


@lru_cache(maxsize=1)
def phrases() -> DemographicPhrases:
    """lexicon/demographics.toml, read once."""
    written = language("en").table("lexicon", "demographics.toml")
    by_first: dict[str, list[DemographicPhrase]] = {}
    for group in written["group"]:
        for words in group["words"]:
            first, *rest = TOKEN.findall(words.replace("{n}", "8"))
            by_first.setdefault(first, []).append(DemographicPhrase(tuple(rest), group["type"], group.get("need", "")))
    for number in _NUMBERS - {"8"}:
        by_first[number] = [*by_first.get(number, ()), *by_first["8"]]
    context = {name: frozenset(words) for name, words in written["context"].items()}
    ordered = {first: tuple(sorted(found, key=lambda p: (-len(p.rest), p.need))) for first, found in by_first.items()}
    second = {
        first: frozenset(
            word for phrase in found for word in (_NUMBERS if phrase.rest[:1] == ("8",) else phrase.rest[:1] or ("",))
        )
        for first, found in ordered.items()
    }
    return DemographicPhrases(ordered, second, **context)


def find(view: View) -> Iterator[Candidate]:
    """Candidates of the four types, none inside another. Only a policy that lists the types replaces them."""
    known = phrases()
    lowers, taken = view.lowers, 0
    for i in among(lowers, known.by_first):
        second = known.second[lowers[i]]
        if i < taken or not ("" in second or (i + 1 < len(lowers) and lowers[i + 1] in second)):
            continue
        for phrase in known.by_first[lowers[i]]:
            last = i + 1 + len(phrase.rest)
            if last > len(lowers) or not all(map(_same, lowers[i + 1 : last], phrase.rest)):
                continue
            if any(view.gap(k) not in (" ", "", "\n") for k in range(i + 1, last)) or not _meant(
                view, known, i, last, phrase
            ):
                continue
            yield Candidate(
                view.starts[i], view.ends[last - 1], phrase.type, 0.8, f"demographics.{_RULES[phrase.type]}"
            )
            taken = last
            break


def _same(word: str, pattern: str) -> bool:
    return word == pattern or (pattern == "8" and word in _NUMBERS)


def _meant(view: View, known: DemographicPhrases, i: int, last: int, phrase: DemographicPhrase) -> bool:
    """Whether the context that a phrase needs is present."""
    lowers = view.lowers
    before = [low for low in lowers[max(0, i - 4) : i] if low not in ("/", "-", ",")]
    if phrase.need == "person":
        if before[-2:] and (
            before[-1] in known.keys or (before[-1] in (":", "=", ")") and set(before[-3:]) & known.keys)
        ):
            return True
        after = [low for low in lowers[last : last + 3] if low not in ("/", "-", ",")]
        follows = after[:1] and after[0] in known.person and view.gap(last) in (" ", "-", "\n", "/")
        adjective = after[1:2] and after[1] in known.person and (lowers[last] == "," or after[0] in known.by_first)
        if len(view.text[view.starts[i] : view.ends[last - 1]]) <= 2:
            return False
        return bool(follows or adjective)
    if phrase.need == "status":
        keyed = bool(set(before[-3:]) & known.status_keys)
        if view.words[i].lower() in _LETTER_STATUS:
            return keyed and before[-1:] == [":"] and "marital" in lowers[max(0, i - 4) : i]
        if keyed:
            return True
        stops = (
            last >= len(lowers)
            or lowers[last] in (",", ".", ";", "and", "with", "from", "/", "for")
            or "\n" in view.gap(last)
        )
        return bool(set(before[-3:]) & known.status_before) and stops
    return not (phrase.type == "PARENTHOOD" and lowers[i] in _NUMBERS and before[-1:] and before[-1] in _RATIO)
