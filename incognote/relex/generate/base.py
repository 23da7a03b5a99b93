"""What all surrogate generators share: choices, components, draws, used surrogates, and the base class."""

from __future__ import annotations

import hashlib
import re
import secrets
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Literal, Protocol, TypeVar

from incognote.errors import UsageError
from incognote.keys import Keyring
from incognote.operators.date_shift import SIX_YEARS, offset
from incognote.relex.nouns import Group, Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools, pools
from incognote.text.lexicon import fold

T = TypeVar("T")
_ATTEMPTS = 1 << 11
_PATIENT = 4  # how many relatives a patient's culture outweighs
_MASK = re.compile(r"(?<![^\W_])[xX]{2,}(?![^\W\d_])")
_ARABIC, _LATIN = re.compile(r"[\u0621-\u064a]"), re.compile(r"[A-Za-z]")
DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a policy may choose.

    Args:
        places: towns move within their state ("state": the state stays), or states move too ("country").
        ages: a number within the band ("near"), or a decade in words ("decade": mid-forties).
        band: the most years that an age moves, 1 to 5.
        days: the most days that a date moves, 2190 to 3650.
    """

    places: Literal["state", "country"] = "state"
    ages: Literal["near", "decade"] = "near"
    band: int = 2
    days: int = SIX_YEARS


@dataclass(frozen=True, slots=True, order=True)
class Component:
    """A part that identities of a scope share: a surname, a town, an area code.

    Args:
        domain, scope: where it is the same.
        type: its kind. Components whose types are equal up to a colon never get the same surrogate.
        normal: its normal form. If it ends with \x1f and a group, its value is unique in the group only.
    """

    domain: str
    scope: str = field(repr=False)
    type: str
    normal: str = field(repr=False)

    @property
    def family(self) -> tuple[str, str, str, str]:
        return self.domain, self.scope, self.type.split(":", 1)[0], self.group

    @property
    def group(self) -> str:
        """The group within which its value is unique; "" for all of the scope."""
        return self.normal.partition("\x1f")[2]


@dataclass(frozen=True, slots=True, order=True)
class ComponentRequest:
    """A request to draw a component.

    Lower levels are drawn first. Of several requests for one component, the greatest counts.

    Args:
        detail: narrows the pool (a locale, the state of a town); each kind defines its meaning.
    """

    level: int
    component: Component
    detail: tuple[str, ...] = field(default=(), repr=False)


class Draw(Protocol):
    """Chooses the position in the pool at which the search for a component starts."""

    def place(self, component: Component) -> int:
        """128 bits, the same at every call."""
        ...

    def offset(self, domain: str, scope: str, farthest: int) -> int:
        """Return the days by which the dates of a scope move: whole weeks, but never zero or whole years."""
        ...


class KeyedDraw:
    """Draws by key: HMAC under the key with purpose `surrogates`. The same key gives the same result."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def place(self, component: Component) -> int:
        mac = self._keyring.mac(
            "surrogates", f"{component.type}\x1f{component.normal}", component.domain, component.scope
        )
        return int.from_bytes(mac[:16], "big")

    def offset(self, domain: str, scope: str, farthest: int) -> int:
        """The offset of the operator `date-shift` for the same patient, so that both ways to move a date agree."""
        return offset(self._keyring, domain, scope.removeprefix("patient:"), farthest)


class RandomDraw:
    """Draws at random, with no derivation.

    This object remembers its draws for its lifetime; an index keeps them longer.
    """

    def __init__(self) -> None:
        self._places: dict[Component, int] = {}
        self._offsets: dict[tuple[str, str, int], int] = {}

    def place(self, component: Component) -> int:
        return self._places.setdefault(component, secrets.randbits(128))

    def offset(self, domain: str, scope: str, farthest: int) -> int:
        fresh = offset(Keyring.ephemeral(), "", secrets.token_hex(), farthest)
        return self._offsets.setdefault((domain, scope, farthest), fresh)


