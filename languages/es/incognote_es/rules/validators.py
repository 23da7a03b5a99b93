"""Check digits of Spanish and Latin American numbers, and checks of dates and names.

Each takes the matched words and returns True (the check passes), False (it fails) or None (undecided).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping

from incognote.text.lexicon import fold, given, lexicon, surname

_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_CURP = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
_CUIL = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)


def _plain(text: str) -> str:
    return re.sub(r"[\s.\-/]", "", text).upper()


def dni(text: str) -> bool | None:
    """The letter of a Spanish DNI or NIE: the number modulo 23, with X, Y, Z as 0, 1, 2."""
    found = re.fullmatch(r"([XYZ]?)(\d{7,8})([A-Z])", _plain(text))
    if not found:
        return None
    number = int(str("XYZ".find(found[1])) + found[2]) if found[1] else int(found[2])
    return _DNI[number % 23] == found[3]


def rut(text: str) -> bool | None:
    """The digit of a Chilean RUT or RUN: modulo 11 with weights 2 to 7 from the right."""
    found = re.fullmatch(r"(\d{6,8})([\dK])", _plain(text))
    if not found:
        return None
    total = sum(int(c) * (2 + n % 6) for n, c in enumerate(reversed(found[1])))
    return "0123456789K0"[11 - total % 11] == found[2]


def cuil(text: str) -> bool | None:
    """The digit of an Argentine CUIL or CUIT: modulo 11."""
    number = _plain(text)
    if not re.fullmatch(r"\d{11}", number):
        return None
    check = 11 - sum(int(c) * weight for c, weight in zip(number, _CUIL, strict=False)) % 11
    return check % 11 == int(number[10]) if check != 10 else number[10] == "9"


def curp(text: str) -> bool | None:
    """The digit of a Mexican CURP: weights 18 to 2, modulo 10."""
    code = _plain(text)
    if len(code) != 18 or set(code) - set(_CURP):
        return None
    total = sum(_CURP.index(c) * (18 - n) for n, c in enumerate(code[:17]))
    return str((10 - total % 10) % 10) == code[17]


def naf(text: str) -> bool | None:
    """The last two digits of a Spanish social security number: the others modulo 97."""
    number = _plain(text)
    if not re.fullmatch(r"\d{12}", number):
        return None
    province, serial = int(number[:2]), int(number[2:10])
    whole = province * 10_000_000 + serial if serial < 10_000_000 else int(number[:10])
    return whole % 97 == int(number[10:])


def cedula_uruguay(text: str) -> bool | None:
    """The digit of an Uruguayan cédula: weights 2987634, modulo 10."""
    number = _plain(text)
    if not re.fullmatch(r"\d{7,8}", number):
        return None
    number = number.zfill(8)
    total = sum(int(c) * int(weight) for c, weight in zip(number, "2987634", strict=False))
    return (10 - total % 10) % 10 == int(number[7])


def cedula_ecuador(text: str) -> bool | None:
    """The digit of an Ecuadorian cédula: province 01 to 24 or 30, Luhn over ten digits."""
    number = _plain(text)
    if not re.fullmatch(r"\d{10}", number) or not (1 <= int(number[:2]) <= 24 or number[:2] == "30"):
        return None
    doubled = [int(c) * (2 if n % 2 == 0 else 1) for n, c in enumerate(number[:9])]
    return (10 - sum(d - 9 if d > 9 else d for d in doubled) % 10) % 10 == int(number[9])


def documento(text: str) -> bool | None:
    """Whether any check of a national number passes. A failed check decides nothing, because many numbers have none."""
    checks = (dni, rut, cuil, curp, cedula_ecuador)
    return True if any(check(text) for check in checks) else None


def fecha(text: str) -> bool | None:
    """Whether a date in digits is possible: day, month, year, or as in the United States."""
    numbers = [int(n) for n in re.findall(r"\d{1,4}", text)]
    if len(numbers) != 3:
        return None
    a, b, year = numbers
    year = year if year > 99 else 2000 + year
    return any(1 <= m <= 12 and 1 <= d <= monthrange(year, m)[1] for d, m in ((a, b), (b, a)))


def largo(text: str) -> bool | None:
    """Whether a number has at least three digits. A shorter one is seldom a registration."""
    return None if sum(c.isdecimal() for c in text) >= 3 else False


def nombre(text: str) -> bool | None:
    """Whether the first word is a given name or a surname of the lexicon."""
    words = re.findall(r"[^\W\d_]+", text)
    entry = lexicon("es").get(fold(words[0]), 0) if words else 0
    return max(given(entry), surname(entry)) >= 2


VALIDATORS: Mapping[str, Callable[[str], bool | None]] = {
    check.__name__: check
    for check in (dni, rut, cuil, curp, naf, cedula_uruguay, cedula_ecuador, documento, fecha, largo, nombre)
}
