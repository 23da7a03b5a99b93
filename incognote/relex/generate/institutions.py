"""Surrogates of institutions: another name of the same kind, in every written form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.operators.readers import places
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
_LONE_MARK = re.compile(r"['’](?![sS])")
_SITE = re.compile(r"\s*[(,/]\s*|\s+[-–—]\s+")  # between an institution and one of its sites
_ARTICLE = re.compile(r"the\s+", re.IGNORECASE)
_HEALTH = frozenset("hospital clinic medical infirmary health school academy college university nursing".split())
_COINED = frozenset("corp inc llc ltd technologies technology software solutions".split())
_KEPT_LETTERS = "HC"  # the last letter of an acronym is often Hospital or Center, so it may stay


class InstitutionName(NamedTuple):
    """An institution's name in pieces: kind at the start, the distinctive part, kind at the end, and its site.

    `kind` is the pool that its core belongs to: saint (the title is then part of `head`), company, a faith ("mosque"),
    the town or state in the name with its home ("town.US.Ohio"), a language ("tongue.hu"), or core.
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
            return taken.claim(component, made(lambda stream: _letters(component.normal, stream), place))
        names = self._names(kind)
        fresh = [name for name in names if plain(name)[:1] != component.normal[:1]]  # so that its initials change too
        core = walk(coined(self.pools, "core"), place)
        return taken.claim_first(component, (walk(fresh, place), walk(names, place), core))

    def _names(self, kind: str) -> Sequence[str]:
        """The names of a kind (see `InstitutionName`)."""
        table = self.pools.data("institutions")
        name, _, of = kind.partition(".")
        if name in ("saint", "san", "santa"):
            return self.pools.words("institutions", "saint", "names" if name == "saint" else name)
        if name in table["faith"]:
            return tuple(table["faith"][name]["names"].split(";"))
        if name == "town":
            country, _, region = of.partition(".")
            found = [t for home, own in self.pools.towns.items() for t in own if home[0] == country]
            return [t.name for t in found if region in ("", t.region)]
        if name == "tongue":
            country = table["tongues"][of].split()[0]
            towns = [t.name for (home, _), own in self.pools.towns.items() for t in own if home == country]
            return sorted({*towns, *self.pools.data("people").get(of, {}).get("surname", "").split()})
        return coined(self.pools, "company" if name == "company" else "mixed")

    def named(self, identity: Identity) -> dict[str, Component]:
        return {_part(r.component): r.component for r in self.requests(identity)}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        parts = {_part(request.component): self.pick(request, draw, taken) for request in self.requests(identity)}
        if not parts:
            return Surrogate({}, self.pools.version)
        written = [name for v in sorted(identity.variants) if not (name := read_name(v.words, self.pools)).acronym]
        if written:
            longest = max(written, key=lambda name: (len(name.head) + len(name.tail), name))
            core = parts[_slot(longest.kind)]
            parts["name"] = f"{longest.head}{core}{longest.tail}{self._sited(longest.site, parts)}"
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
        """Return "" for a department, because it stays."""
        return surrogate.parts.get("name", "")

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        name = read_name(variant.words, self.pools)
        if name.acronym:
            letters = surrogate.parts.get("letters") or self._initials(surrogate.parts)
            return RenderedSurrogate(_like_acronym(variant.words, letters.upper()), ("letters",))
        if not name.core and is_department(variant.words, self.pools):
            return RenderedSurrogate(variant.words, ())
        if alone := surrogate.parts.get(f"site:{plain(name.core)}"):
            return RenderedSurrogate(f"{name.head}{like(name.core, alone)}{name.tail}", (f"site:{plain(name.core)}",))
        kind = next((k for k in (_slot(name.kind), "core", "saint") if k in surrogate.parts), None)
        if kind is None:
            return None
        part = surrogate.parts[kind]
        if len(plain(_POSSESSIVE.sub("", name.core))) == 1:
            part = part[0]  # St. B's
        core = like(name.core or variant.words, part)
        if not name.core:
            article = _ARTICLE.match(variant.words)
            at = article.end() if article else 0
            return RenderedSurrogate(f"{variant.words[:at]}{core} {variant.words[at:]}", (kind,))
        owner = _POSSESSIVE.search(name.core)
        if owner:
            mark = owner.group()[0]
            core += f"{mark}{'S' if core.isupper() else 's'}"
        tail = name.tail
        if _LONE_MARK.match(tail) and core[-1] not in "sS":  # St. James' Hospital
            tail = f"{tail[0]}{'S' if core.isupper() else 's'}{tail[1:]}"
        return RenderedSurrogate(f"{name.head}{core}{tail}{self._sited(name.site, surrogate.parts)}", (kind,))

    def _sited(self, site: str, parts: Mapping[str, str]) -> str:
        """A site with its names replaced. A site without a part of its own takes the institution's."""
        out, at = "", 0
        for start, end in _names_in(site, self.pools):
            fresh = parts.get(f"site:{plain(site[start:end])}") or next(
                (parts[kind] for kind in ("core", "saint") if kind in parts), ""
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
        if not any(name.core or not is_department("".join(name), self.pools) for name in names):
            return {}
        if not spelt:
            return {"letters": plain(names[0].core).upper()}
        main = max(spelt, key=lambda n: (bool(n.core), len(n.head) + len(n.tail), n))
        house = plain(_POSSESSIVE.sub("", main.core)) or plain("".join(main))
        sites = {plain(n.site[a:b]) for n in spelt for a, b in _names_in(n.site, self.pools)} - {house}
        return {main.kind: house} | {f"site:{normal}": normal for normal in sorted(sites)}


def _part(component: Component) -> str:
    """The surrogate part of a component."""
    kind = component.type.split(":")[1]
    return f"site:{component.normal}" if kind == "site" else _slot(kind)


def _slot(kind: str) -> str:
    """The part that holds names of a kind."""
    return "saint" if kind in ("saint", "san", "santa") else "letters" if kind == "letters" else "core"


def house_label(surrogate: Surrogate, pools: Pools) -> str:
    """The label of a host for an institution's surrogate: stclare, stonycreek; "" if its name has no ASCII letters."""
    name = read_name(surrogate.parts.get("name", ""), pools)
    label = plain(f"{name.head}{name.core}" if name.kind in ("saint", "san", "santa") else name.core)
    return label if label.isascii() and label.isalnum() else ""


def is_department(words: str, pools: Pools) -> bool:
    """Return True for words that name no institution: a temple, Thoracic Surgery Clinic, but not Memorial Hospital."""
    low = [plain(match.group()) for match in _WORD.finditer(words)]
    table = pools.data("institutions")["kept"]
    if not low or not set(low) <= _vocabulary(pools)[0]:
        return False
    if words == words.lower():
        return True
    wards = set(low) & set(table["wards"].split())
    return bool(wards - {"hospital", "university"} if set(low) & set(table["proper"].split()) else wards)


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
    kept, saintly = _vocabulary(pools)
    found = list(_WORD.finditer(words))
    if _ACRONYM.match(words.strip()) and plain(words) not in kept:
        return InstitutionName("", words, "")
    low = [plain(match.group()) for match in found]
    begin, end = 0, len(found)
    while end > begin and low[end - 1] in kept:
        end -= 1
    while begin < end and low[begin] in kept:
        begin += 1
    title = low[begin] if begin < end - 1 and low[begin] in saintly else ""
    begin += bool(title)
    if begin == end:
        return InstitutionName("", "", words)
    start, stop = found[begin].start(), found[end - 1].end()
    stop -= end < len(found) and words[stop - 1] == "."
    core = words[start:stop]
    kind = (title if title in ("san", "santa") else "saint") if title else _kind(core, whole, pools)
    return InstitutionName(words[:start], core, words[stop:], kind)


def _kind(core: str, whole: str, pools: Pools) -> str:
    """The pool for the core of a name: by its faith, its language, the town in it, or its business."""
    table = pools.data("institutions")
    said = {fold(match.group()).rstrip(".") for match in _WORD.finditer(whole)}
    own = {plain(match.group()) for match in _WORD.finditer(core)}
    for faith, fields in table["faith"].items():
        if said & set(fields["words"].split()) and not said & _HEALTH:
            return str(faith)
    for tongue, words in table["tongues"].items():
        if said & set(words.split()[1:]):
            return f"tongue.{tongue}"
    bare = _POSSESSIVE.sub("", core)
    if (region := pools.region(bare)) is not None and len(bare) > 3:
        return f"town.{region[0]}.{region[1]}"
    homes = places().homes_of(bare)
    if homes and (homes[0].endswith("*") or len(homes) == 1) and not own & {"lake", "park"}:
        country, _, code = homes[0].rstrip("*").partition("-")
        state = pools.region(code) if code else None
        if any(home == country for home, _ in pools.towns):
            return f"town.{country}.{state[1] if state else ''}"
    return "company" if (said - own) & _COINED else "core"


@cache
def _vocabulary(pools: Pools) -> tuple[frozenset[str], frozenset[str]]:
    """The words for kinds of institutions, and the titles of saints, folded."""
    kept, saintly = (frozenset(map(plain, pools.words("institutions", "kept", name))) for name in ("words", "saintly"))
    return kept, saintly


@cache
def coined(pools: Pools, kind: str) -> tuple[str, ...]:
    """Names of one word (`plain`), mostly of two (`core`), or half and half (`mixed`), or names of companies."""
    if kind == "company":
        table = pools.data("institutions")["company"]
        pairs = ((head, tail) for head in table["heads"].split() for tail in table["tails"].split())
        return tuple(sorted(head + tail for head, tail in pairs if head[-1].lower() != tail[0]))
    table = pools.data("institutions")["core"]
    twofold = [f"{head} {tail}" for head in table["heads"].split() for tail in table["tails"].split()]
    twofold = [] if kind == "plain" else twofold[:: 1 if kind == "core" else 4]
    towns = {plain(town.name) for found in pools.towns.values() for town in found}
    names = {*table["plain"].split(), *twofold}
    return tuple(sorted(name for name in names if plain(name) not in towns))


def _letters(acronym: str, stream: DrawStream) -> str:
    """The same number of other letters. A last letter for hospital or center stays."""
    last = acronym[-1] if acronym[-1] in _KEPT_LETTERS else ""
    return "".join(stream.of("ABCDEFGHKLMNPRSTVW") for _ in acronym[len(last) :]) + last


def _like_acronym(written: str, letters: str) -> str:
    return "".join(f"{c}." for c in letters) if "." in written else letters
