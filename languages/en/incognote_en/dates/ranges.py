"""Ranges and lists of dates, such as "March 14-15", "3 to 9 June" and "Jan 16-17, 2020"."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from incognote.operators.readers import STAND_IN_YEAR
from incognote_en.dates.pieces import DASHES, DatePiece, DigitsPiece, Moment, SuffixPiece
from incognote_en.dates.written import EnglishDate

_LONGEST = 200
_JOINT = re.compile(
    rf"\s*[{DASHES}]\s*|(?<=[^\W\d_])\s*/\s*(?=[^\W\d_])|\s+(?:to|through|thru|and|until|or|bis|à|al|a)\s+(?:on\s+)?|\s*,\s*(?:and\s+)?|\s*&\s*"
)
_MOST = 7  # dates in a list

Parse = Callable[[str], EnglishDate | None]


def divided(text: str, parse: Parse) -> list[EnglishDate | str] | None:
    """A date, or the dates of a range or list with the text between them; None if a part cannot be read.

    A day without its month takes the month of the nearest date that has one. It writes that month only if the two
    dates move into different months.
    """
    if len(text) > _LONGEST:
        return None
    if (whole := parse(text)) is not None:
        return [whole]
    for joint in _JOINT.finditer(text):
        first = parse(text[: joint.start()])
        if first is None:
            continue
        if first.precision == "year" and re.fullmatch(r"\d\d", text[joint.end() :]):  # 2024-25
            century = (first.year or 0) // 100 * 100
            year = century + int(text[joint.end() :])
            return [first, joint.group(), EnglishDate("year", year, None, None, None, (DigitsPiece("year", 2),))]
        rest = divided(text[joint.end() :], parse)
        if rest is not None and len(rest) < 2 * _MOST:
            return _sharing([first, joint.group(), *rest])
    return None


@dataclass(frozen=True, slots=True)
class SharedMonthPiece:
    """A day that takes its month from another date. It writes that month only if the two months differ.

    Attributes:
        short: the pieces of the day.
        full: the pieces of month and day of the other date.
        gap: the days from the other date to this one.
    """

    short: tuple[DatePiece, ...]
    full: tuple[DatePiece, ...]
    gap: int
    part: str = "day"

    def write(self, moment: Moment) -> str:
        other = moment.date - dt.timedelta(self.gap)
        pieces = self.short if (other.year, other.month) == (moment.year, moment.month) else self.full
        return "".join(piece.write(moment) for piece in pieces)


def _sharing(parts: list[EnglishDate | str]) -> list[EnglishDate | str]:
    """The parts, in which each day without a month has the month of another date."""
    at = next((n for n, one in enumerate(parts) if isinstance(one, EnglishDate) and one.month and one.day), None)
    if at is None:
        return parts
    lender = parts[at]
    assert isinstance(lender, EnglishDate)
    return [
        _with_month(part, lender, n > at) if isinstance(part, EnglishDate) and part.precision == "day-only" else part
        for n, part in enumerate(parts)
    ]


def _with_month(part: EnglishDate, lender: EnglishDate, after: bool) -> EnglishDate:
    """A day in the month of the other date, or in the next or previous month if it is on the wrong side of it."""
    known = lender.year or part.year
    leap = lender.month == 2 and 29 in (lender.day, part.day)
    own = dt.date(known or STAND_IN_YEAR - leap, lender.month or 1, lender.day or 1)
    days = [day for day in part.near(own) if (day >= own) == after or day == own]
    core, short = _core(lender.pieces), _core(part.pieces)
    if not days or core is None or short is None:
        return part
    day = days[0] if after else days[-1]
    full = lender.pieces[core[0] : core[1]]
    shared = SharedMonthPiece(part.pieces[short[0] : short[1]], full, (day - own).days)
    pieces = (*part.pieces[: short[0]], shared, *part.pieces[short[1] :])
    year = day.year if known else None
    return replace(part, precision="day" if known else "month-day", year=year, month=day.month, pieces=pieces)


def _core(pieces: Sequence[DatePiece]) -> tuple[int, int] | None:
    """The range of the pieces that write month and day, with the ending of the day."""
    own = [n for n, piece in enumerate(pieces) if getattr(piece, "part", "") in ("month", "day")]
    if not own:
        return None
    end = own[-1] + 1
    while end < len(pieces) and isinstance(pieces[end], SuffixPiece):
        end += 1
    return own[0], end