class DrawStream:
    """Numbers derived from a place and an attempt, for surrogates that are made, not picked (SHAKE-256)."""

    def __init__(self, place: int, attempt: int = 0) -> None:
        self._hash = hashlib.shake_256(place.to_bytes(16, "big") + attempt.to_bytes(4, "big"))
        self._at = 0

    def below(self, limit: int) -> int:
        self._at += 8
        return int.from_bytes(self._hash.digest(self._at)[-8:], "big") % limit

    def of(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def fill(self, pattern: str, letters: str = "ABDEFGHJLNPQRSTUWXYZ") -> str:
        """Replace `#` with a digit and `@` with a letter. Other characters stay."""
        return "".join(self.of(DIGITS) if c == "#" else self.of(letters) if c == "@" else c for c in pattern)


def walk(options: Sequence[T], place: int) -> Iterator[T]:
    """Each option once, starting at a place."""
    for step in range(len(options)):
        yield options[(place + step) % len(options)]


def one_of(patterns: Sequence[str]) -> Callable[[DrawStream], str]:
    """Return a function that fills one of the patterns."""
    return lambda stream: stream.fill(stream.of(patterns))


def made(make: Callable[[DrawStream], T], place: int, attempts: int = _ATTEMPTS) -> Iterator[T]:
    """Yield what `make` produces for the place, one attempt after another."""
    for attempt in range(attempts):
        yield make(DrawStream(place, attempt))


@lru_cache(maxsize=1 << 16)
def plain(words: str) -> str:
    """The form in which surrogates and originals are compared: letters and digits, folded."""
    return "".join(c for c in fold(words) if c.isalnum()) or words.strip()


def same_letters(words: str, made: str) -> bool:
    """Whether a replacement of Arabic words has no Latin letters, which would show at once that it is a surrogate."""
    return not (_ARABIC.search(words) and not _LATIN.search(words) and _LATIN.search(made))


def like(sample: str, words: str) -> str:
    """Words in the case of a sample: all capitals or all lower case. In any other case they are unchanged."""
    letters = [c for c in sample if c.isalpha()]
    if len(letters) > 1 and sample.isupper():
        return words.upper()
    return words.lower() if letters and sample.islower() else words


def shaped(words: str, stream: DrawStream) -> str:
    """Replace letters and digits with others. Separators, case, a leading zero and a mask ("xxxx-1234") stay."""
    out: list[str] = []
    masked = {at for mask in _MASK.finditer(words) for at in range(*mask.span())}
    for at, c in enumerate(words):
        if at in masked:
            out.append(c)
        elif c.isdecimal():
            first = at == 0 or not words[at - 1].isalnum()
            out.append("0" if first and c == "0" else stream.of(DIGITS[1:] if first else DIGITS))
        elif c.isalpha():
            letter = stream.of("ABCDEFGHJKLMNPRSTUVWXYZ")
            out.append(letter.lower() if c.islower() else letter)
        else:
            out.append(c)
    return "".join(out)


class UsedSurrogates:
    """Which surrogates are used, and for which component. Grows as surrogates are drawn.

    Args:
        originals: words of originals of the batch or a roster; no component of a surrogate equals one.
        held: components drawn earlier, with their values.
    """

    def __init__(
        self,
        originals: Iterable[str] = (),
        held: Mapping[Component, str] | None = None,
    ) -> None:
        self.moved = 0
        """The number of components whose draw was already taken, so that they got another surrogate."""
        self._originals = {plain(words) for words in originals}
        self._held: dict[Component, str] = {}
        self._used: dict[tuple[str, str, str, str], dict[str, Component]] = defaultdict(dict)
        self._refused: set[tuple[str, str, str, str]] = set()
        self._known: dict[str, tuple[Identity, Surrogate]] = {}
        self._homes: dict[tuple[str, str], dict[str, tuple[bool, str]]] = defaultdict(dict)
        for component, value in (held or {}).items():
            self._hold(component, value)

    @property
    def held(self) -> Mapping[Component, str]:
        """Every component with its value, to be carried into the next batch."""
        return self._held

    def avoid(self, words: Iterable[str]) -> None:
        """Add words of originals."""
        self._originals |= {plain(word) for word in words}

    def is_known(self, words: str) -> bool:
        """Return True if these are words of an original of the batch."""
        return plain(words) in self._originals

    def refuse(self, domain: str, scope: str, whole: str, group: str = "") -> None:
        """Exclude a surrogate that another identity of the scope has in the index. It is not drawn again."""
        self._refused.add((domain, scope, group, plain(whole)))

    def is_refused(self, domain: str, scope: str, whole: str, group: str = "") -> bool:
        """Return True if that surrogate was refused."""
        return (domain, scope, group, plain(whole)) in self._refused

    def observe(self, domain: str, scope: str, id: str, home: tuple[bool, str]) -> None:
        """Add the culture of a person of a scope, and whether this is the patient."""
        self._homes[domain, scope][id] = home

    def culture(self, domain: str, scope: str) -> str:
        """The culture of the patient and the people around the patient; "" if unknown."""
        homes: Counter[str] = Counter()
        for is_patient, home in self._homes[domain, scope].values():
            homes[home] += _PATIENT if is_patient else 1
        return min(homes, key=lambda home: (-homes[home], home), default="")

    def release(self, component: Component) -> None:
        """Draw the component again. Its former value is not given to any other."""
        self._held.pop(component, None)

    def free(self, component: Component) -> None:
        """Draw the component again. It may get its former value again."""
        value = self._held.pop(component, None)
        used = self._used[component.family]
        if value is not None and used.get(plain(value)) == component:
            del used[plain(value)]

    def holds(self, component: Component) -> str | None:
        """The value of a component, unless it was refused."""
        value = self._held.get(component)
        return None if value is None or self._refuses(component, value) else value

    def keep(self, component: Component, value: str) -> str:
        """The component's value, or else this value, which it then holds even if another component has it too."""
        if component not in self._held:
            self._hold(component, value)
        return self._held[component]

    def siblings(self, component: Component) -> list[str]:
        """The values of the components in the same family, in the order of their normal forms."""
        family = sorted(set(self._used[component.family].values()))
        return [self._held[one] for one in family if one in self._held]

    def claim(self, component: Component, candidates: Iterator[str], *, default: str | None = None) -> str:
        """The component's value, or else the first free candidate, which it then holds.

        Args:
            default: returned, and not held, if no candidate is free; None raises an error.

        Raises:
            UsageError: no candidate is free, and there is no default.
        """
        value = self.holds(component)
        return value if value is not None else self.claim_first(component, (candidates,), default=default)

    def claim_first(
        self,
        component: Component,
        tiers: Iterable[Iterator[str]],
        *,
        default: str | None = None,
        originals: bool = False,
    ) -> str:
        """Like `claim`, for several sequences in turn. With `originals`, a value may be an original of the batch."""
        if (value := self.holds(component)) is not None:
            return value
        used, moved = self._used[component.family], False
        avoided = frozenset() if originals else self._originals
        for candidates in tiers:
            for value in candidates:
                form = plain(value)
                if form not in used and form not in avoided and not self._refuses(component, value):
                    self._hold(component, value)
                    self.moved += moved
                    return value
                moved = True
        if default is not None:
            return default
        raise UsageError(
            f"no free surrogate of type {component.type.split(':', 1)[0]!r} is left in this scope. Split the domain"
        )

    def _refuses(self, component: Component, value: str) -> bool:
        return self.is_refused(component.domain, component.scope, value, component.group)

    def _hold(self, component: Component, value: str) -> None:
        self._held[component] = value
        self._used[component.family].setdefault(plain(value), component)

    def remember(self, identity: Identity, surrogate: Surrogate) -> None:
        """Store the surrogate of an identity, for those built from it (a person's e-mail address)."""
        self._known[identity.id] = (identity, surrogate)

    def known(self, id: str) -> tuple[Identity, Surrogate] | None:
        """An identity and its surrogate, if remembered."""
        return self._known.get(id)


class SurrogateGenerator(ABC):
    """Generates and renders the surrogates of one group of identities.

    Stateless: draws are stored in `UsedSurrogates`.
    """

    group: ClassVar[Group]
    may_repeat: ClassVar[bool] = False
    """Whether two identities of a scope may have the same surrogate. Persons share ages, and dates share an offset."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    @property
    def pools(self) -> Pools:
        return pools()

    def observe(self, identity: Identity, taken: UsedSurrogates) -> None:  # noqa: B027 -- most kinds need nothing
        """Take note of what the surrogates of others in the scope depend on."""

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        """The components that the identity needs, so that a batch can draw those of all identities in one order."""
        return []

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        """The surrogate of a component: the held one, or else one that is drawn now and held.

        Raises:
            UsageError: the kind has no components.
        """
        raise UsageError(f"surrogates of group {self.group} have no components of their own")

    def named(self, identity: Identity) -> Mapping[str, Component]:
        """Part of a surrogate → its component."""
        return {}

    def recall(self, identity: Identity, surrogate: Surrogate, taken: UsedSurrogates) -> None:
        """Hold the components of an earlier surrogate, so that later identities share them."""
        for part, component in self.named(identity).items():
            if part in surrogate.parts:
                taken.keep(component, surrogate.parts[part])

    def lacks(self, identity: Identity, surrogate: Surrogate) -> bool:
        """Return True if an earlier surrogate lacks parts that the identity's mentions now show."""
        return not self.named(identity).keys() <= surrogate.parts.keys()

    def again(self, identity: Identity, taken: UsedSurrogates) -> None:  # noqa: B027 -- most kinds have only components
        """Release whatever depends on components that may have changed."""

    def telling(self, identity: Identity) -> Component:
        """The component that is drawn again if another identity has the same surrogate."""
        return max(self.requests(identity), key=lambda request: (request.level, request)).component

    @abstractmethod
    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        """The surrogate of an identity, from components that are held or drawn now."""

    @abstractmethod
    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        """The replacement of one variant; None if it cannot be written and needs a label."""

    def whole(self, surrogate: Surrogate) -> str:
        """The string that distinguishes the surrogate from others in its scope; "" for one that may repeat."""
        return "" if self.may_repeat else " ".join(surrogate.parts[name] for name in sorted(surrogate.parts))

    def component(self, identity: Identity, type: str, normal: str) -> Component:
        """A component of the identity's scope."""
        return Component(identity.domain, identity.scope, type, normal)
