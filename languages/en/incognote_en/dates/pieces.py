"""The parts of a written date: their order in numeric dates, and pieces that write another date in the same way."""

from __future__ import annotations

import calendar
import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

from incognote.languages import language
from incognote_en import numbers

DatePart = Literal["year", "month", "day"]
DASHES = "-‐‑–—−"
YEAR = r"(?P<year>(?:1[89]|20|21)\d\d|['’]\d\d)"
LEAP_YEAR = 2000  # used if no year is written, so that February 29 is valid


def reads_day_first(text: str) -> bool | None:
    """True or False if a numeric date can only be read with its day first or second, else None."""
    match = re.match(r"\D*(\d{1,2})([/-])(\d{1,2})(?:\2(?:\d{2}|\d{4}))?(?!\d)", text)
    if match is None:
        return None
    first, second = int(match[1]), int(match[3])
    if 12 < first <= 31 and 1 <= second <= 12:
        return True
    return False if 12 < second <= 31 and 1 <= first <= 12 else None


def order_of_two(values: Sequence[int], sizes: Sequence[int], joint: str, day_first: bool) -> Sequence[DatePart] | None:
    if 4 in sizes:
        if min(sizes) > 2 or not joint:
            return None
        return ("year", "month") if sizes[0] == 4 else ("month", "year")
    if max(sizes) > 2 or not joint:
        return None
    for order in either_order(day_first or joint == "."):
        if fits(values, order):
            return order
    return ("month", "year") if 1 <= values[0] <= 12 and sizes[1] == 2 else None


def order_of_three(
    values: Sequence[int], sizes: Sequence[int], joint: str, day_first: bool
) -> Sequence[DatePart] | None:
    if (sizes[0] == 4 or values[0] > 31) and max(sizes[1:]) <= 2:
        return ("year", "month", "day") if sizes[0] in (2, 4) and fits(values[1:], ("month", "day")) else None
    if sizes[2] not in (2, 4) or max(sizes[:2]) > 2 or not (joint or sizes[2] == 4):
        return None
    return next(((*order, "year") for order in either_order(day_first or joint == ".") if fits(values, order)), None)


def either_order(day_first: bool) -> tuple[tuple[DatePart, DatePart], tuple[DatePart, DatePart]]:
    return (("day", "month"), ("month", "day")) if day_first else (("month", "day"), ("day", "month"))


def fits(values: Sequence[int], order: Sequence[DatePart]) -> bool:
    month, day = values[order.index("month")], values[order.index("day")]
    return is_real(None, month, day)


def is_real(year: int | None, month: int, day: int) -> bool:
    if year is not None and not 1800 <= year <= 2199:
        return False
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or LEAP_YEAR, month)[1]


_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


class Moment(NamedTuple):
    """The date to be written; `weekday` counts from Monday = 0."""

    year: int
    month: int
    day: int
    weekday: int

    @classmethod
    def of(cls, day: dt.date, weekday: int | None = None) -> Moment:
        """A day, by default with its own weekday."""
        return cls(day.year, day.month, day.day, day.weekday() if weekday is None else weekday)

    @property
    def date(self) -> dt.date:
        """The day."""
        return dt.date(self.year, self.month, self.day)


class DatePiece(Protocol):
    """One piece of a written date."""

    def write(self, moment: Moment) -> str:
        """Its text for another date."""
        ...


@dataclass(frozen=True, slots=True)
class LiteralPiece:
    """Separators, fillers and the time of day. They stay."""

    text: str

    def write(self, moment: Moment) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class DigitsPiece:
    """A number in digits of any script, padded to `width`. A year of width 2 is its last two digits."""

    part: Literal["year", "month", "day"]
    width: int
    zero: str = "0"

    def write(self, moment: Moment) -> str:
        number = getattr(moment, self.part)
        written = f"{number % 100 if self.part == 'year' and self.width == 2 else number:0{self.width}d}"
        return written if self.zero == "0" else "".join(chr(ord(self.zero) + int(digit)) for digit in written)

    @staticmethod
    def zero_of(digits: str) -> str:
        """The zero of the number's script."""
        return chr(ord(digits[0]) - unicodedata.digit(digits[0]))


@dataclass(frozen=True, slots=True)
class SuffixPiece:
    """The ending of an ordinal: English th, French er and Spanish º (used only for the first)."""

    text: str

    def write(self, moment: Moment) -> str:
        if self.text.lower() in ("st", "nd", "rd", "th"):
            ending = "th" if 10 < moment.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(moment.day % 10, "th")
            return ending.upper() if self.text.isupper() else ending
        return self.text if moment.day == 1 else ""


@dataclass(frozen=True, slots=True)
class CalendarNamePiece:
    """A month or weekday by name."""

    part: Literal["month", "weekday"]
    names: tuple[str, ...]
    sample: str

    def write(self, moment: Moment) -> str:
        name = self.names[moment.month - 1 if self.part == "month" else moment.weekday]
        return name.title() if len(self.sample) == 1 and self.sample.isupper() else like(self.sample, name)


@dataclass(frozen=True, slots=True)
class WordsPiece:
    """A day or year dictated in words."""

    part: Literal["year", "day"]
    sample: str

    def write(self, moment: Moment) -> str:
        joint = "-" if "-" in self.sample else " "
        if self.part == "day":
            return like(self.sample, numbers.write_ordinal(moment.day, joint))
        return like(self.sample, numbers.write_year(moment.year, joint))


