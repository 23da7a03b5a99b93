"""Surrogates of telephone and fax numbers: same country, same format, numbers reserved for fiction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from incognote.relex.cluster.numbers import phone_of
from incognote.relex.generate.base import DIGITS, Component, Draw, Request, Stream, made, one_of, plain, walk
from incognote.relex.generate.taken import Taken
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant
from incognote.relex.pools import Pools

TYPES = ("TELEPHONE_NUMBER", "FAX_NUMBER")
_EXTENSION = re.compile(r"(?:e?xt(?:ension|n)?\.?|(?<=\d)\s*x|#)\s*[:.]?\s*\d{1,6}\s*\Z", re.IGNORECASE)
_FREE = frozenset("800 833 844 855 866 877 888".split())
_NANP = 10
_LOCAL = 7
_FICTION = 100  # numbers from 555-0100 on, per area
_KEYS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")


class Number(NamedTuple):
    """A number as `phonenumbers` reads it: region, country's code, the digits behind it, whether it is a mobile's."""

    region: str
    code: str
    national: str
    mobile: bool


def read_number(words: str) -> Number:
    """Ten digits, or seven, are North America's where nothing else is said; a trunk zero is Britain's."""
    import phonenumbers

    match = _EXTENSION.search(words)
    plus = "+" if "+" in words else ""
    digits = _dialled(words[: match.start()] if match else words).upper().translate(_KEYS)
    written = plus + digits
    bare = digits[1:] if len(digits) == _NANP + 1 and digits[0] == "1" else digits
    if "+" not in written and len(bare) in (_LOCAL, _NANP) and bare[0] != "0":
        return Number("US", "1", bare, mobile=False)
    for home in (None,) if "+" in written else ("GB", "AU", "FR", "IE", "ZA", "NZ", "DE", "IN"):
        try:
            number = phonenumbers.parse(written, home)
        except phonenumbers.NumberParseException:
            continue
        if home is None or phonenumbers.is_valid_number(number):
            code = number.country_code or 0
            region = phonenumbers.region_code_for_number(number) or phonenumbers.region_code_for_country_code(code)
            mobile = phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE
            national = phonenumbers.national_significant_number(number)
            return Number("GB" if _islands(region) else region or "", str(code), national, mobile)
    return Number("", "", bare, mobile=False)


def _dialled(written: str) -> str:
    """The characters that are dialled: digits, and letters where there are too few digits without (1-800-FLOWERS)."""
    digits = "".join(c for c in written if c.isdecimal() and c.isascii())
    return digits if len(digits) >= _LOCAL else "".join(c for c in written if c.isalnum() and c.isascii())


def _islands(region: str | None) -> bool:
    """Britain's islands share its numbers."""
    return region in ("GG", "JE", "IM")


