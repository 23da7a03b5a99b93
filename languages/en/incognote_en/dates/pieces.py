"""The pieces a written date is made of; each can write another date the way it was written itself."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

from incognote.languages import language
from incognote_en import numbers

_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


class Moment(NamedTuple):
    """The date to be written; `weekday` counts from Monday = 0."""

    year: int
    month: int
    day: int
    weekday: int


class Piece(Protocol):
    """One piece of a written date."""

    def write(self, moment: Moment) -> str:
        """What stands in its place for another date."""
        ...


@dataclass(frozen=True, slots=True)
class Literally:
    """Separators, fillers and the time of day: they stay."""

    text: str

    def write(self, moment: Moment) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Digits:
    """A number in digits, of any script, padded to `width`; a year of width 2 is its last two digits."""

    part: Literal["year", "month", "day"]
    width: int
    zero: str = "0"

    def write(self, moment: Moment) -> str:
        number = getattr(moment, self.part)
        written = f"{number % 100 if self.part == 'year' and self.width == 2 else number:0{self.width}d}"
        return written if self.zero == "0" else "".join(chr(ord(self.zero) + int(digit)) for digit in written)

    @staticmethod
    def zero_of(digits: str) -> str:
        """The zero of the script a number is written in."""
        return chr(ord(digits[0]) - unicodedata.digit(digits[0]))


@dataclass(frozen=True, slots=True)
class Suffix:
    """The ending of an ordinal: English th, French er and Spanish º (which only the first bears)."""

    text: str

    def write(self, moment: Moment) -> str:
        if self.text.lower() in ("st", "nd", "rd", "th"):
            ending = "th" if 10 < moment.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(moment.day % 10, "th")
            return ending.upper() if self.text.isupper() else ending
        return self.text if moment.day == 1 else ""


@dataclass(frozen=True, slots=True)
class Name:
    """A month or weekday by name."""

    part: Literal["month", "weekday"]
    names: tuple[str, ...]
    sample: str

    def write(self, moment: Moment) -> str:
        name = self.names[moment.month - 1 if self.part == "month" else moment.weekday]
        return like(self.sample, name)


@dataclass(frozen=True, slots=True)
class Words:
    """A day or year dictated in words."""

    part: Literal["year", "day"]
    sample: str

    def write(self, moment: Moment) -> str:
        joint = "-" if "-" in self.sample else " "
        if self.part == "day":
            return like(self.sample, numbers.write_ordinal(moment.day, joint))
        return like(self.sample, numbers.write_year(moment.year, joint))


class Named(NamedTuple):
    """What a word names: its place from 0, and the list it stands in."""

    place: int
    names: tuple[str, ...]


def like(sample: str, word: str) -> str:
    """A word in the case of a sample: ALL CAPS, lower or Title."""
    if sample.isupper():
        return word.upper()
    return word if sample.islower() else word[:1].upper() + word[1:]


@cache
def month_names() -> dict[str, list[Named]]:
    """Each month word in lower case, with the lists that hold it, full names first, English first."""
    return _index("months")


@cache
def weekday_names() -> dict[str, list[Named]]:
    """Each weekday word, as `month_names`."""
    return _index("weekdays")


def roman_month(word: str) -> Named | None:
    """A month as a Roman numeral, as in 09.XI.1961."""
    return Named(_ROMANS.index(word.lower()), _ROMANS) if word.lower() in _ROMANS else None


@cache
def fillers() -> frozenset[str]:
    """Words that may stand in a written date and say nothing of it."""
    return frozenset(_written()["filler"]["words"].split())


def _index(kind: str) -> dict[str, list[Named]]:
    found: dict[str, list[Named]] = {}
    for lists in _written()[kind].values():
        for listed in lists.values():
            names = tuple(listed.split())
            for index, name in enumerate(names):
                found.setdefault(name, []).append(Named(index, names))
    return found


@cache
def _written() -> dict[str, Any]:
    return language("en").table("words", "dates.toml")