@dataclass(frozen=True, slots=True)
class ThirdPiece:
    """Early, mid or late, of a month or a year, and the hyphen or space after it: mid-April, late April."""

    of_year: bool
    words: tuple[str, str, str]
    sample: str
    joint: str = ""
    part: str = "third"

    def write(self, moment: Moment) -> str:
        third = (moment.month - 1) // 4 if self.of_year else min((moment.day - 1) // 10, 2)
        word = self.words[third]
        joint = self.joint if word == self.sample.lower() else "-" if word == "mid" else " "
        return like(self.sample, word) + joint * bool(self.joint)


@dataclass(frozen=True, slots=True)
class SeasonPiece:
    """A season, by the month. Winter is December to February."""

    sample: str
    part: str = "month"

    def write(self, moment: Moment) -> str:
        name = SEASONS[moment.month % 12 // 3]
        return like(self.sample, "autumn" if name == "fall" and self.sample.lower() != "fall" else name)


@dataclass(frozen=True, slots=True)
class WeekPiece:
    """The ISO week, or its year."""

    of_year: bool
    width: int
    part: str = "week"

    def write(self, moment: Moment) -> str:
        year, week, _ = moment.date.isocalendar()
        return str(year) if self.of_year else f"{week:0{self.width}d}"


@dataclass(frozen=True, slots=True)
class QuarterPiece:
    """The number of the quarter."""

    part: str = "month"

    def write(self, moment: Moment) -> str:
        return str((moment.month + 2) // 3)


@dataclass(frozen=True, slots=True)
class DecadePiece:
    """A decade in digits: 1980 or 80."""

    width: int
    part: str = "year"

    def write(self, moment: Moment) -> str:
        return str(moment.year // 10 * 10)[-self.width :]


HolidayStyle = Literal["day", "at", "third", "month", "weekday"]


@dataclass(frozen=True, slots=True)
class HolidayPiece:
    """A holiday, written as a plain day, a part of a month (`at` or `third`), a month, or a weekday beside its date."""

    style: HolidayStyle
    sample: str
    part: str = "day"

    def write(self, moment: Moment) -> str:
        month = calendar.month_name[moment.month]
        third = min((moment.day - 1) // 10, 2)
        text = {
            "day": f"{month} {moment.day}",
            "at": ("the start of ", "the middle of ", "the end of ")[third] + month,
            "third": ("early ", "mid-", "late ")[third] + month,
            "month": month,
            "weekday": calendar.day_name[moment.weekday],
        }[self.style]
        return text.upper() if self.sample.isupper() else text.lower() if self.sample.islower() else text


def year_of(written: str | None, latest: int) -> tuple[int | None, list[DatePiece]]:
    """A year in four digits, or in two after an apostrophe, and its pieces."""
    if not written:
        return None, []
    digits = written.lstrip("'’")
    if len(digits) == 4:
        return int(digits), [DigitsPiece("year", 4)]
    mark: list[DatePiece] = [LiteralPiece(written[0])] if len(written) == 3 else []
    return latest - (latest - int(digits)) % 100, [*mark, DigitsPiece("year", 2)]


SEASONS = ("winter", "spring", "summer", "fall")
THIRDS = {
    "early": ("early", "mid", "late"),
    "mid": ("early", "mid", "late"),
    "late": ("early", "mid", "late"),
    "beginning": ("beginning", "middle", "end"),
    "start": ("start", "middle", "end"),
    "middle": ("beginning", "middle", "end"),
    "end": ("beginning", "middle", "end"),
}
"""Words for a third of a month or year, with the words for all three."""


class Named(NamedTuple):
    """The meaning of a name: its position from 0, the list that contains it, and the language of the list."""

    place: int
    names: tuple[str, ...]
    language: str = ""


def like(sample: str, word: str) -> str:
    """A word in the case of a sample: ALL CAPS, lower or Title."""
    if sample.isupper():
        return word.upper()
    return word if sample.islower() else word[:1].upper() + word[1:]


def roman_month(word: str) -> Named | None:
    """A month as a Roman numeral, as in 09.XI.1961."""
    return Named(_ROMANS.index(word.lower()), _ROMANS) if word.lower() in _ROMANS else None


@cache
def fillers() -> frozenset[str]:
    """Words that may occur in a written date without affecting its meaning."""
    return frozenset(_written()["filler"]["words"].split())


@cache
def calendar_names(kind: Literal["months", "weekdays", "hijri"]) -> dict[str, list[Named]]:
    """Each word for a month or weekday in lower case, with the lists that hold it, full names first, English first."""
    by_word: dict[str, list[Named]] = {}
    for code, lists in _written()[kind].items():
        for listed in lists.values():
            names = tuple(name.replace("_", " ") for name in listed.split())
            for index, name in enumerate(names):
                by_word.setdefault(name, []).append(Named(index, names, code))
    return by_word


@cache
def long_names() -> str:
    """A pattern of the names of months that have two words."""
    names = {name for kind in ("months", "hijri") for name in calendar_names(kind) if " " in name}
    return "|".join(sorted((name.replace(" ", r"\s+") for name in names), key=len, reverse=True))


@cache
def _written() -> dict[str, Any]:
    return language("en").table("words", "dates.toml")
