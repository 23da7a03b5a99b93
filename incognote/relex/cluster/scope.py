"""Which group a type falls in, and who shares its surrogates."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from incognote.languages import table
from incognote.relex.nouns import Group, Variant
from incognote.schemas.catalogue import catalogue


@cache
def data(name: str) -> dict[str, Any]:
    """A data file of this package, parsed."""
    return table("clusters", name)


@cache
def group_of(type: str) -> Group:
    """The group of an entity type, by its nearest listed ancestor; OTHER where none is listed."""
    listed = {name: group for group, names in data("groups.toml")["groups"].items() for name in names}
    lineage = catalogue().lineage(type) if type in catalogue() else (type,)
    return cast(Group, next((listed[step] for step in lineage if step in listed), "OTHER"))


@cache
def shared(type: str) -> bool:
    """Identities of the type belong to the domain, not to one patient."""
    lineage = catalogue().lineage(type) if type in catalogue() else (type,)
    return any(step in data("groups.toml")["domain"]["types"] for step in lineage)


def scope_of(variant: Variant) -> str:
    """The scope a variant's identity lives in, by its type alone: "" is the whole domain."""
    return "" if shared(variant.type) else variant.owner
