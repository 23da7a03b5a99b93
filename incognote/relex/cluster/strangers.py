"""Signs beside a name that it is not the patient's, although it may be written like the patient's name."""

from __future__ import annotations

import re
from functools import cache

from incognote.relex.cluster.grouping import cluster_data
from incognote.relex.cluster.values import date_of
from incognote.relex.names.parsed import data, key

_QUOTES = "\"'“”‘’"
_AGE = re.compile(r"[\s\"”’)]*,?\s*[(,]?\s*(?:age[d:]?\s*)?(\d{1,3})\s?(?=[,)]|y|[MFmf]\b)")
_BORN = re.compile(
    r"\b(?:DOB|D\.O\.B\.|born|birth ?date|date of birth)\b[\s:]*([\w./-]+(?:\s\w+)?(?:,?\s\d{4})?)", re.I
)
_NUMBER = re.compile(r"\b(?:MRN|MR#|URN|UR|record (?:no|number))\b[\s:#.]*0*(\d{4,})", re.I)
_END = re.compile(r"\n|[.;]\s")


def facts_beside(behind: str) -> str:
    """The age, birth date, and record number directly after a name, as in `Hints.facts`."""
    line = _END.split(behind)[0]
    age, born, number = _AGE.match(line), _BORN.search(line), _NUMBER.search(line)
    day = date_of(born.group(1)) if born else ()
    known = {
        "age": age.group(1) if age else "",
        "born": "-".join(day[1:]) if day[:1] == ("day",) and day[1] else "",
        "number": number.group(1) if number else "",
    }
    return " ".join(f"{kind}={value}" for kind, value in known.items() if value)


def facts(said: str) -> dict[str, str]:
    """Read `Hints.facts`."""
    return dict(fact.split("=", 1) for fact in said.split())


def contradict(a: str, b: str) -> bool:
    """Return True if the facts beside two names in one record cannot both be one person's.

    A birth date decides. Without two, record numbers of equal length decide, and then ages.
    """
    mine, theirs = facts(a), facts(b)
    if {"born"} <= mine.keys() & theirs.keys() and differs(a, b):
        return True
    numbers = mine.get("number", ""), theirs.get("number", "")
    if all(numbers):
        return numbers[0] != numbers[1] and len(numbers[0]) == len(numbers[1])
    if {"age"} <= mine.keys() & theirs.keys():
        return abs(int(mine["age"]) - int(theirs["age"])) > _AGES
    return False


_AGES = 2  # years by which two statements of one age may differ in one record


def differs(a: str, b: str) -> bool:
    """Return True for two birth dates that differ in the year and in the day or month. One of these may be a slip."""
    mine, theirs = (facts(said).get("born", "").split("-") for said in (a, b))
    return len(mine) == len(theirs) == 3 and mine[0] != theirs[0] and mine[1:] != theirs[1:]


def is_stranger(before: str, behind: str) -> bool:
    """Return True if words directly before or after a name give it to somebody other than the patient."""
    head = before.rstrip(_QUOTES + "([")
    return bool(_behind().match(behind) or _before().search(head if head[-1:].isspace() else f"{head} "))


def is_another(before: str) -> bool:
    """Return True if the text says this is another person with the name.

    "The other daughter" does not: she has her own name.
    """
    match = _another().search(before)
    if match is None:
        return False
    return bool(match.group(1)) or not any(key(word) in kin_words() for word in match.group(2).split())


def kin_word(said: str) -> str:
    """The kinship word, folded, also from a plural (sons); "" for none."""
    word = key(said)
    return next((one for one in (word, word.removesuffix("s")) if one in kin_words()), "")


@cache
def kin_words() -> frozenset[str]:
    kin = data("words.toml")["kin"]
    return frozenset(key(word) for field in ("female", "male", "neutral") for word in kin[field].split())


@cache
def _another() -> re.Pattern[str]:
    after, said = ("|".join(map(re.escape, data("words.toml")[field])) for field in ("named_after", "another_before"))
    return re.compile(
        rf"(?<!\w)(?:({after})|{said}),?\s((?:[a-z]+\s){{0,4}}(?:[a-z]+,\s)?)[{_QUOTES}(]?\Z", re.IGNORECASE
    )


@cache
def _before() -> re.Pattern[str]:
    """Words directly before a name, or before a few words and it, that give the name to somebody else."""
    direct, open_ = (_any(field) for field in ("before", "owner_before"))
    return re.compile(rf"(?<!\w)(?:(?:{direct})|(?:{open_})\s[^\n.;]{{0,40}}?):?\s\Z", re.IGNORECASE)


@cache
def _behind() -> re.Pattern[str]:
    direct, near = (_any(field) for field in ("behind", "near_behind"))
    return re.compile(
        rf"[{_QUOTES})\],]*\s*(?:[(,=–—-]+\s*)?(?:(?:{direct})|[^\n.;]{{0,40}}?(?<!\w)(?:{near}))(?!\w)", re.IGNORECASE
    )


def _any(field: str) -> str:
    return "|".join(re.escape(said) for said in sorted(cluster_data("strangers.toml")[field], key=len, reverse=True))
