"""Surrogates of places: matching towns, regions and postal codes; streets, units and rooms of the same shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.languages import language
from incognote.operators.readers import places
from incognote.relex.addresses import AddressPiece, pieces
from incognote.relex.cluster.located import home_of
from incognote.relex.cluster.places import town_of
from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    DrawStream,
    SurrogateGenerator,
    UsedSurrogates,
    like,
    made,
    one_of,
    plain,
    shaped,
    walk,
)
from incognote.relex.generate.cultures import spoken_in
from incognote.relex.generate.institutions import coined, read_name
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools, Town
from incognote.text.lexicon import fold

_LEVELS = {"state": 0, "city": 1, "zip": 2, "county": 2}
_SHAPED = ("number", "unit", "room", "plus")
_TELLING = ("number", "unit", "room", "street", "quarter", "ward", "county", "city", "zip", "plus", "state")
_NONE: tuple[str, ...] = ()
_SIDES = frozenset("north south east west center central upper lower red blue green yellow orange purple".split())
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)\Z", re.IGNORECASE)
_GLUED = re.compile(r"(?<=..)(?:straße|gasse|weg|straat|laan|gata|braut|vegur|vägen|gatan|veien)\Z")
_FLOOR = re.compile(r"\d{1,2}(?=\d\d(?!\d))", re.ASCII)
"""The floor in the number of a room or an apartment: 2 in 214B, 12 in 1204."""
_US_ZIP = 5
_WORD = 3  # letters from which capitals show the case of a word
_ZIP_PLUS = re.compile(r"\d{5}-(\d{4})", re.ASCII)
_TONGUES = {
    "DE": "de", "AT": "de", "CH": "de", "NL": "nl", "BE": "nl", "FR": "fr", "HT": "fr", "PT": "pt", "BR": "pt",
    "IT": "it", "HU": "hu", "PL": "pl", "CZ": "cs", "SK": "cs", "IS": "is", "SE": "sv", "FI": "sv", "NO": "no",
    "DK": "no", "IN": "hi", "NP": "hi",
    "PH": "ph", "RU": "ru", "BY": "ru", "KZ": "ru", "KG": "ru", "UA": "ua", "AM": "am", "TR": "tr", "CN": "zh",
    **dict.fromkeys("ES MX PR CO PE EC VE AR CL CU DO GT SV HN NI PA PY UY BO CR".split(), "es"),
    **dict.fromkeys("EG JO LB SY IQ SA AE MA DZ TN LY SD YE OM QA KW BH PS".split(), "ar"),
    **dict.fromkeys("KE NG GH UG TZ ZM ZW RW BW MW SL LR GM ZA NA SS CM PK BD LK MM MY SG JM TT GY".split(), "common"),
    "ID": "id", "Hawaii": "haw",
}  # fmt: skip
"""The lists of street names by country, or by US state."""
_ENGLISH = frozenset(("US", "CA", "GB", "IE", "AU", "NZ"))


@cache
def _country(code: str) -> str:
    """The country of towns that no list has, in a text in another language; "" in English."""
    return str(language(code).table("bundle.toml").get("country", "")) if code else ""


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
            written = component.normal.split("\x1f")[0]
            draws = [lambda s: shaped(written, s)]
            if role in ("unit", "room") and (floor := _FLOOR.match(written)):
                draws.insert(0, lambda s: floor[0] + shaped(written[floor.end() :], s))
            fresh = [(c for c in made(draw, place) if c != written or len(c) < 2) for draw in draws]
            return taken.claim_first(component, fresh, default="")
        if role == "county":
            return taken.claim_first(component, (self._counties(request, place, draw, taken), self._coined(place)))
        if role == "street":
            return taken.claim_first(component, (self._streets(request, place), self._coined(place)))
        if role == "ward":
            return taken.claim_first(component, (walk(coined(self.pools, "plain"), place), self._coined(place)))
        quarters = self.pools.data("streets")["quarters"]["names"].split(";") if role == "quarter" else []
        country = request.detail[0] if request.detail else ""
        local = [town.name for town in self._pool((country, ""))] if country and country not in _ENGLISH else []
        return taken.claim_first(component, (walk(local, place), walk(quarters, place), self._coined(place)))

    def _coined(self, place: int) -> Iterator[str]:
        return walk(coined(self.pools, "core"), place)

    def _streets(self, request: ComponentRequest, place: int) -> Iterator[str]:
        """Numbered streets for a numbered one, else names in the language of the country."""
        if number := _ORDINAL.match(request.component.normal):
            yield from (ordinal for n in made(_low_number, place, 99) if (ordinal := _ordinal(n)) != number.group())
        country, region = (*request.detail, "", "")[:2]
        tongue = _TONGUES.get(region) or _TONGUES.get(country, "")
        if country and not tongue and country not in _ENGLISH:  # streets abroad are often named after towns
            yield from walk([name for town in self._pool((country, "")) if " " not in (name := town.name)], place)
        names = self.pools.data("streets")["abroad"][tongue] if tongue else self.pools.data("streets")["names"]
        yield from walk(names.split(), place)

    def _counties(
        self, request: ComponentRequest, place: int, draw: Draw, taken: UsedSurrogates
    ) -> Iterator[str]:
        """Counties of the surrogate towns of the scope, then of the region."""
        home = self._region(request, draw, taken)
        towns = self._pool(home)
        near = set(taken.siblings(Component(request.component.domain, request.component.scope, "city", "")))
        for of in ([t for t in towns if t.name in near], towns):
            yield from walk(sorted({t.county for t in of if t.county}), place)

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
        found = pieces(variant.type, variant.words, self.pools)
        for piece, after in zip(found, [*(p.text for p in found[1:]), ""], strict=True):
            part = surrogate.parts.get(_name(piece), surrogate.parts.get(piece.role))
            if piece.role in ("gap", "country"):
                out.append(piece.text)
            elif piece.role in ("street", "ward") and _is_side(piece.text):
                out.append(piece.text)  # the ward 5 West
            elif piece.role == "ward" and not read_name(piece.text, self.pools).core:
                out.append(piece.text)  # Cardiology is not a proper name
            elif not part:
                return None
            else:
                shown.append(piece.role)
                if piece.role in ("street", "cross") and re.match(r"\.? [^\W\d_]", after):
                    part = _GLUED.sub("", part) or part
                out.append(self._written(piece, part))
                if piece.role == "zip" and _plus(piece.text):
                    out.append(f"-{surrogate.parts['plus']}")
        return RenderedSurrogate("".join(out), tuple(sorted(set(shown))))

    def _written(self, piece: AddressPiece, part: str) -> str:
        if piece.role == "state":
            return self._state_like(piece.text, part)
        if piece.role == "zip":
            return part if " " in piece.text else part.replace(" ", "")
        if piece.role in ("ward", "quarter"):
            name = read_name(piece.text, self.pools)
            return f"{name.head}{like(name.core, part)}{name.tail}" if name.core else like(piece.text, part)
        return part if len(piece.text) < _WORD else like(piece.text, part)  # LA County is in no capitals

    def _state_like(self, written: str, name: str) -> str:
        """A state in the form of the original: Texas, TX, T.X., Tex."""
        region = self.pools.region(name)
        code = region[2] if region else ""
        bare = written.replace(".", "").strip()
        was = self.pools.region(written)
        if not code or was is None or fold(written) == fold(was[1]):
            return like(written, name)
        if bare.isupper() and len(bare) <= 3:
            return ".".join(code) + "." if written.count(".") > 1 else code
        old = self.pools.data("world")["old"].get(code, code).split()[0] if self.pools.is_old_form(bare) else code
        return like(written, f"{old}." if written.endswith(".") and old != code else old)

    def _of(self, identity: Identity, variant: MentionVariant) -> dict[str, ComponentRequest]:
        """Part → the component that it belongs to."""
        found = pieces(variant.type, variant.words, self.pools)
        texts: dict[str, str] = {piece.role: piece.text for piece in found}
        country, region = self._home(identity, found)
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
                named = self.pools.region(piece.text, country)
                normal, detail = plain(named[1] if named else piece.text), (country,)
            elif role == "city":
                normal, detail = plain(town_of(piece.text)), (country, region)
            elif role == "zip":
                code = piece.text
                if plus := _plus(code):
                    out["plus"] = ComponentRequest(0, self.component(identity, "plus", f"{plus}\x1f{normal}"))
                    code = code[:_US_ZIP]
                    normal = plain(code)
                town = texts.get("city") or identity.attributes.get("town", "")
                detail = (country, region, plain(town_of(town)) if town else "", code)
            elif role in ("street", "cross", "county", "quarter"):
                detail = (country, region)
            elif role in _SHAPED:
                normal = f"{piece.text}\x1f{plain(texts.get('street', ''))}"
            component = self.component(identity, "street" if role == "cross" else role, normal)
            out[_name(piece)] = ComponentRequest(_LEVELS.get(role, 0), component, detail)
        return out

    def _home(self, identity: Identity, found: tuple[AddressPiece, ...]) -> tuple[str, str]:
        """Country and region of an address, from its own words or else from the records of the scope; "" if unknown."""
        country, region = identity.attributes.get("country", ""), identity.attributes.get("region", "")
        lone_code = country and {piece.role for piece in found} == {"zip"}
        own = None if lone_code else home_of(found, self.pools)
        if own is None:
            town = next((fold(piece.text) for piece in found if piece.role == "city"), "")
            known = (country, region) if country else self.pools.home_of.get(town, ("", ""))
            return known if known[0] else (_country(spoken_in(identity)), "")
        return (own[0], own[1] or (region if own[0] == country else ""))

    def _state(self, component: Component, detail: tuple[str, ...], place: int, taken: UsedSurrogates) -> str:
        """The surrogate of a region; "" if its scope already shows all regions."""
        country = detail[0] if detail and detail[0] else "US"
        regions = [name for home, name in self.pools.towns if home == country]
        known = {plain(name): name for name in regions} or {plain(name): name for _, name in self.pools.towns}
        if self.choices.places == "state" and component.normal in known:
            return known[component.normal]
        others = [name for form, name in sorted(known.items()) if form != component.normal]
        for originals in (False, True):  # a large batch names every state
            tiers = (walk(names, place) for names in ([name for name in regions if name in others], others))
            if moved := taken.claim_first(component, tiers, default="", originals=originals):
                return moved
        return ""

    def _region(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> tuple[str, str]:
        """Country and name of the surrogate's region; "" for the name if any region will do."""
        country, region = (*request.detail, "", "")[:2]
        if region:
            state = Component(request.component.domain, request.component.scope, "state", plain(region))
            return country, self._state(state, (country,), draw.place(state), taken)
        return country or "US", ""

    def _pool(self, home: tuple[str, str]) -> list[Town]:
        """The towns of a region, or of the whole country."""
        found = [t for (country, name), towns in self.pools.towns.items() for t in towns
                 if country == home[0] and home[1] in ("", name)]  # fmt: skip
        return found or (_gazetteer(home[0]) if home[0] not in ("", "US") else [])

    def _towns(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> Iterator[Iterator[str]]:
        """Towns of the region, then of the country if it is not the United States, then invented ones."""
        home = self._region(request, draw, taken)
        place = draw.place(request.component)
        yield walk([town.name for town in self._pool(home)], place)
        if home[0] != "US":
            yield walk([town.name for town in self._pool((home[0], ""))], place)
            yield walk([town.name for town in _gazetteer(home[0])], place)
        yield self._coined(place)

    def _zips(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> Iterator[Iterator[str]]:
        """Codes of the address's surrogate town, then of its area, then of the region, then of the same shape."""
        *_, city, written = (*request.detail, "", "", "", "")[:4]
        component, place = request.component, draw.place(request.component)
        home = self._region(request, draw, taken)
        city_component = Component(component.domain, component.scope, "city", city)
        named = [taken.holds(city_component)] if city else taken.siblings(city_component)
        towns = self._pool(home)
        here = [t for t in towns if t.name in named]
        if city and not here:
            here = [t for t in self._pool((home[0], "")) if t.name in named]
        for near in (here, towns):
            codes = sorted({code for town in near for code in town.zips})
            if not written.isdecimal() or any(len(code) == len(written) for code in codes):
                yield made(one_of(codes), place, 64 * len(codes))
                if home[0] in ("US", "PR") and near:
                    yield made(one_of(sorted({f"{code[:3]}##" for code in codes})), place)
        yield made(lambda s: shaped(written or component.normal, s), place)


@cache
def _gazetteer(country: str) -> list[Town]:
    """The towns that the language knows in a country. Their postal codes are unknown."""
    return [Town(name, country, "", (), ()) for name in places().towns_of(country)]


def _plus(code: str) -> str:
    """The last four digits of a ZIP+4; "" for any other postal code (00-950 Warszawa)."""
    match = _ZIP_PLUS.fullmatch(code)
    return match[1] if match else ""


def _low_number(stream: DrawStream) -> int:
    return 2 + stream.below(38)


def _ordinal(number: int) -> str:
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _name(piece: AddressPiece) -> str:
    """The part's name. An address may have several quarters, rooms and units."""
    return f"{piece.role}:{plain(piece.text)}" if piece.role in ("quarter", "room", "unit") else piece.role


def _is_side(words: str) -> bool:
    """Return True for the words that tell wards apart without a proper name: 5 West, Green Team."""
    return {fold(word) for word in words.split()} <= _SIDES


def named_words(type: str, words: str, pools: Pools) -> set[str]:
    """The words of a place that no surrogate of the batch may be: its town, street, county and postal code."""
    kept = ("city", "street", "cross", "quarter", "county", "zip")
    return {piece.text for piece in pieces(type, words, pools) if piece.role in kept}
