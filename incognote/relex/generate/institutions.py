"""Surrogates of institutions: another name of the same kind, in every form it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.relex.generate.base import Component, Draw, Kind, Request, Stream, like, made, plain, walk
from incognote.relex.generate.taken import Taken
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant
from incognote.relex.pools import Pools

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*\.?|&")
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_POSSESSIVE = re.compile(r"['’][sS]\Z|(?<=[sS])['’]\Z")
_ARTICLE = re.compile(r"the\s+", re.IGNORECASE)
_KEPT_LETTERS = "HC"  # the last letter of an acronym often is Hospital or Center: it may stay


class Name(NamedTuple):
    """An institution's name in three pieces: kind at the head, what tells it from others, kind at the end.

    `kind` is the pool its middle belongs to: saint (the title is then part of `head`), company, or core.
    """

    head: str
    core: str
    tail: str
    kind: str = "core"

    @property
    def acronym(self) -> bool:
        return not self.head and not self.tail and bool(_ACRONYM.match(self.core))


class Institutions(Kind):
    """Institutions: parts `core`, `saint` or `company` (the name itself), `letters` (of its acronym), `name` in full.

    Words that say what kind of thing it is stay, "Hospital" and "Inc." alike; St. X stays a saint's; an acronym agrees
    with the surrogate's initials.
    """

    group = "ORG"

    def requests(self, identity: Identity) -> list[Request]:
        return [
            Request(0, self.component(identity, f"core:{kind}", normal))
            for kind, normal in self._cores(identity).items()
        ]

    def pick(self, request: Request, draw: Draw, taken: Taken) -> str:
        component = request.component
        place = draw.place(component)
        kind = component.type.split(":")[1]
        if kind == "letters":
            fresh = made(lambda stream: _letters(component.normal, stream), place)
        elif kind == "saint":
            return taken.claim_first(
                component,
                (walk(self.pools.words("institutions", "saint", "names"), place), self._names("core", place)),
            )
        else:
            fresh = self._names(kind, place)
        return taken.claim(component, fresh)

    def _names(self, kind: str, place: int) -> Iterator[str]:
        return walk(coined(self.pools, kind), place)

    def named(self, identity: Identity) -> dict[str, Component]:
        return {r.component.type.split(":")[1]: r.component for r in self.requests(identity)}

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
        parts = {
            request.component.type.split(":")[1]: self.pick(request, draw, taken) for request in self.requests(identity)
        }
        written = [name for v in sorted(identity.variants) if not (name := read_name(v.words, self.pools)).acronym]
        if written:
            longest = max(written, key=lambda name: (len(name.head) + len(name.tail), name))
            parts["name"] = f"{longest.head}{parts[longest.kind]}{longest.tail}"
        else:
            parts["name"] = parts["letters"]
        return Surrogate(parts, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        return surrogate.parts["name"]

    def render(self, variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
        name = read_name(variant.words, self.pools)
        if name.acronym:
            return Rendered(_like_acronym(variant.words, self._initials(surrogate)), ("letters",))
        kind = next((k for k in (name.kind, "core", "company", "saint") if k in surrogate.parts), None)
        if kind is None:
            return None
        core = like(name.core or variant.words, surrogate.parts[kind])
        if not name.core:
            article = _ARTICLE.match(variant.words)
            at = article.end() if article else 0
            return Rendered(f"{variant.words[:at]}{core} {variant.words[at:]}", (kind,))
        owner = _POSSESSIVE.search(name.core)
        if owner:
            core += owner.group() if owner.group()[-1] in "sS" else owner.group() + ("S" if core.isupper() else "s")
        return Rendered(f"{name.head}{core}{name.tail}", (kind,))

    def _initials(self, surrogate: Surrogate) -> str:
        words = [w for w in _WORD.findall(surrogate.parts["name"]) if w[0].isalpha()]
        letters = "".join(w[0] for w in words if fold(w) not in ("of", "and", "the", "at", "for", "inc", "llc", "corp"))
        return letters.upper() if len(letters) > 1 else surrogate.parts.get("letters", surrogate.parts["name"]).upper()

    def _cores(self, identity: Identity) -> dict[str, str]:
        """Kind of name → its normal form; the fullest name counts."""
        names = [read_name(words, self.pools) for words in sorted({v.words for v in identity.variants})]
        spelt = [name for name in names if not name.acronym]
        if not spelt:
            return {"letters": plain(names[0].core).upper()}
        main = max(spelt, key=lambda n: (bool(n.core), len(n.head) + len(n.tail), n))
        return {main.kind: plain(_POSSESSIVE.sub("", main.core)) or plain("".join(main))}


def read_name(words: str, pools: Pools) -> Name:
    """The words cut into head, core and tail; an acronym is all core."""
    kept, saintly, company = _vocabulary(pools)
    found = list(_WORD.finditer(words))
    if _ACRONYM.match(words.strip()) and plain(words) not in kept:
        return Name("", words, "")
    low = [plain(match.group()) for match in found]
    begin, end = 0, len(found)
    while end > begin and low[end - 1] in kept:
        end -= 1
    while begin < end and low[begin] in kept:
        begin += 1
    kind = "company" if company.intersection(low[end:]) else "core"
    if begin < end - 1 and low[begin] in saintly:
        begin, kind = begin + 1, "saint"
    if begin == end:
        return Name("", "", words, kind)
    start, stop = found[begin].start(), found[end - 1].end()
    stop -= end < len(found) and words[stop - 1] == "."
    return Name(words[:start], words[start:stop], words[stop:], kind)


@cache
def _vocabulary(pools: Pools) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    kept, saintly, company = (
        frozenset(map(plain, pools.words("institutions", "kept", name))) for name in ("words", "saintly", "company")
    )
    return kept, saintly, company


@cache
def coined(pools: Pools, kind: str) -> tuple[str, ...]:
    """Heads and tails put together; for places without those that are towns of the pool or repeat themselves."""
    table = pools.data("institutions")[kind]
    towns = {plain(town.name) for found in pools.towns.values() for town in found}
    words = {
        head + tail for head in table["heads"].split() for tail in table["tails"].split() if head[-1].lower() != tail[0]
    }
    return tuple(sorted(word for word in words if plain(word) not in towns))


def _letters(acronym: str, stream: Stream) -> str:
    """Other letters, as many; a last letter that says hospital or center stays."""
    last = acronym[-1] if acronym[-1] in _KEPT_LETTERS else ""
    return "".join(stream.of("ABCDEFGHKLMNPRSTVW") for _ in acronym[len(last) :]) + last


def _like_acronym(written: str, letters: str) -> str:
    return "".join(f"{c}." for c in letters) if "." in written else letters
