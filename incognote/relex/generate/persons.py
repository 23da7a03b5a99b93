"""Surrogates of persons: given name of the same gender and locale, surname shared with relatives, matching initials."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    SurrogateGenerator,
    UsedSurrogates,
    plain,
    walk,
)
from incognote.relex.names import Parsed, components, fit, fullest, key, locale, parse, readings, render, settled
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate

_SURNAME, _GIVEN, _MIDDLE, _WHOLE = "surname", "given", "middle", "person"
_SURE = 0.45  # the confidence from which a guessed locale narrows the pool
NO_NAME = "?"
"""Marks a given name or surname that was never written. The surrogate has one for future records."""


class Persons(SurrogateGenerator):
    """Persons: parts `given`, `middle`, `surname`, and `surname:x` for each further surname (a birth name).

    Surnames and given names are drawn separately within the scope. So relatives keep sharing a surname, and a lone
    "Wilson" gets the same surname as Adam Wilson. Staff and patients draw from two halves of the surnames, so that no
    patient ever gets the surname of a clinician in the same note.
    """

    group = "PERSON"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        return [*self._names(identity).values()]

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        component = request.component
        place = draw.place(component)
        home = request.detail[0] if request.detail else ""
        if component.type == _SURNAME:
            return taken.claim_first(component, self._surnames(home, place, staff=not component.scope))
        gender = component.type.split(":")[-1]
        return taken.claim_first(component, self._given_names(home, gender, place))

    def named(self, identity: Identity) -> dict[str, Component]:
        return {part: request.component for part, request in self._names(identity).items()}

    def recall(self, identity: Identity, surrogate: Surrogate, taken: UsedSurrogates) -> None:
        super().recall(identity, surrogate, taken)
        taken.keep(self.whole_name(identity), self.whole(surrogate))

    def again(self, identity: Identity, taken: UsedSurrogates) -> None:
        taken.free(self.whole_name(identity))

    def whole_name(self, identity: Identity) -> Component:
        """The component of given name and surname together. No two identities of a scope share its value."""
        return self.component(identity, _WHOLE, self._normal(identity))

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        parts = {name: self.pick(request, draw, taken) for name, request in self._names(identity).items()}
        whole = self.whole_name(identity)
        gender = self._gender(identity)
        names = self.pools.given(self._home(identity), gender)
        first = parts["given"]
        others = (name for name in walk(names, draw.place(whole)) if name != first)
        calls = (f"{name} {parts['surname']}" for name in (first, *others))
        parts["given"] = taken.claim(whole, calls).removesuffix(f" {parts['surname']}")
        return Surrogate(parts, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        return f"{surrogate.parts['given']} {surrogate.parts['surname']}"

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        written = self._written(identity)
        shape = settled(fit(variant.words, written, variant.hints.title), fullest(written))
        text = render(shape, surrogate.parts)
        if not any(piece.role in ("given", "nick", "middle", "surname") for piece in shape.pieces):
            return None
        return RenderedSurrogate(text, tuple(sorted({p.role for p in shape.pieces if p.role in surrogate.parts})))

    def _names(self, identity: Identity) -> dict[str, ComponentRequest]:
        """Part → its component. A given name and a surname are drawn even if they were never written."""
        written = self._written(identity)
        gender, home = self._gender(identity), self._home(identity)
        unnamed = f"{NO_NAME}{self._normal(identity)}"
        found: dict[str, ComponentRequest] = {}
        for part, normal in ({_GIVEN: unnamed, _SURNAME: unnamed} | components(written)).items():
            role = part.split(":")[0]
            if role == _SURNAME:
                found[part] = self._family(identity, normal, written)
            else:
                found[part] = ComponentRequest(0, self.component(identity, f"{role}:{gender}", normal), (home,))
        return found

    def _family(self, identity: Identity, normal: str, written: tuple[Parsed, ...]) -> ComponentRequest:
        """The surname alone decides the locale, so that everyone with it draws from the same names."""
        shown = next((p.text for name in written for p in name.of(_SURNAME) if p.key == normal), normal)
        guess = locale(parse(f"X. {shown}"))
        home = guess.value if guess.confidence >= _SURE else "en"
        return ComponentRequest(0, self.component(identity, _SURNAME, normal), (home,))

    def _given_names(self, home: str, gender: str, place: int) -> Iterator[Iterator[str]]:
        """The locale's names, then English ones, then double ones."""
        for pool in (self.pools.given(home, gender), self.pools.given("en", gender)):
            yield walk(pool, place)
        names = self.pools.given("en", gender)
        yield (f"{a}-{b}" for a in walk(names, place) for b in walk(names, place >> 64) if a != b)

    def _surnames(self, home: str, place: int, *, staff: bool) -> Iterator[Iterator[str]]:
        """The locale's names, then English ones, then double ones."""
        for pool in (self.pools.surnames(home), self.pools.surnames("en")):
            yield walk(_half(pool, staff), place)
        half = _half(self.pools.surnames("en"), staff)
        yield (f"{a}-{b}" for a in walk(half, place) for b in walk(half, place >> 64) if a != b)

    @staticmethod
    def _written(identity: Identity) -> tuple[Parsed, ...]:
        return _fitted(tuple(sorted({(v.words, v.hints.title) for v in identity.variants})))

    @staticmethod
    def _gender(identity: Identity) -> str:
        return identity.attributes.get("gender") or "unknown"

    @staticmethod
    def _home(identity: Identity) -> str:
        """The identity's locale, or else a vote of the written forms with sufficient confidence, or else English."""
        given_locale = identity.attributes.get("locale")
        written = Persons._written(identity)
        name = fullest(written)
        if given_locale and (name is None or given_locale != locale(name).value):
            return given_locale
        votes: dict[str, float] = defaultdict(float)
        for guess in map(locale, written):
            votes[guess.value] += guess.confidence if guess.confidence >= _SURE else 0
        return max(sorted(votes), key=votes.__getitem__) if any(votes.values()) else "en"

    @staticmethod
    def _normal(identity: Identity) -> str:
        return plain(identity.attributes.get("normal", "") or min(v.words for v in identity.variants))


def words_of(identity: Identity) -> set[str]:
    """Every name word that an identity's variants show in full, under any reading. No surrogate may be one of these."""
    return {
        piece.key
        for variant in identity.variants
        for reading in readings(variant.words, variant.hints.title)
        for piece in reading.of("given", "middle", "surname", "nick")
        if len(piece.key) > 1
    }


def account_parts(surrogate: Surrogate) -> dict[str, str]:
    """The parts in the form used in user names: lower case without accents or marks."""
    return {role: key(words) for role, words in surrogate.parts.items()}


@lru_cache(maxsize=1 << 10)
def _fitted(told: tuple[tuple[str, str], ...]) -> tuple[Parsed, ...]:
    """Names read so that they agree with the fullest of them."""
    whole = fullest(parse(words, title) for words, title in told)
    return tuple(settled(fit(words, [whole] if whole else [], title), whole) for words, title in told)


@cache
def _half(names: Sequence[str], staff: bool) -> tuple[str, ...]:
    """One of two disjoint halves of all names. The half does not depend on the list."""
    return tuple(name for name in names if (hashlib.sha256(plain(name).encode()).digest()[0] & 1) == staff)
