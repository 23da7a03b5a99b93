"""Which number of a numeric date is the year, the month and the day."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from typing import Literal

Part = Literal["year", "month", "day"]
DASHES = "-‐‑–—−"
LEAP_YEAR = 2000  # stands in where no year is written, so that 29 February is real


def reads_day_first(text: str) -> bool | None:
    """True or False where a numeric date can only be read with its day first or second, else None."""
    found = re.match(r"\D*(\d{1,2})([/-])(\d{1,2})(?:\2(?:\d{2}|\d{4}))?(?!\d)", text)
    if found is None:
        return None
    first, second = int(found[1]), int(found[3])
    if 12 < first <= 31 and 1 <= second <= 12:
        return True
    return False if 12 < second <= 31 and 1 <= first <= 12 else None


def order_of_two(values: Sequence[int], sizes: Sequence[int], joint: str, day_first: bool) -> Sequence[Part] | None:
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


def order_of_three(values: Sequence[int], sizes: Sequence[int], joint: str, day_first: bool) -> Sequence[Part] | None:
    if (sizes[0] == 4 or values[0] > 31) and max(sizes[1:]) <= 2:
        return ("year", "month", "day") if sizes[0] in (2, 4) and fits(values[1:], ("month", "day")) else None
    if sizes[2] not in (2, 4) or max(sizes[:2]) > 2 or not (joint or sizes[2] == 4):
        return None
    return next(((*order, "year") for order in either_order(day_first or joint == ".") if fits(values, order)), None)


def either_order(day_first: bool) -> tuple[tuple[Part, Part], tuple[Part, Part]]:
    return (("day", "month"), ("month", "day")) if day_first else (("month", "day"), ("day", "month"))


def fits(values: Sequence[int], order: Sequence[Part]) -> bool:
    month, day = values[order.index("month")], values[order.index("day")]
    return is_real(None, month, day)


def is_real(year: int | None, month: int, day: int) -> bool:
    if year is not None and not 1800 <= year <= 2199:
        return False
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or LEAP_YEAR, month)[1]
