"""The embedded clusterer: decides which mentions have the same referent, such as a person, place, number or date.

The partition is a function of the set of variants. It does not depend on their order or on how they arrived, so equal
sets of variants always give equal identities. Nothing is learned, drawn or remembered here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple

from incognote.relex.cluster.grouping import by_key, group_of, kept, named, scope_of, tied
from incognote.relex.cluster.hints import variant
from incognote.relex.cluster.institutions import institutions
from incognote.relex.cluster.located import located
from incognote.relex.cluster.persons import commonest, described, persons, written
from incognote.relex.cluster.places import places
from incognote.relex.cluster.timeline import Timeline
from incognote.relex.cluster.values import PHONES, codes, occupations, phones
from incognote.relex.nouns import Group, Identity, Join, MentionVariant
from incognote.text.lexicon import fold

__all__ = ["cluster", "group_of", "scope_of", "variant", "written"]

_Part = tuple[str, str, list[MentionVariant], dict[str, str], tuple[Join, ...]]
"""Scope, normal form, variants, attributes, joins."""


def cluster(variants: Iterable[MentionVariant], earlier: Iterable[Identity] = ()) -> list[Identity]:
    """Divide variants into identities; each variant is in exactly one.

    Args:
        variants: of any types, records, patients and domains.
        earlier: identities given earlier. Their variants are clustered again with the others.

    Returns:
        Sorted by group, domain, scope and variants. Which variants are together depends only on the set of all
        variants. An identity that shares variants with earlier ones takes the id that most of these share; the smallest
        id wins a tie. If two new identities share an earlier one, the one with more of its variants keeps the id.
    """
    before = {v: old.id for old in earlier for v in old.variants}
    seen: dict[tuple[str, Group], set[MentionVariant]] = defaultdict(set)
    for one in (*variants, *before):
        seen[one.domain, group_of(one.type)].add(one)
    identities: list[Identity] = []
    for (domain, group), together in sorted(seen.items()):
        ages = seen.get((domain, "AGE"), set()) if group == "DATE" else ()
        dates = seen.get((domain, "DATE"), set()) if group == "AGE" else ()
        for scope, normal, members, known, joins in _parts(group, sorted(together), [*ages, *dates]):
            about = {"type": commonest(v.type for v in members), "normal": normal} | known
            fresh = named((group, domain, scope, normal))
            identities.append(Identity(fresh, group, domain, scope, tuple(sorted(members)), about, joins))
    return located(tied(kept(sorted(identities, key=_place), before)))


def _parts(group: Group, variants: Sequence[MentionVariant], others: Sequence[MentionVariant]) -> Iterable[_Part]:
    """The partition of one group of a domain. Ages need the dates as `others`, and dates need the ages."""
    if group == "PERSON":
        for scope, members, joins in persons(variants):
            yield scope, _anchor(members), members, described(members), joins
        return
    beside = by_key(others, scope_of)
    for scope, own in sorted(by_key(variants, scope_of).items()):
        theirs = beside.get(scope, [])
        if group == "DATE":
            parts = Timeline(own, theirs).date_parts()
        elif group == "AGE":
            parts = Timeline(theirs, own).age_parts()
        else:
            parts = [(tuple(form), members, {}) for form, members in _forms(group, own)]
        for form, members, known in parts:
            yield scope, "\0".join(map(str, form)), members, known, ()


def _forms(group: Group, variants: Sequence[MentionVariant]) -> Iterable[tuple[Sequence[str], list[MentionVariant]]]:
    if group == "ORG":
        return institutions(variants)
    if group == "PLACE":
        return places(variants)
    if group == "ID":
        return codes(variants)
    if group == "OCCUPATION":
        return occupations(variants)
    if group == "CONTACT":
        called = [v for v in variants if v.type in PHONES]
        return [*phones(called), *_plain(v for v in variants if v.type not in PHONES)]
    return _plain(variants)


def _plain(variants: Iterable[MentionVariant]) -> list[tuple[tuple[str, str], list[MentionVariant]]]:
    """Group by type and words, ignoring case and spaces."""
    return sorted(by_key(variants, lambda v: (v.type, " ".join(fold(v.words).split()))).items())


def _anchor(members: Sequence[MentionVariant]) -> str:
    """A key that distinguishes a person from others in the scope: the person's first mention, by record and offset."""
    first = min(members, key=lambda v: (v.owner, v.record, v.field, v.start, v.end, v))
    return "\0".join(map(str, (first.owner, *astuple(first))))


def _place(identity: Identity) -> tuple[str, str, str, tuple[MentionVariant, ...]]:
    return identity.group, identity.domain, identity.scope, identity.variants
