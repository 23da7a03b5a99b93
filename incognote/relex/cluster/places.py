"""Places by their parts: addresses, streets, cities, states, ZIP codes, rooms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from incognote.relex.cluster.grouping import attached, by_key, cluster_data
from incognote.relex.nouns import MentionVariant
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import fold

_CITY = 4  # position of the city in the normal form of an address
_WORD = re.compile(r"[^\W_]+")
_ZIP = re.compile(r"(?<!\d)(\d{5})(?:-\d{4})?\s*\Z|\b([A-Z]\d[A-Z]\s?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2})\s*\Z")
_FOREIGN_ZIP = re.compile(r"\b(\d{4,6}(?:\s?[A-Z]{2})?)\s+(?=[^\W\d_])")
_NUMBER = re.compile(
    r"\s*(?:no\.?\s*)?(\d+[a-zA-Z]?(?:[-/]\d+[a-zA-Z]?)?)\s+(?=\S)|.*?[^\W\d_]\.?\s+(\d+[a-zA-Z]?)\s*\Z", re.I
)


_FLAT = re.compile(r"\s*(\d+[a-zA-Z]?)/(?=\d+[a-zA-Z]?\s)")  # 3/17 Pacific Parade


class Address(NamedTuple):
    """An address in parts, each in its normal form; "" for a missing part."""

    number: str
    street: str
    unit: str
    city: str
    state: str
    zip: str


@lru_cache(maxsize=1 << 12)
def address_of(words: str) -> Address:
    """31 Fern St Apt 2, Dedham MA 02026 → (31, fern street, 2, dedham, massachusetts, 02026)."""
    rest, code = words.replace("\n", ", "), ""
    if match := _ZIP.search(rest):
        code = next(group for group in match.groups() if group).replace(" ", "")
        rest = rest[: match.start()]
    elif match := _FOREIGN_ZIP.search(rest, 4):
        code = match.group(1).replace(" ", "")
        rest = rest[: match.start()] + "," + rest[match.end() :]
    rest, state = _state(rest)
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    street, unit = _unit(parts[0] if parts else "")
    if unit and not street.strip() and len(parts) > 1:
        street = parts.pop(1)  # Flat 4, 88 Roundhay Mews
    elif not unit and len(parts) > 1 and _unit(parts[1])[1]:
        unit = _unit(parts.pop(1))[1]
    if not unit and (match := _FLAT.match(street)):
        unit, street = match.group(1).lower(), street[match.end(1) + 1 :]
    number = ""
    if match := _NUMBER.match(street):
        number = match.group(1) or match.group(2)
        street = street[match.end(1) :] if match.group(1) else street[: match.start(2)]
    return Address(number.lower(), _street(street), unit, city_of(" ".join(parts[1:])), state, code.lower())


def _state(words: str) -> tuple[str, str]:
    """The words without the state at their end, and the state."""
    bare = words.rstrip(" ,.")
    for short, name in _states():
        for form in (name, short):
            if re.search(rf"(?:,|\s)\s*{re.escape(form)}\Z", bare, re.IGNORECASE) and (
                form == name or bare[-len(form) :].isupper()
            ):
                return bare[: -len(form)], name
    return words, ""


@cache
def _states() -> list[tuple[str, str]]:
    return sorted(cluster_data("places.toml")["state"].items(), key=lambda pair: -len(pair[1]))


def _unit(words: str) -> tuple[str, str]:
    """The words without the unit at their end, and the unit's number."""
    signs = "|".join(re.escape(word) for word in cluster_data("places.toml")["unit"]["words"].split())
    match = re.search(rf"[\s,]*(?<![^\W_])(?:{signs})\.?\s*([a-z]?\d+[a-z]?|[a-z])\s*\Z", words, re.IGNORECASE)
    return (words[: match.start()], match.group(1).lower()) if match else (words, "")


