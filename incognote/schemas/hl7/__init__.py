"""The HL7 v2 rules: what happens to each field of a message, from `segments.toml`, and the rules of a hospital.

    pass      kept; only rules of a hospital can say so, with their `enum`, `pattern` or `passReason`
    code      kept if it is a listed or short code, or has the form of the codes of its public system; else hashed
    unit      kept if it has the form of a unit of measure (UCUM), else treated like a code
    nm, tm    a number or a time of day is kept. Words in a number are scanned, and anything else is removed
    range     like `nm`, but ranges and ratios are kept, too
    text      scanned, together with the other short texts of the message
    lines     scanned, together with the lines before and after it
    mask      replaced by `[TYPE]`
    hash      replaced by a keyed hash
    date      treated like dates in the policy; removed if the result is not a date
    absent    removed
    value     OBX-5: by the data type in OBX-2
    data      an encapsulated document, opened by its own reader
    skip      the delimiters and the character set, which the reader checks

A hospital adds or changes rules in a record schema with the data type `hl7v2.site`. Its fields are the paths of
messages: `ZPI-3` or `ZPI-3.1` for a component, or `ZPI` for all fields of a segment.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, cast

from incognote.errors import BadSchema
from incognote.schemas.fhir import check_approvals
from incognote.schemas.fhir import rules as fhir_rules
from incognote.schemas.record_schema import FieldRule, Flag, Schema, content_hash
from incognote.schemas.registry import FILE, Registry, SchemaRow, read_approvals

Action = Literal[
    "pass", "code", "unit", "nm", "range", "tm", "text", "lines", "mask", "hash", "date", "absent", "value", "data",
    "skip",
]
DATA_TYPE, SITE = "hl7v2", "hl7v2.site"
_FILE = "segments.toml"
_ACTIONS: dict[str, Flag] = {
    "pass": "pass", "code": "auto", "unit": "auto", "nm": "auto", "range": "auto", "tm": "auto", "text": "auto",
    "lines": "auto", "mask": "mask", "hash": "hash", "date": "mask", "absent": "mask", "value": "auto", "data": "auto",
    "skip": "pass",
}
_FLAGS: dict[Flag | None, Action] = {"pass": "pass", "auto": "text", "mask": "mask", "hash": "hash"}
_PATH = re.compile(r"[A-Z][A-Z0-9]{2}(-[1-9][0-9]{0,2}(\.[1-9][0-9]?){0,2})?")
_SHORT = re.compile(r"[A-Z0-9]{1,3}|HL7[0-9]{4}|[0-9]{1,4}|[^\w\s]{1,3}", re.ASCII)
_RUN = re.compile(r"[^\W\d_]+")
_MOST_DIGITS = 4


class Rule(NamedTuple):
    """The rule of a field, component or subcomponent. `parts` are the rules of the parts of a data type, in order."""

    action: Action
    entity: str | None = None
    parts: tuple[Rule, ...] = ()
    type: str = ""
    limits: FieldRule | None = None
    known_as: str | None = None


@dataclass(frozen=True, slots=True)
class Hl7Rules:
    """All rules, compiled.

    Args:
        schema: the schema for manifests. segments: the rules of the fields of each segment.
        values: the rule of OBX-5 by the data type in OBX-2.
        systems: the URI of each public code system. forms: more forms of codes, by the system's name.
        charsets: Python's codec of each character set.
        words: the words of codes, in lower case.
        site: the rules of a hospital by path, and the names of its segments.
    """

    schema: Schema
    segments: Mapping[str, tuple[Rule, ...]] = field(repr=False)
    values: Mapping[str, Rule] = field(repr=False)
    systems: Mapping[str, str] = field(repr=False)
    forms: Mapping[str, str] = field(repr=False)
    charsets: Mapping[str, str] = field(repr=False)
    words: frozenset[str] = field(repr=False)
    site: Mapping[str, Rule] = field(repr=False, default_factory=dict)

    def is_code(self, value: str, system: str = "") -> bool:
        """Whether a coded value may pass: it has the form of its system's codes, or is short, or has known words."""
        if system in self.forms and re.fullmatch(self.forms[system], value, re.ASCII):
            return True
        uri = self.systems.get(system)
        if uri is not None:
            return fhir_rules().is_code(uri, value)
        if _SHORT.fullmatch(value) or value in self.systems:
            return True
        runs = _RUN.findall(value)
        return sum(c.isdigit() for c in value) <= _MOST_DIGITS and all(
            (len(run) <= 3 and run.isupper()) or len(run) == 1 or run.lower() in self.words for run in runs)


