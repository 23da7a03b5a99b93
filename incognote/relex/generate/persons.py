"""Surrogates of persons: each name in its culture and gender, with the forms of the original."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from incognote.relex.cluster.hints import led
from incognote.relex.cluster.kinship import kin_gender
from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    DrawStream,
    SurrogateGenerator,
    UsedSurrogates,
    plain,
)
from incognote.relex.generate.cultures import HOME, culture, gender_of, home_of_given, neighbors, shared, spoken_in
from incognote.relex.generate.forms import is_monogram, monogram, nickname, nicknames, plain_letters, written_like
from incognote.relex.generate.reading import NICKNAMED, NameReading, read_names, shaped_like
from incognote.relex.names import fullest, key, parse, readings, render
from incognote.relex.names.guess import SURE
from incognote.relex.names.guess import gender as guess_gender
from incognote.relex.names.parsed import suffix, unparticled, words
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import pools

_SURNAME, _GIVEN, _MIDDLE, _WHOLE, _SUFFIX = "surname", "given", "middle", "person", "suffix"
_COMMON = 85  # of 100 surnames, how many are drawn among the common ones first
_FLAT = 12  # added to a name's rank: the greater, the less the first names stand out
_NAMESAKE = "namesake"
"""A part that no note shows. It distinguishes the whole name of a namesake from the patient's, also in `reveal`."""
NO_NAME = "?"
"""Marks a given name or surname that was never written. The surrogate has one for future records."""


