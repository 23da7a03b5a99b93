"""Surrogates of institutions: another name of the same kind, in every written form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    DrawStream,
    SurrogateGenerator,
    UsedSurrogates,
    like,
    made,
    plain,
    walk,
)
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*\.?|&")
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_POSSESSIVE = re.compile(r"['’][sS]\Z|(?<=[sS])['’]\Z")
_SITE = re.compile(r"\s*[(,/]\s*|\s+[-–—]\s+")  # between an institution and one of its sites
_ARTICLE = re.compile(r"the\s+", re.IGNORECASE)
_KEPT_LETTERS = "HC"  # the last letter of an acronym is often Hospital or Center, so it may stay


class InstitutionName(NamedTuple):
    """An institution's name in pieces: kind at the start, the distinctive part, kind at the end, and its site.

    `kind` is the pool that its core belongs to: saint (the title is then part of `head`), company, or core.
    """

    head: str
    core: str
    tail: str
    kind: str = "core"
    site: str = ""

    @property
    def acronym(self) -> bool:
        return not self.head and not self.tail and bool(_ACRONYM.match(self.core))


class Institutions(SurrogateGenerator):
    """Institutions: another name of the same kind, and an acronym that agrees with its initials.

    The parts are `core`, `saint` or `company` (the name itself), `letters` (of its acronym), `site:x` for each name
    within its site (Harborview Hospital, Birchcliff campus), and `name` in full. Words for the kind stay, "Hospital"
    and "Inc." alike. St. X becomes another saint.
    """

    group = "ORG"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        return [
            ComponentRequest(0, self.component(identity, f"core:{part.split(':')[0]}", normal))
            for part, normal in self._cores(identity).items()
        ]

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
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
            fresh = self._names("core" if kind == "site" else kind, place)
        return taken.claim(component, fresh)

    def _names(self, kind: str, place: int) -> Iterator[str]:
        return walk(coined(self.pools, kind), place)

    def named(self, identity: Identity) -> dict[str, Component]:
        return {_part(r.component): r.component for r in self.requests(identity)}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        parts = {_part(request.component): self.pick(request, draw, taken) for request in self.requests(identity)}
        written = [name for v in sorted(identity.variants) if not (name := read_name(v.words, self.pools)).acronym]
        if written:
            longest = max(written, key=lambda name: (len(name.head) + len(name.tail), name))
            parts["name"] = f"{longest.head}{parts[longest.kind]}{longest.tail}{self._sited(longest.site, parts)}"
            lettered = next((v.words for v in sorted(identity.variants) if _ACRONYM.match(v.words.strip())), "")
            if lettered and taken.is_known(self._initials(parts)):
                parts["letters"] = taken.claim(
                    self.component(identity, "core:letters", plain(lettered).upper()),
                    made(lambda stream: _letters(plain(lettered).upper(), stream), draw.place(self.telling(identity))),
                )
        else:
            parts["name"] = parts["letters"]
        return Surrogate(parts, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        return surrogate.parts["name"]

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        name = read_name(variant.words, self.pools)
        if name.acronym:
            letters = surrogate.parts.get("letters") or self._initials(surrogate.parts)
            return RenderedSurrogate(_like_acronym(variant.words, letters.upper()), ("letters",))
        if alone := surrogate.parts.get(f"site:{plain(name.core)}"):
            return RenderedSurrogate(f"{name.head}{like(name.core, alone)}{name.tail}", (f"site:{plain(name.core)}",))
        kind = next((k for k in (name.kind, "core", "company", "saint") if k in surrogate.parts), None)
        if kind is None:
            return None
        core = like(name.core or variant.words, surrogate.parts[kind])
        if not name.core:
            article = _ARTICLE.match(variant.words)
            at = article.end() if article else 0
            return RenderedSurrogate(f"{variant.words[:at]}{core} {variant.words[at:]}", (kind,))
        owner = _POSSESSIVE.search(name.core)
        if owner:
            core += owner.group() if owner.group()[-1] in "sS" else owner.group() + ("S" if core.isupper() else "s")
        return RenderedSurrogate(f"{name.head}{core}{name.tail}{self._sited(name.site, surrogate.parts)}", (kind,))

    def _sited(self, site: str, parts: Mapping[str, str]) -> str:
        """A site with its names replaced. A site without a part of its own takes the institution's."""
        out, at = "", 0
        for start, end in _names_in(site, self.pools):
            fresh = parts.get(f"site:{plain(site[start:end])}") or next(
                (parts[kind] for kind in ("core", "company", "saint") if kind in parts), ""
            )
            out += site[at:start] + like(site[start:end], fresh)
            at = end
        return out + site[at:]

    def _initials(self, parts: Mapping[str, str]) -> str:
        words = [w for w in _WORD.findall(_SITE.split(parts["name"])[0]) if w[0].isalpha()]
        letters = "".join(w[0] for w in words if fold(w) not in ("of", "and", "the", "at", "for", "inc", "llc", "corp"))
        return letters.upper() if len(letters) > 1 else parts.get("letters", parts["name"]).upper()

    def _cores(self, identity: Identity) -> dict[str, str]:
        """Kind of name → its normal form, from the fullest name."""
        names = [read_name(words, self.pools) for words in sorted({v.words for v in identity.variants})]
        spelt = [name for name in names if not name.acronym]
        if not spelt:
            return {"letters": plain(names[0].core).upper()}
        main = max(spelt, key=lambda n: (bool(n.core), len(n.head) + len(n.tail), n))
        house = plain(_POSSESSIVE.sub("", main.core)) or plain("".join(main))
        sites = {plain(n.site[a:b]) for n in spelt for a, b in _names_in(n.site, self.pools)} - {house}
        return {main.kind: house} | {f"site:{normal}": normal for normal in sorted(sites)}