def is_unit(value: str) -> bool:
    """Whether a value has the form of a unit of UCUM, such as `mmol/L`."""
    return fhir_rules().is_code("http://unitsofmeasure.org", value)


@cache
def hl7_rules() -> Hl7Rules:
    """Return the shipped rules.

    Raises:
        UnapprovedSchema: the file was changed after its approval, or has none.
    """
    folder = files("incognote.schemas.hl7")
    content = tomllib.loads(folder.joinpath(_FILE).read_text(encoding="utf-8"))
    check_approvals({_FILE: content}, read_approvals(folder.joinpath(FILE).read_text(encoding="utf-8")))
    segments = {
        name: tuple(_compiled(rule, content) for rule in written) for name, written in content["segments"].items()
    }
    words = fhir_rules().code_words.union(content["vocabulary"]["words"].split())
    return Hl7Rules(
        Schema(DATA_TYPE, content_hash(content)[:16], _shown(segments), "PID-3", "MSH-10", "HL7 v2 messages"),
        segments, {name: _compiled(rule, content) for name, rule in content["values"].items()}, content["systems"],
        content["forms"], content["charsets"], words,
    )


def rules_with(registry: Registry) -> Hl7Rules:
    """Return the shipped rules with those of the hospital's schema `hl7v2.site`, if there is one.

    Raises:
        UnapprovedSchema: the hospital's schema is not approved.
        BadSchema: one of its fields is not a path of a message.
    """
    shipped = hl7_rules()
    if SITE not in registry:
        return shipped
    schema = registry.get(SITE)
    for name in schema.root.properties:
        if not _PATH.fullmatch(name):
            raise BadSchema(f"{SITE}: {name} is not the path of a field. Write ZPI-3, ZPI-3.1 or ZPI")
    site = {name: Rule(_FLAGS[each.flag], each.entity_type, limits=each, known_as=each.known_as)
            for name, each in schema.root.properties.items()}
    return replace(shipped, schema=schema, site=site)


def hl7_row() -> SchemaRow:
    """Return the shipped rules as a row for `schema list`."""
    rules = hl7_rules()
    approval = read_approvals(files("incognote.schemas.hl7").joinpath(FILE).read_text(encoding="utf-8"))[_FILE]
    return SchemaRow(DATA_TYPE, f"hl7/{_FILE}", True, rules.schema.version, "approved", approval.by, approval.at, 0)


def _compiled(written: str, content: Mapping[str, Any], entity: str | None = None) -> Rule:
    name, _, given = written.partition(" ")
    given = (entity or "GUID") if given == "$" else given
    if name in _ACTIONS:
        return Rule(cast(Action, name), given or None)
    own = given or content["defaults"].get(name)
    return Rule("code", own, tuple(_compiled(part, content, own) for part in content["types"][name]), name)


def _shown(segments: Mapping[str, tuple[Rule, ...]]) -> FieldRule:
    """Return the rules as the fields of a schema. A field of a data type shows the rule of its first part."""

    def shown(rule: Rule) -> FieldRule:
        first = rule
        while first.parts:
            first = first.parts[0]
        about = f"{rule.type}, by its own rules" if rule.type else rule.action
        return FieldRule(frozenset({"string"}), _ACTIONS[first.action], first.entity, about=about)

    return FieldRule(frozenset({"object"}), properties={
        name: FieldRule(frozenset({"object"}), properties={str(at): shown(rule) for at, rule in enumerate(fields, 1)})
        for name, fields in segments.items()})
