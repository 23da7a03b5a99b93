"""Check digits of national numbers. A validator returns True, False, or None if it cannot decide."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if c.isdecimal()]


def _luhn(digits: list[int]) -> bool:
    doubled = [d * 2 - 9 if d > 4 else d * 2 for d in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def saudi(text: str) -> bool | None:
    """A Saudi national id (begins with 1) or iqama (2): ten digits with a Luhn check."""
    digits = _digits(text)
    return digits[0] in (1, 2) and _luhn(digits) if len(digits) == 10 else None


def egypt(text: str) -> bool | None:
    """An Egyptian national number: century, date of birth, governorate, serial and check digit."""
    d = _digits(text)
    if len(d) != 14:
        return None
    year, month, day = (17 + d[0]) * 100 + d[1] * 10 + d[2], d[3] * 10 + d[4], d[5] * 10 + d[6]
    return d[0] in (2, 3) and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1] and d[7] * 10 + d[8] <= 88


def emirates(text: str) -> bool | None:
    """An Emirates ID: 784, year of birth, seven digits and a Luhn check."""
    digits = _digits(text)
    return digits[:3] == [7, 8, 4] and _luhn(digits) if len(digits) == 15 else None


def kuwait(text: str) -> bool | None:
    """A Kuwaiti civil number: century, date of birth, serial, and a check modulo 11."""
    d = _digits(text)
    if len(d) != 12:
        return None
    check = 11 - sum(weight * digit for weight, digit in zip((2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), d, strict=False)) % 11
    return d[0] in (2, 3) and 1 <= d[3] * 10 + d[4] <= 12 and 1 <= d[5] * 10 + d[6] <= 31 and check == d[11]


def jordan(text: str) -> bool | None:
    """A Jordanian national number: ten digits that begin with 9 or with 2000. It has no public check digit."""
    digits = _digits(text)
    return None if len(digits) != 10 else digits[0] == 9 or digits[:3] == [2, 0, 0]


def national_ar(text: str) -> bool | None:
    """Whether a number passes the check of any country with its length."""
    answers = [check(text) for check in (saudi, egypt, emirates, kuwait, jordan)]
    known = [answer for answer in answers if answer is not None]
    return any(known) if known else None


VALIDATORS: Mapping[str, Callable[[str], bool | None]] = {
    "saudi_ar": saudi,
    "egypt_ar": egypt,
    "emirates_ar": emirates,
    "kuwait_ar": kuwait,
    "jordan_ar": jordan,
    "national_ar": national_ar,
}
