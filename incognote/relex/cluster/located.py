"""Where places are: mentions that stand together form one address, and a town has one home in a scope.

A home is a country and a region ("" if unknown). It depends only on the set of mentions in the scope.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from incognote.operators.readers import places
from incognote.relex.addresses import AddressPiece, country_of, pieces
from incognote.relex.cluster.places import town_of
from incognote.relex.nouns import Identity, MentionVariant
from incognote.relex.pools import Pools, pools
from incognote.text.lexicon import fold

Home = tuple[str, str]
Key = TypeVar("Key", str, Home)
_ORDER = {"number": 0, "street": 0, "cross": 0, "unit": 0, "quarter": 1, "city": 2, "state": 3, "zip": 4, "country": 5}
_NANP = re.compile(r"(?<![\d+])(?:\+?1[ .-]?)?\(?([2-9]\d\d)\)?[ ./-]{0,2}[2-9]\d\d[ .-]\d{4}(?!\d)")
_ISLAND_ZIPS = ("006", "007", "009")  # Puerto Rico


def located(identities: Sequence[Identity]) -> list[Identity]:
    """Add `country` and `region` to each place whose home is known, and `town` to a postal code beside its town."""
    scopes: dict[tuple[str, str], list[Identity]] = defaultdict(list)
    for one in identities:
        if one.group in ("PLACE", "CONTACT"):
            scopes[one.domain, one.scope].append(one)
    atlases = {scope: _Atlas(found) for scope, found in scopes.items() if any(one.group == "PLACE" for one in found)}
    return [
        replace(one, attributes={**one.attributes, **atlases[one.domain, one.scope].of(one)})
        if one.group == "PLACE"
        else one
        for one in identities
    ]


def home_of(found: Sequence[AddressPiece], atlas: Pools) -> Home | None:
    """The home that the pieces of one address show without knowledge of towns; None if they show none."""
    texts = {piece.role: piece.text for piece in found}
    country = country_of(tuple(found), atlas)
    if (region := atlas.region(texts.get("state", ""), country)) is not None:
        return region[:2]
    code = texts.get("zip", "")
    if country in ("US", "PR") and code[:5].isdigit():
        if code.startswith(_ISLAND_ZIPS):
            return "PR", "Puerto Rico"
        state = places().state_of(code)
        return ("US", state.name if state else "")
    return (country, "") if country else None


def area_home(words: str) -> Home | None:
    """The home of the area code of a North American telephone number; None if there is none."""
    match = _NANP.search(words)
    return pools().home_of_area.get(match.group(1)) if match else None


def addresses(variants: Iterable[MentionVariant]) -> list[list[AddressPiece]]:
    """The pieces of mentions that stand together, in the order of the text."""
    atlas = pools()
    out: list[list[AddressPiece]] = []
    last: MentionVariant | None = None
    for one in sorted(variants, key=lambda v: (v.owner, v.record, v.field, v.start, v)):
        found = [piece for piece in pieces(one.type, one.words, atlas) if piece.role in _ORDER]
        if not found:
            continue
        if last is not None and _together(last, one) and _continues(out[-1], found):
            out[-1] += found
        else:
            out.append(found)
        last = one
    return out


def _together(one: MentionVariant, other: MentionVariant) -> bool:
    if (one.owner, one.record) != (other.owner, other.record):
        return False
    if one.field == other.field:
        return 0 <= other.start - one.end <= other.hints.reach
    parents = {v.field.replace("/", ".").rpartition(".")[0].partition("[")[0] for v in (one, other)}
    return len(parents) == 1 and one.hints.reach == one.start and other.hints.reach == other.start


def _continues(before: Sequence[AddressPiece], after: Sequence[AddressPiece]) -> bool:
    """Return True if an address may go on with these pieces: later parts follow, or a town follows its postal code."""
    roles, fresh = {piece.role for piece in before}, {piece.role for piece in after}
    if roles & fresh - {"quarter", "unit"}:
        return False
    if "zip" in roles and not roles & {"city", "state", "country"} and "city" in fresh:
        return True
    return max(_ORDER[role] for role in roles) <= min(_ORDER[role] for role in fresh)


class _Atlas:
    """The homes of the towns, postal codes and streets of one scope."""

    def __init__(self, identities: Iterable[Identity]) -> None:
        self.pools = pools()
        self.places = [one for one in identities if one.group == "PLACE"]
        phones = [v for one in identities if one.group == "CONTACT" for v in one.variants]
        self.evidence: Counter[Home] = Counter(home for v in phones if (home := area_home(v.words)))
        self._called = {country for country, _ in self.evidence}
        self._towns: dict[str, Counter[Home]] = defaultdict(Counter)
        self._codes: dict[str, Counter[str]] = defaultdict(Counter)
        for group in addresses(v for one in self.places for v in one.variants):
            self._read(group)
        for town in sorted({town_of(p.text) for one in self.places for p in self._pieces(one) if p.role == "city"}):
            if town not in self._towns and len(homes := self._candidates(town)) == 1:
                self.evidence[homes[0]] += 1

    def of(self, identity: Identity) -> dict[str, str]:
        """The attributes of a place."""
        found = self._pieces(identity)
        texts = {piece.role: piece.text for piece in reversed(found)}
        code = fold(texts.get("zip", "")).replace(" ", "")[:5]
        town = town_of(texts["city"]) if "city" in texts else _most(self._codes[code]) if code in self._codes else ""
        home = home_of(found, self.pools) if "city" in texts or not town else None
        home = home or (self._home_of(town) if town else None) or self.usual
        if not home[0] or {"room", "ward"} & texts.keys():
            return {}
        return {"country": home[0], "region": home[1] or self._region_in(home[0])} | ({"town": town} if town else {})

    @property
    def usual(self) -> Home:
        """The home for which the scope has most evidence, in the country of its telephone numbers if they show it."""
        here = Counter({home: n for home, n in self.evidence.items() if home[0] in self._called})
        return _most(here or self.evidence) if self.evidence else ("", "")

    def _read(self, group: Sequence[AddressPiece]) -> None:
        texts = {piece.role: piece.text for piece in group}
        home = home_of(group, self.pools)
        if home is not None:
            self.evidence[home] += 2
        if "city" in texts:
            town = town_of(texts["city"])
            if home is not None and home[0]:
                exact = [c for c in self._candidates(town) if c[0] == home[0]] if not home[1] else []
                self._towns[town][exact[0] if len(exact) == 1 else home] += 1
            if "zip" in texts:
                self._codes[fold(texts["zip"]).replace(" ", "")[:5]][town] += 1

    def _home_of(self, town: str) -> Home:
        if self._towns.get(town):
            return _most(self._towns[town])
        homes = self._candidates(town)
        near = [home for home in homes if home in self.evidence]
        if near:
            return max(near, key=lambda home: (self.evidence[home], home))
        if not homes or (homes[0][0] == self.usual[0] and not places().homes_of(town)[0].endswith("*")):
            return self.usual
        return homes[0]

    def _candidates(self, town: str) -> list[Home]:
        out: list[Home] = []
        for home in places().homes_of(town):
            country, _, code = home.rstrip("*").partition("-")
            region = self.pools.region(code) if code else None
            out.append(region[:2] if region else (country, ""))
        return out

    def _region_in(self, country: str) -> str:
        """The region of a country for which the scope has most evidence; "" for none."""
        regions = Counter({home: n for home, n in self.evidence.items() if home[0] == country and home[1]})
        return _most(regions)[1] if regions else ""

    def _pieces(self, identity: Identity) -> list[AddressPiece]:
        """The pieces of its variants, longest variant first."""
        ordered = sorted(identity.variants, key=lambda v: (-len(v.words), v))
        return [piece for v in ordered for piece in pieces(v.type, v.words, self.pools)]


def _most(counted: Counter[Key]) -> Key:
    """What was counted most often, the smallest of several."""
    return min(counted, key=lambda key: (-counted[key], key))
