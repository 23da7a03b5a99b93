"""The FHIR R4 rules: one file per resource type, one for the data types, and the closed lists that they use.

The files are read, checked against their approvals and compiled.

Every element of a listed resource type, and of the data types that it uses, has a rule:

    pass        kept (its form is checked: type, `values`, `pattern`)
    code        kept if the sibling `system` is a public code system that lists it or whose codes have this form; else
                scanned as text if all its words are known, hashed in a site's own system, or withheld
    uri         kept if public, else hashed
    type        kept if it names a resource type
    mask        replaced by `[TYPE]`
    absent      withheld: removed, with data-absent-reason `masked` in its place
    drop        removed without a replacement
    id          hashed
    reference   its ids are hashed, so that it still resolves
    date        treated like dates in the policy; withheld if the result is not a FHIR date
    text        scanned; a unit with unknown words is withheld
    display     masked if it names a person, an organization or a place, else scanned
    narrative, attachment, resource, extension   by the rules for their content
    refuse      must not occur
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from incognote.errors import UnapprovedSchema
from incognote.schemas.fieldnames import known_words, words
from incognote.schemas.record_schema import FieldRule, Flag, Schema, content_hash
from incognote.schemas.registry import FILE, Approval, SchemaRow, read_approvals, state
from incognote.text.reading import seen

Rule = Literal[
    "pass", "code", "uri", "type", "mask", "absent", "drop", "id", "reference", "date", "text", "display", "narrative",
    "attachment", "resource", "extension", "refuse",
]
Elements = Mapping[str, "ElementRule"]
SHARED = ("codes.json", "datatypes.json", "extensions.json", "vocabulary.json", "xhtml.json")
RESOURCES = (
    "Bundle", "Composition", "Condition", "DiagnosticReport", "DocumentReference", "Encounter", "MedicationRequest",
    "Observation", "Organization", "Patient", "Practitioner",
)
_EDITION = re.compile(r"http://snomed\.info/sct/([0-9]{6,18})(?:/version/(?:19|20)[0-9]{6})?")
_PATH_LIKE = re.compile(r"(?!.*[0-9]{5})[A-Za-z0-9._\-/|:#]{1,160}")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_SHORT_NUMBER = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3}){0,2}|[0-9]{1,2}(\.[0-9]{1,2}){3,7}")
_MOST_NUMBERS, _MOST_DIGITS = 3, 8
_HYPHENED = re.compile(r"[a-z]+(?:-[a-z]+)+")
_LONG_RUN = re.compile(r"[^\W\d_]{4,}")
_MICRO = str.maketrans("µμ", "uu")
_SNOMED = ("http://snomed.info/sct", "urn:oid:2.16.840.1.113883.6.96")
_LOINC = ("http://loinc.org", "urn:oid:2.16.840.1.113883.6.1")
_FORMER = re.compile(r"http://hl7\.org/fhir/(?:(v[23])/)?(?:CodeSystem/)?([A-Za-z0-9\-]+)")
_DIHEDRAL = tuple("0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 "
                  "9876543210".split())
_PERMUTED = tuple("0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258".split())
_FLAGS: dict[Rule, Flag] = {
    "pass": "pass", "code": "auto", "uri": "hash", "type": "pass", "mask": "mask", "absent": "mask", "drop": "mask",
    "id": "hash", "reference": "hash", "date": "mask", "text": "auto", "display": "auto", "narrative": "auto",
    "attachment": "auto", "refuse": "mask", "resource": "auto", "extension": "auto",
}
_JSON_TYPES = {
    "boolean": "boolean", "integer": "integer", "unsignedInt": "integer", "positiveInt": "integer", "decimal": "number",
}


@dataclass(frozen=True, slots=True)
class ElementRule:
    """The rule for one element.

    Args:
        type: a FHIR primitive or data type; `Element` or `BackboneElement` for an element defined in place.
        rule: the rule of a primitive, or a rule that overrides the data type's. None: the elements of the type decide.
        many: whether it is a list.
        entity: the entity type of a mask or date. `by_sibling` gives another for some values of the element `sibling`.
        values, pattern: the limits for a string that passes.
        targets: the resource types that a Reference may name.
        elements: the elements of an element defined in place.
    """

    type: str
    rule: Rule | None = None
    many: bool = False
    entity: str | None = None
    sibling: str | None = None
    by_sibling: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    values: frozenset[str] | None = None
    pattern: re.Pattern[str] | None = None
    targets: tuple[str, ...] = ()
    elements: Elements | None = None


@dataclass(frozen=True, slots=True)
class ExtensionRule:
    """The content of one allowed extension: value elements, or nested extensions by URL."""

    values: Elements
    inner: Mapping[str, ExtensionRule]


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules, compiled.

    Args:
        version: the first 16 digits of the hash over all files; every change shows in manifests.
        resources, types: elements by name, those of the base type first.
        vocabulary: see `vocabulary.json`. xhtml: see `xhtml.json`.
        codes: the codes of the systems that HL7 defines, by URL. code_aliases: other names of these systems.
        code_words: the words of codes and units, in lower case.
    """

    version: str
    resources: Mapping[str, Elements]
    types: Mapping[str, Elements]
    extensions: Mapping[str, ExtensionRule]
    vocabulary: Mapping[str, Any]
    codes: Mapping[str, frozenset[str]] = field(repr=False)
    code_aliases: Mapping[str, str] = field(repr=False)
    code_words: frozenset[str] = field(repr=False)
    xhtml: Mapping[str, Any]
    about: Mapping[str, str]
    approvals: Mapping[str, Approval]

    def elements_of(self, rule: ElementRule) -> Elements | None:
        """Return the elements of a data type or of an element defined in place, or None for a primitive."""
        return rule.elements if rule.elements is not None else self.types.get(rule.type)

    def is_public(self, uri: str) -> bool:
        """Whether a URI is in public use, so that it reveals nothing about the origin of a record."""
        if (edition := _EDITION.fullmatch(uri)) and is_snomed(edition[1]):
            return True
        for known in self.vocabulary["public_uris"]:
            if uri.startswith(known):
                rest = uri[len(known) :]
                if not rest or ((known[-1] in "/.-" or rest[0] in "/|:#") and self._is_plain(rest)):
                    return True
        return False

    def _is_plain(self, rest: str) -> bool:
        """Whether the rest of a public URI has only short numbers and specification words: no name, no phone number."""
        numbers = _NUMBERS.findall(rest)
        long = [number for number in numbers if not _SHORT_NUMBER.fullmatch(number)]
        if not _PATH_LIKE.fullmatch(rest) or len(numbers) > _MOST_NUMBERS or len(long) > 1 or sum(
                c.isdigit() for c in rest) > _MOST_DIGITS:
            return False
        named = rest.removesuffix("/").rpartition("/")[2].partition("|")[0]
        plain = known_words().union(self.vocabulary["uri_words"].split())
        return named in self.vocabulary["resource_types"] or all(word in plain for word in words(rest).split())

    def is_code(self, system: str, code: str) -> bool:
        """Whether a code may pass: it is listed, or has the form of the codes of its public system."""
        if not self.is_code_system(system):
            return False
        name = system.partition("|")[0].rstrip("/")
        shape = self.vocabulary["code_shapes"].get(name)
        if shape is None:
            return code in self.codes_of(name)
        return re.fullmatch(shape, code, re.ASCII) is not None and (name not in _SNOMED or is_snomed(code))

    def is_worded(self, code: str) -> bool:
        """Whether a code or unit, as a reader sees it, has only known words and letter runs of at most three."""
        runs = _LONG_RUN.findall(seen(code).translate(_MICRO))
        said = [word for run in runs for word in (words(run).split() if run.isascii() else [run])]
        return all(self.code_words & {word, word.removesuffix("s")} for word in said)

    def is_checked(self, system: str) -> bool:
        """Whether a system's codes cannot be confused with personal numbers: LOINC and SNOMED CT."""
        return system.partition("|")[0].rstrip("/") in (*_SNOMED, *_LOINC)

    def codes_of(self, system: str) -> frozenset[str]:
        """Return the codes that `codes.json` lists for a system, also by its name before R4 or as an OID."""
        name = self.code_aliases.get(system, system)
        if name not in self.codes and (former := _FORMER.fullmatch(name)):
            edition = f"{former[1]}-" if former[1] else ""
            name = f"http://terminology.hl7.org/CodeSystem/{edition}{former[2]}"
        return self.codes.get(name, frozenset())

    def is_unit(self, system: str, code: str) -> bool:
        """Whether a code is a real unit of a public system: not `1`, and not only an annotation."""
        said = re.sub(r"\{[^}]*\}", "", code)
        return (system in self.vocabulary["unit_systems"] and said not in ("", "1")
                and self.is_code(system, said.strip("/") or code))

    def told_by(self, name: str) -> str | None:
        """Return the entity type of a value whose label says that it is an identifier, an age or a date, else None."""
        said = words(name)
        return next((kind for form, kind in self.vocabulary["telling_words"].items() if re.search(form, said)), None)

    def is_code_system(self, uri: str) -> bool:
        """Whether a system's codes are codes and not personal identifiers."""
        return self.is_public(uri) and not any(uri.startswith(s) for s in self.vocabulary["identifying_systems"])