def _part(component: Component) -> str:
    """The surrogate part of a component."""
    kind = component.type.split(":")[1]
    return f"site:{component.normal}" if kind == "site" else kind


def _names_in(site: str, pools: Pools) -> list[tuple[int, int]]:
    """The positions of names in the words for a site: runs of words that are neither a kind nor a number."""
    kept = _vocabulary(pools)[0]
    runs: list[tuple[int, int]] = []
    last = -1
    for at, match in enumerate(_WORD.finditer(site)):
        if plain(match.group()) in kept or match.group()[0].isdigit():
            continue
        stop = match.end() - match.group().endswith(".")
        if last == at - 1 and runs and not _SITE.search(site[runs[-1][1] : match.start()]):
            runs[-1] = (runs[-1][0], stop)
        else:
            runs.append((match.start(), stop))
        last = at
    return runs


def read_name(words: str, pools: Pools) -> InstitutionName:
    """The words split into head, core, tail and site. An acronym is core only."""
    for match in _SITE.finditer(words):
        house = _read(words[: match.start()], words, pools)
        if house.core:
            return house._replace(site=words[match.start() :])
    return _read(words, words, pools)


def _read(words: str, whole: str, pools: Pools) -> InstitutionName:
    kept, saintly, company = _vocabulary(pools)
    found = list(_WORD.finditer(words))
    if _ACRONYM.match(words.strip()) and plain(words) not in kept:
        return InstitutionName("", words, "")
    low = [plain(match.group()) for match in found]
    begin, end = 0, len(found)
    while end > begin and low[end - 1] in kept:
        end -= 1
    while begin < end and low[begin] in kept:
        begin += 1
    said = {plain(word) for word in _WORD.findall(whole[len(words) :])}
    kind = "company" if company.intersection(low[end:]) or company & said else "core"
    if begin < end - 1 and low[begin] in saintly:
        begin, kind = begin + 1, "saint"
    if begin == end:
        return InstitutionName("", "", words, kind)
    start, stop = found[begin].start(), found[end - 1].end()
    stop -= end < len(found) and words[stop - 1] == "."
    return InstitutionName(words[:start], words[start:stop], words[stop:], kind)


@cache
def _vocabulary(pools: Pools) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    kept, saintly, company = (
        frozenset(map(plain, pools.words("institutions", "kept", name))) for name in ("words", "saintly", "company")
    )
    return kept, saintly, company


@cache
def coined(pools: Pools, kind: str) -> tuple[str, ...]:
    """Combine heads and tails into invented names, leaving out towns of the pool and repeated letters."""
    table = pools.data("institutions")[kind]
    towns = {plain(town.name) for found in pools.towns.values() for town in found}
    words = {
        head + tail for head in table["heads"].split() for tail in table["tails"].split() if head[-1].lower() != tail[0]
    }
    return tuple(sorted(word for word in words if plain(word) not in towns))


def _letters(acronym: str, stream: DrawStream) -> str:
    """The same number of other letters. A last letter for hospital or center stays."""
    last = acronym[-1] if acronym[-1] in _KEPT_LETTERS else ""
    return "".join(stream.of("ABCDEFGHKLMNPRSTVW") for _ in acronym[len(last) :]) + last


def _like_acronym(written: str, letters: str) -> str:
    return "".join(f"{c}." for c in letters) if "." in written else letters
