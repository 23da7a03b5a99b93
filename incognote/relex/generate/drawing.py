"""What drawing a surrogate takes: choices, components, the draw by key or at random, and numbers made of a draw."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol, TypeVar

from incognote.detectors.rules.lexicon import fold
from incognote.keys import Keyring
from incognote.operators.date_shift import offset
from incognote.relex.pools import CURRENT

T = TypeVar("T")
_ATTEMPTS = 1 << 11
DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a policy may choose.

    Args:
        places: towns move within their state ("state", the state stays), or states move too ("country").
        ages: a number within the band ("near"), or a decade in words ("decade": mid-forties).
        band: years an age moves at most, 1 to 5.
        days: days a date moves at most, 1 to 3650.
        pools: the version drawn from.
    """

    places: Literal["state", "country"] = "state"
    ages: Literal["near", "decade"] = "near"
    band: int = 2
    days: int = 365
    pools: str = CURRENT


@dataclass(frozen=True, slots=True, order=True)
class Component:
    """A part that identities of a scope share: a surname, a town, an area code.

    Args:
        domain, scope: where it is the same.
        type: what it is; components whose types agree up to a colon are never given the same surrogate.
        normal: its normal form.
    """

    domain: str
    scope: str = field(repr=False)
    type: str
    normal: str = field(repr=False)

    @property
    def family(self) -> tuple[str, str, str]:
        return self.domain, self.scope, self.type.split(":", 1)[0]


@dataclass(frozen=True, slots=True, order=True)
class ComponentRequest:
    """A component to be drawn. Those of a lower level come first; of several for one component the greatest counts.

    Args:
        detail: what narrows the pool (a locale, the state a town lies in), as its kind reads it.
    """

    level: int
    component: Component
    detail: tuple[str, ...] = field(default=(), repr=False)


class Draw(Protocol):
    """Where in its pool a component begins to look."""

    def place(self, component: Component) -> int:
        """128 bits, the same at every call."""
        ...

    def offset(self, domain: str, scope: str, farthest: int) -> int:
        """The days that the dates of a scope move: never zero, whole weeks or whole years."""
        ...


class KeyedDraw:
    """Drawn by key: HMAC under the key of purpose `surrogates`. Same key, same answer."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def place(self, component: Component) -> int:
        mac = self._keyring.mac(
            "surrogates", f"{component.type}\x1f{component.normal}", component.domain, component.scope
        )
        return int.from_bytes(mac[:16], "big")

    def offset(self, domain: str, scope: str, farthest: int) -> int:
        """That of the operator `date-shift` for the same patient, so that both ways to move a date agree."""
        return offset(self._keyring, domain, scope.removeprefix("patient:"), farthest)


class RandomDraw:
    """Drawn at random, derived from nothing; remembered as long as this object lives (an index does so longer)."""

    def __init__(self) -> None:
        self._places: dict[Component, int] = {}
        self._offsets: dict[tuple[str, str, int], int] = {}

    def place(self, component: Component) -> int:
        return self._places.setdefault(component, secrets.randbits(128))

    def offset(self, domain: str, scope: str, farthest: int) -> int:
        fresh = offset(Keyring.ephemeral(), "", secrets.token_hex(), farthest)
        return self._offsets.setdefault((domain, scope, farthest), fresh)


class DrawStream:
    """Numbers from a place and an attempt, for surrogates that are made rather than picked (SHAKE-256)."""

    def __init__(self, place: int, attempt: int = 0) -> None:
        self._hash = hashlib.shake_256(place.to_bytes(16, "big") + attempt.to_bytes(4, "big"))
        self._at = 0

    def below(self, limit: int) -> int:
        self._at += 8
        return int.from_bytes(self._hash.digest(self._at)[-8:], "big") % limit

    def of(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def fill(self, pattern: str, letters: str = "ABDEFGHJLNPQRSTUWXYZ") -> str:
        """`#` a digit, `@` a letter; the rest stays."""
        return "".join(self.of(DIGITS) if c == "#" else self.of(letters) if c == "@" else c for c in pattern)


def walk(options: Sequence[T], place: int) -> Iterator[T]:
    """The options from a place on, each once."""
    for step in range(len(options)):
        yield options[(place + step) % len(options)]


def one_of(patterns: Sequence[str]) -> Callable[[DrawStream], str]:
    """Makes one of the patterns, filled."""
    return lambda stream: stream.fill(stream.of(patterns))


def made(make: Callable[[DrawStream], T], place: int, attempts: int = _ATTEMPTS) -> Iterator[T]:
    """What is made of the place, attempt after attempt."""
    for attempt in range(attempts):
        yield make(DrawStream(place, attempt))


@lru_cache(maxsize=1 << 16)
def plain(words: str) -> str:
    """The form under which surrogates and originals are compared: letters and digits, folded."""
    return "".join(c for c in fold(words) if c.isalnum()) or words.strip()


def like(sample: str, words: str) -> str:
    """Words in the capitals of a sample: ALL CAPS and all small are kept, anything else leaves them as they are."""
    letters = [c for c in sample if c.isalpha()]
    if len(letters) > 1 and sample.isupper():
        return words.upper()
    return words.lower() if letters and sample.islower() else words


def shaped(words: str, stream: DrawStream) -> str:
    """Other letters and digits in the same places; separators, case and a leading zero stay."""
    out: list[str] = []
    for at, c in enumerate(words):
        if c.isdecimal():
            first = at == 0 or not words[at - 1].isalnum()
            out.append("0" if first and c == "0" else stream.of(DIGITS[1:] if first else DIGITS))
        elif c.isalpha():
            letter = stream.of("ABCDEFGHJKLMNPRSTUVWXYZ")
            out.append(letter.lower() if c.islower() else letter)
        else:
            out.append(c)
    return "".join(out)
