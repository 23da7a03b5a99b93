"""Sets united by what they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from incognote.relex.nouns import Variant

Key = TypeVar("Key", bound=Hashable)


def by_key(variants: Iterable[Variant], key: Callable[[Variant], Key]) -> dict[Key, list[Variant]]:
    """Variants by their normal form."""
    found: dict[Key, list[Variant]] = defaultdict(list)
    for variant in variants:
        found[key(variant)].append(variant)
    return found


def attached(
    forms: Mapping[Key, Sequence[Variant]], hosts: Callable[[Key], Iterable[Key]]
) -> list[tuple[Key, list[Variant]]]:
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
    home: dict[Key, list[Variant]] = {form: [] for form in forms}
    for form, found in forms.items():
        for variant in found:
            home[_host(form, variant, fuller, records, owners)].append(variant)
    return [(form, found) for form, found in home.items() if found]


def _host(
    form: Key,
    variant: Variant,
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