@cache
def rules() -> Rules:
    """Return the shipped rules.

    Raises:
        UnapprovedSchema: a file was changed after its approval, or has none.
    """
    folder = files("incognote.schemas.fhir")
    names = (*(f"{resource.lower()}.json" for resource in RESOURCES), *SHARED)
    content = {name: json.loads(folder.joinpath(name).read_text(encoding="utf-8")) for name in names}
    approvals = read_approvals(folder.joinpath(FILE).read_text(encoding="utf-8"))
    check_approvals(content, approvals)
    types: dict[str, dict[str, ElementRule]] = {}
    for name, written in content["datatypes.json"]["types"].items():
        types[name] = {**types.get(written.get("base", ""), {})}
        _elements(written["elements"], types, types[name], types[name])
    resources = {}
    for resource in RESOURCES:
        written = content[f"{resource.lower()}.json"]
        own: dict[str, ElementRule] = {}
        _elements(written["elements"], types, own, own)
        resources[resource] = {**types[written["base"]], **own}
    vocabulary = content["vocabulary.json"]
    codes = {url: frozenset(listed.split("|")) for url, listed in content["codes.json"]["systems"].items()}
    spoken = (code.split("-") for listed in codes.values() for code in listed if _HYPHENED.fullmatch(code))
    code_words = known_words().union(*spoken, vocabulary["uri_words"].split(), vocabulary["code_words"].split())
    return Rules(
        version=content_hash(content)[:16], resources=resources, types=types,
        extensions={url: _extension(w) for url, w in content["extensions.json"]["extensions"].items()},
        vocabulary=vocabulary, codes=codes, code_aliases=content["codes.json"]["aliases"], code_words=code_words,
        xhtml=content["xhtml.json"],
        about={resource: content[f"{resource.lower()}.json"]["about"] for resource in RESOURCES}, approvals=approvals,
    )


