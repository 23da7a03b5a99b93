"""Mentions of persons gathered into persons: whole names by likeness, then weaker mentions to the one they can mean.

Every step decides for all mentions against the state before it, and whatever is sorted is sorted by the mentions
themselves, so the outcome is a function of their set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from incognote.relex.cluster.aliases import aliased
from incognote.relex.cluster.hints import kin_alike
from incognote.relex.cluster.mentions import (
    Mention,
    apart,
    at_odds,
    fits_family,
    fits_given,
    fits_letters,
    fits_middle,
    fits_partly,
    fits_suffix,
    fits_surname,
    letters,
    words_of,
)
from incognote.relex.names.likeness import Name, Typo, lettered, one_person, same_given, whole
from incognote.relex.names.words import roots
from incognote.relex.nouns import Variant

Fits = Callable[[Mention, Mention, Typo], bool]
Form = tuple[tuple[Name, ...], str, str]
"""A way of writing, the generation its kin word tells, and the record whose other bearers of the name it is none of."""
_STEPS: tuple[tuple[bool, Typo], ...] = ((True, "none"), (False, "none"), (True, "loose"), (False, "strict"))
"""Where a weak mention seeks its person: among those of its patient's records or of the scope, and how misspelt."""
SPOUSES = frozenset("wife husband spouse partner widow widower esposa esposo".split())
PARENTS = frozenset("parent mother mom mum mommy madre mama maman father dad daddy padre papa".split())
GROWN = frozenset("mr mrs ms herr frau mme madame monsieur senor senora sr sra pan pani mevrouw dhr".split())
_SINGLE_KIN = frozenset("wife husband spouse mother father son daughter brother sister child baby twin".split())
_SUBJECT = 120  # characters between the one a sentence is about and the one it says is somebody else
_NEAR = 60  # characters between a name and the name of birth that follows it


class Cluster:
    """Mentions taken for one person. Grows in place; never compared."""

    def __init__(self, members: Iterable[Mention]) -> None:
        self.members: list[Mention] = []
        self.records: set[str] = set()
        self.owners: set[str] = set()
        self.genders: set[str] = set()
        self.grades: set[frozenset[str]] = set()
        self.sides: set[str] = set()
        self.suffixes: set[str] = set()
        self.works: set[str] = set()
        self.variants: set[Variant] = set()
        self.faces: dict[tuple[Name, ...], Mention] = {}  # one member per way of writing
        self.add(members)

    def add(self, members: Iterable[Mention]) -> None:
        for mention in members:
            self.members.append(mention)
            self.records.add(_record(mention))
            self.owners.add(mention.variant.owner)
            self.genders |= {mention.gender} - {""}
            self.grades.add(mention.grades)
            self.sides |= {mention.side} - {""}
            self.suffixes |= {mention.suffix} - {""}
            self.works |= {mention.variant.hints.work} - {""}
            self.variants.add(mention.variant)
            self.faces.setdefault(mention.names, mention)

    def admits(self, mention: Mention) -> bool:
        """Neither gender nor generation nor degrees speak against it, nor that it is said to be another."""
        return not (
            (mention.gender and self.genders and mention.gender not in self.genders)
            or any(apart(mention.side, side) for side in self.sides)
            or (mention.suffix and self.suffixes and mention.suffix not in self.suffixes)
            or (mention.variant.hints.another and _record(mention) in self.records)
            or not self.variants.isdisjoint(mention.unlike)
            or at_odds(self.grades, mention.grades)
        )


def _record(mention: Mention) -> str:
    return f"{mention.variant.owner}\0{mention.variant.record}"


