"""Surrogates of contacts: telephones, web addresses, e-mail addresses and user names from the owner's surrogate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.relex.cluster.grouping import front_of
from incognote.relex.cluster.values import PHONES
from incognote.relex.generate.base import (
    Choices,
    Component,
    ComponentRequest,
    Draw,
    DrawStream,
    SurrogateGenerator,
    UsedSurrogates,
    like,
    made,
    plain,
)
from incognote.relex.generate.cultures import culture, gender_of, home_of_surname, homes_of_given, is_surname
from incognote.relex.generate.institutions import house_label
from incognote.relex.generate.persons import account_parts
from incognote.relex.generate.phones import Phones
from incognote.relex.generate.reading import surname_stem
from incognote.relex.names import NamePiece, Parsed, key, parse, render
from incognote.relex.names.parsed import parse_user, unparticled
from incognote.relex.names.parsed import words as name_words
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate

_INITIALS = "abcdefghjklmnprstw"
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
        if kind in PHONES:
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
        if kind in PHONES:
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
        if kind in PHONES:
            return next(r.component for r in self.requests(identity) if r.component.type == "phone")
        return self.component(
            identity, "host" if kind == "URL" else "front", _host(kind, words) if kind == "URL" else plain(words)
        )

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        kind, words = self._first(identity)
        if kind in PHONES:
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
