"""A written address cut into its pieces, in the order of writing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.relex.generate.base import plain
from incognote.relex.pools import Pools
from incognote.schemas.catalogue import catalogue

Role = Literal["number", "street", "unit", "city", "quarter", "state", "zip", "country", "room", "ward", "gap"]
_ZIPS = (
    ("US", r"\d{5}(?:-\d{4})?"),
    ("CA", r"[A-Z]\d[A-Z] ?\d[A-Z]\d"),
    ("IE", r"[A-Z]\d[\dW] ?[A-Z\d]{4}"),
    ("GB", r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"),
    ("IN", r"\d{3} ?\d{3}"),
    ("AU", r"\d{4}"),
)
_COUNTRIES = {
    "usa": "US", "us": "US", "unitedstates": "US", "unitedstatesofamerica": "US", "canada": "CA", "uk": "GB",
    "unitedkingdom": "GB", "england": "GB", "scotland": "GB", "wales": "GB", "australia": "AU", "india": "IN",
    "ireland": "IE", "newzealand": "NZ", "southafrica": "ZA",
}  # fmt: skip
_COUNTRY = re.compile(r"(?:(?<=[,\n])|(?<=\s)|\A)\s*([A-Z][A-Za-z. ]*[A-Za-z.])\s*\Z")
_BREAK = re.compile(r"\s*[,;\n]\s*")
_NUMBER = re.compile(r"(?:No\.? ?)?(\d+[A-Za-z]?(?:[-/]\d+[A-Za-z]?)?)(?=\s)")
_LAST_NUMBER = re.compile(r"(?<=\s)\d+[A-Za-z]?\Z")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*\.?")
_ROOM = re.compile(r"\d+[A-Za-z]?|\b[A-Za-z]\b")


class Piece(NamedTuple):
    """A stretch of an address; joined, the pieces are the words."""

    role: Role
    text: str


@lru_cache(maxsize=1 << 12)
def pieces(type: str, words: str, pools: Pools) -> tuple[Piece, ...]:
    """What each stretch of a place is."""
    lineage = catalogue().lineage(type) if type in catalogue() else (type,)
    for name, role in _WHOLE:
        if name in lineage and not (role == "ward" and any(c.isdecimal() for c in words)):
            return (Piece(role, words),)
    if "ROOM" in lineage or ("DEPARTMENT" in lineage and any(c.isdecimal() for c in words)):
        return tuple(_cut(words, ((m.start(), m.end(), "room") for m in _ROOM.finditer(words))))
    found = sorted(_found(words, pools))
    if not found and "ADDRESS" not in lineage:
        return (Piece("quarter", words),)
    return tuple(_cut(words, found))


_WHOLE: tuple[tuple[str, Role], ...] = (
    ("CITY", "city"), ("STATE", "state"), ("COUNTRY", "country"), ("ZIP", "zip"), ("DEPARTMENT", "ward"),
)  # fmt: skip


def country_of(found: tuple[Piece, ...], pools: Pools) -> str:
    """The country an address shows itself to be of; "" where nothing tells."""
    for piece in found:
        if piece.role == "country":
            return _COUNTRIES.get(plain(piece.text), "")
        if piece.role == "state" and fold(piece.text) in pools.regions:
            return pools.regions[fold(piece.text)][0]
    code = next((piece.text for piece in found if piece.role == "zip"), "")
    return next((country for country, shape in _ZIPS if code and re.fullmatch(shape, code.upper())), "")


def _cut(words: str, found: Iterator[tuple[int, int, Role]] | list[tuple[int, int, Role]]) -> Iterator[Piece]:
    at = 0
    for start, end, role in found:
        if start > at:
            yield Piece("gap", words[at:start])
        yield Piece(role, words[start:end])
        at = end
    if at < len(words):
        yield Piece("gap", words[at:])


def _found(words: str, pools: Pools) -> list[tuple[int, int, Role]]:
    out: list[tuple[int, int, Role]] = []
    end = len(words.rstrip(" .,"))
    if (match := _COUNTRY.search(words[:end])) and plain(match[1]) in _COUNTRIES and match.start(1):
        out.append((match.start(1), match.end(1), "country"))
        end = len(words[: match.start(1)].rstrip(" ,;\n"))
    for _, shape in _ZIPS:
        if (match := re.search(rf"(?<![\w-]){shape}\Z", words[:end])) and match.start():
            out.append((match.start(), end, "zip"))
            end = len(words[: match.start()].rstrip(" ,;\n"))
            break
    if region := _region(words[:end], pools):
        out.append((region, end, "state"))
        end = len(words[:region].rstrip(" ,;\n"))
    elif fold(words[:end]) in pools.regions and not out:
        return [(0, end, "state")]
    return out + _lines(words[:end], pools, bool(out))


def _region(words: str, pools: Pools) -> int:
    """Where the region at the end begins; 0 for none."""
    tail = re.split(r"(?<=[\s,])", words)
    for count in (4, 3, 2, 1):
        if count >= len(tail):
            continue
        name = "".join(tail[-count:])
        short = len(name.rstrip(".")) <= 3
        if fold(name).rstrip(".") in pools.regions and (name.isupper() or not short) and name == name.strip(" ,"):
            return len(words) - len(name)
    return 0


def _lines(words: str, pools: Pools, more: bool) -> list[tuple[int, int, Role]]:
    """Street, unit, quarter and town of what stands before the region."""
    out: list[tuple[int, int, Role]] = []
    places: list[tuple[int, int]] = []
    at = 0
    for stop in [*(m.span() for m in _BREAK.finditer(words)), (len(words), len(words))]:
        start, end = at, stop[0]
        at = stop[1]
        if start >= end:
            continue
        line, rest = _street(words, start, end, pools, not out and not places)
        out += line
        if rest < end:
            places.append((rest, end))
    for place, (start, end) in enumerate(places):
        last = place == len(places) - 1 and (more or bool(out))
        out.append((start, end, "city" if last else "quarter"))
    return out


def _street(words: str, start: int, end: int, pools: Pools, first: bool) -> tuple[list[tuple[int, int, Role]], int]:
    """Number, street and unit of a line that begins at `start`, and where its town begins (`end` for none)."""
    units = "|".join(re.escape(word) for word in pools.words("streets", "", "units"))
    kinds, ways = set(pools.words("streets", "", "kinds")), set(pools.words("streets", "", "directions"))
    out: list[tuple[int, int, Role]] = []
    line = words[start:end]
    unit = re.search(rf"(?i)(?<![^\W_])(?:{units})\.? ?(\d+[a-z]?|[a-z]?\d+|[a-z])(?![^\W_])", line)
    if unit and not unit.start():
        return [(start + unit.start(1), start + unit.end(1), "unit")], end if unit.end() == len(
            line
        ) else start + unit.end()
    number = _NUMBER.match(line) if first else None
    body = start + (number.end() if number else 0)
    found = list(_WORD.finditer(words, body, start + unit.start() if unit else end))
    low = [fold(m.group()).rstrip(".") for m in found]
    kind = next((i for i, word in enumerate(low) if i and word in kinds and not set(low[:i]) <= ways), None)
    if not number and (kind is None or not first):
        last = _LAST_NUMBER.search(line) if first else None
        if last is None:
            return out, start
        return [
            (start, start + len(line[: last.start()].rstrip()), "street"),
            (start + last.start(), end, "number"),
        ], end
    if number:
        out.append((start + number.start(1), start + number.end(1), "number"))
    stop = kind if kind is not None else len(found)
    names = [i for i in range(stop) if not (low[i] in ways and i in (0, stop - 1) and stop > 1)]
    if names:
        out.append((found[names[0]].start(), found[names[-1]].end(), "street"))
    after = found[kind].end() if kind is not None and kind < len(found) else end
    while kind is not None and kind + 1 < len(found) and low[kind + 1] in ways:
        kind += 1
        after = found[kind].end()
    if unit:
        out.append((start + unit.start(1), start + unit.end(1), "unit"))
        after = start + unit.end()
    rest = _WORD.search(words, after, end)
    return out, rest.start() if rest else end
