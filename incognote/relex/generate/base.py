"""What generators of surrogates share: choices, components, draws, what is used already, and their base class."""

from __future__ import annotations

import hashlib
import secrets
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Literal, Protocol, TypeVar

from incognote.detectors.rules.lexicon import fold
from incognote.errors import UsageError
from incognote.keys import Keyring
from incognote.operators.date_shift import offset
from incognote.relex.nouns import Group, Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import CURRENT, Pools, pools

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


class UsedSurrogates:
    """What is used and what stands for what. Grows as surrogates are drawn.

    Args:
        originals: words of originals of the batch or a roster: no component of a surrogate equals one.
        held: components drawn before, with what they were given.
    """

    def __init__(
        self,
        originals: Iterable[str] = (),
        held: Mapping[Component, str] | None = None,
    ) -> None:
        self.moved = 0
        """Components whose draw hit what was taken, and which so have another surrogate."""
        self._originals = {plain(words) for words in originals}
        self._held: dict[Component, str] = {}
        self._used: dict[tuple[str, str, str], dict[str, Component]] = defaultdict(dict)
        self._refused: set[tuple[str, str, str]] = set()
        self._known: dict[str, tuple[Identity, Surrogate]] = {}
        for component, value in (held or {}).items():
            self._hold(component, value)

    @property
    def held(self) -> Mapping[Component, str]:
        """Every component with what it was given, to be carried into the next batch."""
        return self._held

    def avoid(self, words: Iterable[str]) -> None:
        """More words of originals."""
        self._originals |= {plain(word) for word in words}

    def is_known(self, words: str) -> bool:
        """Whether they are words of an original of the batch."""
        return plain(words) in self._originals

    def refuse(self, domain: str, scope: str, whole: str) -> None:
        """Another identity of the scope has this surrogate, as an index says: it is not drawn again."""
        self._refused.add((domain, scope, plain(whole)))

    def is_refused(self, domain: str, scope: str, whole: str) -> bool:
        """Whether that surrogate was refused."""
        return (domain, scope, plain(whole)) in self._refused

    def release(self, component: Component) -> None:
        """The component is drawn anew; what it held is given to nobody."""
        self._held.pop(component, None)

    def free(self, component: Component) -> None:
        """The component is drawn anew, and may be given what it held."""
        value = self._held.pop(component, None)
        used = self._used[component.family]
        if value is not None and used.get(plain(value)) == component:
            del used[plain(value)]

    def holds(self, component: Component) -> str | None:
        """What a component was given, unless that was refused."""
        value = self._held.get(component)
        return None if value is None or self._refuses(component, value) else value

    def keep(self, component: Component, value: str) -> str:
        """What the component holds, else this value, which it holds from now on whoever else has it."""
        if component not in self._held:
            self._hold(component, value)
        return self._held[component]

    def siblings(self, component: Component) -> list[str]:
        """What the components of the same family hold, in the order of their normal forms."""
        family = sorted(set(self._used[component.family].values()))
        return [self._held[one] for one in family if one in self._held]

    def claim(
        self, component: Component, candidates: Iterator[str], *, default: str | None = None
    ) -> str:
        """What the component holds, else the first candidate that is free, which it holds from now on.

        Args:
            default: what is returned, and not held, where no candidate is free; None to raise.

        Raises:
            UsageError: no candidate is free, and there is no default.
        """
        value = self.holds(component)
        return value if value is not None else self.claim_first(component, (candidates,), default=default)

    def claim_first(
        self, component: Component, tiers: Iterable[Iterator[str]], *, default: str | None = None
    ) -> str:
        """As `claim`, of several sequences one after the other."""
        if (value := self.holds(component)) is not None:
            return value
        used, moved = self._used[component.family], False
        for candidates in tiers:
            for value in candidates:
                form = plain(value)
                if form not in used and form not in self._originals and not self._refuses(component, value):
                    self._hold(component, value)
                    self.moved += moved
                    return value
                moved = True
        if default is not None:
            return default
        raise UsageError(
            f"no surrogate of type {component.type.split(':', 1)[0]!r} is left in this scope: split the domain"
        )

    def _refuses(self, component: Component, value: str) -> bool:
        return self.is_refused(component.domain, component.scope, value)

    def _hold(self, component: Component, value: str) -> None:
        self._held[component] = value
        self._used[component.family].setdefault(plain(value), component)

    def remember(self, identity: Identity, surrogate: Surrogate) -> None:
        """The surrogate of an identity, for those that are made of it (an e-mail of its bearer)."""
        self._known[identity.id] = (identity, surrogate)

    def known(self, id: str) -> tuple[Identity, Surrogate] | None:
        """An identity and its surrogate, if remembered."""
        return self._known.get(id)


class SurrogateGenerator(ABC):
    """Generator and renderer of one group of identities. Stateless: what is drawn stands in `UsedSurrogates`."""

    group: ClassVar[Group]
    may_repeat: ClassVar[bool] = False
    """Whether two identities of a scope may have one surrogate: persons are of one age, dates share an offset."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    @property
    def pools(self) -> Pools:
        return pools(self.choices.pools)

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        """The components it will want, so that a batch can draw those of all identities in one order."""
        return []

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        """The surrogate of a component: the one held, else drawn now and held.

        Raises:
            UsageError: a kind without components.
        """
        raise UsageError(f"surrogates of group {self.group} have no components of their own")

    def named(self, identity: Identity) -> Mapping[str, Component]:
        """Part of a surrogate → the component it is of."""
        return {}

    def recall(self, identity: Identity, surrogate: Surrogate, taken: UsedSurrogates) -> None:
        """Hold the components of a surrogate given before, so that identities to come share them."""
        for part, component in self.named(identity).items():
            if part in surrogate.parts:
                taken.keep(component, surrogate.parts[part])

    def lacks(self, identity: Identity, surrogate: Surrogate) -> bool:
        """Whether a surrogate given before has not all parts that the identity's mentions show by now."""
        return not self.named(identity).keys() <= surrogate.parts.keys()

    def again(self, identity: Identity, taken: UsedSurrogates) -> None:  # noqa: B027 -- most kinds rest on components alone
        """Let go of what rests on components that may have changed."""

    def telling(self, identity: Identity) -> Component:
        """The component that is drawn anew where another identity has the same surrogate."""
        return max(self.requests(identity), key=lambda request: (request.level, request)).component

    @abstractmethod
    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        """The surrogate of an identity, of components held or drawn now."""

    @abstractmethod
    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        """What stands in place of one variant; None where it cannot be said, and a label must."""

    def whole(self, surrogate: Surrogate) -> str:
        """The surrogate as it is distinguished from others of its scope; "" for one that may repeat."""
        return "" if self.may_repeat else " ".join(surrogate.parts[name] for name in sorted(surrogate.parts))

    def component(self, identity: Identity, type: str, normal: str) -> Component:
        """A component of the identity's scope."""
        return Component(identity.domain, identity.scope, type, normal)
