"""Moving all dates of a patient by one secret number of days, so that intervals survive."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from incognote.keys import Keyring
from incognote.nouns import Span, subject_form
from incognote.operators.base import Operator, OperatorContext, label

_YEAR = 365.25


class DateShift(Operator):
    """Each date in its own format, `days` at most from where it was.

    Full dates move by exactly the offset. A month and day moves within the document's year, or a leap year where
    there is none; a month moves from its middle and always to another month; a weekday moves with the days. A bare
    year moves from its middle, and stays where that does not leave it: it is no more than Safe Harbor leaves. Of a
    range both ends move. What cannot be read (seasons, holidays, "the 8th") becomes the label; so does every date
    of a patient nobody named, since dates of different persons must not share an offset.
    """

    name = "date-shift"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        read = context.read_dates(span, self.param(params, "day_first"))
        if read is None or not context.patient:
            return label(span, context)
        days = offset(context.keyring, context.domain, context.patient, self.param(params, "days"))
        return "".join(part if isinstance(part, str) else part.moved(days, context.latest_year) for part in read)


def offset(keyring: Keyring, domain: str, patient: str, farthest: int = 365) -> int:
    """The patient's days: within ±farthest, and never such that a date, or a part of one, could come out as it was.

    That leaves out zero, whole weeks (a weekday would stay) and whole years (month and day would).

    Args:
        farthest: 1 to 3650.
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
