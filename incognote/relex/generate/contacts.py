"""Surrogates of contacts: telephones, e-mails and user names built of the bearer's surrogate, web addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.relex.generate.base import Choices, Component, Draw, Kind, Request, Stream, like, made, plain
from incognote.relex.generate.persons import account_parts
from incognote.relex.generate.phones import TYPES, Phones
from incognote.relex.generate.taken import Taken
from incognote.relex.names import Parsed, Piece, key, parse, render
from incognote.relex.names.users import parse_user
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant

_URL = re.compile(r"(?P<scheme>[A-Za-z]+://)?(?P<www>www\.)?(?P<host>[^/?#\s]+)(?P<path>[^?#\s]*)")
_LONGEST_PATH = 4


class Contacts(Kind):
    """Contacts: of phones see `Phones`; parts `front` and `host` of an e-mail, `front` of a user name, `host` and
    `path` of a web address. Hosts lie under example.com, example.org and example.net (RFC 2606)."""

    group = "CONTACT"

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self._phones = Phones(self.pools)

    def requests(self, identity: Identity) -> list[Request]:
        kind, words = self._first(identity)
        if kind in TYPES:
            return self._phones.requests(identity)
        if host := _host(kind, words):
            return [Request(4, self.component(identity, "host", host))]
        return []

    def pick(self, request: Request, draw: Draw, taken: Taken) -> str:
        component = request.component
        if component.type != "host":
            return self._phones.pick(request, draw, taken)
        names, domains = (self.pools.words("numbers", "network", name) for name in ("hosts", "domains"))
        plain_hosts = made(lambda s: f"{s.of(names)}.{s.of(domains)}", draw.place(component), 1024)
        return taken.claim_first(
            component,
            (plain_hosts, made(lambda s: f"{s.of(names)}{s.fill('##')}.{s.of(domains)}", draw.place(component))),
        )

    def named(self, identity: Identity) -> dict[str, Component]:
        kind, words = self._first(identity)
        if kind in TYPES:
            return self._phones.named(identity)
        found = {request.component.type: request.component for request in self.requests(identity)}
        return found if kind == "URL" else {**found, "front": self.component(identity, "front", plain(words))}

    def recall(self, identity: Identity, surrogate: Surrogate, taken: Taken) -> None:
        super().recall(identity, surrogate, taken)
        area = self.named(identity).get("area")
        if area is not None:
            taken.keep(area, surrogate.parts["number"][:3])

    def lacks(self, identity: Identity, surrogate: Surrogate) -> bool:
        """What is no address has no parts at all; a phone's area is part of its number."""
        return bool(surrogate.parts) and not self.named(identity).keys() - {"area"} <= surrogate.parts.keys()

    def again(self, identity: Identity, taken: Taken) -> None:
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

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
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
            stream = Stream(place)
            parts["path"] = "".join(f"/{stream.of(self.pools.words('numbers', 'network', 'hosts'))}" for _ in steps)
        else:
            front = self.component(identity, "front", plain(words))
            parts["front"] = taken.claim_first(front, self._fronts(identity, words.split("@")[0], place, taken))
        return Surrogate(parts, self.pools.version)

    def render(self, variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
        parts = surrogate.parts
        if not parts:
            return None  # no address at all
        if "number" in parts:
            return self._phones.render(variant, surrogate)
        if "path" in parts:
            match = _URL.match(variant.words)
            if match is None:
                return None
            return Rendered(
                f"{match['scheme'] or ''}{match['www'] or ''}{parts['host']}{parts['path']}", ("host", "path")
            )
        text = f"{parts['front']}@{parts['host']}" if "host" in parts else parts["front"]
        return Rendered(like(variant.words, text), tuple(sorted(parts)))

    def whole(self, surrogate: Surrogate) -> str:
        parts = surrogate.parts
        if not parts:
            return ""
        if "path" in parts:
            return f"{parts['host']}{parts['path']}"
        if "number" in parts:
            return f"{parts['number']} {parts.get('extension', '')}".strip()
        return f"{parts['front']}@{parts['host']}" if "host" in parts else parts["front"]

    def _fronts(self, identity: Identity, front: str, place: int, taken: Taken) -> Iterator[Iterator[str]]:
        """Built as the original was, of its bearer's surrogate; else of an initial and a surname of the pool."""
        bearer = taken.known(identity.attributes.get("person", ""))
        if bearer is not None:
            person, surrogate = bearer
            names = [parse(v.words, v.hints.title) for v in person.variants]
            shape = parse_user(front, names)
            if shape is not None:
                parts = account_parts(surrogate)
                yield made(lambda s: render(_redrawn(shape, s), parts).lower(), place, 64)
                yield made(lambda s: render(shape, parts).lower() + s.fill("##"), place, 1024)
        surnames = self.pools.surnames("en")
        yield made(lambda s: s.of("abcdefghjklmnprstw") + key(s.of(surnames)), place)

    @staticmethod
    def _first(identity: Identity) -> tuple[str, str]:
        variant = min(identity.variants)
        return identity.attributes.get("type", variant.type), variant.words


def _host(type: str, words: str) -> str:
    """The host of an address, in the form that it is compared in; "" for a user name."""
    if type == "URL":
        match = _URL.match(words)
        return plain(match["host"]) if match else ""
    return plain(words.rsplit("@", 1)[1]) if "@" in words else ""


def _redrawn(shape: Parsed, stream: Stream) -> Parsed:
    """Other digits between the parts: they may be a year of birth."""
    pieces = (
        Piece("gap", "".join(str((int(c) + 1 + stream.below(9)) % 10) if c.isdecimal() else c for c in piece.text))
        if piece.role == "gap"
        else piece
        for piece in shape.pieces
    )
    return Parsed(tuple(pieces), shape.order)
