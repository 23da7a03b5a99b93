"""The rules for CDA R2 documents, and what a site changes in them.

A site changes a rule with a record schema of its own whose `dataType` is `cda`. Its properties are paths such as
`addr/state`, with the four flags of every schema. The flag counts for each element whose path ends in that path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from incognote.errors import BadSchema
from incognote.schemas.fhir import check_approvals, rules
from incognote.schemas.record_schema import FieldRule, Schema, content_hash
from incognote.schemas.registry import FILE, SchemaRow, read_approvals

DATA_TYPE = "cda"
_NAME = "rules.json"
_V3 = "http://terminology.hl7.org/CodeSystem/v3-"
_MOST_ARC, _MOST_DIGITS = 6, 20
_FLAGS = {"pass": "pass", "mask": "mask", "hash": "hash", "auto": "text"}
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class PathRule:
    """What differs at a path: its data type, the rule for the whole element, and the entity type."""

    type: str | None = None
    rule: str | None = None
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class CdaRules:
    """The compiled rules. `rules.json` explains each part.

    Args:
        schema: the name and version of the rules, for the manifest.
        elements: the data type of each element name. types: that of each `xsi:type`.
        names: the entity type of names by the path of their holder; "text" if they are scanned.
        attributes, optional, kept: the form of attributes; the last are those of narratives.
        written: the other parts of the file.
    """

    schema: Schema
    elements: Mapping[str, str]
    types: Mapping[str, str]
    names: Mapping[str, str]
    paths: Mapping[str, PathRule]
    attributes: Mapping[str, re.Pattern[str]]
    optional: Mapping[str, re.Pattern[str]]
    kept: Mapping[str, re.Pattern[str]]
    styles: frozenset[str]
    code_system_names: frozenset[str]
    written: Mapping[str, Any] = field(repr=False)

    def changed(self, site: Schema) -> CdaRules:
        """Return the rules with the changes of a site.

        Raises:
            BadSchema: a path does not end in an element that can have a rule.
        """
        own = {}
        for path, rule in site.root.properties.items():
            kind = self.elements.get(path.rpartition("/")[2])
            if rule.flag is None or (kind in (None, "class") and not self._is_part(path)):
                raise BadSchema(f"{path}: must end in the name of a CDA element with a value, such as addr/state.")
            own[path] = PathRule(rule=_FLAGS[rule.flag], entity=rule.entity_type)
        return replace(self, paths={**self.paths, **own}, schema=replace(site, root=self.schema.root))

    def is_public(self, oid: str) -> bool:
        """Whether an OID names a code system, value set, or template in public use, and no site or vendor."""
        for known in self.written["public_oids"]:
            if oid == known or oid.startswith(known if known[-1] == "." else f"{known}."):
                arcs = oid[len(known) :].split(".")
                return max(map(len, arcs)) <= _MOST_ARC and sum(map(len, arcs)) <= _MOST_DIGITS
        return rules().is_public(f"urn:oid:{oid}")

    def _is_part(self, path: str) -> bool:
        parts = self.written["parts"]
        return path.rpartition("/")[2] in {*parts["address"], *parts["name"]}


def longest(path: str, table: Mapping[str, _Found]) -> _Found | None:
    """Return the entry of the longest path in a table that ends the given path at a slash, or None."""
    while path not in table:
        _, slash, path = path.partition("/")
        if not slash:
            return None
    return table[path]


@cache
def cda_rules() -> CdaRules:
    """Return the shipped rules.

    Raises:
        UnapprovedSchema: the file was changed after its approval.
    """
    folder = files("incognote.schemas.cda")
    written = json.loads(folder.joinpath(_NAME).read_text(encoding="utf-8"))
    check_approvals({_NAME: written}, read_approvals(folder.joinpath(FILE).read_text(encoding="utf-8")))
    return CdaRules(
        schema=Schema(DATA_TYPE, content_hash(written)[:16], FieldRule(frozenset({"object"})), about=written["about"]),
        elements={name: kind for kind, names in written["elements"].items() for name in names.split()},
        types={name: kind for kind, names in written["types"].items() for name in names.split()},
        names={path: entity for entity, paths in written["names"].items() for path in paths.split()},
        paths={path: PathRule(**given) for path, given in written["paths"].items()},
        attributes=_compiled({**written["attributes"], **_coded(written["attribute_codes"])}),
        optional=_compiled(written["optional_attributes"]),
        kept=_compiled(written["narrative"]["kept"]),
        styles=frozenset(written["narrative"]["styles"].split()),
        code_system_names=frozenset(written["code_system_names"].split("|")),
        written=written,
    )


def _coded(listed: Mapping[str, str]) -> dict[str, str]:
    """Return the patterns of attributes that have one or more codes of HL7 v3 code systems."""
    patterns = {}
    for name, systems in listed.items():
        codes = {system[1:] for system in systems.split() if system[0] == "="}
        codes.update(*(rules().codes_of(f"{_V3}{system}") for system in systems.split()))
        either = "|".join(sorted(map(re.escape, codes)))
        patterns[name] = f"(?:{either})(?: (?:{either}))*"
    return patterns


def _compiled(patterns: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(pattern, re.ASCII) for name, pattern in patterns.items()}


def cda_row() -> SchemaRow:
    """Return the row of the shipped rules for `schema list`."""
    approval = read_approvals(files("incognote.schemas.cda").joinpath(FILE).read_text(encoding="utf-8"))[_NAME]
    version = cda_rules().schema.version
    return SchemaRow(DATA_TYPE, f"cda/{_NAME}", True, version, "approved", approval.by, approval.at, 0)
