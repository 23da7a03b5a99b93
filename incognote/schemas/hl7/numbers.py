"""The numbers of HL7 v2 messages: which of them are measurements, and which are as long as an identifier."""

from __future__ import annotations

import re

from incognote.schemas.fhir import rules as fhir_rules

_LONG, _IDENTIFYING, _MOST_DECIMALS = 7, 5, 8
_WHOLE = r"[0-9]{1,9}"
_AMOUNT = rf"(?:{_WHOLE}(?:\.[0-9]{{0,17}})?|\.[0-9]{{1,17}}|[0-9]{{1,4}},[0-9]{{1,2}}|[0-9]{{1,3}},[0-9]{{3}})"
_BOUND = rf"(?!0[0-9]){_AMOUNT}"
_NUMBER = re.compile(rf"[<>=~+\-]{{0,2}}\s?({_AMOUNT})%?|[<>=~+:/\-]{{1,2}}")
_RANGE = re.compile(rf"[<>=~+\-]{{0,2}}\s?({_BOUND})%?\s?[\-:/]\s?({_BOUND})?%?|({_AMOUNT})\+")
_DIGITS = re.compile(r"[0-9]{7}")


def is_number(value: str, *, with_unit: bool = False) -> bool:
    """Whether a value is a number with or without a comparator, or a comparator alone.

    Without a unit, seven adjacent digits may be an identifier and are no number. With one, the same holds only if they
    begin with a zero.
    """
    match = _NUMBER.fullmatch(value)
    if match is None:
        return False
    whole = (match[1] or "").partition(".")[0]
    return not (len(whole) >= _LONG and whole[0] == "0") if with_unit else not _DIGITS.search(value)


def is_range(value: str, *, with_unit: bool = False) -> bool:
    """Whether a value is a number, a range, or a ratio.

    Without a unit, seven digits may be an identifier. Two numbers with decimals may have eight, such as `1.010-1.025`.
    """
    if is_number(value, with_unit=with_unit):
        return True
    match = _RANGE.fullmatch(value)
    if match is None:
        return False
    digits, decimals = digits_of(value), (match[1] or "").count(".") + (match[2] or "").count(".") == 2
    return with_unit or digits < _LONG or (digits <= _MOST_DECIMALS and decimals)


def is_long(value: str) -> bool:
    """Whether the digits of all parts of a value may be an identifier."""
    return digits_of(value) >= _LONG


def digits_of(value: str) -> int:
    """Return the number of digits in a value."""
    return sum(c.isdigit() for c in value)


def allows_long(unit: str) -> bool:
    """Whether a number with this unit may be long: the unit is a real one, and does not name an identifier."""
    known = fhir_rules()
    if not any(c.isalpha() or c in "%/" for c in re.sub(r"\{[^}]*\}", "", unit)) or known.told_by(unit):
        return False
    return (known.is_unit("http://unitsofmeasure.org", unit) or unit in known.vocabulary["units"].split()
            or (known.is_worded(unit) and digits_of(unit) < _IDENTIFYING))
