"""HL7 v2 messages pasted into notes: fields by their position in a segment (HL7 v2.5.1, the segment tables)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.view import Candidate, View
from incognote.languages import language
from incognote.text.lexicon import LEXICON

_VALUE = re.compile(r"[^\W_]")
_DIGITS = re.compile(r"\+?\(?\d(?:[\d ().^-]*\d)?")
_NAME = re.compile(r"(?<![\w^])([^\W\d_][\w'’-]{1,24})\^([^\W\d_][\w'’-]{1,24})\^[A-Z](?![\w-])")
_SCORE = 0.93
_IDENTIFIER_TYPES = {"SS": "SSN_OR_TAXPAYER", "DL": "DRIVER_ID_US", "PPN": "PASSPORT_NUMBER_US", "MC": "HEALTH_PLAN_ID"}


@cache
def segments() -> tuple[re.Pattern[str], dict[str, dict[int, tuple[str, str]]]]:
    """A pattern that finds segments, and per segment its fields: number → (kind, type), from data/hl7.toml."""
    written = language("en").table("rules", "hl7.toml")
    fields = {
        name: {int(number): (value.partition(" ")[0], value.partition(" ")[2]) for number, value in table.items()}
        for name, table in written.items()
    }
    return re.compile(rf"(?:\A|(?<=[\r\n\x0b]))({'|'.join(fields)})(?=\|)"), fields


def find(view: View) -> Iterator[Candidate]:
    """Identifiers in the fields of HL7 v2 segments."""
    text = view.text
    if "|" not in text:
        return
    pattern, fields = segments()
    name_fields: list[tuple[int, int]] = [(0, 0)]  # fields that contain a name according to their segment
    for segment in pattern.finditer(text):
        end = min((n for n in (text.find(c, segment.end()) for c in "\r\n") if n >= 0), default=len(text))
        number = 1 if segment[1] == "MSH" else 0  # MSH-1 is the separator itself
        at = segment.start()
        last = max(fields[segment[1]])
        while at <= end and number <= last:
            stop = text.find("|", at, end)
            stop = end if stop < 0 else stop
            kind, entity = fields[segment[1]].get(number, ("", ""))
            if kind:
                name_fields += [(at, stop)] if kind != "id" else []
                for low, high in _split(text, at, stop, "~"):
                    for start, finish, found in _parts(text, low, high, kind, entity):
                        if _VALUE.search(text, start, finish):
                            yield Candidate(start, finish, found, _SCORE, f"hl7.{segment[1]}-{number}")
            at = stop + 1
            number += 1
    if "^" in text:
        for name in _named(text):
            if name_fields[bisect_right(name_fields, (name.start, len(text))) - 1][1] < name.end:
                yield name


def _named(text: str) -> Iterator[Candidate]:
    """Names with a middle initial. A test with the mark of a local code ("GLU^Glucose^L") is not a name."""
    for match in _NAME.finditer(text):
        weights = [0 if LEXICON.usual(low) else LEXICON.name(low) for low in (match[1].lower(), match[2].lower())]
        if max(weights) > 3 and min(LEXICON.name(match[1].lower()), LEXICON.name(match[2].lower())) > 0:
            yield Candidate(*match.span(), "PERSON", _SCORE, "hl7.name")


def _parts(text: str, low: int, high: int, kind: str, entity: str) -> Iterator[tuple[int, int, str]]:
    """The spans of one repetition: `id` (its first component), `person` (number and name), `phone`, or `whole`."""
    if kind == "phone":
        if match := _DIGITS.search(text, low, high):
            yield *match.span(), entity
        return
    if kind == "whole":
        while high > low and text[high - 1] == "^":
            high -= 1
        yield low, high, entity
        return
    components = _split(text, low, high, "^")
    if kind == "id":
        named = text[slice(*components[4])] if len(components) > 4 else ""
        yield *components[0], _IDENTIFIER_TYPES.get(named, entity)
        if len(components) > 3:
            yield *components[3], "HOSPITAL"
        return
    first, names = components[0], components[1:4]
    number = any(c.isdecimal() for c in text[slice(*first)])
    yield *first, "LICENSE_NUMBER" if number else ("USERNAME" if not names else entity)
    filled = [(a, b) for a, b in names if b > a]
    if filled:
        yield filled[0][0], filled[-1][1], entity


def _split(text: str, low: int, high: int, separator: str) -> list[tuple[int, int]]:
    parts = []
    while (stop := text.find(separator, low, high)) >= 0:
        parts.append((low, stop))
        low = stop + 1
    return [*parts, (low, high)]
