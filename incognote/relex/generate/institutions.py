"""Surrogates of institutions: another name of the same kind, in every written form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.listed import lists
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
from incognote.text.lexicon import fold, is_common

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*\.?|&")
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_POSSESSIVE = re.compile(r"['’][sS]\Z|(?<=[sS])['’]\Z")
_LONE_MARK = re.compile(r"['’](?![sS])")
_SITE = re.compile(r"\s*[(,/]\s*|\s+[-–—]\s+")  # between an institution and one of its sites
_ARTICLE = re.compile(r"the\s+", re.IGNORECASE)
_HEALTH = frozenset("hospital clinic medical infirmary health school academy college university nursing".split())
_COINED = frozenset("corp inc llc ltd technologies technology software solutions".split())
_LETTERS, _SHORTEST = "letters", 3
_SHORT = 4  # letters up to which a name like a town's abroad (Pali) is no evidence for that country
_PLAIN = frozenset(("ORGANIZATION",))
_SMALL = frozenset("of and the at for inc llc corp".split())
_KEPT_LETTERS = "HC"  # the last letter of an acronym is often Hospital or Center, so it may stay


class InstitutionName(NamedTuple):
    """An institution's name in pieces: kind at the start, the distinctive part, kind at the end, and its site.

    `kind` is the pool that its core belongs to: saint (the title is then part of `head`), company, a faith ("mosque"),
    the town or state in the name with its home ("town.US.Ohio"), a language ("tongue.hu"), letters (KMC Imaging), or
    core.
    """

    head: str
    core: str
    tail: str
    kind: str = "core"
    site: str = ""

    @property
    def acronym(self) -> bool:
        return not self.head and not self.tail and bool(_ACRONYM.match(self.core))

    @property
    def initials(self) -> str:
        return _initials(self.head + self.core + self.tail)


class Institutions(SurrogateGenerator):
    """Institutions: another name of the same kind, and an acronym that agrees with its initials.

    The parts are `core`, `saint` or `company` (the name itself), `letters` (of its acronym), `site:x` for each name
    within its site (Harborview Hospital, Birchcliff campus), and `name` in full. Words for the kind stay, "Hospital"
    and "Inc." alike. St. X becomes another saint.
    """

    group = "ORG"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        """Its names. Then its initials, so that "BMC Women's Clinic" agrees with Brookline Medical Center."""
        named = self._named(identity)
        names = [read_name(words, self.pools) for words in sorted({v.words for v in identity.variants})]
        found = list(named)
        for name in names:
            core = next((r.component for r in named if r.component.type == f"core:{name.kind}"), None)
            if core is None or name.kind == _LETTERS or len(letters := name.initials) < _SHORTEST:
                continue
            at = len(_initials(name.head))
            rest = letters[at + len(_initials(name.core)) :]
            detail = (core.type, core.normal, letters[:at], rest)
            found.append(ComponentRequest(1, self.component(identity, f"core:{_LETTERS}", letters), detail))
        return found

    def _named(self, identity: Identity) -> list[ComponentRequest]:
        return [
            ComponentRequest(0, self.component(identity, f"core:{part.split(':')[0]}", normal))
            for part, normal in self._cores(identity).items()
        ]

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        component = request.component
        place = draw.place(component)
        kind = component.type.split(":")[1]
        if kind == _LETTERS:
            drawn = made(lambda stream: _letters(component.normal, stream), place)
            named, house, head, tail = (*request.detail, "", "", "", "")[:4]
            held = taken.holds(Component(component.domain, component.scope, named, house)) if named else None
            return taken.claim_first(component, (iter([f"{head}{_initials(held)}{tail}"] if held else []), drawn))
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
        return coined(self.pools, {"company": "company", "bare": "core"}.get(name, "mixed"))

    def named(self, identity: Identity) -> dict[str, Component]:
        return {_part(r.component): r.component for r in self._named(identity)}

    def telling(self, identity: Identity) -> Component:
        return max(self._named(identity)).component

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        requests = {request.component: request for request in sorted(self.requests(identity))}
        parts = {part: self.pick(requests[component], draw, taken) for part, component in self.named(identity).items()}
        if not parts:
            return Surrogate({}, self.pools.version)
        written = [name for v in sorted(identity.variants) if not (name := read_name(v.words, self.pools)).acronym]
        if written:
            longest = max(written, key=lambda name: (len(name.head) + len(name.tail), name))
            core = parts[_slot(longest.kind)]
            parts["name"] = f"{longest.head}{core}{longest.tail}{self._sited(longest.site, parts)}"
            lettered = next((v.words for v in sorted(identity.variants) if _ACRONYM.match(v.words.strip())), "")
            letters = plain(lettered).upper()
            spelt = letters in {name.initials for name in written}
            if letters and _LETTERS not in parts and (not spelt or taken.is_known(_initials(parts["name"]))):
                component = self.component(identity, f"core:{_LETTERS}", letters)
                parts[_LETTERS] = taken.holds(component) or taken.claim_first(
                    component,
                    (
                        iter([] if spelt else [_initials(_SITE.split(parts["name"])[0])]),
                        made(lambda stream: _letters(letters, stream), draw.place(self.telling(identity))),
                    ),
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
            letters = surrogate.parts.get(_LETTERS) or self._shortened(name.core, identity, surrogate)
            return RenderedSurrogate(_like_acronym(variant.words, letters.upper()), ("letters",))
        if not name.core and is_department(variant.words, self.pools):
            return RenderedSurrogate(variant.words, ())
        if alone := surrogate.parts.get(f"site:{plain(name.core)}"):
            return RenderedSurrogate(f"{name.head}{like(name.core, alone)}{name.tail}", (f"site:{plain(name.core)}",))
        kind = next((k for k in (_slot(name.kind), "core", "saint") if k in surrogate.parts), None)
        if kind is None:
            return None
        part = surrogate.parts[kind]
        if name.kind == _LETTERS != kind:  # KMC Imaging, of Kaimana Medical Center
            part = self._shortened(name.core, identity, surrogate)
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
            core += f"{mark}{'S' if core.isupper() and len(core) > 1 else 's'}"
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

    def _shortened(self, acronym: str, identity: Identity, surrogate: Surrogate) -> str:
        """The initials of the surrogate, of the words for which the acronym stands."""
        letters = plain(acronym).upper()
        for variant in sorted(identity.variants, key=lambda v: (len(v.words), v)):
            name = read_name(variant.words, self.pools)
            if not name.acronym and name.kind != _LETTERS and name.initials == letters:
                rendered = self.render(variant, identity, surrogate)
                if rendered is not None:
                    return _initials(_SITE.split(rendered.text)[0])
        fresh = _initials(_SITE.split(surrogate.parts["name"])[0])
        return fresh if len(fresh) > 1 else surrogate.parts["name"].upper()

    def _cores(self, identity: Identity) -> dict[str, str]:
        """Kind of name → its normal form, from the fullest name."""
        names = [read_name(words, self.pools) for words in sorted({v.words for v in identity.variants})]
        spelt = [name for name in names if not name.acronym]
        if not any(name.core or not is_department("".join(name), self.pools) for name in names):
            return {}
        if not spelt:
            return {_LETTERS: plain(names[0].core).upper()}
        main = max(spelt, key=lambda n: (bool(n.core), len(n.head) + len(n.tail), n))
        house = plain(_POSSESSIVE.sub("", main.core)) or plain("".join(main))
        sites = {plain(n.site[a:b]) for n in spelt for a, b in _names_in(n.site, self.pools)} - {house}
        kind = main.kind
        if kind == "core" and not main.head and not main.tail and {v.type for v in identity.variants} <= _PLAIN:
            kind = "bare"
        if kind == _LETTERS:
            house = house.upper()
        return {kind: house} | {f"site:{normal}": normal for normal in sorted(sites)}


def keeps_kind(words: str, made: str, code: str) -> bool:
    """Whether a surrogate keeps the word for the kind of an institution in another language: "Klinikum", "CHU"."""
    own, left = lists(code), set(map(fold, _WORD.findall(made)))
    kinds = {word for head in own.heads for word in head.split() if len(word) > 2}
    tails = tuple(own.tails)
    return any(word in left and (word in kinds or word.endswith(tails)) for word in map(fold, _WORD.findall(words)))


def _part(component: Component) -> str:
    """The surrogate part of a component."""
    kind = component.type.split(":")[1]
    return f"site:{component.normal}" if kind == "site" else _slot(kind)


def _slot(kind: str) -> str:
    """The part that holds names of a kind."""
    return "saint" if kind in ("saint", "san", "santa") else _LETTERS if kind == _LETTERS else "core"


def _initials(words: str) -> str:
    """The initials of the words that count in an acronym, in capitals."""
    found = (word for word in _WORD.findall(words) if word[0].isalpha() and fold(word) not in _SMALL)
    return "".join(word[0] for word in found).upper()


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
    while begin and not title and low[begin] in pools.words("streets", "", "kinds"):
        begin -= 1  # University Avenue Drug
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
        if said & {fold(word) for word in words.split()[1:]}:
            return f"tongue.{tongue}"
    bare = _POSSESSIVE.sub("", core)
    if re.fullmatch(r"[A-Z]{3,6}", core) and core != whole and not whole.isupper():
        return _LETTERS
    if (region := pools.region(bare)) is not None and len(bare) > 3:
        return f"town.{region[0]}.{region[1]}"
    homes = places().homes_of(bare)
    country, _, code = homes[0].rstrip("*").partition("-") if homes else ("", "", "")
    known = bool(homes) and (homes[0].endswith("*") if country != "US" else homes[0].endswith("*") or len(homes) == 1)
    if known and not own & {"lake", "park"} and not is_common(fold(bare)) and (country == "US" or len(bare) > _SHORT):
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
