"""Whole names of persons united by likeness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from incognote.relex.cluster.hints import kin_alike
from incognote.relex.cluster.mentions import Mention, apart
from incognote.relex.cluster.person import Cluster, record_of
from incognote.relex.names.likeness import Name, Typo, one_person, same_given, whole

Form = tuple[tuple[Name, ...], str, str]
"""A way of writing, the generation its kin word tells, and the record whose other bearers of the name it is none of."""
_SINGLE_KIN = frozenset("wife husband spouse mother father son daughter brother sister child baby twin".split())


def whole_names(mentions: Sequence[Mention], near_by: Typo) -> tuple[list[Cluster], list[Mention]]:
    """Whole names united by likeness, the best first, never against a contradiction.

    Returns:
        The clusters, and the mentions that fit two persons of whom nobody can be both (Robert Hargrove where there are
        a Robert T. and a Robert J.): they are attached as weak ones are.
    """
    forms: dict[Form, list[Mention]] = defaultdict(list)
    for mention in mentions:
        forms[mention.names, mention.side, record_of(mention) if mention.variant.hints.another else ""].append(mention)
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
        if form[2] and any(record_of(m) == form[2] or m.variant.type != "PERSON" for m in members):
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
