"""The FHIR rules: every element of every resource type and data type has one.

`r4.json` and `r5.json` are derived from the structure definitions of the specification
(`scripts/documents/fhir_rules.py`). `extensions.json`, `vocabulary.json`, `codes.json` and `xhtml.json` are written by
hand. A file is read and checked against its approval when it is first used. A type is compiled when it first occurs.

A rule is a string: the type, its limits in parentheses (the values of a code, the targets of a Reference) or the name
of a pattern after `~`, `[]` for a list, and a rule with an entity type. `@item` has the elements of `item`, and `*`
stands for one element for each type that an extension can have. `string` without a rule has the rule of its type:

    pass        kept (its form is checked: type, values, pattern)
    code        kept if the sibling `system` is a public code system that lists it or whose codes have this form; else
                scanned as text if all its words are known, hashed in a site's own system, or withheld
    link        scanned as text if all its words are known and its numbers are short, else hashed
    uri         kept if public, else hashed
    type        kept if it names a type
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
from typing import Any, Literal

from incognote.errors import UnapprovedSchema
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fhir.elements import Compiler, ElementRule, Elements, ExtensionRule, Lazy, Rule
from incognote.schemas.fieldnames import known_words, words
from incognote.schemas.record_schema import FieldRule, Flag, Schema, content_hash
from incognote.schemas.registry import FILE, Approval, SchemaRow, read_approvals, state
from incognote.text.reading import seen

Release = Literal["r4", "r5"]
SHARED = ("codes.json", "extensions.json", "vocabulary.json", "xhtml.json")
_EXTENSION = "http://hl7.org/fhir/StructureDefinition/"
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
_DICOM = re.compile(r"(urn:oid:)?1\.2\.840\.10008(\.[0-9]{1,3}){1,9}")  # the UIDs of the standard, not of an image
_FORMER = re.compile(r"http://hl7\.org/fhir/(?:(v[23])/)?(?:CodeSystem/)?([A-Za-z0-9\-]+)")
_DIHEDRAL = tuple("0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 "
                  "9876543210".split())
_PERMUTED = tuple("0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258".split())
_FLAGS: dict[Rule, Flag] = {
    "pass": "pass", "code": "auto", "link": "auto", "uri": "hash", "type": "pass", "mask": "mask", "absent": "mask",
    "drop": "mask", "id": "hash", "reference": "hash", "date": "mask", "text": "auto", "display": "auto",
    "narrative": "auto", "attachment": "auto", "refuse": "mask", "resource": "auto", "extension": "auto",
}
_JSON_TYPES = {
    "boolean": "boolean", "integer": "integer", "unsignedInt": "integer", "positiveInt": "integer", "decimal": "number",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one release of FHIR.

    Args:
        release: `r4` or `r5`.
        version: the first 16 digits of the hash over all files of the release; every change shows in manifests.
        resources, types: elements by name, those of the base type first.
        vocabulary: see `vocabulary.json`. xhtml: see `xhtml.json`.
        codes: the codes of the systems that HL7 defines, by URL. code_aliases: other names of these systems.
        code_words: the words of codes and units, in lower case.
    """

    release: Release
    version: str
    resources: Mapping[str, Elements]
    types: Mapping[str, Elements]
    extensions: Mapping[str, ExtensionRule]
    vocabulary: Mapping[str, Any]
    codes: Mapping[str, frozenset[str]] = field(repr=False)
    code_aliases: Mapping[str, str] = field(repr=False)
    code_words: frozenset[str] = field(repr=False)
    xhtml: Mapping[str, Any]
    approvals: Mapping[str, Approval]

    def elements_of(self, rule: ElementRule) -> Elements | None:
        """Return the elements of a data type or of an element defined in place, or None for a primitive."""
        return rule.elements if rule.elements is not None else self.types.get(rule.type)

    def is_public(self, uri: str) -> bool:
        """Whether a URI is in public use, so that it reveals nothing about the origin of a record."""
        if uri in self.codes or ((edition := _EDITION.fullmatch(uri)) and is_snomed(edition[1])):
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
        plain = known_words().union(
            self.vocabulary["uri_words"].split(), map(str.lower, self.vocabulary["resource_types"]))
        return named in self.vocabulary["resource_types"] or all(word in plain for word in words(rest).split())

    def is_code(self, system: str, code: str) -> bool:
        """Whether a code may pass: it is listed, or has the form of the codes of its public system."""
        if _DICOM.fullmatch(code):
            return True
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
        """Return the entity type of a value whose label says that it is an identifier, an age or a date, else None.

        A replacement such as `[GUID]` in the label of an output says nothing, so an output reads like its source.
        """
        said = words(_written_label().sub(" ", name))
        return next((kind for form, kind in self.vocabulary["telling_words"].items() if re.search(form, said)), None)

    def is_code_system(self, uri: str) -> bool:
        """Whether a system's codes are codes and not personal identifiers."""
        return self.is_public(uri) and not any(uri.startswith(s) for s in self.vocabulary["identifying_systems"])


