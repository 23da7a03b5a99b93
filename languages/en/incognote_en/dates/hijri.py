"""Dates of the Islamic calendar: ١٢/٨/١٤٤٥هـ, 15 رمضان 1445.

The calendar is the tabular one, with 11 leap years in 30 years (2, 5, 7, 10, 13, 16, 18, 21, 24, 26, 29) and the civil
epoch, July 16, 622 (Julian). A date of an official calendar may be a day off. The distance between two dates that are
moved together is exact.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import NamedTuple

from incognote_en.dates.pieces import DatePiece, Moment

FIRST, LAST = 1300, 1500
"""The years that a note may mention."""
_EPOCH = 227_015  # the ordinal of July 19, 622, in the proleptic Gregorian calendar
_CYCLE = 10_631  # days of 30 years


class HijriDay(NamedTuple):
    """A day of the Islamic calendar."""

    year: int
    month: int
    day: int


def gregorian(year: int, month: int, day: int) -> dt.date | None:
    """Return the day in the Gregorian calendar, or None if there is no such day."""
    if not (FIRST <= year <= LAST and 1 <= month <= 12 and 1 <= day <= _length(year, month)):
        return None
    return dt.date.fromordinal(_start(year) + _before(month) + day - 1)


def hijri(day: dt.date) -> HijriDay:
    """Return the day in the Islamic calendar."""
    since = day.toordinal() - _EPOCH
    year = (30 * since + 10_646) // _CYCLE
    within = day.toordinal() - _start(year)
    month = next(m for m in range(12, 0, -1) if _before(m) <= within)
    return HijriDay(year, month, within - _before(month) + 1)


@dataclass(frozen=True, slots=True)
class HijriPiece:
    """A piece that writes a part of the date in the Islamic calendar."""

    inner: DatePiece

    def write(self, moment: Moment) -> str:
        """The part of another date."""
        return self.inner.write(Moment(*hijri(moment.date), moment.weekday))


def _start(year: int) -> int:
    return _EPOCH + (year - 1) * 354 + (3 + 11 * year) // 30


def _before(month: int) -> int:
    """The days of a year before a month. Odd months have 30 days, even ones 29."""
    return 29 * (month - 1) + month // 2


def _length(year: int, month: int) -> int:
    leap = (14 + 11 * year) % 30 < 11
    return 30 if month % 2 or (month == 12 and leap) else 29
