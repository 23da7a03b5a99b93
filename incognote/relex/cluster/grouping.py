"""The group of a type, who shares its surrogates, and sets of mentions united by what they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from incognote.languages import language
from incognote.relex.nouns import Group, MentionVariant
from incognote.schemas.catalogue import catalogue


@cache
def cluster_data(name: str) -> dict[str, Any]:
    """A data file of this package, parsed."""
    return language().table("clusters", name)


@cache
def group_of(type: str) -> Group:
    """The group of an entity type, by its nearest listed ancestor; OTHER where none is listed."""
    listed = {name: group for group, names in cluster_data("groups.toml")["groups"].items() for name in names}
    return cast(Group, next((listed[step] for step in catalogue().lineage_or_self(type) if step in listed), "OTHER"))


@cache
def shared(type: str) -> bool:
    """Identities of the type belong to the domain, not to one patient."""
    types = cluster_data("groups.toml")["domain"]["types"]
    return any(step in types for step in catalogue().lineage_or_self(type))


def scope_of(variant: MentionVariant) -> str:
    """The scope a variant's identity lives in, by its type alone: "" is the whole domain."""
    return "" if shared(variant.type) else variant.owner


Key = TypeVar("Key", bound=Hashable)


def by_key(variants: Iterable[MentionVariant], key: Callable[[MentionVariant], Key]) -> dict[Key, list[MentionVariant]]:
    """Variants by their normal form."""
    found: dict[Key, list[MentionVariant]] = defaultdict(list)
    for variant in variants:
        found[key(variant)].append(variant)
    return found


def attached(
    forms: Mapping[Key, Sequence[MentionVariant]], hosts: Callable[[Key], Iterable[Key]]
) -> list[tuple[Key, list[MentionVariant]]]:
    """Each form with the weaker forms that can mean it alone; a function of the set of variants.

    A form whose `hosts` (fuller forms that it may stand for) are none stands alone. With several, the variants of one
    record go to the only host in their record, else of their owner; with several there, they stand alone. A host that
    may itself stand for another of them does not count.

    Args:
        forms: normal form → its variants.
        hosts: the forms that a form may stand for, itself left out; never a cycle.
    """
    named = {form: {h for h in hosts(form) if h in forms} for form in forms}
    fuller = {form: sorted((h for h in found if not named[h] & found), key=repr) for form, found in named.items()}
    records = {form: {(v.owner, v.record) for v in found} for form, found in forms.items()}
    owners = {form: {v.owner for v in found} for form, found in forms.items()}
    home: dict[Key, list[MentionVariant]] = {form: [] for form in forms}
    for form, found in forms.items():
        for variant in found:
            home[_host(form, variant, fuller, records, owners)].append(variant)
    return [(form, found) for form, found in home.items() if found]


def _host(
    form: Key,
    variant: MentionVariant,
    fuller: Mapping[Key, Sequence[Key]],
    records: Mapping[Key, set[tuple[str, str]]],
    owners: Mapping[Key, set[str]],
) -> Key:
    """The fullest form that the variant stands for."""
    while candidates := fuller[form]:
        near = [h for h in candidates if (variant.owner, variant.record) in records[h]]
        near = near or [h for h in candidates if variant.owner in owners[h]] or list(candidates)
        if len(near) != 1:
            return form
        form = near[0]
    return form