@cache
def _written_label() -> re.Pattern[str]:
    """Return the form of a replacement: an entity type in brackets, with or without details."""
    return re.compile(rf"\[(?:{'|'.join(catalogue())})(?:[-+][^\[\]]{{1,24}})?\]")


@cache
def rules(release: Release = "r4") -> Rules:
    """Return the shipped rules of a release.

    Raises:
        UnapprovedSchema: a file was changed after its approval, or has none.
    """
    own = f"{release}.json"
    approvals = read_approvals(_text(FILE))
    names = (own, *SHARED)
    written, listed, extensions, vocabulary, xhtml = (_approved(name) for name in names)
    codes = {url: frozenset(joined.split("|")) for url, joined in listed["systems"].items()}
    spoken = (code.split("-") for each in codes.values() for code in each if _HYPHENED.fullmatch(code))
    compiler = Compiler(written, vocabulary["patterns"])
    return Rules(
        release=release, version=content_hash({name: approvals[name].sha256 for name in names})[:16],
        resources=Lazy(written["resources"], compiler.resource), types=compiler.types,
        extensions=compiler.extensions({_EXTENSION + name: w for name, w in written["extensions"].items()}
                                       | extensions["extensions"]),
        vocabulary=vocabulary, codes=codes, code_aliases=listed["aliases"],
        code_words=known_words().union(*spoken, vocabulary["uri_words"].split(), vocabulary["code_words"].split()),
        xhtml=xhtml, approvals=approvals,
    )


@cache
def _approved(name: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(_text(name))
    check_approvals({name: content}, read_approvals(_text(FILE)))
    return content


def _text(name: str) -> str:
    return files("incognote.schemas.fhir").joinpath(name).read_text(encoding="utf-8")


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
            f"These rules differ from the approved ones: {', '.join(changed)}. Reinstall incognote."
        )


@cache
def fhir_schema(resource: str, release: Release = "r4") -> Schema:
    """Return the schema of one resource type, such as `fhir.Patient`. All have the version of the whole rule set.

    Raises:
        KeyError: the release has no such resource type.
        UnapprovedSchema: a rules file was changed after its approval.
    """
    known = rules(release)
    return Schema(data_type(resource), known.version, _object(known, known.resources[resource], (), False), id_key="id")


def version_of(data_type: str) -> str | None:
    """Return the version of the R4 rules if a schema's name is that of an R4 resource type."""
    named = data_type.startswith("fhir.") and data_type.removeprefix("fhir.") in rules().resources
    return rules().version if named else None


def data_type(resource: str) -> str:
    """Return the name of a resource type's schema."""
    return f"fhir.{resource}"


def fhir_rows() -> list[SchemaRow]:
    """Return the FHIR schemas as rows for `schema list`."""
    known = rules()
    approval = known.approvals["r4.json"]
    return [SchemaRow(data_type(resource), "fhir/r4.json", True, known.version, "approved", approval.by, approval.at, 0)
            for resource in sorted(known.resources)]


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
