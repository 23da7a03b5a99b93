"""The second reader of HL7 v2: python-hl7 (BSD), and a plain split, over every field of a message.

It finds fields, parts, and escapes without the first reader's code. The codes, numbers, and times that are left out,
and the form of dates, come from the same rules and functions as there.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from typing import Any

from incognote.formats.hl7.values import is_time, iso_of
from incognote.formats.registry import second_reading
from incognote.schemas.hl7 import Hl7Rules, Rule, hl7_rules, is_unit
from incognote.schemas.hl7.numbers import allows_long, is_range

_ENDS = re.compile(r"[\r\n\x0b\x1c]+")
_LEAST_ENCODED = 64  # characters of an encoded document
_NUMBERS, _CODES = {"nm", "range"}, {"code", "unit"}


def second(data: bytes) -> Iterator[str]:
    """Yield every value of a message, decoded. Dates are in the form `2025-03-09`. Codes and numbers are left out.

    Raises:
        Exception: python-hl7 cannot read the message.
    """
    import hl7  # type: ignore[import-untyped]  # the library has no types

    rules = hl7_rules()
    header = _ENDS.split(data.decode("latin-1").removeprefix("\xef\xbb\xbf").lstrip("\r\n\x0b"), maxsplit=1)[0]
    fields = header.split(header[3:4])
    charset = rules.charsets.get(fields[17] if len(fields) > 17 else "", "utf-8")
    text = data.decode(charset).removeprefix("\ufeff")
    lines = [line for line in _ENDS.split(text) if line]
    message = hl7.parse("\r".join(lines) + "\r")
    signs = re.compile("[" + re.escape(message.separators[2:]) + "]")
    for segment, line in zip(message, lines, strict=True):
        names = [str(field) for field in segment[:3]]
        unit = message.unescape(signs.split(str(segment[6]))[0]) if names[0] == "OBX" and len(segment) > 6 else ""
        with_unit = allows_long(unit.strip())
        for number, (field, raw) in enumerate(zip(segment[1:], line.split(header[3:4])[1:], strict=False), 1):
            values = dict.fromkeys([*_leaves(field), *signs.split(raw)])
            if number == 5 and (names[0], names[2:]) == ("OBX", ["ED"]) and (inner := _decoded([*values][-1], least=4)):
                yield from second_reading(inner)
                values.popitem()
            actions = _actions(rules, names, number)
            yield from _words(message, values, rules, actions, with_unit)


def _actions(rules: Hl7Rules, names: list[str], number: int) -> set[str]:
    """Return the actions of the parts of a field. `names` are its segment's name and first two fields."""
    fields = rules.segments.get(names[0], ())
    if number > len(fields):
        return set()
    rule: Rule | None = fields[number - 1]
    if rule is not None and rule.action == "value":
        rule = rules.values.get(names[2]) if len(names) > 2 else None
    found, rest = set[str](), [rule] if rule is not None else []
    while rest:
        each = rest.pop()
        rest += each.parts
        if not each.parts:
            found.add(each.action)
    return found


def _leaves(container: Any) -> Iterator[str]:
    if isinstance(container, str):
        yield container
        return
    for inner in container:
        yield from _leaves(inner)


def _words(
    message: Any, values: Iterable[str], rules: Hl7Rules, actions: set[str], with_unit: bool
) -> Iterator[str]:
    """Yield the words of one field, without its codes, numbers and times of day.

    Args:
        actions: those of the parts of the field. `1234` is a date only in a field without numbers and codes.
        with_unit: whether the segment has a unit, so that its numbers may be long.
    """
    numeric = "date" not in actions and bool(actions & _NUMBERS)
    coded = not actions & {"date", "hash"} and bool(actions & _CODES)
    listed = list(values)
    systems = ["", *(value for value in listed if value in rules.systems or value in rules.forms)]
    line_break = re.compile(rf"{re.escape(message.esc)}\.(?:br|sp|ce)[0-9+\-]{{0,3}}{re.escape(message.esc)}")
    for value in listed:
        words = message.unescape(line_break.sub("\n", value)).strip()
        if (inner := _decoded(words)) is not None:
            yield from second_reading(inner)
        elif (numeric and is_range(words, with_unit=with_unit)) or (
                coded and any(rules.is_code(words, system) for system in systems)):
            continue
        elif iso := iso_of(words):
            yield iso
        elif words and not is_range(words) and not is_time(words) and not any(
                rules.is_code(words, system) for system in systems) and not ("/" in words and is_unit(words)):
            yield words


def _decoded(value: str, least: int = _LEAST_ENCODED) -> bytes | None:
    """Return the bytes of a long value in base64."""
    if len(value) < least or " " in value:
        return None
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
