"""Generate the surrogates of a batch of identities, independent of their order. One module per kind of identity.

draw, taken = KeyedDraw(keyring), UsedSurrogates()
surrogates = Generators(Choices()).generate_all(identities, draw, taken)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from incognote.errors import UsageError
from incognote.languages import language
from incognote.operators.date_shift import SIX_YEARS
from incognote.relex.cluster.values import phone_of
from incognote.relex.generate.base import (
    Choices,
    Component,
    ComponentRequest,
    Draw,
    KeyedDraw,
    RandomDraw,
    SurrogateGenerator,
    UsedSurrogates,
    same_letters,
)
from incognote.relex.generate.contacts import Contacts
from incognote.relex.generate.ids import Ids
from incognote.relex.generate.institutions import Institutions, keeps_kind
from incognote.relex.generate.persons import Persons, words_of
from incognote.relex.generate.places import Places, named_words
from incognote.relex.generate.times import Ages, Dates
from incognote.relex.generate.values import Occupations, Others
from incognote.relex.nouns import Group, Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import pools

__all__ = ["Choices", "Component", "Draw", "Generators", "KeyedDraw", "RandomDraw", "UsedSurrogates", "originals"]

_KINDS: tuple[type[SurrogateGenerator], ...] = (
    Persons,
    Places,
    Institutions,
    Contacts,
    Ids,
    Dates,
    Ages,
    Occupations,
    Others,
)
_WORD = re.compile(r"[^\W\d_]+")
_ATTEMPTS = 256  # how many wholes may be refused before one is free
_WORDS: Mapping[Group, int] = {"PERSON": 0, "PLACE": 1, "ORG": 2}
"""The groups that come before contacts, which are built from names."""


class Generators:
    """One generator per group of identities.

    Args:
        choices: the policy's choices.

    Raises:
        UsageError: a choice is out of range.
    """

    def __init__(self, choices: Choices | None = None) -> None:
        chosen = choices or Choices()
        if not 1 <= chosen.band <= 5 or not SIX_YEARS <= chosen.days <= 3650:
            raise UsageError(f"choices: `band` must be 1 to 5 years, and `days` {SIX_YEARS} to 3650 days")
        self._kinds: dict[Group, SurrogateGenerator] = {kind.group: kind(chosen) for kind in _KINDS}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        """The surrogate of one identity. A second call returns the same one, unless it was refused (`taken.refuse`)."""
        kind = self._kinds[identity.group]
        surrogate = kind.generate(identity, draw, taken)
        for _ in range(_ATTEMPTS):
            if not taken.is_refused(identity.domain, identity.scope, kind.whole(surrogate)):
                break
            taken.release(kind.telling(identity))
            surrogate = kind.generate(identity, draw, taken)
        taken.remember(identity, surrogate)
        return surrogate

    def recall(self, identity: Identity, surrogate: Surrogate, taken: UsedSurrogates) -> None:
        """Hold the parts of a surrogate from an index, so that new identities in its scope share them."""
        self._kinds[identity.group].recall(identity, surrogate, taken)
        taken.remember(identity, surrogate)

    def observe(self, identity: Identity, taken: UsedSurrogates) -> None:
        """Avoid an identity's words from now on, and take note of what the surrogates of others depend on."""
        taken.avoid(originals(identity))
        self._kinds[identity.group].observe(identity, taken)

    def components(self, identity: Identity) -> set[Component]:
        """The components that it shares with others in its scope."""
        kind = self._kinds[identity.group]
        return {request.component for request in kind.requests(identity)} | set(kind.named(identity).values())

    def lacks(self, identity: Identity, surrogate: Surrogate) -> bool:
        """Return True if an earlier surrogate lacks parts that the identity's mentions now show."""
        return self._kinds[identity.group].lacks(identity, surrogate)

    def again(self, identity: Identity, taken: UsedSurrogates) -> None:
        """Release whatever was made of components that may have changed, so that it is made again."""
        self._kinds[identity.group].again(identity, taken)

    def generate_all(self, identities: Iterable[Identity], draw: Draw, taken: UsedSurrogates) -> dict[str, Surrogate]:
        """Map each identity's id to a surrogate. Components are drawn first, by level and in the order of their places.

        From then on, the words of the identities' own originals are avoided.
        """
        batch = list(identities)
        for identity in batch:
            self.observe(identity, taken)
        ordered = sorted(batch, key=lambda one: (_WORDS.get(one.group, 3), draw.place(_place(one)), one.id))
        found: dict[str, Surrogate] = {}
        for wave in (False, True):  # contacts are built from the surrogates of people and institutions
            own = [one for one in ordered if (one.group == "CONTACT") is wave]
            self._pick_all(own, draw, taken)
            found |= {one.id: self.generate(one, draw, taken) for one in own}
        return found

    def _pick_all(self, identities: Iterable[Identity], draw: Draw, taken: UsedSurrogates) -> None:
        wanted: dict[Component, tuple[ComponentRequest, SurrogateGenerator]] = {}
        for identity in identities:
            kind = self._kinds[identity.group]
            for request in kind.requests(identity):
                if request.component not in wanted or wanted[request.component][0] < request:
                    wanted[request.component] = (request, kind)
        places = {component: draw.place(component) for component in wanted}
        for request, kind in sorted(wanted.values(), key=lambda w: (w[0].level, places[w[0].component])):
            kind.pick(request, draw, taken)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        """The replacement of a variant; None if only a label is possible, as in letters that the pools do not have."""
        made, code = self._kinds[identity.group].render(variant, identity, surrogate), variant.hints.language
        if made is None or not same_letters(variant.words, made.text):
            return None
        if not code:
            return made
        strange = (identity.group == "ORG" and not keeps_kind(variant.words, made.text, code)) or (
            identity.group == "DATE" and bool(_in_english(made.text, code) - _in_english(variant.words, code))
        )
        return None if strange else made

    def whole(self, identity: Identity, surrogate: Surrogate) -> str:
        """The string that must be unique in the scope, as an index reserves it; "" if it may repeat (dates, ages)."""
        return self._kinds[identity.group].whole(surrogate)


def _in_english(date: str, code: str) -> set[str]:
    """The English names of months in a date that are no months of another language."""
    return set(_WORD.findall(date.lower())) & _english_months(code)


@cache
def _english_months(code: str) -> frozenset[str]:
    months = language().table("words", "dates.toml")["months"]
    own = (names.split() for names in months.get(code, {}).values())
    return frozenset(months["en"]["full"].split()).difference(*own)


def originals(identity: Identity) -> set[str]:
    """The words that no surrogate of the batch may be: whole variants, and for persons each name."""
    words = {variant.words for variant in identity.variants}
    if identity.group == "CONTACT":
        words |= {phone_of(word)[0] for word in words}  # the generator sees 0491 570 156 as 491570156
    if identity.group == "PLACE":
        words |= {name for v in identity.variants for name in named_words(v.type, v.words, pools())}
    if identity.group in ("DATE", "AGE", "OTHER"):
        return set()
    return words | words_of(identity) if identity.group == "PERSON" else words


def _place(identity: Identity) -> Component:
    normal = identity.attributes.get("normal") or min(v.words for v in identity.variants)
    return Component(identity.domain, identity.scope, identity.group, normal)
