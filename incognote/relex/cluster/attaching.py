"""Weak mentions given to the only person they can mean: a lone word, initials, part of a name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from incognote.relex.cluster.hints import kin_alike
from incognote.relex.cluster.mentions import (
    Mention,
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
from incognote.relex.cluster.person import Cluster, record_of
from incognote.relex.names.likeness import Typo, lettered
from incognote.relex.names.words import roots

Fits = Callable[[Mention, Mention, Typo], bool]
_STEPS: tuple[tuple[bool, Typo], ...] = ((True, "none"), (False, "none"), (True, "loose"), (False, "strict"))
"""Where a weak mention seeks its person: among those of its patient's records or of the scope, and how misspelt."""
SPOUSES = frozenset("wife husband spouse partner widow widower esposa esposo".split())
PARENTS = frozenset("parent mother mom mum mommy madre mama maman father dad daddy padre papa".split())
GROWN = frozenset("mr mrs ms herr frau mme madame monsieur senor senora sr sra pan pani mevrouw dhr".split())


def partly_ways(mention: Mention) -> list[Fits]:
    return [fits_partly]


def single_ways(mention: Mention) -> list[Fits]:
    """A lone word after a title, or of staff, is a surname first; of others a given name first."""
    surname_first = mention.titled or mention.variant.type == "CLINICIAN"
    family: list[Fits] = [fits_family, fits_surname]
    spelt = lettered_ways(mention) if any(map(lettered, mention.names)) else []
    family = [*map(_plainly, family), *family]
    called: list[Fits] = [_plainly(fits_given), fits_given]
    rest: list[Fits] = [fits_middle, fits_suffix, *spelt]
    if mention.variant.type == "CLINICIAN" and mention.variant.words.isupper() and len(mention.variant.words) < 4:
        return [*family, *spelt, *called, *rest]  # EM beneath a note is Ewan MacTavish before it is Emily
    return [*family, *called, *rest] if surname_first else [*called, *family, *rest]


def _plainly(fits: Fits) -> Fits:
    """So that it fits the likeliest reading of the other: Mohamed is Mohamed Hassan's name before Liban Mohamed's."""
    return lambda weak, other, typo: fits(weak, replace(other, names=other.names[:1]), typo)


def lettered_ways(mention: Mention) -> list[Fits]:
    return [lambda weak, other, typo: typo == "none" and fits_letters(weak, other)]


def attach(weak: Sequence[Mention], clusters: list[Cluster], ways: Callable[[Mention], list[Fits]]) -> None:
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
            spoken[record_of(mention), *_stem(mention)][id(target)] = target
    placed: list[tuple[Mention, Cluster]] = []
    alone: dict[tuple[str, ...], list[Mention]] = defaultdict(list)
    for mention, target, several in sought:
        meant = [c for c in spoken.get((record_of(mention), *_stem(mention)), {}).values() if c.admits(mention)]
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
            near = found if sure else [c for c in found if record_of(mention) in c.records] or found
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