def is_snomed(code: str) -> bool:
    """Whether digits are a SNOMED CT identifier, with an international partition or that of an extension.

    The last digit is Verhoeff's check digit, and the two digits before it are the partition (SNOMED CT Editorial Guide,
    SCTID). Of random eight-digit numbers, one in 85 is such an identifier.
    """
    if not re.fullmatch(r"[1-9][0-9]{2,14}[01][0-5][0-9]", code):
        return False
    check = "0"
    for place, digit in enumerate(reversed(code)):
        check = _DIHEDRAL[int(check)][int(_PERMUTED[place % 8][int(digit)])]
    return check == "0"


def check_approvals(content: Mapping[str, Any], approvals: Mapping[str, Approval]) -> None:
    """Reject files whose current content is not approved.

    Raises:
        UnapprovedSchema: see `rules`.
    """
    changed = sorted(name for name, written in content.items() if state(approvals.get(name), written) != "approved")
    if changed:
        raise UnapprovedSchema(
            f"These FHIR rules differ from the approved ones: {', '.join(changed)}. Reinstall incognote."
        )


def _elements(
    written: Mapping[str, Any], types: Mapping[str, Elements], root: dict[str, ElementRule],
    into: dict[str, ElementRule],
) -> None:
    """Compile elements. Each is added to `into` before its inner elements, so that one of these may be `like` it."""
    for name, given in written.items():
        inner: dict[str, ElementRule] | None = None
        elements: Elements | None = None
        if "elements" in given:
            elements = inner = dict(types[given["type"]])
        elif "like" in given:
            elements = root[given["like"]].elements
        by = dict(given.get("entity_by", {}))
        into[name] = ElementRule(
            type=given["type"], rule=given.get("rule"), many=given.get("many", False), entity=given.get("entity"),
            sibling=by.pop("sibling", None), by_sibling=MappingProxyType(by),
            values=frozenset(given["values"]) if "values" in given else None,
            pattern=re.compile(given["pattern"], re.ASCII) if "pattern" in given else None,
            targets=tuple(given.get("targets", ())), elements=elements,
        )
        if inner is not None:
            _elements(given["elements"], types, root, inner)


