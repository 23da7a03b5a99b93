"""Surrogates of places: towns, regions, postal codes that agree; streets, flats, rooms of the same shape."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.lexicon import fold
from incognote.operators.places import state_of
from incognote.relex.generate.addresses import Piece, country_of, pieces
from incognote.relex.generate.base import Component, Draw, Kind, Request, like, made, one_of, plain, shaped, walk
from incognote.relex.generate.institutions import coined, read_name
from incognote.relex.generate.taken import Taken
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant
from incognote.relex.pools import Town

_LEVELS = {"state": 0, "city": 1, "zip": 2}
_SHAPED = ("number", "unit", "room", "plus")
_TELLING = ("number", "unit", "room", "street", "quarter", "ward", "city", "zip", "plus", "state")
_NONE: tuple[str, ...] = ()


class Places(Kind):
    """Places: a part per role of its pieces (`number`, `street`, `unit`, `quarter`, `city`, `state`, `zip`, `room`).

    A town becomes a town of the same region (or of the region's surrogate), its postal code one of that town; kinds of
    street, directions, the words for flats and the country stay.
    """

    group = "PLACE"

    def requests(self, identity: Identity) -> list[Request]:
        found: dict[Component, Request] = {}
        for variant in identity.variants:
            for request in self._of(identity, variant).values():
                found[request.component] = max(request, found.get(request.component, request))
        return sorted(found.values())

    def pick(self, request: Request, draw: Draw, taken: Taken) -> str:
        component = request.component
        place = draw.place(component)
        role = component.type.split(":")[0]
        if role == "state":
            return self._state(component, request.detail, place, taken)
        if role == "city":
            return taken.claim_first(component, self._towns(request, draw, taken), part=True)
        if role == "zip":
            return taken.claim_first(component, self._zips(request, draw, taken), part=True)
        if role in _SHAPED:
            fresh = made(lambda s: shaped(component.normal.split("\x1f")[0], s), place)
            return taken.claim(component, fresh, part=True, default="")
        pool = self.pools.words("streets", "", "names") if role == "street" else ()
        return taken.claim_first(component, (walk(p, place) for p in (pool, coined(self.pools, "core"))), part=True)

    def named(self, identity: Identity) -> dict[str, Component]:
        longest_last = sorted(identity.variants, key=lambda v: (len(v.words), v))
        return {part: r.component for v in longest_last for part, r in self._of(identity, v).items()}

    def telling(self, identity: Identity) -> Component:
        found = {request.component.type: request.component for request in self.requests(identity)}
        return next(found[role] for role in _TELLING if role in found)

    def whole(self, surrogate: Surrogate) -> str:
        """Nothing for a state alone: it may stay."""
        return super().whole(surrogate) if set(surrogate.parts) - {"state"} else ""

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
        parts: dict[str, str] = {}
        merged = {request.component: request for request in self.requests(identity)}
        for variant in sorted(identity.variants, key=lambda v: (-len(v.words), v)):
            for name, request in self._of(identity, variant).items():
                if name not in parts:
                    parts[name] = self.pick(merged[request.component], draw, taken)
        return Surrogate(parts, self.pools.version)

    def render(self, variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
        out: list[str] = []
        shown: list[str] = []
        for piece in pieces(variant.type, variant.words, self.pools):
            part = surrogate.parts.get(_name(piece), surrogate.parts.get(piece.role))
            if piece.role in ("gap", "country"):
                out.append(piece.text)
            elif piece.role == "ward" and not read_name(piece.text, self.pools).core:
                out.append(piece.text)  # Cardiology is nobody's name
            elif not part:
                return None
            else:
                shown.append(piece.role)
                out.append(self._written(piece, part))
                if piece.role == "zip" and "-" in piece.text:
                    out.append(f"-{surrogate.parts['plus']}")
        return Rendered("".join(out), tuple(sorted(set(shown))))

    def _written(self, piece: Piece, part: str) -> str:
        if piece.role == "state":
            short = self.pools.regions.get(fold(part), ("", "", ""))[2]
            return short if short and len(piece.text.rstrip(".")) <= 3 and short.isalpha() else like(piece.text, part)
        if piece.role == "zip":
            return part if " " in piece.text else part.replace(" ", "")
        if piece.role == "ward":
            name = read_name(piece.text, self.pools)
            return f"{name.head}{like(name.core, part)}{name.tail}" if name.core else part
        return like(piece.text, part)

    def _of(self, identity: Identity, variant: Variant) -> dict[str, Request]:
        """Part → the component it is of."""
        found = pieces(variant.type, variant.words, self.pools)
        texts: dict[str, str] = {piece.role: piece.text for piece in found}
        country, region = self._home(found, texts)
        out: dict[str, Request] = {}
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
                    out["plus"] = Request(0, plus)
                    normal = plain(piece.text.split("-")[0])
                detail = (country, region, plain(texts.get("city", "")), piece.text.split("-")[0])
            elif role in _SHAPED:
                normal = f"{piece.text}\x1f{plain(texts.get('street', ''))}"
            component = self.component(identity, role, normal)
            out[_name(piece)] = Request(_LEVELS.get(role, 0), component, detail)
        return out

    def _home(self, found: tuple[Piece, ...], texts: dict[str, str]) -> tuple[str, str]:
        """Country and region of an address; "" for what nothing tells."""
        country = country_of(found, self.pools)
        if fold(texts.get("state", "")) in self.pools.regions:
            return self.pools.regions[fold(texts["state"])][:2]
        if not country and fold(texts.get("city", "")) in self.pools.home_of:
            return self.pools.home_of[fold(texts["city"])]
        told = state_of(texts.get("zip") or texts.get("city", "")) if country in ("US", "") else None
        if told and fold(told.name) in self.pools.regions:
            return self.pools.regions[fold(told.name)][:2]
        return country, texts.get("state", "")

    def _state(self, component: Component, detail: tuple[str, ...], place: int, taken: Taken) -> str:
        known = {plain(name): name for _, name in self.pools.towns}
        if self.choices.places == "state" and component.normal in known:
            return known[component.normal]
        country = detail[0] if detail and detail[0] else "US"
        regions = [name for home, name in self.pools.towns if home == country]
        return taken.claim_first(component, (walk(regions, place), walk(sorted(known.values()), place)), part=True)

    def _region(self, component: Component, country: str, region: str, draw: Draw, taken: Taken) -> tuple[str, str]:
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

    def _towns(self, request: Request, draw: Draw, taken: Taken) -> Iterator[Iterator[str]]:
        """Towns of the region, then coined ones."""
        country, region = request.detail[:2] if request.detail else ("", "")
        home = self._region(request.component, country, region, draw, taken)
        place = draw.place(request.component)
        yield (town.name for town in walk(self.pools.towns[home], place))
        yield walk(coined(self.pools, "core"), place)

    def _zips(self, request: Request, draw: Draw, taken: Taken) -> Iterator[Iterator[str]]:
        """Codes of the town that the address's town became, then of its region, then of the country's shape."""
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


def _name(piece: Piece) -> str:
    """The part's name; quarters, rooms and streets of one address may be several."""
    return f"{piece.role}:{plain(piece.text)}" if piece.role in ("quarter", "room", "unit") else piece.role