def _street(words: str) -> str:
    """A street name with abbreviations written out. St. at the start is "saint"."""
    table: dict[str, str] = cluster_data("places.toml")["street"]
    low = [fold(word) for word in _WORD.findall(words)]
    return " ".join("saint" if at == 0 and word == "st" else table.get(word, word) for at, word in enumerate(low))


@lru_cache(maxsize=1 << 12)
def city_of(words: str) -> str:
    """A city in the form used for comparison: St. Louis is Saint Louis, Mt Vernon is Mount Vernon."""
    low = [fold(word) for word in _WORD.findall(words)]
    long = {"st": "saint", "ste": "sainte", "mt": "mount", "ft": "fort"}
    return " ".join(long.get(word, word) for word in low)


@cache
def _exonyms() -> dict[str, str]:
    lines = cluster_data("places.toml")["city"]["same"]
    return {name: line.split("|")[0] for line in lines for name in line.split("|")}


def town_of(words: str) -> str:
    """A city like `city_of`, under the first of its names in several languages (Wien is Vienna)."""
    return _exonyms().get(city_of(words), city_of(words))


@lru_cache(maxsize=1 << 12)
def place_of(type: str, words: str) -> tuple[str, ...]:
    """The normal form of any place: (kind, parts …)."""
    lineage = catalogue().lineage_or_self(type)
    if "ADDRESS" in lineage or "STREET" in lineage:
        return ("address", *address_of(words))
    if "ZIP" in lineage:
        return ("zip", "".join(c for c in words.lower() if c.isalnum())[: 5 if words[:5].isdigit() else None])
    plain = town_of(words)
    if "STATE" in lineage:
        return ("state", dict(_states()).get(plain, plain))
    if "COUNTRY" in lineage:
        return ("country", _country(plain))
    if "ROOM" in lineage:
        return ("room", _room(words) or plain)
    return ("place", plain)


def _room(words: str) -> str:
    """Numbers with their kinds, in any order (Bay 3 Bed 2, Bed 2, Bay 3). For a single number, the kind is ignored."""
    kinds = frozenset(cluster_data("places.toml")["room"]["words"].split())
    found = [fold(word) for word in _WORD.findall(words)]
    numbers = [word for word in found if word not in kinds]
    pairs = [(a, b) for a, b in pairwise(found) if a in kinds and b not in kinds]
    return "".join("".join(pair) for pair in sorted(pairs)) if len(numbers) == len(pairs) > 1 else "".join(numbers)


def _country(plain: str) -> str:
    joined = plain.replace(" ", "")
    for line in cluster_data("places.toml")["country"]["same"]:
        first = str(line.split()[0])
        if joined == first or (plain in line.split(" ", 1)[1] and len(joined) < 4) or f" {plain} " in f" {line} ":
            return first
    return plain


def places(variants: Iterable[MentionVariant]) -> list[tuple[tuple[str, ...], list[MentionVariant]]]:
    """(normal form, variants) of every place. An address with fewer parts joins the only fuller one it agrees with.

    A city within an address and the same city alone are two identities with one component (`address_of(…).city`).
    """
    forms = by_key(sorted(set(variants)), lambda v: place_of(v.type, v.words))
    addresses = sorted(form for form in forms if form[0] == "address")

    def fuller(form: tuple[str, ...]) -> list[tuple[str, ...]]:
        if form[0] != "address" or not form[2]:
            return []
        near = [other for other in addresses if other != form and other[1:3] == form[1:3] and _within(form, other)]
        return [other for other in near if not any(_within(other, third) for third in near if third != other)]

    return [(form, sorted(found)) for form, found in attached(forms, fuller)]


def _within(form: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return True if the other has every part of the form. More words may follow the city (NSW)."""
    return all(
        not mine or mine == theirs or (at == _CITY and theirs.startswith(f"{mine} "))
        for at, (mine, theirs) in enumerate(zip(form, other, strict=True))
    )
