"""Surrogates of telephone numbers: reserved numbers with an area code that agrees with the surrogate towns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from incognote.relex.cluster.values import EXTENSION, phone_of
from incognote.relex.generate.base import (
    DIGITS,
    Choices,
    Component,
    ComponentRequest,
    Draw,
    DrawStream,
    UsedSurrogates,
    made,
    one_of,
    plain,
    walk,
)
from incognote.relex.generate.places import Places
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate

_WORDS = re.compile(r"[^\W\d_]{3,}")
_LABELS = frozenset(
    "and anexo busca cel cell direct durchwahl ext extension extn fax handy home int interno mob mobile mobil móvil "
    "office or pager phone portable poste tel telefon teléfono téléphone voicemail work xxx xxxx تحويلة جوال "
    "هاتف".split()
)
_FREE = frozenset("800 833 844 855 866 877 888".split())
_NANP = 10
_LOCAL = 7
_FICTION = 100  # numbers from 555-0100 on, per area
_KEYS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")


class Number(NamedTuple):
    """A number as `phonenumbers` reads it: region, country code, the digits after it, and whether it is mobile."""

    region: str
    code: str
    national: str
    mobile: bool


def read_number(words: str) -> Number:
    """Read a number. Ten or seven digits are North American by default, and a trunk zero is British."""
    import phonenumbers

    match = EXTENSION.search(words)
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
    """The characters that are dialed: digits, and also letters if there are too few digits (1-800-FLOWERS)."""
    digits = "".join(c for c in written if c.isdecimal() and c.isascii())
    return digits if len(digits) >= _LOCAL else "".join(c for c in written if c.isalnum() and c.isascii())


def _islands(region: str | None) -> bool:
    """Guernsey, Jersey and the Isle of Man share British numbers."""
    return region in ("GG", "JE", "IM")


class Phones:
    """Draws telephone numbers; parts `number` (the digits after the country code) and `extension`."""

    def __init__(self, choices: Choices) -> None:
        self._places = Places(choices)
        self.pools = self._places.pools

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        """The area, then the number."""
        digits, extension = max((phone_of(v.words) for v in identity.variants), key=lambda f: (len(f[0]), f[1], f[0]))
        words = max((v.words for v in identity.variants), key=lambda w: (len(phone_of(w)[0]), w))
        number = read_number(words)
        found = [ComponentRequest(4, Component(identity.domain, identity.scope, "phone", digits), (words,))]
        if number.code == "1" and len(number.national) == _NANP and number.national[:3] not in _FREE:
            area = self._area(identity.domain, identity.scope, number)
            found.append(ComponentRequest(3, area))
            if self._places.choices.places == "country" and (state := self._state(area)) is not None:
                found.append(state)
        if extension:
            found.append(ComponentRequest(4, Component(identity.domain, identity.scope, "extension", extension)))
        return sorted(found)

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        component = request.component
        place = draw.place(component)
        if component.type == "state":
            return self._places.pick(request, draw, taken)
        if component.type == "area":
            return taken.claim_first(component, self._areas(component, place, draw, taken))
        if component.type == "extension":
            size = len(component.normal)
            longer = (made(lambda s: s.fill("#" * size), place), made(lambda s: s.fill("#" * size + "###"), place))
            return taken.claim_first(component, longer)
        return taken.claim_first(component, self._numbers(component, request.detail[0], place, draw, taken), default="")

    def named(self, identity: Identity) -> dict[str, Component]:
        """The area is part of the number; `area` names it."""
        found = {request.component.type: request.component for request in self.requests(identity)}
        return {"number" if name == "phone" else name: c for name, c in found.items() if name != "state"}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        parts = {r.component.type: self.pick(r, draw, taken) for r in self.requests(identity)}
        for shared in ("area", "state"):
            parts.pop(shared, None)
        return Surrogate({"number": parts.pop("phone"), **parts}, self.pools.version)

    def render(self, variant: MentionVariant, surrogate: Surrogate) -> RenderedSurrogate | None:
        """None if nothing in the words can be dialed, or if other words than labels would stay."""
        words = variant.words
        if not surrogate.parts["number"]:
            return None
        match = EXTENSION.search(words)
        head, tail = (words[: match.start()], words[match.start() :]) if match else (words, "")
        if match and "extension" in surrogate.parts:
            tail = re.sub(r"\d+", surrogate.parts["extension"], tail)
        size = len(read_number(words).national)
        made = _filled(head, surrogate.parts["number"][-size:]) + tail
        if not _LABELS.issuperset({*_WORDS.findall(made.lower())} & {*_WORDS.findall(words.lower())}):
            return None
        return RenderedSurrogate(made, ("number",))

    def _area(self, domain: str, scope: str, number: Number) -> Component:
        return Component(domain, scope, "area", number.national[:3])

    def _state(self, area: Component) -> ComponentRequest | None:
        """The state of an area code; None outside the United States."""
        country, region = self.pools.home_of_area.get(area.normal, ("", ""))
        if country != "US":
            return None
        return ComponentRequest(0, Component(area.domain, area.scope, "state", plain(region)), (country,))

    def _areas(self, component: Component, place: int, draw: Draw, taken: UsedSurrogates) -> Iterator[Iterator[str]]:
        """Areas of the scope's surrogate towns in the same state, then those of the state's surrogate, then any."""
        country, region = self.pools.home_of_area.get(component.normal, ("US", ""))
        held = taken.holds(Component(component.domain, component.scope, "state", plain(region))) if region else None
        home = (country, held or region)
        towns = set(taken.siblings(Component(component.domain, component.scope, "city", "")))
        yield walk(sorted({a for t in self.pools.towns.get(home, ()) if t.name in towns for a in t.areas}), place)
        yield walk(sorted(a for a, of in self.pools.home_of_area.items() if of == home), place)
        yield walk(sorted(a for a, of in self.pools.home_of_area.items() if of[0] == country), place)

    def _numbers(
        self, component: Component, words: str, place: int, draw: Draw, taken: UsedSurrogates
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
        self, component: Component, number: Number, place: int, draw: Draw, taken: UsedSurrogates
    ) -> Iterator[Iterator[str]]:
        """555-0100 to 555-0199, then exchanges that begin with 0 or 1, which are never assigned."""
        area = number.national[:-_LOCAL]
        if area and area not in _FREE:
            area = self.pick(ComponentRequest(3, self._area(component.domain, component.scope, number)), draw, taken)
        yield (f"{area}55501{(place + step) % _FICTION:02d}" for step in range(_FICTION))
        yield made(lambda s: area + s.fill("1######"), place)


def _unassigned(number: Number, stream: DrawStream) -> str:
    """A number of the same length that `phonenumbers` knows to be unassigned; "" if this draw is assigned."""
    digits = "".join(stream.of(DIGITS) for _ in number.national)
    if not number.code:
        return digits
    import phonenumbers

    return "" if phonenumbers.is_valid_number(phonenumbers.parse(f"+{number.code}{digits}")) else digits


def _filled(written: str, digits: str) -> str:
    """Replace the written digits from the end on. Remaining leading digits (country, trunk) stay."""
    out: list[str] = []
    rest, dialled = list(digits), set(_dialled(written))
    for c in reversed(written):
        out.append(rest.pop() if rest and c in dialled else c)
    return "".join(reversed(out))
