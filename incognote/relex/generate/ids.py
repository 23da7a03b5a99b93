"""Surrogates of numbers and codes: the same shape, and never a number that could be real."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from incognote.detectors.rules.patterns.rule import validators
from incognote.relex.cluster.values import code_of
from incognote.relex.generate.base import (
    DIGITS,
    Component,
    ComponentRequest,
    Draw,
    DrawStream,
    SurrogateGenerator,
    UsedSurrogates,
    made,
    shaped,
)
from incognote.relex.names import key
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools
from incognote.schemas.catalogue import catalogue

_CHECKS = ("luhn", "npi", "nhs", "vin", "iban", "aba", "dea")
_LABEL = re.compile(r"\s*([A-Za-z]{2,6})(?=[\W_]|\d)")
_ACCOUNT = re.compile(r"([a-z]{2,}(?:[._][a-z]+)*)(\d{0,4})(?<=\w{5})")
_VIN = "ABCDEFGHJKLMNPRSTUVWXYZ"
_HEX = "0123456789abcdef"
_SSN = 9


class Ids(SurrogateGenerator):
    """A person's numbers: part `code`, letters and digits only.

    Digits stay digits, letters stay letters, and separators stay in place. If the shape has a known check digit
    (payment cards, NPI, NHS, VIN, IBAN, bank routing, DEA), it is invalid. SSN, EIN, NINO, SIN, MAC and IP come from
    ranges that are never assigned to a person. Letters that only name the kind of number (MRN-) stay.
    """

    group = "ID"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        words = max((v.words for v in identity.variants), key=lambda w: (len(code_of(w)), w))
        return [
            ComponentRequest(
                0, self.component(identity, "id", code_of(words)), (identity.attributes.get("type", "GUID"), words)
            )
        ]

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        kind, words = request.detail
        maker = maker_of(kind, words, self.pools)
        fresh = made(maker, draw.place(request.component))
        return taken.claim(request.component, (code for code in fresh if code), default="")

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"code": self.requests(identity)[0].component}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        """No parts if the shape has no other number ("0"); then only a label can replace it."""
        code = self.pick(self.requests(identity)[0], draw, taken)
        return Surrogate({"code": code} if code else {}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        code = surrogate.parts.get("code")
        if code is None:
            return None
        if any(c in code for c in ".:") or len(code_of(variant.words)) == 0:
            return RenderedSurrogate(code, ("code",))
        return RenderedSurrogate(filled(variant.words, code, self.pools), ("code",))


def filled(words: str, code: str, pools: Pools) -> str:
    """Replace the written letters and digits from the end on, in their case. Labels and leading zeros stay."""
    label = _label(words, pools)
    body = words[len(label) :]
    small = body.islower()
    out: list[str] = []
    rest = list(code)
    for c in reversed(body):
        if not c.isalnum():
            out.append(c)
        elif rest:
            new = rest.pop()
            out.append(new.lower() if small or c.islower() else new.upper())
        else:
            out.append(c)
    return label + "".join(reversed(out))


def maker_of(type: str, words: str, pools: Pools) -> Callable[[DrawStream], str]:
    """Return a function that makes a code of that type and shape from a stream; "" for a draw that is not allowed."""
    body = words[len(_label(words, pools)) :]
    bare = "".join(c for c in body if c.isalnum())
    lineage = catalogue().lineage_or_self(type)
    special = _special(lineage, body, bare, pools)

    def make(stream: DrawStream) -> str:
        code = special(stream) if special else "".join(c for c in shaped(body, stream) if c.isalnum())
        return "" if any(validators()[name](code) for name in _CHECKS) else code

    return make


def _label(words: str, pools: Pools) -> str:
    """Leading letters that only say what kind of number it is, with the separator after them."""
    match = _LABEL.match(words)
    known = match is not None and match[1].upper() in pools.words("numbers", "labels", "words")
    return words[: match.end()] if match and known else ""


def _special(lineage: tuple[str, ...], body: str, bare: str, pools: Pools) -> Callable[[DrawStream], str] | None:
    """The maker for shapes that have ranges of their own."""
    if "IP_ADDRESS" in lineage:
        return lambda s: _address(body, s, pools)
    if match := _ACCOUNT.fullmatch(body):
        return lambda s: _login(match, s, pools)
    if "MAC_ADDRESS" in lineage or re.fullmatch(r"(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}", body.strip()):
        return lambda s: "02" + "".join(s.of(_HEX) for _ in bare[2:])
    if "SSN_OR_TAXPAYER" in lineage:
        return _tax(body, bare, pools)
    if _is_uuid(body):
        return _like_uuid
    if "BANK_SWIFT" in lineage and len(bare) in (8, 11):
        return lambda s: s.fill("@@@@ZZ@0" + "@" * (len(bare) - 8))
    if "VEHICLE_IDENTIFIER_US" in lineage and len(bare) == 17:
        return lambda s: "".join(s.of(DIGITS) if c.isdecimal() else s.of(_VIN) for c in bare)
    if re.match(r"[A-Z]{2}\d\d", bare) and validators()["iban"](bare) is not None and "ACCOUNT_NUMBER" in lineage:
        return lambda s: bare[:2] + "00" + shaped(bare[4:], s)
    return None


def _login(written: re.Match[str], stream: DrawStream, pools: Pools) -> str:
    """The letters and digits of a user name of the same length that a detector took for a number: kittym51."""
    size = sum(c.isalpha() for c in written[1])
    names = [key(name) for name in pools.people["en"].surname]
    fitting = [name for name in names if len(name) == size - 1] or [name for name in names if len(name) < size]
    name = stream.of("abcdefghjklmnprstw") + stream.of(fitting)
    name += "".join(stream.of("abcdehklmnorst") for _ in range(size - len(name)))
    return name + "".join(stream.of(DIGITS) for _ in written[2])


def _tax(body: str, bare: str, pools: Pools) -> Callable[[DrawStream], str] | None:
    if re.fullmatch(r"\D*\d{2}-\d{7}\D*", body):
        return lambda s: s.of(pools.words("numbers", "tax", "ein")) + s.fill("#######")
    if re.fullmatch(r"[A-Za-z]{2}\d{6}[A-Da-d]", bare):
        return lambda s: s.of(pools.words("numbers", "tax", "nino")) + s.fill("######") + s.of("ABCD")
    if re.fullmatch(r"\D*\d{3}[ -]\d{3}[ -]\d{3}\D*", body):
        return lambda s: "0" + s.fill("########")
    if len(bare) == _SSN and bare.isdecimal():
        return lambda s: s.fill("9##") + s.of("1234") + s.fill("#") + s.of(DIGITS[1:]) + s.fill("###")
    return None


def _address(body: str, stream: DrawStream, pools: Pools) -> str:
    """An address from a range for documentation, with the original port or prefix."""
    tail = re.search(r"(?:/\d+|(?<=\d):\d+)\Z", body) if body.count(":") < 2 else re.search(r"/\d+\Z", body)
    end = tail.group() if tail else ""
    if ":" in body.removesuffix(end):
        return (
            pools.words("numbers", "network", "v6")[0]
            + ":".join("".join(stream.of(_HEX) for _ in range(4)) for _ in range(6))
            + end
        )
    return stream.of(pools.words("numbers", "network", "v4")) + str(1 + stream.below(254)) + end


def _is_uuid(body: str) -> bool:
    try:
        uuid.UUID(body.strip())
    except ValueError:
        return False
    return len(body.strip()) > 32


def _like_uuid(stream: DrawStream) -> str:
    """A UUID of variant 7 (reserved for the future in RFC 9562), which no generator produces."""
    digits = "".join(stream.of(_HEX) for _ in range(32))
    return digits[:12] + "0" + digits[13:16] + "e" + digits[17:]