class Phones:
    """How telephones are drawn; part `number` (the digits behind the country's code) and `extension`."""

    def __init__(self, pools: Pools) -> None:
        self.pools = pools

    def requests(self, identity: Identity) -> list[Request]:
        """The area, then the number."""
        digits, extension = max((phone_of(v.words) for v in identity.variants), key=lambda f: (len(f[0]), f[1], f[0]))
        words = max((v.words for v in identity.variants), key=lambda w: (len(phone_of(w)[0]), w))
        number = read_number(words)
        found = [Request(4, Component(identity.domain, identity.scope, "phone", digits), (words,))]
        if number.code == "1" and len(number.national) == _NANP and number.national[:3] not in _FREE:
            found.append(Request(3, self._area(identity.domain, identity.scope, number)))
        if extension:
            found.append(Request(4, Component(identity.domain, identity.scope, "extension", extension)))
        return sorted(found)

    def pick(self, request: Request, draw: Draw, taken: Taken) -> str:
        component = request.component
        place = draw.place(component)
        if component.type == "area":
            return taken.claim_first(component, self._areas(component, place, draw, taken), part=True)
        if component.type == "extension":
            size = len(component.normal)
            longer = (made(lambda s: s.fill("#" * size), place), made(lambda s: s.fill("#" * size + "###"), place))
            return taken.claim_first(component, longer, part=True)
        return taken.claim_first(component, self._numbers(component, request.detail[0], place, draw, taken), default="")

    def named(self, identity: Identity) -> dict[str, Component]:
        """The area is part of the number: `area` names it."""
        return {
            "number" if r.component.type == "phone" else r.component.type: r.component for r in self.requests(identity)
        }

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
        parts = {r.component.type: self.pick(r, draw, taken) for r in self.requests(identity)}
        parts.pop("area", None)
        return Surrogate({"number": parts.pop("phone"), **parts}, self.pools.version)

    def render(self, variant: Variant, surrogate: Surrogate) -> Rendered | None:
        """None where nothing in the words can be dialled."""
        words = variant.words
        if not surrogate.parts["number"]:
            return None
        match = _EXTENSION.search(words)
        head, tail = (words[: match.start()], words[match.start() :]) if match else (words, "")
        if match and "extension" in surrogate.parts:
            tail = re.sub(r"\d+", surrogate.parts["extension"], tail)
        size = len(read_number(words).national)
        return Rendered(_filled(head, surrogate.parts["number"][-size:]) + tail, ("number",))

    def _area(self, domain: str, scope: str, number: Number) -> Component:
        return Component(domain, scope, "area", number.national[:3])

    def _areas(self, component: Component, place: int, draw: Draw, taken: Taken) -> Iterator[Iterator[str]]:
        """Areas of the scope's surrogate towns where the state is the same, then of the state's surrogate, then any."""
        state = self.pools.home_of_area.get(component.normal, "")
        held = taken.holds(Component(component.domain, component.scope, "state", plain(state))) if state else None
        home = ("US", held or state)
        towns = set(taken.siblings(Component(component.domain, component.scope, "city", "")))
        yield walk(sorted({a for t in self.pools.towns.get(home, ()) if t.name in towns for a in t.areas}), place)
        yield walk(sorted(a for a, name in self.pools.home_of_area.items() if name == home[1]), place)
        yield walk(sorted(self.pools.home_of_area), place)

    def _numbers(
        self, component: Component, words: str, place: int, draw: Draw, taken: Taken
    ) -> Iterator[Iterator[str]]:
        number = read_number(words)
        if number.code == "1" and len(number.national) in (_LOCAL, _NANP):
            yield from self._american(component, number, place, draw, taken)
            return
        table = self.pools.data("numbers")["phone"].get(number.region, {})
        kinds = ("mobile",) if number.mobile else ("free",) if number.national.startswith("80") else ("long", "fixed")
        for kind in kinds:
            shapes = [
                s
                for s in table.get(kind, "").format(area=number.national[:1]).split()
                if len(s) == len(number.national)
            ]
            if shapes and (kind != "long" or number.national.startswith("20")):
                yield made(one_of(shapes), place, 4096)
        yield (digits for digits in made(lambda s: _unassigned(number, s), place) if digits)

    def _american(
        self, component: Component, number: Number, place: int, draw: Draw, taken: Taken
    ) -> Iterator[Iterator[str]]:
        """555-0100 to 555-0199, then exchanges that begin with 0 or 1, which are never given out."""
        area = number.national[:-_LOCAL]
        if area and area not in _FREE:
            area = self.pick(Request(3, self._area(component.domain, component.scope, number)), draw, taken)
        yield (f"{area}55501{(place + step) % _FICTION:02d}" for step in range(_FICTION))
        yield made(lambda s: area + s.fill("1######"), place)


def _unassigned(number: Number, stream: Stream) -> str:
    """The same length, a number that `phonenumbers` knows not to be given out; "" where this draw is none."""
    digits = "".join(stream.of(DIGITS) for _ in number.national)
    if not number.code:
        return digits
    import phonenumbers

    return "" if phonenumbers.is_valid_number(phonenumbers.parse(f"+{number.code}{digits}")) else digits


def _filled(written: str, digits: str) -> str:
    """The digits put in place of the written ones from the end on; what is left in front (country, trunk) stays."""
    out: list[str] = []
    rest, dialled = list(digits), set(_dialled(written))
    for c in reversed(written):
        out.append(rest.pop() if rest and c in dialled else c)
    return "".join(reversed(out))
