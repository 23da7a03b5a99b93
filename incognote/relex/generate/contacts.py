"""Surrogates of contacts: telephones, web addresses, e-mail addresses and user names from the owner's surrogate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from incognote.relex.cluster.grouping import front_of
from incognote.relex.cluster.values import phone_of
from incognote.relex.generate.base import (
    DIGITS,
    Choices,
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
    walk,
)
from incognote.relex.generate.cultures import culture, gender_of, home_of_surname, homes_of_given, is_surname
from incognote.relex.generate.institutions import house_label
from incognote.relex.generate.persons import account_parts
from incognote.relex.generate.places import Places
from incognote.relex.generate.reading import surname_stem
from incognote.relex.names import NamePiece, Parsed, key, parse, render
from incognote.relex.names.parsed import parse_user, unparticled
from incognote.relex.names.parsed import words as name_words
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate

TYPES = ("TELEPHONE_NUMBER", "FAX_NUMBER")
_EXTENSION = re.compile(r"(?:e?xt(?:ension|n)?\.?|(?<=\d)\s*x|#)\s*[:.]?\s*\d{1,6}\s*\Z", re.IGNORECASE)
_FREE = frozenset("800 833 844 855 866 877 888".split())
_NANP = 10
_LOCAL = 7
_INITIALS = "abcdefghjklmnprstw"
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
        """None if nothing in the words can be dialed."""
        words = variant.words
        if not surrogate.parts["number"]:
            return None
        match = _EXTENSION.search(words)
        head, tail = (words[: match.start()], words[match.start() :]) if match else (words, "")
        if match and "extension" in surrogate.parts:
            tail = re.sub(r"\d+", surrogate.parts["extension"], tail)
        size = len(read_number(words).national)
        return RenderedSurrogate(_filled(head, surrogate.parts["number"][-size:]) + tail, ("number",))

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


_URL = re.compile(r"(?P<scheme>[A-Za-z]+://)?(?P<www>www\.)?(?P<host>[^/?#\s]+)(?P<path>[^?#\s]*)")
_LONGEST_PATH = 4


class Contacts(SurrogateGenerator):
    """Contacts.

    For telephones see `Phones`. Other parts: `front` and `host` of an e-mail address, `front` of a user name, `host`
    and `path` of a web address. Hosts are under example.com, example.org and example.net (RFC 2606).
    """

    group = "CONTACT"

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self._phones = Phones(choices)

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        kind, words = self._first(identity)
        if kind in TYPES:
            return self._phones.requests(identity)
        if host := _host(kind, words):
            owner = identity.attributes.get("institution", "")
            return [ComponentRequest(4, self.component(identity, "host", host), (owner,))]
        return []

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        component = request.component
        if component.type != "host":
            return self._phones.pick(request, draw, taken)
        names, domains = (self.pools.words("numbers", "network", name) for name in ("hosts", "domains"))
        house = taken.known(request.detail[0] if request.detail else "")
        own = house_label(house[1], self.pools) if house else ""
        housed = made(lambda s: f"{own}.{s.of(domains)}", draw.place(component), 64 if own else 0)
        plain_hosts = made(lambda s: f"{s.of(names)}.{s.of(domains)}", draw.place(component), 1024)
        numbered = made(lambda s: f"{s.of(names)}{s.fill('##')}.{s.of(domains)}", draw.place(component))
        return taken.claim_first(component, (housed, plain_hosts, numbered))

    def named(self, identity: Identity) -> dict[str, Component]:
        kind, words = self._first(identity)
        if kind in TYPES:
            return self._phones.named(identity)
        found = {request.component.type: request.component for request in self.requests(identity)}
        return found if kind == "URL" else {**found, "front": self.component(identity, "front", plain(words))}

    def recall(self, identity: Identity, surrogate: Surrogate, taken: UsedSurrogates) -> None:
        super().recall(identity, surrogate, taken)
        area = self.named(identity).get("area")
        if area is not None:
            taken.keep(area, surrogate.parts["number"][:3])

    def lacks(self, identity: Identity, surrogate: Surrogate) -> bool:
        """Something that is not an address has no parts at all. A telephone's area is part of its number."""
        return bool(surrogate.parts) and not self.named(identity).keys() - {"area"} <= surrogate.parts.keys()

    def again(self, identity: Identity, taken: UsedSurrogates) -> None:
        front = self.named(identity).get("front")
        if front is not None:
            taken.free(front)

    def telling(self, identity: Identity) -> Component:
        kind, words = self._first(identity)
        if kind in TYPES:
            return next(r.component for r in self.requests(identity) if r.component.type == "phone")
        return self.component(
            identity, "host" if kind == "URL" else "front", _host(kind, words) if kind == "URL" else plain(words)
        )

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        kind, words = self._first(identity)
        if kind in TYPES:
            return self._phones.generate(identity, draw, taken)
        parts: dict[str, str] = {}
        for request in self.requests(identity):
            parts["host"] = self.pick(request, draw, taken)
        place = draw.place(self.component(identity, "front", plain(words)))
        if kind == "URL":
            match = _URL.match(words)
            if match is None or not parts:
                return Surrogate({}, self.pools.version)
            steps = [step for step in match["path"].split("/") if step][:_LONGEST_PATH]
            stream = DrawStream(place)
            parts["path"] = "".join(f"/{stream.of(self.pools.words('numbers', 'network', 'paths'))}" for _ in steps)
        else:
            front = self.component(identity, "front", plain(words))
            parts["front"] = taken.claim_first(front, self._fronts(identity, front_of(words), place, taken))
        return Surrogate(parts, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        parts = surrogate.parts
        if not parts:
            return None  # not an address
        if "number" in parts:
            return self._phones.render(variant, surrogate)
        if "path" in parts:
            match = _URL.match(variant.words)
            if match is None:
                return None
            return RenderedSurrogate(
                f"{match['scheme'] or ''}{match['www'] or ''}{parts['host']}{parts['path']}", ("host", "path")
            )
        text = f"{parts['front']}@{parts['host']}" if "host" in parts else parts["front"]
        handle = "@" if variant.words.startswith("@") else ""
        return RenderedSurrogate(handle + like(variant.words, text), tuple(sorted(parts)))

    def whole(self, surrogate: Surrogate) -> str:
        parts = surrogate.parts
        if not parts:
            return ""
        if "path" in parts:
            return f"{parts['host']}{parts['path']}"
        if "number" in parts:
            return f"{parts['number']} {parts.get('extension', '')}".strip()
        return f"{parts['front']}@{parts['host']}" if "host" in parts else parts["front"]

    def _fronts(self, identity: Identity, front: str, place: int, taken: UsedSurrogates) -> Iterator[Iterator[str]]:
        """Build it like the original, from the owner's surrogate, or else from an initial and a surname of the pool."""
        bearer = taken.known(identity.attributes.get("person", ""))
        if bearer is not None:
            person, surrogate = bearer
            names = [parse(v.words, v.hints.title) for v in person.variants]
            shape = parse_user(front, names)
            if shape is not None:
                parts = account_parts(surrogate)
                yield made(lambda s: render(_redrawn(shape, s), parts).lower(), place, 64)
                yield made(lambda s: render(_redrawn(shape, s), parts).lower() + s.fill("##"), place, 1024)
        yield (name for name in made(lambda s: self._unowned(identity, front, s, taken), place, 1024) if name)
        surnames = self.pools.people["en"].surname
        yield made(lambda s: s.of(_INITIALS) + key(s.of(surnames)), place)

    def _unowned(self, identity: Identity, front: str, stream: DrawStream, taken: UsedSurrogates) -> str:
        """An account whose bearer is not mentioned, in the original's pattern; "" if it shows no name.

        A surname that the scope or the staff knows becomes its surrogate.
        """
        chunks = re.findall(r"[^\W\d_]+|[\W\d_]+", front)
        letters = [chunk for chunk in chunks if chunk[0].isalpha()]
        given = bool(letters and homes_of_given(key(letters[0])))
        out: list[str] = []
        named = False
        for chunk in chunks:
            if not chunk[0].isalpha():
                out.append("".join(str((int(c) + 1 + stream.below(9)) % 10) if c.isdecimal() else c for c in chunk))
                continue
            whole, rest = self._surname(identity, chunk, taken), self._surname(identity, chunk[1:], taken)
            if whole or rest:
                out.append(whole or stream.of(_INITIALS) + rest)
                named = True
            elif len(chunk) > 1 and len(letters) == 1:
                return ""
            elif len(chunk) > 2 and chunk in letters[1:2] and (is_surname(key(chunk)) or given):
                out.append(key(unparticled(stream.of(culture(home_of_surname(chunk)).surname))))
                named = True
            elif homes := homes_of_given(key(chunk)):
                out.append(key(stream.of(culture(homes[0]).names(gender_of(key(chunk)) or "unknown"))))
                named = True
            else:
                out.append(_leftover(chunk, stream, first=chunk is chunks[0]))
        return "".join(out) if named else ""

    @staticmethod
    def _surname(identity: Identity, word: str, taken: UsedSurrogates) -> str:
        """The surrogate of a surname, in the form of an account; "" if nobody of the scope or the staff has it."""
        held = (
            taken.holds(Component(identity.domain, scope, "surname", surname_stem(key(word))))
            for scope in (identity.scope, "")
        )
        return next((key(name) for name in held if name), "") if len(word) > 2 else ""

    @staticmethod
    def _first(identity: Identity) -> tuple[str, str]:
        variant = min(identity.variants)
        return identity.attributes.get("type", variant.type), variant.words


def _host(type: str, words: str) -> str:
    """The host of an address, in the form used for comparison; "" for a user name."""
    if type == "URL":
        match = _URL.match(words)
        return plain(match["host"]) if match else ""
    return plain(words.rsplit("@", 1)[1]) if "@" in words[1:] else ""


def _leftover(word: str, stream: DrawStream, *, first: bool) -> str:
    """What stands for a word of an account that is no name. Suffixes and degrees stay, and initials become others.

    Another word becomes two digits, or an initial at the start, because any word would look like a replacement.
    """
    if key(word) in name_words().suffixes | name_words().degrees:
        return word
    if len(word) > 2 and not first:
        return stream.fill("##")
    return "".join(stream.of(_INITIALS) for _ in (word if len(word) < 3 else "x"))


def _redrawn(shape: Parsed, stream: DrawStream) -> Parsed:
    """Change the digits between the parts, which may be a year of birth, and the words that are no names."""

    def drawn(piece: NamePiece) -> NamePiece:
        if piece.role != "gap":
            return piece
        if piece.text.isalpha():
            return NamePiece("gap", _leftover(piece.text, stream, first=piece is shape.pieces[0]))
        digits = (str((int(c) + 1 + stream.below(9)) % 10) if c.isdecimal() else c for c in piece.text)
        return NamePiece("gap", "".join(digits))

    return Parsed(tuple(map(drawn, shape.pieces)), shape.order)
