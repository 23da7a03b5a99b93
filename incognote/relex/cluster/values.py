"""Mentions with a value: dates, ages, occupations, telephone numbers and codes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from incognote.detectors.known.words import Day, days_in, tokens
from incognote.relex.cluster.grouping import attached, by_key
from incognote.relex.nouns import MentionVariant
from incognote.text.lexicon import fold

_NUMERIC = re.compile(r"\s*(\d{1,2})\s*[-/.]\s*(\d{1,2})\s*[-/.]\s*(?:\d{4}|\d\d)\b")
_NAMED = re.compile(
    r"(?<!\d)(\d{1,2})[\s.-]*(?:st|nd|rd|th|er|de|of)?[\s.-]*[^\W\d_]{3,}|[^\W\d_]{3,}\.?\s+\d{1,2}(?!\d)"
)
_SIGNS = ("numeric", "told", "named")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+", re.IGNORECASE)
_UNITS = (
    {"m": "month", "mo": "month", "mos": "month", "month": "month", "months": "month"}
    | {"w": "week", "wk": "week", "wks": "week", "week": "week", "weeks": "week"}
    | {
        "d": "day",
        "day": "day",
        "days": "day",
        "do": "day",
        "dol": "day",
        "hour": "hour",
        "hours": "hour",
        "hr": "hour",
    }
)
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_NUMBERS = {word: value for value, word in enumerate([*_ONES, "seventeen", "eighteen", "nineteen"])} | {
    word: 20 + 10 * at for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}

_GESTATION = re.compile(r"\d\s*\+\s*[0-6](?!\d)|\b[0-6]/7\b|\d[\s-]*(?:weekers?|wga|wk?s?\s+ga)\b", re.IGNORECASE)
"""Weeks and days of a pregnancy: 31+2, 33 6/7, 31-weeker."""

Form = tuple[str, ...]


def day_first(variants: Sequence[MentionVariant]) -> dict[str, bool]:
    """Whether each owner writes numeric dates day first.

    Dates with only one possible reading decide. Next come dates that in one reading equal another date of the owner in
    words. Last comes the order in dates with the name of a month.
    """
    votes: dict[str, Counter[str]] = {variant.owner: Counter() for variant in variants}
    told = {(v.owner, date_of(v.words)) for v in variants if _NAMED.search(v.words)}
    for variant in variants:
        count = votes[variant.owner]
        if match := _NUMERIC.match(variant.words):
            a, b = int(match.group(1)), int(match.group(2))
            count["numeric"] += (a > 12 >= b) - (b > 12 >= a) + ("." in match.group())
            same = [(variant.owner, date_of(variant.words, first)) in told for first in (True, False)]
            count["told"] += same[0] - same[1]
        elif match := _NAMED.search(variant.words):
            count["named"] += 1 if match.group(1) else -1
    return {owner: next((n > 0 for n in map(c.__getitem__, _SIGNS) if n), False) for owner, c in votes.items()}


@lru_cache(maxsize=1 << 13)
def date_of(words: str, day_first: bool = False) -> Form:
    """("day", year or "", month, day); ("words", …) for a month, a year, a holiday."""
    plain = _WEEKDAY.sub("", words, count=1)
    found = tokens(plain)
    readings = list(days_in(found, 0)) if found.lows else []
    longest = max((end for _, end in readings), default=0)
    best = [day for day, end in readings if end == longest]
    if not best:
        return ("words", *(low for low in tokens(words).lows))
    years, month, day = _chosen(best, plain, day_first)
    year = "" if years is None else str(years if years > 99 else 2000 + years if years < 40 else 1900 + years)
    return ("day", year, str(month), str(day))


def _chosen(readings: Sequence[Day], words: str, day_first: bool) -> Day:
    numeric = _NUMERIC.match(words)
    if numeric:
        a, b = int(numeric.group(1)), int(numeric.group(2))
        dotted = "." in numeric.group()  # always day first, as `operators.dates` writes them
        wanted = (b, a) if ((day_first or dotted) and b <= 12) or a > 12 else (a, b)
        return next((day for day in readings if day[1:] == wanted), readings[0])
    if day_first and len(readings) > 1 and readings[0][0] is None:
        return readings[1]
    return readings[0]


@lru_cache(maxsize=1 << 12)
def age_of(words: str) -> Form:
    """A number and its unit: 74-year-old, 74M, 74 y and seventy-four are ("74", "year")."""
    low = tokens(words).lows
    number = next((word.lstrip("0") or "0" for word in low if word.isdecimal()), "")
    if not number and (spoken := [_NUMBERS[word] for word in low if word in _NUMBERS]):
        number = str(sum(spoken))
    if not number:
        return ("words", *low)
    if re.search(r"\d0\s*['’]?s\b", words) or words.rstrip().endswith("ties"):
        return (number, "decade")
    if _GESTATION.search(words):
        return (number, "week")
    unit = next((_UNITS[word] for word in low if word in _UNITS and not (word == "m" and _sexed(words))), "year")
    return (number, unit)


def _sexed(words: str) -> bool:
    """Return True if M is a sex: 74M is a man, 7m a baby of seven months."""
    return bool(re.search(r"\d\s?M\b", words))


_STATE = frozenset("retired former formerly ex a an the current currently unemployed disabled part full time".split())


@lru_cache(maxsize=1 << 12)
def work_of(words: str) -> Form:
    """An occupation without words that only say whether it is still current."""
    low = tuple(fold(word) for word in re.findall(r"[^\W\d_]+", words))
    return tuple(word for word in low if word not in _STATE) or low or (words,)


def occupations(variants: Iterable[MentionVariant]) -> list[tuple[Form, list[MentionVariant]]]:
    """Group occupations, ignoring spaces and hyphens: a net-maker is a netmaker."""
    together = by_key(set(variants), lambda v: ("".join(work_of(v.words)),))
    return sorted((min(work_of(v.words) for v in found), sorted(found)) for found in together.values())


PHONES = ("TELEPHONE_NUMBER", "FAX_NUMBER")
"""The types of telephone numbers."""
EXTENSION = re.compile(r"(?:e?xt(?:ension|n)?\.?|(?<=\d)\s*x|#)\s*[:.]?\s*(\d{1,6})\s*\Z", re.IGNORECASE)
"""The extension at the end of a number: ext. 22, x22, #22."""
_LOCAL = 7  # digits of a number without its area code
_COUNTRY = 3  # the most digits of a country code
_TELLING = 5  # letters and digits from which an identifier is the same under any type

