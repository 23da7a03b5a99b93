"""Check digits of national, insurance and professional numbers in French-speaking countries.

Each takes the matched words and returns True (the check passes), False (it fails) or None (undecided).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdecimal())


def _luhn(digits: str) -> bool:
    numbers = [int(c) for c in digits]
    return (sum(n * 2 - 9 if n > 4 else n * 2 for n in numbers[-2::-2]) + sum(numbers[-1::-2])) % 10 == 0


def nir(text: str) -> bool | None:
    """A French NIR with its key: 97 minus the number modulo 97. In Corsica, 2A counts as 19 and 2B as 18."""
    letters = re.sub(r"[^0-9A-Za-z]", "", text).upper().replace("2A", "19").replace("2B", "18")
    if len(letters) != 15 or not letters.isdecimal():
        return None
    return 97 - int(letters[:13]) % 97 == int(letters[13:])


def niss(text: str) -> bool | None:
    """A Belgian national number: 97 minus nine digits modulo 97, with a 2 before them for births from 2000."""
    digits = _digits(text)
    if len(digits) != 11:
        return None
    return int(digits[9:]) in (97 - int(digits[:9]) % 97, 97 - int("2" + digits[:9]) % 97)


def avs(text: str) -> bool | None:
    """A Swiss AVS number: 756 and the check digit of EAN-13."""
    digits = _digits(text)
    if len(digits) != 13 or not digits.startswith("756"):
        return None
    total = sum(int(c) * (3 if n % 2 else 1) for n, c in enumerate(digits[:12]))
    return -total % 10 == int(digits[12])


def sin(text: str) -> bool | None:
    """A Canadian social insurance number: nine digits with the Luhn check."""
    digits = _digits(text)
    return _luhn(digits) if len(digits) == 9 else None


def rpps(text: str) -> bool | None:
    """A French RPPS number: eleven digits with the Luhn check."""
    digits = _digits(text)
    return _luhn(digits) if len(digits) == 11 else None


def ramq(text: str) -> bool | None:
    """A Quebec insurance number: four letters and a birth date, with 50 added to the month for women."""
    found = re.fullmatch(r"[A-Z]{4}\W*(\d\d)\W*(\d\d)\W*(\d\d)\W*(\d\d)", text.upper())
    return None if not found else int(found[2]) % 50 in range(1, 13) and int(found[3]) in range(1, 32)


def date_fr(text: str) -> bool | None:
    """Whether the numbers of a numeric date are a possible day and month in any order."""
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if len(numbers) == 2:
        day, month = numbers
        return 1 <= day <= 31 and 1 <= month <= 12
    if len(numbers) < 3:
        return None
    parts = [numbers[1], numbers[2]] if numbers[0] > 31 else [numbers[0], numbers[1]]
    return min(parts) >= 1 and min(parts) <= 12 and max(parts) <= 31


VALIDATORS: Mapping[str, Callable[[str], bool | None]] = {
    f"fr_{check.__name__}": check for check in (nir, niss, avs, sin, rpps, ramq, date_fr)
}
