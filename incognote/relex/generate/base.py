"""What is drawn already, and what a generator of surrogates promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from incognote.errors import UsageError
from incognote.relex.generate.drawing import Choices, Component, ComponentRequest, Draw, plain
from incognote.relex.nouns import Group, Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools, pools


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
        """The surrogate as it is told from others of its scope."""
        return " ".join(surrogate.parts[name] for name in sorted(surrogate.parts))

    def component(self, identity: Identity, type: str, normal: str) -> Component:
        """A component of the identity's scope."""
        return Component(identity.domain, identity.scope, type, normal)