Phone = tuple[str, str]
"""The digits without trunk zeros and North America's leading 1, and the extension."""


@lru_cache(maxsize=1 << 12)
def phone_of(words: str) -> Phone:
    """(413) 555-0109 ext. 22 → ("4135550109", "22"); +1 617 555 0192 → ("6175550192", "")."""
    match = EXTENSION.search(words)
    number = words[: match.start()] if match else words
    digits = "".join(c for c in number.replace("(0)", "") if c.isdigit())
    if len(digits) == 11 and digits[0] == "1":
        digits = digits[1:]
    if len(digits) > _LOCAL:
        digits = digits.lstrip("0") or digits
    return digits or fold(words), match.group(1) if match else ""


def phones(variants: Iterable[MentionVariant]) -> list[tuple[Phone, list[MentionVariant]]]:
    """Group equal numbers, however they are grouped, with or without country code, trunk zero, area code or extension.

    A shorter form joins a fuller one if only one fits (in its record, or else in the patient's records).
    """
    forms = by_key(sorted(set(variants)), lambda v: phone_of(v.words))
    ends: dict[str, list[Phone]] = defaultdict(list)
    for form in sorted(forms):
        ends[form[0][-_LOCAL:]].append(form)

    def fuller(form: Phone) -> list[Phone]:
        digits, extension = form
        if len(digits) < _LOCAL:
            return []
        longer = [
            other
            for other in ends[digits[-_LOCAL:]]
            if other[0] != digits
            and other[0].endswith(digits)
            and other[1] == extension
            and (len(digits) == _LOCAL or len(other[0]) - len(digits) <= _COUNTRY)
        ]
        return longer or (
            [other for other in ends[digits[-_LOCAL:]] if other[0] == digits and other[1]] if not extension else []
        )

    return [(form, sorted(found)) for form, found in attached(forms, fuller)]


@lru_cache(maxsize=1 << 12)
def code_of(words: str) -> str:
    """Letters and digits only, in lower case. Leading zeros of a number are ignored."""
    low = "".join(c for c in fold(words) if c.isalnum()) or words
    return (low.lstrip("0") or low) if low.isdigit() else low


def codes(variants: Iterable[MentionVariant]) -> list[tuple[tuple[str, str], list[MentionVariant]]]:
    """Group equal identifiers: the same letters and digits, with or without a prefix; short ones only within a type."""

    def form(variant: MentionVariant) -> tuple[str, str]:
        code = code_of(variant.words)
        return code, "" if len(code) >= _TELLING else variant.type

    forms = by_key(sorted(set(variants)), form)
    behind: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for code, kind in sorted(forms):
        if (bare := code.lstrip("abcdefghijklmnopqrstuvwxyz")) != code and bare.isdigit():
            behind[bare.lstrip("0")].append((code, kind))

    def fuller(key: tuple[str, str]) -> list[tuple[str, str]]:
        """The same number with letters before it: KB330927 for 330927."""
        return behind[key[0]] if len(key[0]) >= _TELLING and key[0].isdigit() else []

    return [(key, sorted(found)) for key, found in attached(forms, fuller)]
