"""Calendar days as people write them: read from a known value, and recognised in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from incognote.detectors.known.words import TokenList, tokens, vocabulary

_GAP = re.compile(r"[\s.,/\-–—'’()\u200e\u200f年月日]{0,4}\Z")

Day = tuple[int | None, int, int]


def days_of(value: str) -> list[date]:
    """The days a written date may mean: one, two where day and month may be swapped, none where it is no full date."""
    found: list[date] = []
    words = tokens(value.split("T")[0] if re.match(r"\d{4}-\d\d-\d\dT", value) else value)
    for day, _ in _read(words, 0):
        if day[0] is not None:
            found.extend(_dates(day))
    return sorted(set(found))


def days_in(words: TokenList, i: int) -> Iterator[tuple[Day, int]]:
    """Every reading of a date that begins at token i, as (year or None, month, day) and its end; long ones first."""
    yield from sorted(_read(words, i), key=lambda reading: -reading[1])


def _dates(day: Day) -> Iterator[date]:
    year, month, dom = day
    assert year is not None
    for full in (year,) if year > 99 else (1900 + year, 2000 + year):
        try:
            yield date(full, month, dom)
        except ValueError:
            continue


def matches(day: Day, known: date) -> bool:
    """The reading may be that day: the year may be missing or have two digits."""
    year, month, dom = day
    return (
        month == known.month
        and dom == known.day
        and (year is None or year == known.year or (year < 100 and year == known.year % 100))
    )


def _read(words: TokenList, i: int) -> Iterator[tuple[Day, int]]:
    months, links = vocabulary().months, vocabulary().links
    parts: list[tuple[str, int, int]] = []  # (kind, number, end): n a number, m a month's name
    j = i
    while j < len(words.lows) and len(parts) < 3 and j - i < 6:
        low = words.lows[j]
        if j > i and not _GAP.match(words.gap(j)):
            break
        if low.isdecimal():
            if len(low) > 4 and not (j == i and len(low) == 8):
                break
            parts.append(("n", int(low), j + 1))
            if len(low) == 8:
                yield from _compact(low, j + 1)
                return
            if len(low) > 2 and len(low) != 4:
                break
        elif low in months and not any(kind == "m" for kind, _, _ in parts):
            parts.append(("m", months[low], j + 1))
        elif j == i or low not in links:
            break
        j += 1
    yield from _orders(words, i, parts)


def _compact(digits: str, end: int) -> Iterator[tuple[Day, int]]:
    for year, month, day in (
        (digits[:4], digits[4:6], digits[6:]),
        (digits[4:], digits[:2], digits[2:4]),
        (digits[4:], digits[2:4], digits[:2]),
    ):
        if _valid(int(month), int(day)) and 1850 < int(year) < 2200:
            yield (int(year), int(month), int(day)), end


def _orders(words: TokenList, i: int, parts: list[tuple[str, int, int]]) -> Iterator[tuple[Day, int]]:
    kinds = "".join(kind for kind, _, _ in parts)
    numbers = [number for _, number, _ in parts]
    ends = [end for _, _, end in parts]
    if len(parts) == 3:
        a, b, c = numbers
        orders = {
            "nnn": ((a, b, c), (c, b, a), (c, a, b)),
            "mnn": ((c, a, b), (b, a, c)),
            "nmn": ((c, b, a), (a, b, c)),
        }.get(kinds, ())
        for year, month, day in orders:
            if _valid(month, day) and (year > 999 or 0 <= year < 100):
                yield (year, month, day), ends[2]
    if len(parts) >= 2:
        a, b = numbers[:2]
        if kinds[:2] == "mn" and _valid(a, b):
            yield (None, a, b), ends[1]
        elif kinds[:2] == "nm" and _valid(b, a):
            yield (None, b, a), ends[1]
        elif kinds[:2] == "nn" and ends[1] == i + 2 and words.gap(i + 1) == "/":
            for month, day in ((a, b), (b, a)):
                if _valid(month, day):
                    yield (None, month, day), ends[1]


def _valid(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= (30 if month in (4, 6, 9, 11) else 29 if month == 2 else 31)
