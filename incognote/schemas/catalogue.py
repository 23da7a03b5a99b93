"""The catalogue of entity types, read from `catalogue.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from incognote.errors import PolicyProblem, UnknownName

_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of identifier, with its parent, HIPAA category, evaluation group, and names in other systems.

    `pixels` is true for types that a page shows without words, such as a signature.
    """

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
    pixels: bool = False


class Catalogue(Mapping[str, EntityType]):
    """The entity types by name, with their ancestors."""

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

    def extend(self, own: Iterable[EntityType]) -> None:
        """Add a user's own types (a policy's `[entities]`) for the whole process.

        Raises:
            PolicyProblem: a name is malformed or used by another type, or the parent of a type does not exist.
        """
        for entity in own:
            if not _NAME.match(entity.name):
                raise PolicyProblem(
                    f"entities.{entity.name}: the name of a type must be uppercase letters, digits, and underscores."
                )
            if self._types.get(entity.name, entity) != entity:
                raise PolicyProblem(f"entities.{entity.name}: this type already exists. Choose another name.")
            if entity.parent is not None and entity.parent not in self._types:
                raise PolicyProblem(
                    f"entities.{entity.name}: the parent {entity.parent!r} does not exist. `incognote policy "
                    "explain` lists the types."
                )
            self._types[entity.name] = entity

    def presidio_names(self) -> set[str]:
        """Return the types that texts have, by Presidio's names, or by ours if Presidio has no name."""
        return {each.presidio or name for name, each in self._types.items() if not each.pixels}

    def presidio_name(self, name: str, wanted: Collection[str]) -> str | None:
        """Return the name of a type for a client of Presidio, or None if the client did not ask for the type.

        Args:
            name: our name of the type.
            wanted: the requested names, Presidio's or ours, of the type or of a more general one; empty for all.
        """
        if not wanted:
            return self[name].presidio or name
        lineage = self.lineage(name)
        names = (*lineage, self[name].presidio or name, *(self[step].presidio for step in lineage))
        return next((each for each in names if each in wanted), None)

    def lineage_or_self(self, name: str) -> tuple[str, ...]:
        """Like `lineage`, but return only the name itself if it is not in the catalogue."""
        return self.lineage(name) if name in self._types else (name,)

    def lineage(self, name: str) -> tuple[str, ...]:
        """Return the type itself, then its ancestors, the most general last."""
        path: list[str] = []
        step: str | None = name
        while step is not None:
            path.append(step)
            step = self[step].parent
        return tuple(path)


@cache
def catalogue() -> Catalogue:
    """Return the shipped catalogue, with the types that policies have added in this process."""
    return Catalogue({name: EntityType(name=name, **fields) for name, fields in shipped("catalogue.toml").items()})


def shipped(name: str) -> dict[str, Any]:
    """Parse a TOML file of this package."""
    return tomllib.loads(files("incognote.schemas").joinpath(name).read_text(encoding="utf-8"))
