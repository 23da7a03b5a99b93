"""The facts about operators that policies and the lint need, read from `operators.toml`.

Policies are in a lower layer than the operators, so the facts are here. The operators read them from here too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from incognote.errors import SettingError
from incognote.plugins import installed, load
from incognote.schemas.catalogue import catalogue, shipped

KeyedBy = Literal["none", "domain", "patient"]
_NAME = re.compile(r"[A-Z][A-Z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of an operator: its kind, default and bounds."""

    kind: Literal["integer", "boolean", "choice", "name", "character"]
    default: Any
    about: str
    least: int = 0
    most: int = 0
    of: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """The allowed values, in words."""
        return {
            "integer": f"a whole number from {self.least} to {self.most}",
            "boolean": "true or false",
            "choice": "one of " + ", ".join(f'"{word}"' for word in self.of),
            "name": "uppercase letters, digits, and underscores",
            "character": "one visible character",
        }[self.kind]

    def accepts(self, value: object) -> bool:
        """Whether a policy may set this value."""
        if self.kind == "boolean":
            return isinstance(value, bool)
        if self.kind == "integer":
            return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most
        if not isinstance(value, str):
            return False
        if self.kind == "choice":
            return value in self.of
        if self.kind == "name":
            return value == "" or bool(_NAME.match(value))
        return len(value) == 1 and unicodedata.category(value)[0] in "LNPS"


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """One operator as a policy sees it. `suits` is empty if the operator supports every type."""

    name: str
    about: str
    keyed_by: KeyedBy
    derived: bool
    suits: tuple[str, ...]
    params: Mapping[str, Param]
    random: bool = False

    @property
    def always_derived(self) -> bool:
        """Whether the value is computed from the individual's data and never random."""
        return self.derived and not self.random

    def serves(self, entity_type: str) -> bool:
        """Whether the operator supports a type of the catalogue."""
        return not self.suits or any(step in self.suits for step in catalogue().lineage(entity_type))

    def complete(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters, with the defaults of the others."""
        return {name: param.default for name, param in self.params.items()} | dict(params)


@cache
def operator_facts() -> Mapping[str, OperatorFacts]:
    """Return the facts of all operators by name: the built-in ones first, then those of installed packages.

    Raises:
        SettingError: an installed operator cannot be loaded, declares another name, or has the name of a built-in one.
    """
    ours = {name: _facts(name, table) for name, table in shipped("operators.toml").items()}
    others = {name: load("incognote.operators", name).declared for name in installed("incognote.operators")}
    wrong = [name for name, facts in others.items() if facts.name != name or name in ours]
    if wrong:
        raise SettingError(f"incognote.operators: {wrong[0]}: must be a new name that equals the declared one")
    return ours | others


def _facts(name: str, table: Mapping[str, Any]) -> OperatorFacts:
    written = table.get("params", {})
    params = {key: Param(**{**fields, "of": tuple(fields.get("of", ()))}) for key, fields in written.items()}
    suits, random = tuple(table["suits"]), table.get("random", False)
    return OperatorFacts(name, table["about"], table["keyed_by"], table["derived"], suits, params, random)
