"""The parts of a written address: number, street, unit, quarter, town, state, postal code, country."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from incognote.operators.readers import places
from incognote.relex.pools import Pools
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import fold

Role = Literal[
    "number", "street", "cross", "unit", "city", "quarter", "state", "zip", "country", "room", "ward", "county", "gap"
]  # fmt: skip
_ZIPS = {
    "US": r"\d{5}(?:-\d{4})?",
    "CA": r"[A-Z]\d[A-Z] ?\d[A-Z]\d",
    "IE": r"[A-Z]\d[\dW] ?[A-Z\d]{4}",
    "GB": r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",
    "IN": r"\d{3} ?\d{3}",
    "AU": r"\d{4}",
}
_ZIP_FIRST = re.compile(r"(?:\b[A-Z]{1,2}-)?(\d{4} ?[A-Z]{2}|\d{3} \d{2}|\d{2}-\d{3}|\d{3,6})\s+(?=[^\W\d_])")
_BREAK = re.compile(r"\s*[,;\n|]\s*")
_NUMBER = re.compile(r"(?:No\.? ?)?([NSEW]?\d+[A-Za-z]?(?:[-/]\d+[A-Za-z]?)?)(?=\s)")
_LAST_NUMBER = re.compile(r"(?<=\s)\d+[A-Za-z]?(?:[-/]\d+[A-Za-z]?)?\Z")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*\.?")
_ROOM = re.compile(r"\d+[A-Za-z]?|\b[A-Za-z]\b")
_ROUTED = re.compile(
    r"(?<![^\W_])(?:(?:p\.? ?o\.? ?|post office )?box|p\.?m\.?b\.?|private bag|locked bag|postfach|apartado|casilla"
    r"|postbus|(?:rural |star |state |county |us |u\.s\. )?(?:route|rte)|r\.?r\.?|r\.?f\.?d\.?|h\.?c\.?|c\.?r\.?"
    r"|f\.?m\.?|s\.?r\.?|(?:county|farm.to.market|ranch|forest|state|township) (?:road|rd|highway|hwy)"
    r"|(?:us |u\.s\. |state |old )?(?:highway|hwy)|u\.?s\.?|interstate|i|mile ?(?:marker|post)?|m\.?m\.?|exit"
    r"|km|cmr|psc|space|spc|slip)"
    r"\.?(?: ?# ?|-| )(?:no\.? )?(\d+[a-z]?)(?![^\W_])",
    re.IGNORECASE,
)
"""Boxes, routes, highways and mile markers: their numbers."""
_CROSSING = re.compile(r"(?<=\w)\.?\s+(?:and|&|at|/)\s+(?=\w)", re.IGNORECASE)
_CORNER = re.compile(r"(?:(?:the )?(?:corner|intersection|junction) of|near|off|at|on|between)\s+", re.IGNORECASE)
_COUNTY = re.compile(r"(?:county of )?(\S.*?)(?: (?:county|co\.|parish|borough))?", re.IGNORECASE)
_CODE_LAST = re.compile(r"(?<=[^\W\d_]) (\d{3} ?\d{3}|\d{4,5})\Z")
_HOUSE = re.compile(
    r"\D+ (?:elementary|(?:high |middle )?school|academy|college|university|hospital|clinic|church|center|centre)",
    re.IGNORECASE,
)
_CARE = re.compile(r"(?:c/o|care of|attn)[.:]?\s+", re.IGNORECASE)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z", re.IGNORECASE)


class AddressPiece(NamedTuple):
    """A piece of an address. Joined, the pieces are the words."""

    role: Role
    text: str


_Cut = tuple[int, int, Role]
_WHOLE: tuple[tuple[str, Role], ...] = (
    ("CITY", "city"), ("STATE", "state"), ("COUNTRY", "country"), ("ZIP", "zip"), ("DEPARTMENT", "ward"),
)  # fmt: skip


@lru_cache(maxsize=1 << 12)
def pieces(type: str, words: str, pools: Pools) -> tuple[AddressPiece, ...]:
    """Split a place into pieces and find the role of each."""
    lineage = catalogue().lineage_or_self(type)
    if "ROOM" in lineage or ("DEPARTMENT" in lineage and any(c.isdecimal() for c in words)):
        return tuple(_cut(words, ((m.start(), m.end(), "room") for m in _ROOM.finditer(words))))
    if "CITY" in lineage and (both := _town_and_state(words, pools)):
        return tuple(_cut(words, both))
    if "CITY" in lineage and not places().homes_of(words) and (pools.country(words) or pools.region(words)):
        return tuple(_cut(words, _landmark(words, pools)))
    for name, role in _WHOLE:
        if name in lineage:
            return (AddressPiece(role, words),)
    if "STREET" in lineage and not any(c.isdecimal() or c == "," for c in words):
        start, end, _ = _bare_street(words, 0, len(words), pools)
        return tuple(_cut(words, [(start, end, "street")]))
    plain_name = "," not in words and not any(c.isdecimal() for c in words)
    last = fold(words.rsplit(maxsplit=1)[-1]).rstrip(".")
    if "ADDRESS" not in lineage and plain_name and last not in pools.words("streets", "", "kinds"):
        return tuple(_cut(words, _landmark(words, pools)))
    return tuple(_cut(words, sorted(_found(words, pools))))


def _landmark(words: str, pools: Pools) -> list[_Cut]:
    """A lone name: a country, a region, a town, or the name of a landmark (Pine Ridge of "Pine Ridge Reservation")."""
    known: tuple[tuple[object, Role], ...] = (
        (pools.country(words), "country"), (pools.region(words), "state"), (places().homes_of(words), "city"),
    )  # fmt: skip
    if role := next((role for fits, role in known if fits), None):
        return [(0, len(words), role)]
    if (match := _COUNTY.fullmatch(words)) and match.group(1) != words:
        return [(match.start(1), match.end(1), "county")]
    kept = set(pools.words("streets", "quarters", "kept"))
    found = list(_WORD.finditer(words))
    while len(found) > 1 and fold(found[-1].group()).rstrip(".") in kept:
        found.pop()
    while len(found) > 1 and fold(found[0].group()).rstrip(".") in kept:
        found.pop(0)
    if not found:
        return []
    start, end = found[0].start(), found[-1].end()
    travel = fold(words.rsplit(maxsplit=1)[-1]) in pools.words("streets", "quarters", "travel")
    return [(start, end, "city" if travel and places().homes_of(words[start:end]) else "quarter")]


def country_of(found: tuple[AddressPiece, ...], pools: Pools) -> str:
    """The country of an address, if the address shows it; "" otherwise."""
    texts = {piece.role: piece.text for piece in found}
    if code := pools.country(texts.get("country", "")):
        return code
    shown = [country for country, shape in _ZIPS.items() if re.fullmatch(shape, texts.get("zip", "").upper())]
    if (region := pools.region(texts.get("state", ""), shown[0] if shown else "")) is not None:
        return region[0]
    if not shown or (shown[0] in ("US", "IN", "AU") and _zip_first(found)):
        return ""
    homes = {home.rstrip("*").partition("-")[0] for home in places().homes_of(texts.get("city", ""))}
    if shown[0] in ("IN", "AU") and homes and shown[0] not in homes:  # codes of other countries have this form too
        return homes.pop() if len(homes) == 1 else ""
    return shown[0]


def _zip_first(found: tuple[AddressPiece, ...]) -> bool:
    """Return True if the postal code comes before the town, as in most of Europe (20095 Hamburg)."""
    order = [piece.role for piece in found if piece.role in ("zip", "city")]
    return order == ["zip", "city"]


def _town_and_state(words: str, pools: Pools) -> list[_Cut]:
    """A town with its state or country in one mention (Dedham, MA); nothing for a town alone."""
    found = sorted(_found(words, pools))
    return found if len(found) > 1 and found[0][2] in ("city", "quarter") and "," in words else []


def _cut(words: str, found: Iterable[_Cut]) -> Iterator[AddressPiece]:
    at = 0
    for start, end, role in found:
        if start > at:
            yield AddressPiece("gap", words[at:start])
        yield AddressPiece(role, words[start:end])
        at = end
    if at < len(words):
        yield AddressPiece("gap", words[at:])


def _found(words: str, pools: Pools) -> list[_Cut]:
    out: list[_Cut] = []
    end = len(words.rstrip(" .,;)"))
    tail = re.split(r"[,\n(]\s*", words[:end])[-1]
    for name in (tail, *(tail.split(" ", at)[-1] for at in range(1, tail.count(" ") + 1))):
        if pools.country(name) and len(name) < end and pools.region(name) is None:
            out.append((end - len(name), end, "country"))
            end = len(words[: end - len(name)].rstrip(" ,;\n("))
            break
    for shape in _ZIPS.values():
        if (match := re.search(rf"(?<![\w-]){shape}\Z", words[:end])) and match.start():
            if not any(routed.start(1) == match.start() for routed in _ROUTED.finditer(words[:end])):
                out.append((match.start(), end, "zip"))
                end = len(words[: match.start()].rstrip(" ,;\n"))
            break
    if region := _region(words[:end], pools):
        out.append((region, end, "state"))
        end = len(words[:region].rstrip(" ,;\n("))
    elif not out and pools.region(words[:end]) is not None:
        return [(0, end, "state")]
    return out + _lines(words[:end], pools, bool(out))


def _region(words: str, pools: Pools) -> int:
    """The start of the region at the end; 0 for none."""
    tail = re.split(r"(?<=[\s,])", words)
    for count in (4, 3, 2, 1):
        if count >= len(tail):
            continue
        name = "".join(tail[-count:])
        bare = name.replace(".", "")
        short = len(bare) <= 3 and " " not in bare
        fits = name.isupper() or not short or (bare[0].isupper() and pools.is_old_form(bare))
        if fits and name == name.strip(" ,") and pools.region(name) is not None:
            return len(words) - len(name)
    return 0


def _lines(words: str, pools: Pools, more: bool) -> list[_Cut]:
    """Street, unit, quarter and town in the text before the region."""
    out: list[_Cut] = []
    towns: list[tuple[int, int]] = []
    at = 0
    for stop in [*(m.span() for m in _BREAK.finditer(words)), (len(words), len(words))]:
        start, end = at, stop[0]
        at = stop[1]
        if start >= end:
            continue
        if (code := _ZIP_FIRST.match(words, start, end)) and _before_town(words, start, end, out, pools):
            out.append((code.start(1), code.end(1), "zip"))
            towns.append((code.end(), end))
            more = True
            continue
        if start and any(re.fullmatch(_ZIPS[country], words[start:end].strip()) for country in ("CA", "GB")):
            out.append((start, end, "zip"))
            continue
        coded = any(role == "zip" for *_, role in out)
        last = _CODE_LAST.search(words, start, end) if start and more and not coded else None
        if last and places().homes_of(words[start : last.start()]):
            out.append((*last.span(1), "zip"))  # Kochi 682301, Kerala
            towns.append((start, last.start()))
            more = True
            continue
        if not out and not towns and stop[0] < len(words) and _HOUSE.fullmatch(words, start, end):
            out.append((start, end, "ward"))  # Pelican Point Elementary, Lake Jackson
            continue
        if care := _CARE.match(words, start, end):
            out.append((care.end(), end, "quarter"))
            continue
        street = any(role in ("number", "street") for *_, role in out)
        line, rest = _street(words, start, end, pools, not street)
        out += line
        if rest < end and not (start < rest and re.fullmatch(r"[A-Z]{1,3}", words[rest:end])):
            towns.append((rest, end))
    main = _town_among(words, towns) if more or out else -1
    for place, (start, end) in enumerate(towns):
        behind_code = any(role == "zip" and after <= start <= after + 2 for _, after, role in out)
        bare = words[start:end].removesuffix(" City")
        if place == main or behind_code:
            short = places().homes_of(bare) and not places().homes_of(words[start:end])
            out.append((start, start + len(bare) if short else end, "city"))
        else:
            out += _quarter(words, start, end, pools)
    return out


def _town_among(words: str, towns: Sequence[tuple[int, int]]) -> int:
    """The position of the town: the last one, or a known town abroad before an unknown place (Laoag, Ilocos Norte)."""
    homes = [places().homes_of(words[start:end].removesuffix(" City")) for start, end in towns]
    known = [at for at, found in enumerate(homes) if found and not found[0].startswith("US-")]
    return known[-1] if known and not homes[-1] else len(towns) - 1


def _quarter(words: str, start: int, end: int, pools: Pools) -> list[_Cut]:
    """The name or the number of a neighborhood behind its label (Brgy. 11, Col. Centro). Section II has neither."""
    labels = "|".join(map(re.escape, pools.words("streets", "quarters", "labels")))
    label = re.compile(rf"(?:{labels})(?:\.\s*|\s+)(?=\S)", re.IGNORECASE).match(words, start, end)
    at = label.end() if label else start
    name = words[at:end]
    if label and re.fullmatch(r"[IVX]{1,4}|[A-Z]", name):
        return []
    return [(at, end, "unit" if label and re.fullmatch(r"\d[\dA-Za-z-]*", name) else "quarter")]


def _before_town(words: str, start: int, end: int, out: Sequence[_Cut], pools: Pools) -> bool:
    """Return True if the number that begins a line is a postal code: 1100 Wien after a street, or before one."""
    low = [fold(m.group()).rstrip(".") for m in _WORD.finditer(words, start, end)]
    if set(low[2:]) & set(pools.words("streets", "", "kinds")):
        return False
    if start:
        return any(role == "street" for *_, role in out)
    return any(_LAST_NUMBER.search(line.rstrip(". ")) for line in _BREAK.split(words[end:]))


def _street(words: str, start: int, end: int, pools: Pools, first: bool) -> tuple[list[_Cut], int]:
    """Number, street and unit of a line that begins at `start`, and where its town begins (`end` for none)."""
    units = "|".join(re.escape(word) for word in pools.words("streets", "", "units"))
    line = words[start:end]
    unit = re.search(rf"(?i)(?<![^\W_])(?:{units})\.? ?(?:# ?)?(\d+[a-z]?|[a-z]?\d+|[a-z])(?![^\W_])", line)
    if unit and not unit.start():
        cut: _Cut = (start + unit.start(1), start + unit.end(1), "unit")
        rest = _WORD.search(words, start + unit.end(), end)
        if rest is None:
            return [cut], end
        more, after = _street(words, rest.start(), end, pools, first)
        return [cut, *more], after
    stop = start + unit.start() if unit else end
    flat = (start + unit.start(1), start + unit.end(1)) if unit else None
    routed = list(_ROUTED.finditer(words, start, end))
    if routed and (first or routed[0].start() == start):
        return _routed(words, start, end, routed, flat, pools)
    if first and (crossing := _crossing(words, start, stop, pools)):
        return crossing, end
    return _named(words, start, stop, end, pools, first, flat)


def _routed(
    words: str, start: int, end: int, routed: Sequence[re.Match[str]], unit: tuple[int, int] | None, pools: Pools
) -> tuple[list[_Cut], int]:
    """Boxes, routes, and mile markers. The text after the last one is a street if it has a kind, or else the town."""
    out: list[_Cut] = []
    number = _NUMBER.match(words[start:end])
    if number and start + number.end(1) <= routed[0].start():
        out.append((start + number.start(1), start + number.end(1), "number"))
    out += [(*match.span(1), "unit") for match in routed]
    after = routed[-1].end()
    if unit and unit[0] >= after:
        out.append((*unit, "unit"))
        after = unit[1]
    ways = set(pools.words("streets", "", "directions"))
    rest = _WORD.search(words, after, end)
    while rest and fold(rest.group()).rstrip(".") in ways:
        rest = _WORD.search(words, rest.end(), end)
    if rest is None:
        return out, end
    more, town = _named(words, rest.start(), end, end, pools, True, None)
    return (out + more, town) if any(role == "street" for *_, role in more) else (out, rest.start())


def _crossing(words: str, start: int, end: int, pools: Pools) -> list[_Cut]:
    """Both streets of an intersection (corner of 5th and Main); nothing for anything else."""
    corner = _CORNER.match(words, start, end)
    body = corner.end() if corner else start
    between = _CROSSING.search(words, body, end)
    if between is None:
        return []
    sides = [_bare_street(words, body, between.start(), pools), _bare_street(words, between.end(), end, pools)]
    is_crossing = corner is not None or any(kind for *_, kind in sides)
    if not is_crossing or not all(a < b and words[a:b].count(" ") < 3 for a, b, _ in sides):
        return []
    return [(sides[0][0], sides[0][1], "street"), (sides[1][0], sides[1][1], "cross")]


def _bare_street(words: str, start: int, end: int, pools: Pools) -> tuple[int, int, bool]:
    """The name of a street without its kind and directions, and whether it has a kind or is numbered."""
    kinds, ways = set(pools.words("streets", "", "kinds")), set(pools.words("streets", "", "directions"))
    found = list(_WORD.finditer(words, start, end))
    kind = bool(found) and bool(_ORDINAL.match(found[0].group()))
    soft = set(pools.words("streets", "", "soft"))
    while len(found) > 1 and fold(found[-1].group()).rstrip(".") in kinds | ways | soft:
        kind |= fold(found.pop().group()).rstrip(".") in kinds
    before = set(pools.words("streets", "", "before"))
    while len(found) > 1 and fold(found[0].group()).rstrip(".") in ways | before:
        found.pop(0)
    return (found[0].start(), found[-1].end(), kind) if found else (start, start, False)


def _named(
    words: str, start: int, stop: int, end: int, pools: Pools, first: bool, unit: tuple[int, int] | None
) -> tuple[list[_Cut], int]:
    """A named street with its number and unit, and where the town behind it begins."""
    kinds, ways = set(pools.words("streets", "", "kinds")), set(pools.words("streets", "", "directions"))
    before = set(pools.words("streets", "", "before"))
    out: list[_Cut] = []
    line = words[start:stop]
    number = _NUMBER.match(line) if first else None
    body = start + (number.end() if number else 0)
    found = list(_WORD.finditer(words, body, stop))
    low = [fold(m.group()).rstrip(".") for m in found]
    spots = [i for i in range(1, len(low)) if not set(low[:i]) <= ways]
    soft = [i for i in spots if number and low[i] in pools.words("streets", "", "soft")]
    kind = next((i for i in spots if low[i] in kinds), soft[-1] if soft else None)
    ended = _LAST_NUMBER.search(line) if number is None and first else None
    if ended and (kind is None or kind >= len(found) - 2):
        name = line[: ended.start()].rstrip(" ,")
        lead = re.match(rf"(?:{'|'.join(map(re.escape, before))})\.? ", name, re.IGNORECASE)
        tail = re.search(r" (\S+)\Z", name)
        a, b = lead.end() if lead else 0, len(name)
        if tail and fold(tail[1]).rstrip(".") in kinds:
            b = tail.start()
        return [(start + a, start + b, "street"), (start + ended.start(), stop, "number")], end
    if number is None and first and low and low[0] in before and len(found) > 1:
        return [(found[1].start(), found[-1].end(), "street")], end
    if number is None and (kind is None or not first):
        return out, start
    if number and (split := re.match(r"(\d+[a-z]?)/(\d+[a-z]?)\Z", number.group(1), re.IGNORECASE)):
        at = start + number.start(1)
        out += [(at, at + split.end(1), "unit"), (at + split.start(2), at + split.end(2), "number")]
    elif number:
        out.append((start + number.start(1), start + number.end(1), "number"))
    until = kind if kind is not None else len(found)
    names = [i for i in range(until) if not (low[i] in ways and i in (0, until - 1) and until > 1)]
    if len(names) > 1 and low[names[0]] in before:
        names = names[1:]
    while len(names) > 1 and low[names[-1]] in pools.words("streets", "", "soft"):
        names.pop()
    if names:
        out.append((found[names[0]].start(), found[names[-1]].end(), "street"))
    after = found[kind].end() if kind is not None and kind < len(found) else stop
    while kind is not None and kind + 1 < len(found) and low[kind + 1] in ways:
        kind += 1
        after = found[kind].end()
    if unit:
        out.append((*unit, "unit"))
        after = unit[1]
    rest = _WORD.search(words, after, end)
    return out, rest.start() if rest else end

