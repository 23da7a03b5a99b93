"""Shift all dates of a patient by one secret number of weeks, so that intervals and weekdays stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from incognote.keys import Keyring
from incognote.nouns import Span, subject_form
from incognote.operators.base import Operator, OperatorContext, label
from incognote.operators.timeline import written

_YEAR = 365.25
SIX_YEARS = 2190
"""The default range in days. It contains 307 possible shifts."""


class DateShift(Operator):
    """Moves each date later, by at most `days`, and writes it in its own format.

    Every date moves by exactly the offset, from the day that it means (`operators.timeline`). A date without a year
    takes it from the other dates of the document, and a day without a month takes it from the date before it. A vague
    date (a month, a season) moves from its middle, and always to another one. A bare year may stay the same: Safe
    Harbor also allows it. A weekday stays the same. A holiday becomes a plain day or "holiday". A date that cannot be
    read becomes the label. So does every date if no patient is given, because the dates of different people must not
    share an offset.
    """

    name = "date-shift"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        day_first = self.param(params, "day_first")
        read = context.read_dates(span, day_first)
        if read is None or not context.patient:
            return label(span, context)
        days = offset(context.keyring, context.domain, context.patient, self.param(params, "days"))
        return written(read, context.meant(span, read, day_first), days)


def offset(keyring: Keyring, domain: str, patient: str, farthest: int = SIX_YEARS) -> int:
    """Return the patient's offset in days: a whole number of weeks from 1 week up to `farthest` days.

    The week nearest to each whole year is excluded, because month and day would stay almost the same.

    Args:
        keyring: the keyring.
        domain: the domain that shares date shifts.
        patient: the patient's id.
        farthest: the maximum number of days, from 7.
    """
    allowed = _allowed(farthest)
    return allowed[int.from_bytes(keyring.mac("dates", subject_form(patient), domain)[:16], "big") % len(allowed)]


@lru_cache(maxsize=64)
def _allowed(farthest: int) -> tuple[int, ...]:
    return tuple(days for days in range(7, farthest + 1, 7) if not _is_whole_years(days))


def _is_whole_years(days: int) -> bool:
    """Whether it is the week nearest to a whole year, or whole years of the stand-in year (`Meant.cycle`)."""
    years = round(days / _YEAR)
    return years > 0 and (abs(days - years * _YEAR) < 3.5 or days % 366 == 0)