def _extension(written: Mapping[str, Any]) -> ExtensionRule:
    values: dict[str, ElementRule] = {}
    _elements({name: given for name, given in written.items() if name != "extension"}, {}, values, values)
    return ExtensionRule(values, {url: _extension(inner) for url, inner in written.get("extension", {}).items()})


@cache
def fhir_schemas() -> tuple[Schema, ...]:
    """Return one schema per resource type, named `fhir.Patient` and so on, all with the version of the whole rule set.

    Raises:
        UnapprovedSchema: a rules file was changed after its approval.
    """
    known = rules()
    return tuple(
        Schema(data_type(resource), known.version, _object(known, known.resources[resource], (), False),
               id_key="id", about=known.about[resource])
        for resource in RESOURCES
    )


def data_type(resource: str) -> str:
    """Return the name of a resource type's schema."""
    return f"fhir.{resource}"


def fhir_rows() -> list[SchemaRow]:
    """Return the FHIR schemas as rows for `schema list`."""
    approvals = rules().approvals
    files = {resource: f"fhir/{resource.lower()}.json" for resource in RESOURCES}
    return [
        SchemaRow(schema.data_type, files[resource], True, schema.version, "approved", *_signed(approvals, resource), 0)
        for resource, schema in zip(RESOURCES, fhir_schemas(), strict=True)
    ]


def _signed(approvals: Mapping[str, Approval], resource: str) -> tuple[str, str]:
    approval = approvals[f"{resource.lower()}.json"]
    return approval.by, approval.at


def _object(known: Rules, elements: Elements, above: tuple[Elements, ...], in_type: bool) -> FieldRule:
    """Return the fields of an object. A data type inside a data type is not expanded: that would never end."""
    inner = (*above, elements)
    return FieldRule(
        frozenset({"object"}), properties={name: _field(known, e, inner, in_type) for name, e in elements.items()})


def _field(known: Rules, element: ElementRule, above: tuple[Elements, ...], in_type: bool) -> FieldRule:
    elements = known.elements_of(element)
    own = element.elements is not None
    if element.rule is None and elements is not None and (own or not in_type) and not any(elements is e for e in above):
        rule = _object(known, elements, above, in_type or not own)
    else:
        rule = FieldRule(
            frozenset({_JSON_TYPES.get(element.type, "string" if elements is None else "object")}),
            flag=_FLAGS[element.rule] if element.rule else "auto", entity_type=element.entity,
            about=f"{element.type}: {element.rule}" if element.rule else f"{element.type}, by its own rules",
        )
    return FieldRule(frozenset({"array"}), items=rule) if element.many else rule