def gather(mentions: Sequence[Mention], seeds: Sequence[Cluster] = (), staff: bool = False) -> list[Cluster]:
    """A partition of the mentions into persons; a function of their set.

    Args:
        mentions: of one scope, sorted.
        seeds: persons already known (the patient), to whom PERSON mentions may attach; returned with the others.
        staff: they are no kin: in one patient's records a given name one letter off is more likely misspelt than a
            colleague of the same surname. Kin have one surname, and Anna and Anne may be sisters.
    """
    mentions, called = aliased(_unlike(mentions))
    born = _names_of_birth(mentions)
    clusters, doubtful = _whole_names([m for m in mentions if m.kind == "whole"], "free" if staff else "loose")
    clusters = [*seeds, *_wed(clusters, _married(clusters, born))]
    later = [m for m in mentions if m.kind != "whole" and m not in born]
    partly = [m for m in later if m.kind == "partly"]
    _attach([*doubtful, *partly], clusters, _partly_ways)
    _attach([m for m in later if m.kind == "single" and not m.titled], clusters, _single_ways)
    _attach([m for m in later if m.kind == "single" and m.titled], clusters, _single_ways)
    _attach([m for m in later if m.kind == "lettered"], clusters, _lettered_ways)
    return _wed(_wed(clusters, born), called, doubted=True)


