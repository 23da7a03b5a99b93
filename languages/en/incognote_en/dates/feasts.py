"""Holidays by name: the rules of `words/holidays.toml`, and the day of a holiday in a year."""

from __future__ import annotations

import calendar
import datetime as dt
import math
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import NamedTuple

from incognote.languages import language

_WEEKDAYS = "mon tue wed thu fri sat sun".split()
_MONTH = 29.530588861  # days from one new moon to the next, on average
_NEW_MOON = 2451550.1  # Julian day of the new moon of January 6, 2000
_JULIAN = 1721424.5  # Julian day of the day before ordinal 1
_ISLAMIC_EPOCH = 227014  # ordinal of the day before 1 Muharram 1


class Holiday(NamedTuple):
    """A holiday: its day in a year, whether it lasts for weeks, and whether people fast."""

    place: Callable[[int], dt.date]
    lasting: bool = False
    fasting: bool = False


def holiday(name: str) -> Holiday | None:
    """The holiday with this name, or None. Case, accents, apostrophes, hyphens and "the" are ignored."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", name.lower()) if not unicodedata.combining(c))
    words = "".join(c if c.isalnum() else " " for c in folded if c not in ".'’‘`´ʿ").split()
    return feasts().get(" ".join(words[words[:1] == ["the"] :])) if words else None


@cache
def feasts() -> dict[str, Holiday]:
    """The holidays by folded name."""
    table = language("en").table("words", "holidays.toml")
    fasts = frozenset(table["fasts"].split("; "))
    return {
        name.removeprefix("the "): Holiday(partial(_day, rule), kind == "months", name in fasts)
        for kind in ("months", "days")
        for rule, names in table[kind].items()
        for name in names.split("; ")
    }


@cache
def nouns() -> dict[str, str]:
    """The words after a holiday, and how the holiday before each is written (`holidays.toml`)."""
    table = language("en").table("words", "holidays.toml")["nouns"]
    return {noun: kind for kind, words in table.items() for noun in words.split()}


@lru_cache(maxsize=1 << 12)
def _day(rule: str, year: int) -> dt.date:
    """The day of a rule in a year."""
    first, *rest = rule.split()
    if first == "easter":
        return _easter(year) + dt.timedelta(int(rest[0]))
    if first == "orthodox":
        return _orthodox_easter(year) + dt.timedelta(int(rest[0]))
    if first == "islamic":
        return _islamic(year, *map(int, rest[0].split("-")))
    if first in ("new", "full"):
        month, day = map(int, rest[0].split("-"))
        return _moon(dt.date(year, month, day), 0.5 if first == "full" else 0.0) + dt.timedelta(int(rest[1]))
    if not rest:
        return dt.date(year, *map(int, first.split("-")))
    weekday, nth, more = _WEEKDAYS.index(rest[0]), int(rest[1]), int(rest[2]) if len(rest) > 2 else 0
    last = calendar.monthrange(year, int(first))[1]
    fitting = [one for n in range(1, last + 1) if (one := dt.date(year, int(first), n)).weekday() == weekday]
    return fitting[nth if nth < 0 else nth - 1] + dt.timedelta(more)


def _easter(year: int) -> dt.date:
    """Western Easter, by the anonymous Gregorian algorithm."""
    century, rest = divmod(year, 100)
    golden = year % 19
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return dt.date(year, month, day + 1)


def _orthodox_easter(year: int) -> dt.date:
    """Orthodox Easter, by Meeus's Julian algorithm, in the Gregorian calendar."""
    moon = (19 * (year % 19) + 15) % 30
    month, day = divmod(moon + (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7 + 114, 31)
    return dt.date(year, month, day + 1) + dt.timedelta(year // 100 - year // 400 - 2)


def _islamic(year: int, month: int, day: int) -> dt.date:
    """The first such day of the tabular Islamic calendar in a Gregorian year. Every year has one."""
    at = math.floor((year - 622) * 365.2425 / 354.36667) - 1
    while True:
        within = math.ceil(29.5 * (month - 1)) + day
        found = dt.date.fromordinal(_ISLAMIC_EPOCH + (at - 1) * 354 + (3 + 11 * at) // 30 + within)
        if found.year >= year:
            return found
        at += 1


def _moon(day: dt.date, phase: float) -> dt.date:
    """The first mean new moon (phase 0) or full moon (0.5) on or after a day."""
    since = (day.toordinal() + _JULIAN - _NEW_MOON) / _MONTH - phase
    return dt.date.fromordinal(math.floor((math.ceil(since) + phase) * _MONTH + _NEW_MOON - _JULIAN + 0.5))
