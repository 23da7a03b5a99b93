"""Written ages: reading one, in digits or words, and writing a coarser age in the same phrase."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from incognote.languages import language
from incognote.operators.readers import OLDEST_TOLD
from incognote_en import numbers

_OLDEST = 130
_LONGEST = 100  # characters; a longer text is not an age
_NUMBER = re.compile(
    rf"(?P<twelfths>(?:(?P<whole>\d+)\s+)?\d{{1,2}}/12)|(?P<digits>\d+)(?P<rest>[.,]\d+|\s*[½¼¾]|\s+[1-3]/[2-4]\b)?"
    rf"|(?P<words>{numbers.CARDINAL.pattern})(?P<half>\s+and\s+a\s+half)?", re.IGNORECASE)
_HALF = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)
_DECADE = re.compile(r"(?<!\d)(\d)0['’]?s\b", re.IGNORECASE)
_ABOVE = re.compile(r"[>≥+]|\b(?:over|above|older|more)\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD_AFTER = re.compile(r"[\s-]*([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Age:
    """An age in whole years, from `low` to `high`.

    `start:end` is the number within its phrase if the phrase states nothing else about the age. Otherwise both are 0.
    """

    low: int
    high: int
    in_years: bool = True
    start: int = 0
    end: int = 0

    def banded(self, width: int) -> str | None:
        """The band or bands that contain it, `90+` above 89; None for a range across that limit."""
        if self.low > OLDEST_TOLD:
            return f"{OLDEST_TOLD + 1}+"
        if self.high > OLDEST_TOLD:
            return None
        return f"{self.low // width * width}-{min(self.high // width * width + width - 1, OLDEST_TOLD)}"

    def rewritten(self, phrase: str, age: str) -> str:
        """The phrase with another age in it."""
        if self.end:
            return phrase[: self.start] + age + phrase[self.end :]
        if re.search(r"[-\s]old\b", phrase, re.IGNORECASE):
            return f"{age}-year-old" if re.search(r"-\s*old\b", phrase, re.IGNORECASE) else f"{age} years old"
        return age if self.in_years else f"{age} years"


def read_age(phrase: str) -> Age | None:
    """The age that a phrase states; None if it cannot be read."""
    if len(phrase) > _LONGEST:
        return None
    spans = _data()["spans"]
    words = [word for word in (w.lower() for w in _LETTERS.findall(phrase)) if word in spans]
    matches = list(_NUMBER.finditer(phrase))
    if words:
        return Age(*spans[words[0]]) if len(words) == 1 and not matches else None
    decade = _DECADE.search(phrase)
    if decade and len(matches) == 1:
        return Age(int(decade[1]) * 10, int(decade[1]) * 10 + 9)
    if len(matches) == 1:
        return _one(phrase, matches[0])
    return _two(phrase, matches[0], matches[1]) if len(matches) == 2 else None


def moved(phrase: str, years: int) -> str | None:
    """The phrase with each age lowered by some years, in digits or words as it is written; 90+ above 89.

    None if it has no number, or if it states months, weeks or days and `years` is not 0.
    """
    matches = list(_NUMBER.finditer(phrase)) if len(phrase) <= _LONGEST else []
    if not matches or (years and any(m["twelfths"] or _unit(phrase, m.end()) not in (None, "years") for m in matches)):
        return None
    pieces: list[str] = []
    done = 0
    for match in matches:
        number = 0 if match["twelfths"] else _value(match)
        if number > _OLDEST:
            return None
        pieces.append(phrase[done : match.start()])
        if _unit(phrase, match.end()) == "years" and number > OLDEST_TOLD:
            done = match.end()
            pieces.append(f"{OLDEST_TOLD + 1}+")
            if half := _HALF.match(phrase, done):
                done = half.end()
            done += phrase[done:].startswith("+")
        elif not years or match["twelfths"]:
            done = match.end()
            pieces.append(match.group())
        else:
            part = "digits" if match["digits"] else "words"
            done = match.end(part)
            pieces.append(_like(match[part], number - years))
    return "".join([*pieces, phrase[done:]])


def _like(sample: str, number: int) -> str:
    """The number in words or digits, as the sample, with its leading zeros and capitals."""
    if sample.isdecimal():
        return f"{number:0{len(sample) if sample[0] == '0' else 1}d}"
    words = numbers.write_cardinal(number, "-" if "-" in sample or " " not in sample else " ")
    return words.upper() if sample.isupper() else words.capitalize() if sample[0].isupper() else words


def _one(phrase: str, match: re.Match[str]) -> Age | None:
    if match["twelfths"]:
        return Age(int(match["whole"] or 0), int(match["whole"] or 0), in_years=False)
    unit = _unit(phrase, match.end())
    if unit is None:
        return None
    years = _in_years(_value(match), unit)
    if years > _OLDEST:
        return None
    around = phrase[: match.start()] + " " + phrase[match.end() :]
    if years == OLDEST_TOLD and _ABOVE.search(around):
        return Age(OLDEST_TOLD + 1, OLDEST_TOLD + 1)
    beside = _LETTERS.findall(around)
    plain = not (match["rest"] or _HALF.match(phrase, match.end()) or _ABOVE.search(around))
    if plain and unit == "years" and all(word.lower() in _data()["beside"] for word in beside):
        return Age(years, years, True, match.start(), match.end())
    return Age(years, years, unit == "years")


def _two(phrase: str, first: re.Match[str], second: re.Match[str]) -> Age | None:
    """3y 4m, or a range: 13 or 14, 60-65 years."""
    if first["twelfths"] or second["twelfths"]:
        return None
    between = phrase[first.end() : second.start()]
    if not re.fullmatch(r"\s*(?:-|–|/|or|to|and)\s*", between, re.IGNORECASE):
        if _unit(phrase, first.end()) == "years" and re.match(r"\s*-?\s*[ymw]", between, re.IGNORECASE):
            years = _value(first)
            return Age(years, years, in_years=False) if years <= _OLDEST else None
        return None
    unit = _unit(phrase, second.end())
    if unit is None:
        return None
    low, high = sorted(_in_years(_value(number), unit) for number in (first, second))
    return Age(low, high, unit == "years") if high <= _OLDEST else None


def _value(match: re.Match[str]) -> int:
    return int(match["digits"]) if match["digits"] else numbers.read_cardinal(match["words"])


def _in_years(number: int, unit: str) -> int:
    return {"years": number, "months": number // 12, "weeks": number // 52, "days": number // 365, "hours": 0}[unit]


def _unit(phrase: str, at: int) -> str | None:
    """The unit after a number, by default years.

    None for a single letter after a number that is too large for its unit.
    """
    half = _HALF.match(phrase, at)
    word = _WORD_AFTER.match(phrase, half.end() if half else at)
    units: dict[str, str] = _data()["units"]
    unit = units.get(word[1].lower(), "years") if word else "years"
    if word and len(word[1]) == 1 and unit != "years":
        number = re.search(r"\d+\Z", phrase[:at])
        if number and int(number.group()) > OLDEST_TOLD:
            return None  # 95w may be 95 weeks or a woman of 95
    return unit


@cache
def _data() -> dict[str, Any]:
    written = language("en").table("words", "ages.toml")
    return {
        "spans": {word: tuple(ages) for word, ages in written["spans"].items()},
        "units": {word: unit for unit, words in written["units"].items() for word in words.split()},
        "beside": frozenset(written["beside"]["words"].split()),
    }