def _unlike(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions, each said to be somebody else than the one named before it told of that one, and that one of it."""
    found: dict[Variant, set[Variant]] = defaultdict(set)
    for mention in mentions:
        if not mention.variant.hints.apart:
            continue
        before = [
            other.variant
            for other in mentions
            if _record(other) == _record(mention)
            and other.variant.field == mention.variant.field
            and 0 <= mention.variant.start - other.variant.end <= _SUBJECT
        ]
        if before:
            subject = max(before, key=lambda v: (v.end, v))
            found[mention.variant].add(subject)
            found[subject].add(mention.variant)
    return [replace(m, unlike=frozenset(found[m.variant])) if m.variant in found else m for m in mentions]


def _whole_names(mentions: Sequence[Mention], near_by: Typo) -> tuple[list[Cluster], list[Mention]]:
    """Whole names united by likeness, the best first, never against a contradiction.

    Returns:
        The clusters, and the mentions that fit two persons of whom nobody can be both (Robert Hargrove where there are
        a Robert T. and a Robert J.): they are attached as weak ones are.
    """
    forms: dict[Form, list[Mention]] = defaultdict(list)
    for mention in mentions:
        forms[mention.names, mention.side, _record(mention) if mention.variant.hints.another else ""].append(mention)
    order = sorted(forms)
    likeness = _likeness(order, [forms[form] for form in order], near_by)
    near: dict[int, list[int]] = defaultdict(list)
    for a, b in likeness:
        near[a].append(b)
        near[b].append(a)
    doubtful = {
        at
        for at, others in near.items()
        if any(
            _against(order[x], order[y]) and not _telling(order[at], order[x], order[y])
            for i, x in enumerate(others)
            for y in others[i + 1 :]
        )
    }
    group = {at: [at] for at in range(len(order)) if at not in doubtful}
    for _, a, b in sorted((-score, a, b) for (a, b), score in likeness.items() if not {a, b} & doubtful):
        ones, others = group[a], group[b]
        if ones is others or any(_against(order[x], order[y]) for x in ones for y in others):
            continue
        ones.extend(others)
        for x in others:
            group[x] = ones
    unique = {min(members): members for members in group.values()}
    clusters = [Cluster(m for at in sorted(members) for m in forms[order[at]]) for _, members in sorted(unique.items())]
    return clusters, [m for at in sorted(doubtful) for m in forms[order[at]]]


def _likeness(
    order: Sequence[Form], members: Sequence[Sequence[Mention]], near_by: Typo
) -> dict[tuple[int, int], float]:
    """Pairs of forms that may be one person. They share a surname or a given name to the letter, or one is all of the
    other's given names, so only such meet.

    A misspelling is believed more readily (`near_by`) of names in the records of one patient.
    """
    owners = [{m.variant.owner for m in own} for own in members]
    blocks: dict[str, set[int]] = defaultdict(set)
    for at, (names, _, _) in enumerate(order):
        for name in filter(whole, names):
            for word in {*name.surname, name.given, name.joined, *name.nick, *(name.given + s for s in name.surname)}:
                blocks[word].add(at)
    pairs = {(a, b) for block in blocks.values() for a in block for b in block if a < b}
    scored = {
        (a, b): one_person(order[a][0], order[b][0], near_by if owners[a] & owners[b] else "strict")
        or _namely(members[a], members[b])
        for a, b in pairs
        if _may_meet(order[a], order[b], members[a], members[b])
    }
    return {pair: score for pair, score in scored.items() if score}


def _may_meet(a: Form, b: Form, ones: Sequence[Mention], others: Sequence[Mention]) -> bool:
    """Of one generation, and neither said to be another than those of the other's records or roles."""
    for form, members in ((a, others), (b, ones)):
        if form[2] and any(_record(m) == form[2] or m.variant.type != "PERSON" for m in members):
            return False
    return not apart(a[1], b[1])


def _namely(ones: Sequence[Mention], others: Sequence[Mention]) -> float:
    """Two names of one wife, one daughter: nobody has two of the same given name, and surnames change."""
    return 0.5 * any(
        a.kin in _SINGLE_KIN
        and kin_alike(a.kin, b.kin)
        and a.variant.owner == b.variant.owner
        and same_given(a.names[0], b.names[0])
        for a in ones
        for b in others
    )


def _against(a: Form, b: Form) -> bool:
    """Nobody is both: two generations, or they share a surname, and yet do not agree."""
    related = bool(set(a[0][0].surname) & set(b[0][0].surname))
    return apart(a[1], b[1]) or (related and not one_person(a[0], b[0], "free"))


def _telling(form: Form, x: Form, y: Form) -> bool:
    """The form agrees better with one of the two than with the other."""
    return one_person(form[0], x[0]) != one_person(form[0], y[0])


def _names_of_birth(mentions: Sequence[Mention]) -> dict[Mention, Mention]:
    """Mentions said to be a former name, and the mention of the same person right before, where one stands there."""
    found: dict[Mention, Mention] = {}
    for mention in mentions:
        if not mention.variant.hints.maiden:
            continue
        before = [
            other
            for other in mentions
            if _record(other) == _record(mention)
            and other.variant.field == mention.variant.field
            and 0 <= mention.variant.start - other.variant.end <= _NEAR
            and not (mention.gender and other.gender and mention.gender != other.gender)
            and (mention.kind != "whole" or _one_given(mention, other))
        ]
        if before:
            found[mention] = max(before, key=lambda other: (other.variant.end, other.variant))
    return found


def _married(clusters: Sequence[Cluster], born: dict[Mention, Mention]) -> dict[Mention, Mention]:
    """Whole names of birth, each with a whole name of the same person: the one it follows, else the only one of that
    given name in the owner's records."""
    found: dict[Mention, Mention] = {}
    for mention in sorted({m for c in clusters for m in c.members if m.variant.hints.maiden}, key=lambda m: m.variant):
        if mention in born and born[mention].kind == "whole":
            found[mention] = born[mention]
            continue
        others = [
            c
            for c in clusters
            if mention.variant.owner in c.owners
            and mention not in c.members
            and c.admits(mention)
            and any(_one_given(mention, face) for face in c.faces.values())
        ]
        if len(others) == 1:
            found[mention] = others[0].members[0]
    return found


def _one_given(a: Mention, b: Mention) -> bool:
    """Their given names agree: in the likeliest readings, or to the letter in another of the first (Nguyen Kim Ly may
    be Kim-Ly, of the family Nguyen)."""
    if b.kind == "single":
        return fits_given(b, a, "loose")
    mine, other = a.names[0], b.names[0]
    return same_given(mine, other) or any(other.joined in (x.given, x.joined) for x in a.names if len(other.joined) > 3)


def _wed(clusters: list[Cluster], born: dict[Mention, Mention], doubted: bool = False) -> list[Cluster]:
    """Clusters of a person and of that person's name of birth made one; of an alias only where nothing speaks against
    it (`doubted`)."""
    home = {id(m): cluster for cluster in clusters for m in cluster.members}
    for mention, other in sorted(born.items(), key=lambda pair: (pair[0].variant, pair[1].variant)):
        target = home.get(id(other))
        source = home.get(id(mention))
        if target is None or target is source:
            if target is None and source is None:
                clusters.append(Cluster([mention]))
                home[id(mention)] = clusters[-1]
            continue
        moved = source.members if source else [mention]
        if doubted and not all(target.admits(m) for m in moved):
            continue
        target.add(moved)
        home.update({id(m): target for m in moved})
        if source is not None:
            clusters.remove(source)
    return clusters


def _partly_ways(mention: Mention) -> list[Fits]:
    return [fits_partly]


def _single_ways(mention: Mention) -> list[Fits]:
    """A lone word after a title, or of staff, is a surname first; of others a given name first."""
    surname_first = mention.titled or mention.variant.type == "CLINICIAN"
    family: list[Fits] = [fits_family, fits_surname]
    spelt = _lettered_ways(mention) if any(map(lettered, mention.names)) else []
    family = [*map(_plainly, family), *family]
    called: list[Fits] = [_plainly(fits_given), fits_given]
    rest: list[Fits] = [fits_middle, fits_suffix, *spelt]
    if mention.variant.type == "CLINICIAN" and mention.variant.words.isupper() and len(mention.variant.words) < 4:
        return [*family, *spelt, *called, *rest]  # EM beneath a note is Ewan MacTavish before it is Emily
    return [*family, *called, *rest] if surname_first else [*called, *family, *rest]


def _plainly(fits: Fits) -> Fits:
    """So that it fits the likeliest reading of the other: Mohamed is Mohamed Hassan's name before Liban Mohamed's."""
    return lambda weak, other, typo: fits(weak, replace(other, names=other.names[:1]), typo)


def _lettered_ways(mention: Mention) -> list[Fits]:
    return [lambda weak, other, typo: typo == "none" and fits_letters(weak, other)]


def _attach(weak: Sequence[Mention], clusters: list[Cluster], ways: Callable[[Mention], list[Fits]]) -> None:
    """Give each weak mention to the only person it can mean; the others stand alone, united by their words.

    Sought first in the records of its patient (its own record before the others), then in the scope; misspelt last.
    Those that only one can be meant by go first: of two who may be meant, whoever is in the record is.
    """
    table = _table(clusters)
    first = [(mention, *_target(mention, clusters, table, ways(mention), sure=True)) for mention in weak]
    for mention, target, _ in first:
        if target is not None:
            target.add([mention])
    weak = [mention for mention, target, _ in first if target is None]
    sought = [(mention, *_target(mention, clusters, table, ways(mention))) for mention in weak]
    spoken: dict[tuple[str, ...], dict[int, Cluster]] = defaultdict(dict)
    for mention, target, _ in sought:
        if target is not None:
            spoken[_record(mention), *_stem(mention)][id(target)] = target
    placed: list[tuple[Mention, Cluster]] = []
    alone: dict[tuple[str, ...], list[Mention]] = defaultdict(list)
    for mention, target, several in sought:
        meant = [c for c in spoken.get((_record(mention), *_stem(mention)), {}).values() if c.admits(mention)]
        if target is None and several and len(meant) == 1:
            target = meant[0]  # one note seldom calls two people by one word
        if target is not None:
            placed.append((mention, target))
        else:
            owner = mention.variant.owner if several else ""
            alone[owner, mention.gender if several else "", mention.suffix, *_stem(mention)].append(mention)
    for mention, target in placed:
        target.add([mention])
    clusters.extend(Cluster(members) for _, found in sorted(alone.items()) for members in _by_side(found))


def _by_side(mentions: Sequence[Mention]) -> list[list[Mention]]:
    """Mentions of one word, those of two generations apart."""
    sides = sorted({m.side for m in mentions})
    if len(set(sides) - {""}) < 2:
        return [list(mentions)]
    return [[m for m in mentions if m.side == side] for side in sides]


def _table(clusters: Sequence[Cluster]) -> dict[str, list[int]]:
    """Word → the clusters a name with that word may belong to."""
    found: dict[str, set[int]] = defaultdict(set)
    for at, cluster in enumerate(clusters):
        for names in cluster.faces:
            for name in names:
                for word in words_of(name):
                    found[word].add(at)
    return {word: sorted(places) for word, places in found.items()}


def _stem(mention: Mention) -> tuple[str, ...]:
    """What mentions that stand alone are united by: their words, whatever their order or case, a nickname as what it
    is short for."""
    words = sorted(
        {_rooted(piece.key) for piece in mention.parsed.pieces if piece.role in ("given", "nick", "middle", "surname")}
    )
    return (mention.kind, *words)


def _rooted(word: str) -> str:
    found = roots().get(word, frozenset())
    return min(found) if len(found) == 1 else word


def _target(
    mention: Mention,
    clusters: Sequence[Cluster],
    table: dict[str, list[int]],
    ways: Sequence[Fits],
    sure: bool = False,
) -> tuple[Cluster | None, bool]:
    """The person meant, and whether there were several of equal standing; with `sure` none of several, whoever of them
    is in the record."""
    seen: dict[bool, list[Cluster]] = {}
    for own, typo in _STEPS:
        alike = typo != "none"
        if alike not in seen:
            met = {at for word in _sought(mention, alike) for at in table.get(word, ())}
            seen[alike] = [clusters[at] for at in sorted(met) if clusters[at].admits(mention)]
        within = [c for c in seen[alike] if mention.variant.owner in c.owners] if own else seen[alike]
        for fits in ways:
            found = [c for c in within if any(fits(mention, face, typo) for face in c.faces.values())]
            found = _akin(mention, found)
            near = found if sure else [c for c in found if _record(mention) in c.records] or found
            if len(near) == 1:
                return near[0], False
            if near:
                return _choice(mention, near), True
    return None, False


def _akin(mention: Mention, found: Sequence[Cluster]) -> list[Cluster]:
    """Those who bear the mention's suffix, then kin word, then are of its field of work, then, for a title and a family
    name, the patient's spouse or whoever is no child; all where nobody does."""
    marked = [c for c in found if mention.suffix in c.suffixes] or list(found)
    marked = [c for c in marked if any(kin_alike(mention.kin, m.kin) for m in c.members)] or marked
    if mention.variant.hints.work:
        marked = (
            [c for c in marked if mention.variant.hints.work in c.works] or [c for c in marked if not c.works] or marked
        )
    if len(marked) < 2 or mention.title not in GROWN or mention.variant.type == "CLINICIAN":
        return marked
    for role in (SPOUSES, PARENTS):
        if having := [c for c in marked if any(m.kin in role for m in c.members)]:
            return having
    grown = [c for c in marked if "grandchild" not in c.sides] or marked
    return [c for c in grown if "child" not in c.sides] or grown


def _sought(mention: Mention, alike: bool) -> set[str]:
    """The words under which those who may be meant stand in the table; with `alike` those of misspellings."""
    if mention.kind == "lettered":
        return {f"={letters(name)}" for name in mention.names}
    shown = {f"={letters(name)}" for name in mention.names if lettered(name)}
    return shown | {word for name in mention.names for word in words_of(name) if (word[0] == "^") == alike}


def _choice(mention: Mention, near: Sequence[Cluster]) -> Cluster | None:
    """The only one of several that shares the mention's degrees, else its type."""
    alike = (
        [c for c in near if any(mention.grades & grades for grades in c.grades)],
        [c for c in near if any(m.variant.type == mention.variant.type for m in c.members)],
    )
    return next((kept[0] for kept in alike if len(kept) == 1), None)
