"""The values of HL7 v2 fields: dates of any precision, encapsulated data, and the identifiers that they reveal."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import date

from incognote.errors import MalformedRecord
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue

_DATE = re.compile(
    r"(?P<year>[12][0-9]{3})(?:(?P<month>[0-9]{2})(?:(?P<day>[0-9]{2})"
    r"(?P<time>(?:[01][0-9]|2[0-3])(?:[0-5][0-9](?:[0-5][0-9](?:\.[0-9]{1,4})?)?)?)?)?)?(?P<zone>[+-][0-9]{4})?"
)
_ISO = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3])(?:[0-5][0-9](?:[0-5][0-9](?:\.[0-9]{1,4})?)?)?(?:[+-][0-9]{4})?")
_BIRTH_AND_DEATH = ("BIRTH_DATE_TIME", "DEATH_DATE_TIME")
_COMMON = ("STATE", "COUNTRY", "DEPARTMENT", "ROOM")  # a search for these words would mask half a note
# Shorter values would match unrelated words.
_SHORTEST = {"ID": 4, "CONTACT": 4, "LOCATION": 4, "PERSON": 2, "OTHER": 4}


def iso_of(written: str) -> str | None:
    """Return the date of a DT, DTM, or TS in the form `2025-03-09`, `2025-03` or `2025`; None if it is no date."""
    match = _DATE.fullmatch(written)
    if match is None:
        return None
    year, month, day = match.group("year", "month", "day")
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join(filter(None, (year, month, day)))


def dated(written: str, iso: str) -> str:
    """Return another date in HL7's form, with the time of day and the zone of the old value.

    Args:
        written: the old value, a DT, DTM, or TS.
        iso: the new date. If it is less precise than the old one, the time of day is removed. "" if it is not a date.
    """
    if not _ISO.fullmatch(iso):
        return ""
    new = iso.replace("-", "")
    old = _DATE.fullmatch(written)
    return new + (old["time"] or "") + (old["zone"] or "") if old and len(iso) == len("2025-03-09") else new


def is_time(written: str) -> bool:
    """Whether a value is a time of day with or without a zone."""
    return _TIME.fullmatch(written) is not None


def revealed(entity: str, value: str) -> Known | None:
    """Return the identifier that a masked or hashed value reveals, to search for in the texts."""
    if entity in _BIRTH_AND_DEATH:
        return Known(entity, value) if len(value) == len("2025-03-09") else None
    group = catalogue()[entity].group
    if entity in _COMMON or group in ("AGE", "DATE", "PROFESSION") or len(value) < _SHORTEST.get(group, 4):
        return None
    if group == "ID" and not any(c.isdigit() for c in value):
        return None
    return Known(entity, value)


def decoded_data(written: str, encoding: str, path: str) -> bytes:
    """Return the bytes of encapsulated data (ED).

    Args:
        encoding: ED-4: `Base64`, `Hex`, or `A` for text.

    Raises:
        MalformedRecord: the data is not in this encoding.
    """
    try:
        match encoding.upper():
            case "BASE64":
                return base64.b64decode("".join(written.split()), validate=True)
            case "HEX":
                return bytes.fromhex(written)
            case "A":
                return written.encode()
    except (binascii.Error, ValueError):
        pass
    raise MalformedRecord(f"{path}: the data does not have the encoding that ED-4 names: A, Hex or Base64", field=path)


def encoded_data(data: bytes, encoding: str) -> str:
    """Return bytes in an encoding of `decoded_data`."""
    match encoding.upper():
        case "BASE64":
            return base64.b64encode(data).decode("ascii")
        case "HEX":
            return data.hex()
    return data.decode()
