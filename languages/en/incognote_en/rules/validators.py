"""Check digits, ranges and calendars. A validator changes a score; it never discards an identifier.

Each takes the matched words and returns True (the check passes), False (it fails) or None (undecided).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping

_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_VIN_VALUES = {**dict(zip("ABCDEFGH", range(1, 9), strict=True)), **dict(zip("JKLMN", range(1, 6), strict=True))}
_VIN_VALUES |= {"P": 7, "R": 9, **dict(zip("STUVWXYZ", range(2, 10), strict=True))}
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def digits_of(text: str) -> list[int]:
    """The decimal digits of a text, in any script."""
    return [int(c) for c in text if c.isdecimal()]


def _luhn(digits: list[int]) -> bool:
    doubled = [d * 2 - 9 if d > 4 else d * 2 for d in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def luhn(text: str) -> bool | None:
    """The Luhn check of payment cards (ISO/IEC 7812-1 annex B); None outside 12 to 19 digits."""
    digits = digits_of(text)
    return _luhn(digits) if 12 <= len(digits) <= 19 else None


def npi(text: str) -> bool | None:
    """A US National Provider Identifier: Luhn over 80840 and the ten digits (45 CFR 162.406, CMS NPI standard)."""
    digits = digits_of(text)
    return digits[0] in (1, 2) and _luhn([8, 0, 8, 4, 0, *digits]) if len(digits) == 10 else None


def ssn(text: str) -> bool | None:
    """The ranges the Social Security Administration issues: area not 000, 666 or 9xx, group not 00, serial not 0000."""
    digits = "".join(map(str, digits_of(text)))
    if len(digits) != 9:
        return None
    return digits[:3] not in ("000", "666") and digits[0] != "9" and digits[3:5] != "00" and digits[5:] != "0000"


def aba(text: str) -> bool | None:
    """A US bank routing number: weights 3, 7, 1 and a Federal Reserve prefix."""
    d = digits_of(text)
    if len(d) != 9:
        return None
    prefix = d[0] * 10 + d[1]
    known = prefix <= 12 or 21 <= prefix <= 32 or 61 <= prefix <= 72 or prefix == 80
    return known and sum(weight * digit for weight, digit in zip((3, 7, 1) * 3, d, strict=True)) % 10 == 0


def dea(text: str) -> bool | None:
    """A US DEA registration: two letters, seven digits, the last a check over the others."""
    d = digits_of(text)
    return (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6] if len(d) == 7 else None


def nhs(text: str) -> bool | None:
    """A UK NHS number: ten digits, the last a modulus-11 check."""
    d = digits_of(text)
    if len(d) != 10:
        return None
    check = 11 - sum(weight * digit for weight, digit in zip(range(10, 1, -1), d, strict=False)) % 11
    return check != 10 and check % 11 == d[9]


def vin(text: str) -> bool | None:
    """A vehicle identification number: 17 characters without I, O, Q; North American check digit at the ninth."""
    letters = re.sub(r"[^A-Za-z0-9]", "", text).upper()
    if len(letters) != 17 or set(letters) & set("IOQ"):
        return None
    values = [int(c) if c.isdecimal() else _VIN_VALUES.get(c, 0) for c in letters]
    check = sum(v * w for v, w in zip(values, _VIN_WEIGHTS, strict=True)) % 11
    return letters[8] == ("X" if check == 10 else str(check))


def iban(text: str) -> bool | None:
    """An IBAN: ISO 13616 remainder 1 modulo 97."""
    letters = re.sub(r"[^A-Za-z0-9]", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", letters):
        return None
    return int("".join(str(int(c, 36)) for c in letters[4:] + letters[:4])) % 97 == 1


def _real(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def calendar(text: str) -> bool | None:
    """Whether a date (digits, or an English month) is possible in any order. Two parts are a day and a month."""
    numbers = [int(n) for n in re.findall(r"\d{1,4}", text)]
    month = next((_MONTHS[w.lower()[:3]] for w in re.findall(r"[^\W\d_]{3,}", text) if w.lower()[:3] in _MONTHS), None)
    if month is not None:
        numbers = [month, *numbers[:2]]
    if len(numbers) == 2:
        return _real(2000, *numbers) or _real(2000, *numbers[::-1])
    if len(numbers) != 3:
        return None
    if numbers[0] > 31:
        year, a, b = numbers
    else:
        a, b, year = numbers
    year = max(1, year if year > 99 else 2000 + year)
    return _real(year, a, b) or (month is None and _real(year, b, a))


def phone(text: str) -> bool | None:
    """Whether `phonenumbers` calls a number valid: as written with `+`, as British with a trunk 0, else as American.

    The result is None, not False, for a number of possible length, because reserved and fictional ranges are never
    "valid".
    """
    import phonenumbers

    digits = digits_of(text)
    region = None if "+" in text else "GB" if digits[:1] == [0] else "US"
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return False
    return True if phonenumbers.is_valid_number(number) else None if phonenumbers.is_possible_number(number) else False


VALIDATORS: Mapping[str, Callable[[str], bool | None]] = {
    check.__name__: check for check in (luhn, npi, ssn, aba, dea, nhs, vin, iban, calendar, phone)
}
