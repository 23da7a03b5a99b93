"""A written date: what it may mean, and how to write another date in the same way."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from incognote.operators.readers import STAND_IN_YEAR, Meant
from incognote_en.dates.pieces import DatePiece, Moment

Precision = Literal[
    "day", "month", "year", "month-day", "month-only", "day-only", "weekday", "season", "holiday", "week", "quarter",
    "decade",
]  # fmt: skip
_STEPS: dict[Precision, int] = {"month": 31, "month-only": 31, "season": 92, "quarter": 92, "week": 7}
"""The days by which a vague date moves on if it would otherwise stay the same."""
_DAYS: frozenset[Precision] = frozenset(("day", "month-day", "day-only", "holiday"))
_LEAP_YEARS = 8  # years around an anchor that are sure to include a leap year


@dataclass(frozen=True, slots=True)
class EnglishDate:
    """A date as written. Missing parts are None. `weekday` counts from Monday = 0.

    Attributes:
        middle: the month and day at which a vague date counts as one day ("early March" is March 5).
        place: the day of a holiday, season, week or quarter in a given year.
    """

    precision: Precision
    year: int | None
    month: int | None
    day: int | None
    weekday: int | None
    pieces: tuple[DatePiece, ...] = field(repr=False)
    middle: tuple[int, int] = (7, 2)
    place: Callable[[int], dt.date] | None = field(default=None, repr=False, compare=False)

    @property
    def date(self) -> dt.date | None:
        """The calendar date, if it is complete."""
        if self.year is None or self.month is None or self.day is None:
            return None
        return dt.date(self.year, self.month, self.day)

    @property
    def exact(self) -> bool:
        """Whether it is a single day, with or without its year or month."""
        return self.precision in _DAYS

    def near(self, anchor: dt.date) -> list[dt.date]:
        """The days that it may mean around an anchor, sorted. There is only one if its year is written.

        A vague date counts as the day in its middle.
        """
        if self.precision == "weekday":
            behind = (anchor.weekday() - (self.weekday or 0)) % 7
            return [anchor - dt.timedelta(behind), anchor + dt.timedelta(7 - behind)]
        if self.precision == "day-only":
            return [day for month in (-1, 0, 1) if (day := _in_month(anchor, month, self.day or 1))]
        if self.year is not None:
            return [self._in(self.year)]
        reach = 1
        if (self.month, self.day) == (2, 29):
            reach = _LEAP_YEARS
        years = range(anchor.year - reach, anchor.year + reach + 1)
        return [self._in(year) for year in years if reach == 1 or calendar.isleap(year)]

    def moved(self, days: int, meant: Meant | None = None) -> str:
        """The date moved by this many days (earlier if negative), in this format.

        A vague date (a month, a season) moves from its middle, and always to another month or season. A year may stay
        the same. A weekday moves with the days.

        Args:
            meant: the day that it means. By default, it is in the stand-in year.
        """
        meant = meant or self.alone()
        weekday = meant.day.weekday() if self.weekday is None else self.weekday

        def written(more: int) -> str:
            return self.write(Moment.of(meant.moved(days + more), (weekday + days + more) % 7))

        step = _STEPS.get(self.precision, 0)
        text = written(0)
        return written(step if days > 0 else -step) if step and text == self.write(self.same(meant)) else text

    def same(self, meant: Meant) -> Moment:
        """The day as it is, in the form in which another one is written."""
        return Moment.of(meant.day, meant.day.weekday() if self.weekday is None else self.weekday)

    def alone(self) -> Meant:
        """What it means if nothing else is known: a day in the stand-in year, which is no leap year."""
        if self.year is not None and self.precision != "day-only":
            return Meant(self.near(dt.date(self.year, 7, 2))[0])
        leap = (self.month, self.day) == (2, 29)
        year = STAND_IN_YEAR - leap
        days = [day for day in self.near(dt.date(year, 7, 2)) if day.year == year]
        return Meant(days[len(days) // 2], 365 + leap)

    def write(self, moment: Moment) -> str:
        """Another date in this format."""
        return "".join(piece.write(moment) for piece in self.pieces)

    def _in(self, year: int) -> dt.date:
        if self.place is not None:
            return self.place(year)
        if self.precision == "decade":
            return dt.date(year + 5, 1, 1)
        if self.month is None:
            return dt.date(year, *self.middle)
        return dt.date(year, self.month, self.middle[1] if self.day is None else self.day)


def _in_month(anchor: dt.date, months: int, day: int) -> dt.date | None:
    count = anchor.year * 12 + anchor.month - 1 + months
    year, month = count // 12, count % 12 + 1
    return dt.date(year, month, day) if day <= calendar.monthrange(year, month)[1] else None
