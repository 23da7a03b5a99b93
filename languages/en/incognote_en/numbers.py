"""English numbers in words, as ages, days and years are dictated: reading them and writing them back."""

from __future__ import annotations

import re

_UNITS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
]
_CENTURIES = {"eighteen": 18, "nineteen": 19, "twenty": 20}

# longest first; otherwise "six" would match the start of "sixteen"
_LOW = "|".join(sorted(_UNITS[1:], key=len, reverse=True))
_TEN = "|".join(_TENS[2:])
_UNIT = "|".join(_UNITS[1:10])
_DAY_UNIT = "|".join(_ORDINALS[1:10])
_DAY = "|".join(sorted(_ORDINALS[1:], key=len, reverse=True))
_BELOW_100 = rf"(?:(?:{_TEN})(?:[-\s](?:{_UNIT}))?|{_LOW})"

CARDINAL = re.compile(rf"\b(?:(?:one|a)\s+hundred(?:\s+(?:and\s+)?{_BELOW_100})?|{_BELOW_100})\b", re.IGNORECASE)
"""A number of 1 to 199 in words: "seventy one", "sixty-nine", "one hundred and two"."""

ORDINAL = re.compile(
    rf"\b(?:(?:twenty|thirty)[-\s](?:{_DAY_UNIT})|twentieth|thirtieth|{_DAY})\b", re.IGNORECASE)
"""A day of the month in words: "second", "twenty-third"."""

YEAR = re.compile(
    rf"\b(?:two\s+thousand(?:\s+(?:and\s+)?{_BELOW_100})?|(?:{'|'.join(_CENTURIES)})[-\s](?:hundred|(?:oh|o)[-\s](?:{_UNIT})"
    rf"|(?:{_TEN})(?:[-\s](?:{_UNIT}))?|(?:{'|'.join(_UNITS[10:])})))\b", re.IGNORECASE)
"""A year of 1800 to 2099 in words: "nineteen fifty one", "two thousand and five", "twenty twenty three"."""


def read_cardinal(words: str) -> int:
    """The value of a match of CARDINAL."""
    parts = [p for p in re.split(r"[-\s]+", words.lower()) if p != "and"]
    total = 100 if "hundred" in parts else 0
    return total + sum(_below_100(p) for p in (parts[2:] if total else parts))


def read_ordinal(words: str) -> int:
    """The value of a match of ORDINAL."""
    parts = re.split(r"[-\s]+", words.lower())
    if parts[0] in ("twentieth", "thirtieth"):
        return 20 if parts[0] == "twentieth" else 30
    return sum(_ORDINALS.index(p) if p in _ORDINALS else _TENS.index(p) * 10 for p in parts)


def read_year(words: str) -> int:
    """The value of a match of YEAR."""
    parts = [p for p in re.split(r"[-\s]+", words.lower()) if p not in ("and", "oh", "o", "hundred")]
    if parts[:2] == ["two", "thousand"]:
        return 2000 + sum(_below_100(p) for p in parts[2:])
    return _CENTURIES[parts[0]] * 100 + sum(_below_100(p) for p in parts[1:])


def write_ordinal(day: int, joint: str) -> str:
    """1..31 in words; `joint` goes between tens and units."""
    if day < 20:
        return _ORDINALS[day]
    if day % 10 == 0:
        return "twentieth" if day == 20 else "thirtieth"
    return _TENS[day // 10] + joint + _ORDINALS[day % 10]


def write_cardinal(number: int, joint: str) -> str:
    """1..99 in words; `joint` goes between tens and units."""
    if number < 20:
        return _UNITS[number]
    return _TENS[number // 10] + (joint + _UNITS[number % 10] if number % 10 else "")


def write_year(year: int, joint: str) -> str:
    """1800..2199 in words; `joint` goes between tens and units."""
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return "two thousand" + (f" {_UNITS[rest]}" if rest else "")
    head = _UNITS[century] if century < 20 else _TENS[2] + (f"{joint}one" if century == 21 else "")
    if rest == 0:
        return f"{head} hundred"
    return f"{head} oh {_UNITS[rest]}" if rest < 10 else f"{head} {write_cardinal(rest, joint)}"


def _below_100(word: str) -> int:
    return _UNITS.index(word) if word in _UNITS else _TENS.index(word) * 10
