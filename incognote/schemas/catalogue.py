"""The catalogue of entity types, read from `catalogue.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from incognote.errors import UnknownName


@dataclass(frozen=True, slots=True)
class EntityType:
    """One type: its place in the tree, its HIPAA letter, its evaluation group and its names elsewhere."""

    name: str
    group: str
    about: str
    parent: str | None = None
    hipaa: str = ""
    paper: bool = False
    i2b2: str = ""
    presidio: str = ""
    aws: str = ""
    azure: str = ""


class Catalogue(Mapping[str, EntityType]):
    """Types by name, with the paths from fine to general."""

    def __init__(self, types: Mapping[str, EntityType]) -> None:
        self._types = dict(types)

    def __getitem__(self, name: str) -> EntityType:
        try:
            return self._types[name]
        except KeyError:
            raise UnknownName("entity type", name, self._types) from None

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def lineage(self, name: str) -> tuple[str, ...]:
        """The type itself, then its ancestors, the most general last."""
        path: list[str] = []
        step: str | None = name
        while step is not None:
            path.append(step)
            step = self[step].parent
        return tuple(path)


@cache
def catalogue() -> Catalogue:
    """The shipped catalogue."""
    written = tomllib.loads(files("incognote.schemas").joinpath("catalogue.toml").read_text(encoding="utf-8"))
    return Catalogue({name: EntityType(name=name, **fields) for name, fields in written.items()})
