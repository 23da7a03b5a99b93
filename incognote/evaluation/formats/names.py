"""Map the type names of other schemes to ours and back, with `names.toml` and the catalogue's own mappings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from incognote.errors import UnknownName
from incognote.schemas.catalogue import Catalogue, catalogue

IN_CATALOGUE = ("i2b2", "presidio", "aws", "azure")
_SIGNS = re.compile(r"[^A-Z0-9]+")


def ours(name: str, scheme: str = "") -> str:
    """Our type for another scheme's name, or the name itself if ours has none for it.

    Args:
        scheme: the scheme of the name (a table of `names.toml`); "" if the file does not say. In that case our own
            names take precedence, followed by names that mean the same type in every scheme that has them.
    """
    known, folded = catalogue(), _folded(name)
    meant = _tables().get(scheme, {}).get(folded)
    if meant is None and name in known:
        return name
    if meant is None:
        meant = folded if folded in known else _uncontested().get(folded)
    return name if meant is None else meant


def theirs(type_: str, scheme: str) -> str:
    """The name that i2b2, presidio, aws or azure has for one of our types, or the type itself if there is none.

    Raises:
        UnknownName: the catalogue has no names of that scheme.
    """
    if scheme not in IN_CATALOGUE:
        raise UnknownName("naming scheme", scheme, IN_CATALOGUE)
    return (getattr(catalogue()[type_], scheme) if type_ in catalogue() else "") or type_


@lru_cache(4096)
def _folded(name: str) -> str:
    return _SIGNS.sub("_", name.upper()).strip("_")


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Per scheme, our type by the folded name."""
    written = tomllib.loads(files("incognote.evaluation.formats").joinpath("names.toml").read_text(encoding="utf-8"))
    types = catalogue()
    tables: dict[str, dict[str, str]] = {scheme: {} for scheme in IN_CATALOGUE}
    for scheme in IN_CATALOGUE:
        named: dict[str, list[str]] = {}
        for type_ in types:
            if name := getattr(types[type_], scheme):
                named.setdefault(_folded(name), []).append(type_)
        tables[scheme] = {name: name if name in some else _widest(some, types) for name, some in named.items()}
    for scheme, names in written.items():
        tables[scheme] = {**tables.get(scheme, {}), **names}
    return tables


def _widest(some: list[str], types: Catalogue) -> str:
    """Of several of our types with the same name, the one that is an ancestor of the most others."""
    return max(some, key=lambda one: sum(one in types.lineage(other) for other in some))


@cache
def _uncontested() -> Mapping[str, str]:
    """The names that mean the same type in every scheme that uses them."""
    meanings: dict[str, set[str]] = {}
    for table in _tables().values():
        for name, type_ in table.items():
            meanings.setdefault(name, set()).add(type_)
    return {name: min(meant) for name, meant in meanings.items() if len(meant) == 1}
