"""Check digits of German, Austrian and Swiss numbers. A validator changes a score and never discards an identifier.

Each takes the matched words and returns True (the check passes), False (it fails) or None (it does not apply).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if c.isdecimal()]


def _cross(number: int) -> int:
    return number // 10 + number % 10


def kvnr(text: str) -> bool | None:
    """A German health insurance number: a letter and nine digits, the last a check (weights 1 and 2, § 290 SGB V)."""
    found = re.fullmatch(r"([A-Z])[ ]?(\d[\d ]{8,11})", text.strip())
    digits = _digits(found[2]) if found else []
    if not found or len(digits) != 9:
        return None
    letter = ord(found[1]) - 64
    parts = [letter // 10, letter % 10, *digits[:8]]
    return sum(_cross(d * (1 + i % 2)) for i, d in enumerate(parts)) % 10 == digits[8]


def rvnr(text: str) -> bool | None:
    """A German pension insurance number: twelve characters, the ninth a letter, the last a check (§ 147 SGB VI)."""
    plain = re.sub(r"\W", "", text).upper()
    if not re.fullmatch(r"\d{8}[A-Z]\d{3}", plain):
        return None
    letter = ord(plain[8]) - 64
    digits = [*map(int, plain[:8]), letter // 10, letter % 10, *map(int, plain[9:11])]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    return sum(_cross(d * w) for d, w in zip(digits, weights, strict=True)) % 10 == int(plain[11])


def steuer_id(text: str) -> bool | None:
    """A German tax number: eleven digits, one digit twice or three times, ISO 7064 MOD 11,10."""
    digits = _digits(text)
    if len(digits) != 11 or re.search(r"[A-Za-z]", text):
        return None
    counts = Counter(digits[:10])
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return digits[0] != 0 and max(counts.values()) in (2, 3) and (11 - product) % 10 == digits[10]


def svnr(text: str) -> bool | None:
    """An Austrian insurance number: a serial number of three digits, a check digit and the date of birth."""
    digits = _digits(text)
    if len(digits) != 10 or re.search(r"[A-Za-z]", text):
        return None
    weights = (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)
    return sum(d * w for d, w in zip(digits, weights, strict=True)) % 11 == digits[3]


def ahv(text: str) -> bool | None:
    """A Swiss AHV number: 13 digits from 756, the last an EAN-13 check."""
    digits = _digits(text)
    return _ean(digits) if len(digits) == 13 and digits[:3] == [7, 5, 6] else None


def gln(text: str) -> bool | None:
    """A Swiss GLN of a person: 13 digits from 7601, the last an EAN-13 check."""
    digits = _digits(text)
    return _ean(digits) if len(digits) == 13 and digits[:4] == [7, 6, 0, 1] else None


def _ean(digits: list[int]) -> bool:
    return sum(d * (3 if i % 2 else 1) for i, d in enumerate(digits)) % 10 == 0


def lanr(text: str) -> bool | None:
    """A German physician number: nine digits, the seventh a check over the first six (weights 4 and 9)."""
    digits = _digits(text)
    if len(digits) != 9 or len(text.strip()) != 9:
        return None
    return (10 - sum(d * (9 if i % 2 else 4) for i, d in enumerate(digits[:6])) % 10) % 10 == digits[6]


def ik(text: str) -> bool | None:
    """A German institution number: nine digits, the last a Luhn check over the third to the eighth."""
    digits = _digits(text)
    if len(digits) != 9 or len(text.strip()) != 9:
        return None
    return sum(_cross(d * (1 if i % 2 else 2)) for i, d in enumerate(digits[2:8])) % 10 == digits[8]


VALIDATORS: Mapping[str, Callable[[str], bool | None]] = {
    check.__name__: check for check in (kvnr, rvnr, steuer_id, svnr, ahv, gln, lanr, ik)
}