class Persons(SurrogateGenerator):
    """Persons: parts `given`, `middle`, `surname`, `surname:x` for each further surname (a birth name), and `nick:x`.

    A surname is drawn by itself within the scope. So relatives keep sharing it, and a lone "Wilson" gets the same
    surname as Adam Wilson. A given name is drawn by given name and surname together: two clinicians called Adam get
    different names, and a father and son of the same name share theirs. Staff and patients draw from two halves of the
    surnames, so that no patient ever gets the surname of a clinician in the same note.
    """

    group = "PERSON"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        return [*self._names(identity).values()]

    def observe(self, identity: Identity, taken: UsedSurrogates) -> None:
        if identity.scope and (home := self._reading(identity).family):
            is_patient = identity.attributes.get("type") == "PATIENT"
            taken.observe(identity.domain, identity.scope, identity.id, (is_patient, home))

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        component = request.component
        place = draw.place(component)
        _, _, age, _, wanted = (*request.detail, "", "", "", "", "")[:5]
        home, flavor = _home(request, taken)
        kind, _, gender = component.type.partition(":")
        if kind == _SURNAME:
            return taken.claim_first(component, _surnames(home, flavor, place, staff=not component.scope))
        names = shared(home, flavor, gender, age)
        if wanted == NICKNAMED:
            names = tuple(name for name in names if nicknames(name, home)) or names
        own = component.normal.replace("\x1f", " ").split(" ")[0]
        free = [name for name in names if not taken.is_known(name)]
        if len(free) * 2 >= len(names):
            return taken.claim_first(component, _given_names(home, names, gender, place))
        others = [name for name in names if key(name) != own]  # so large a batch shows almost every name
        return taken.claim_first(component, _given_names(home, others, gender, place), originals=True)

    def named(self, identity: Identity) -> dict[str, Component]:
        return {part: request.component for part, request in self._names(identity).items()}

    def recall(self, identity: Identity, surrogate: Surrogate, taken: UsedSurrogates) -> None:
        super().recall(identity, surrogate, taken)
        taken.keep(self.whole_name(identity), self.whole(surrogate))

    def lacks(self, identity: Identity, surrogate: Surrogate) -> bool:
        nicks = {f"nick:{word}" for word in self._reading(identity).nicks}
        return super().lacks(identity, surrogate) or not nicks <= surrogate.parts.keys()

    def again(self, identity: Identity, taken: UsedSurrogates) -> None:
        taken.free(self.whole_name(identity))

    def whole_name(self, identity: Identity) -> Component:
        """The component of given name and surname together. No two identities of a scope share its value."""
        return self.component(identity, _WHOLE, self._normal(identity))

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        requests, reading = self._names(identity), self._reading(identity)
        parts = {name: self.pick(request, draw, taken) for name, request in requests.items()}
        if reading.suffix:
            parts[_SUFFIX] = reading.suffix
        if _is_namesake(identity):
            parts[_NAMESAKE] = f"(namesake {draw.place(self.whole_name(identity)) % 10_000})"
        whole = self.whole_name(identity)
        home, _ = _home(requests[_GIVEN], taken)
        first, behind = parts[_GIVEN], _behind(parts)
        names = tuple(by_rank(culture(home).names(reading.gender), draw.place(whole)))
        if NICKNAMED in requests[_GIVEN].detail:
            names = tuple(sorted(names, key=lambda name: not nicknames(name, home)))
        others = (name for name in names if name != first and not taken.is_known(name))
        doubles = (f"{a}-{b}" for a in names for b in names if a != b)
        held = taken.claim(whole, (name + behind for name in chain((first,), others, doubles)))
        parts[_GIVEN] = held.removesuffix(behind).removesuffix(f" {parts[_SURNAME]}")  # a model's has no suffix
        if parts.get(_MIDDLE) in (parts[_GIVEN], parts[_SURNAME]):
            same = (parts[_GIVEN], parts[_SURNAME])
            parts[_MIDDLE] = next((name for name in names if name not in same and not taken.is_known(name)), "")
        for word, drawn in reading.nicks.items():
            if drawn == _MIDDLE:
                parts[f"nick:{word}"] = parts[_MIDDLE]
            elif not drawn:
                parts[f"nick:{word}"] = nickname(parts[_GIVEN], home, word, taken.is_known)
        return Surrogate(parts, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        return surrogate.parts[_GIVEN] + _behind(surrogate.parts)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        reading, (front, name) = self._reading(identity), _name(variant)
        shape = shaped_like(name, variant.hints.title, fullest(reading.written))
        if _nameless(name):
            return RenderedSurrogate(variant.words, ())
        if not any(piece.role in ("given", "nick", "middle", "surname") for piece in shape.pieces):
            return None
        if shape.order in ("single", "initials") and is_monogram(name):
            return RenderedSurrogate(front + monogram(name, surrogate.parts, reading), (_GIVEN, _SURNAME))
        text = front + render(shape, written_like(shape, surrogate.parts, reading))
        text = plain_letters(text) if variant.words.isascii() and not variant.hints.language else text
        return RenderedSurrogate(text, tuple(sorted({p.role for p in shape.pieces if p.role in surrogate.parts})))

    def _names(self, identity: Identity) -> dict[str, ComponentRequest]:
        """Part → its component. A given name and a surname are drawn even if they were never written."""
        reading = self._reading(identity)
        unnamed = f"{NO_NAME}{self._normal(identity)}"
        found = {
            _GIVEN: ComponentRequest(0, self.component(identity, f"{_GIVEN}:{reading.gender}", unnamed)),
            _SURNAME: ComponentRequest(0, self.component(identity, _SURNAME, unnamed)),
        }
        for part, (kind, normal, detail) in reading.parts.items():
            found[part] = ComponentRequest(0, self.component(identity, kind, normal), detail)
        if _GIVEN not in reading.parts and reading.family:
            found[_GIVEN] = ComponentRequest(0, found[_GIVEN].component, (reading.family,))
        if _SURNAME not in reading.parts and reading.kin:
            found[_SURNAME] = ComponentRequest(0, found[_SURNAME].component, (reading.kin,))
        return found

    @staticmethod
    def _reading(identity: Identity) -> NameReading:
        forms = tuple(sorted({(_name(v)[1], v.hints.title) for v in identity.variants}))
        locale, spoken = identity.attributes.get("locale", ""), spoken_in(identity)
        return read_names(forms, _gender(identity), locale, staff=not identity.scope, spoken=spoken)

    @staticmethod
    def _normal(identity: Identity) -> str:
        return plain(identity.attributes.get("normal", "") or min(v.words for v in identity.variants))


def _home(request: ComponentRequest, taken: UsedSurrogates) -> tuple[str, str]:
    """The culture of a component, and a second one that should also have it ("" for none)."""
    home, flavor, _, word = (*request.detail, "", "", "", "")[:4]
    if not home:
        around = taken.culture(request.component.domain, request.component.scope)
        home, flavor = home_of_given(word, around) if word else (around, flavor)
    return home or HOME, flavor


def _name(variant: MentionVariant) -> tuple[str, str]:
    """What a detector took into a span before the name ("little "), and the name."""
    at = led(variant.words) if variant.hints.guessed else 0
    return variant.words[:at], variant.words[at:]


def _nameless(name: str) -> bool:
    """Return True for words that name nobody: Junior, Baby Girl A."""
    said = {key(word) for word in name.split()} - {""}
    return bool(said) and (suffix(name) in ("jr", "sr") or said <= words().newborn | words().baby)


def _gender(identity: Identity) -> str:
    """The gender, from kin, title, or a given name of one gender, or else from what the records say of the patient."""
    said = {gender for v in identity.variants if (gender := v.hints.pronoun or kin_gender(v.hints.kin))}
    known = identity.attributes.get("gender") or (said.pop() if len(said) == 1 else "")
    own = {gender for p in parse(identity.attributes.get("name", "")).of("given") if (gender := gender_of(p.key, 2))}
    if known and len(own) == 1:
        return own.pop()  # mother of our colleague Sergei
    sexes = Counter(v.hints.sex for v in identity.variants if v.hints.sex)
    if identity.attributes.get("type") != "PATIENT" or identity.attributes.get("kin") or not sexes:
        return known
    titles = [v.hints.title for v in identity.variants if v.hints.title]
    guess = guess_gender(parse(identity.attributes.get("name", "")), titles)
    sure = known and guess.value != "unknown" and guess.confidence >= SURE
    return known if sure else min(sexes, key=lambda sex: (-sexes[sex], sex))


def words_of(identity: Identity) -> set[str]:
    """Every name word that an identity's variants show in full, under any reading. No surrogate may be one of these.

    A surname with particles is also given without them.
    """
    return {
        word
        for variant in identity.variants
        for reading in readings(variant.words, variant.hints.title)
        for piece in reading.of("given", "middle", "surname", "nick")
        for word in (piece.key, key(unparticled(piece.text)))
        if len(word) > 1
    }


def account_parts(surrogate: Surrogate) -> dict[str, str]:
    """The parts in the form used in user names: lower case without accents or marks."""
    return {role: key(words) for role, words in surrogate.parts.items()}


def _behind(parts: Mapping[str, str]) -> str:
    """What follows the given name in the whole: surname, suffix, and what distinguishes a namesake.

    A father and son may share all but the suffix.
    """
    return "".join(f" {parts[part]}" for part in (_SURNAME, _SUFFIX, _NAMESAKE) if part in parts)


def _is_namesake(identity: Identity) -> bool:
    """Return True for a person who may have the patient's name: staff, a relative, or said to be another person."""
    others = ("CLINICIAN", "RELATIVE")
    return bool(identity.scope) and all(v.hints.another or v.type in others for v in identity.variants)


def by_rank(names: Sequence[str], place: int) -> Iterator[str]:
    """The names from a drawn one on. The first names are drawn more often, as they are more common."""
    if not names:
        return
    ends = _ends(len(names))
    at = DrawStream(place).below(ends[-1])
    start = next(n for n, end in enumerate(ends) if at < end)
    yield from names[start:]
    yield from names[:start]


@cache
def _ends(size: int) -> tuple[int, ...]:
    total, ends = 0, []
    for rank in range(size):
        total += 1_000_000 // (rank + _FLAT)
        ends.append(total)
    return tuple(ends)


def _given_names(home: str, names: Sequence[str], gender: str, place: int) -> Iterator[Iterator[str]]:
    """These names, then all of the culture, then double ones."""
    yield by_rank(names, place)
    every = culture(home).names(gender)
    yield by_rank(every, place)
    yield (f"{a}-{b}" for a in by_rank(every, place) for b in by_rank(every, place >> 64) if a != b)


def _surnames(home: str, flavor: str, place: int, *, staff: bool) -> Iterator[Iterator[str]]:
    """The culture's names, then those of its neighbors, then double ones."""
    own = culture(home)
    common, more = _half(own.surname, staff), _half(own.more, staff)
    if flavor and own.after:
        yield by_rank(_half(own.after.get(flavor, own.after.get("", ())), staff), place)
    lists = [common, more] if DrawStream(place).below(100) < _COMMON else [more, common]
    lists += [_half(culture(name).surname, staff) for name in neighbors(home)]
    for names in lists:
        yield by_rank(names, place)
    yield (f"{a}-{b}" for a in by_rank(common, place) for b in by_rank(common, place >> 64) if a != b)
    every = _half(tuple(name for one in pools().people.values() for name in one.surname), staff)
    yield (f"{a}-{b}" for a in by_rank(every, place) for b in by_rank(every, place >> 64) if a != b)


@cache
def _half(names: Sequence[str], staff: bool) -> tuple[str, ...]:
    """One of two disjoint halves of all names. The half does not depend on the list."""
    return tuple(name for name in names if (hashlib.sha256(plain(name).encode()).digest()[0] & 1) == staff)
