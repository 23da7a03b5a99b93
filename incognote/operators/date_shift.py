"""Shift all dates of a patient by one secret number of days, so that intervals stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from incognote.keys import Keyring
from incognote.nouns import Span, subject_form
from incognote.operators.base import Operator, OperatorContext, label
from incognote.operators.timeline import written

_YEAR = 365.25


class DateShift(Operator):
    """Shifts each date by at most `days`, and writes it in its own format.

    Every date moves by exactly the offset, from the day that it means (`operators.timeline`). A date without a year
    takes it from the other dates of the document, and a day without a month takes it from the date before it. A vague
    date (a month, a season) moves from its middle, and always to another one. A bare year may stay the same: Safe
    Harbor also allows it. A holiday becomes a plain day. A date that cannot be read becomes the label. So does every
    date if no patient is given, because the dates of different people must not share an offset.
    """

    name = "date-shift"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        day_first = self.param(params, "day_first")
        read = context.read_dates(span, day_first)
        if read is None or not context.patient:
            return label(span, context)
        days = offset(context.keyring, context.domain, context.patient, self.param(params, "days"))
        return written(read, context.meant(span, read, day_first), days)


def offset(keyring: Keyring, domain: str, patient: str, farthest: int = 365) -> int:
    """Return the patient's offset in days, within ±farthest, such that no date or part of a date can stay the same.

    This excludes zero, whole weeks (a weekday would stay the same) and whole years (month and day would).

    Args:
        keyring: the keyring.
        domain: the domain that shares date shifts.
        patient: the patient's id.
        farthest: the maximum number of days, 1 to 3650.
    """
    allowed = _allowed(farthest)
    return allowed[int.from_bytes(keyring.mac("dates", subject_form(patient), domain)[:16], "big") % len(allowed)]


@lru_cache(maxsize=64)
def _allowed(farthest: int) -> tuple[int, ...]:
    ahead = [n for n in range(1, farthest + 1) if n % 7 and not _is_whole_years(n)]
    return (*(-n for n in reversed(ahead)), *ahead)


def _is_whole_years(days: int) -> bool:
    years = round(days / _YEAR)
    return years > 0 and abs(days - years * _YEAR) < 2
