"""Surrogates of places: matching towns, regions and postal codes; streets, units and rooms of the same shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.operators.readers import places
from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    SurrogateGenerator,
    UsedSurrogates,
    like,
    made,
    one_of,
    plain,
    shaped,
    walk,
)
from incognote.relex.generate.institutions import coined, read_name
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools, Town
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


class AddressPiece(NamedTuple):
    """A piece of an address. Joined, the pieces are the words."""

    role: Role
    text: str


@lru_cache(maxsize=1 << 12)
def pieces(type: str, words: str, pools: Pools) -> tuple[AddressPiece, ...]:
    """Split a place into pieces and find the role of each."""
    lineage = catalogue().lineage_or_self(type)
    for name, role in _WHOLE:
        if name in lineage and not (role == "ward" and any(c.isdecimal() for c in words)):
            return (AddressPiece(role, words),)
    if "ROOM" in lineage or ("DEPARTMENT" in lineage and any(c.isdecimal() for c in words)):
        return tuple(_cut(words, ((m.start(), m.end(), "room") for m in _ROOM.finditer(words))))
    found = sorted(_found(words, pools))
    if not found and "ADDRESS" not in lineage:
        return (AddressPiece("quarter", words),)
    return tuple(_cut(words, found))


_WHOLE: tuple[tuple[str, Role], ...] = (
    ("CITY", "city"), ("STATE", "state"), ("COUNTRY", "country"), ("ZIP", "zip"), ("DEPARTMENT", "ward"),
)  # fmt: skip


def country_of(found: tuple[AddressPiece, ...], pools: Pools) -> str:
    """The country of an address, if the address shows it; "" otherwise."""
    for piece in found:
        if piece.role == "country":
            return _COUNTRIES.get(plain(piece.text), "")
        if piece.role == "state" and fold(piece.text) in pools.regions:
            return pools.regions[fold(piece.text)][0]
    code = next((piece.text for piece in found if piece.role == "zip"), "")
    return next((country for country, shape in _ZIPS if code and re.fullmatch(shape, code.upper())), "")


def _cut(words: str, found: Iterator[tuple[int, int, Role]] | list[tuple[int, int, Role]]) -> Iterator[AddressPiece]:
    at = 0
    for start, end, role in found:
        if start > at:
            yield AddressPiece("gap", words[at:start])
        yield AddressPiece(role, words[start:end])
        at = end
    if at < len(words):
        yield AddressPiece("gap", words[at:])


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
    """The start of the region at the end; 0 for none."""
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
    """Street, unit, quarter and town in the text before the region."""
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


_LEVELS = {"state": 0, "city": 1, "zip": 2}
_SHAPED = ("number", "unit", "room", "plus")
_TELLING = ("number", "unit", "room", "street", "quarter", "ward", "city", "zip", "plus", "state")
_NONE: tuple[str, ...] = ()


class Places(SurrogateGenerator):
    """Places: one part per role of a piece (`number`, `street`, `unit`, `quarter`, `city`, `state`, `zip`, `room`).

    A town becomes a town of the same region (or of the region's surrogate), with one of that town's postal codes.
    Street kinds, directions, words for units and the country stay.
    """

    group = "PLACE"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        found: dict[Component, ComponentRequest] = {}
        for variant in identity.variants:
            for request in self._of(identity, variant).values():
                found[request.component] = max(request, found.get(request.component, request))
        return sorted(found.values())

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        component = request.component
        place = draw.place(component)
        role = component.type.split(":")[0]
        if role == "state":
            return self._state(component, request.detail, place, taken)
        if role == "city":
            return taken.claim_first(component, self._towns(request, draw, taken))
        if role == "zip":
            return taken.claim_first(component, self._zips(request, draw, taken))
        if role in _SHAPED:
            fresh = made(lambda s: shaped(component.normal.split("\x1f")[0], s), place)
            return taken.claim(component, fresh, default="")
        pool = self.pools.words("streets", "", "names") if role == "street" else ()
        return taken.claim_first(component, (walk(p, place) for p in (pool, coined(self.pools, "core"))))

    def named(self, identity: Identity) -> dict[str, Component]:
        longest_last = sorted(identity.variants, key=lambda v: (len(v.words), v))
        return {part: r.component for v in longest_last for part, r in self._of(identity, v).items()}

    def telling(self, identity: Identity) -> Component:
        found = {request.component.type: request.component for request in self.requests(identity)}
        return next(found[role] for role in _TELLING if role in found)

    def whole(self, surrogate: Surrogate) -> str:
        """Return "" for a state alone, because it may stay."""
        return super().whole(surrogate) if set(surrogate.parts) - {"state"} else ""

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        parts: dict[str, str] = {}
        merged = {request.component: request for request in self.requests(identity)}
        for variant in sorted(identity.variants, key=lambda v: (-len(v.words), v)):
            for name, request in self._of(identity, variant).items():
                if name not in parts:
                    parts[name] = self.pick(merged[request.component], draw, taken)
        return Surrogate(parts, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        out: list[str] = []
        shown: list[str] = []
        for piece in pieces(variant.type, variant.words, self.pools):
            part = surrogate.parts.get(_name(piece), surrogate.parts.get(piece.role))
            if piece.role in ("gap", "country"):
                out.append(piece.text)
            elif piece.role == "ward" and not read_name(piece.text, self.pools).core:
                out.append(piece.text)  # Cardiology is not a proper name
            elif not part:
                return None
            else:
                shown.append(piece.role)
                out.append(self._written(piece, part))
                if piece.role == "zip" and "-" in piece.text:
                    out.append(f"-{surrogate.parts['plus']}")
        return RenderedSurrogate("".join(out), tuple(sorted(set(shown))))

    def _written(self, piece: AddressPiece, part: str) -> str:
        if piece.role == "state":
            short = self.pools.regions.get(fold(part), ("", "", ""))[2]
            return short if short and len(piece.text.rstrip(".")) <= 3 and short.isalpha() else like(piece.text, part)
        if piece.role == "zip":
            return part if " " in piece.text else part.replace(" ", "")
        if piece.role == "ward":
            name = read_name(piece.text, self.pools)
            return f"{name.head}{like(name.core, part)}{name.tail}" if name.core else part
        return like(piece.text, part)

    def _of(self, identity: Identity, variant: MentionVariant) -> dict[str, ComponentRequest]:
        """Part → the component that it belongs to."""
        found = pieces(variant.type, variant.words, self.pools)
        texts: dict[str, str] = {piece.role: piece.text for piece in found}
        country, region = self._home(found, texts)
        out: dict[str, ComponentRequest] = {}
        for piece in found:
            role: str = piece.role
            normal, detail = plain(piece.text), _NONE
            if role in ("gap", "country"):
                continue
            if role == "ward":
                normal = plain(read_name(piece.text, self.pools).core)
                if not normal:
                    continue
            if role == "state":
                normal, detail = plain(region), (country,)
            elif role == "city":
                detail = (country, region)
            elif role == "zip":
                if "-" in piece.text:
                    plus = self.component(identity, "plus", piece.text.split("-")[1] + f"\x1f{normal}")
                    out["plus"] = ComponentRequest(0, plus)
                    normal = plain(piece.text.split("-")[0])
                detail = (country, region, plain(texts.get("city", "")), piece.text.split("-")[0])
            elif role in _SHAPED:
                normal = f"{piece.text}\x1f{plain(texts.get('street', ''))}"
            component = self.component(identity, role, normal)
            out[_name(piece)] = ComponentRequest(_LEVELS.get(role, 0), component, detail)
        return out

    def _home(self, found: tuple[AddressPiece, ...], texts: dict[str, str]) -> tuple[str, str]:
        """Country and region of an address; "" if unknown."""
        country = country_of(found, self.pools)
        if fold(texts.get("state", "")) in self.pools.regions:
            return self.pools.regions[fold(texts["state"])][:2]
        if not country and fold(texts.get("city", "")) in self.pools.home_of:
            return self.pools.home_of[fold(texts["city"])]
        state = places().state_of(texts.get("zip") or texts.get("city", "")) if country in ("US", "") else None
        if state and fold(state.name) in self.pools.regions:
            return self.pools.regions[fold(state.name)][:2]
        return country, texts.get("state", "")

    def _state(self, component: Component, detail: tuple[str, ...], place: int, taken: UsedSurrogates) -> str:
        known = {plain(name): name for _, name in self.pools.towns}
        if self.choices.places == "state" and component.normal in known:
            return known[component.normal]
        country = detail[0] if detail and detail[0] else "US"
        regions = [name for home, name in self.pools.towns if home == country]
        return taken.claim_first(component, (walk(regions, place), walk(sorted(known.values()), place)))

    def _region(
        self, component: Component, country: str, region: str, draw: Draw, taken: UsedSurrogates
    ) -> tuple[str, str]:
        """Country and name of the surrogate's region."""
        country = country if any(home == country for home, _ in self.pools.towns) else "US"
        if region:
            state = Component(component.domain, component.scope, "state", plain(region))
            name = self._state(state, (country,), draw.place(state), taken)
        else:
            regions = [name for home, name in self.pools.towns if home == country]
            name = regions[draw.place(component) % len(regions)]
        return (
            (country, name)
            if (country, name) in self.pools.towns
            else next(h for h in self.pools.towns if h[1] == name)
        )

    def _towns(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> Iterator[Iterator[str]]:
        """Towns of the region, then invented ones."""
        country, region = request.detail[:2] if request.detail else ("", "")
        home = self._region(request.component, country, region, draw, taken)
        place = draw.place(request.component)
        yield (town.name for town in walk(self.pools.towns[home], place))
        yield walk(coined(self.pools, "core"), place)

    def _zips(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> Iterator[Iterator[str]]:
        """Codes of the surrogate of the address's town, then of its region, then of the country's shape."""
        country, region, city, written = (*request.detail, "", "", "", "")[:4]
        component, place = request.component, draw.place(request.component)
        home = self._region(component, country, region, draw, taken)
        towns: list[Town] = list(self.pools.towns[home])
        name = taken.holds(Component(component.domain, component.scope, "city", city)) if city else None
        abroad = [town for (where, _), found in self.pools.towns.items() if where == home[0] for town in found]
        for near in ([t for t in towns if t.name == name] or [t for t in abroad if t.name == name], towns):
            codes = sorted({code for town in near for code in town.zips})
            if codes:
                yield made(one_of(codes), place, 64 * len(codes))
        yield made(lambda s: shaped(written or component.normal, s), place)


def _name(piece: AddressPiece) -> str:
    """The part's name. An address may have several quarters, rooms and units."""
    return f"{piece.role}:{plain(piece.text)}" if piece.role in ("quarter", "room", "unit") else piece.role
