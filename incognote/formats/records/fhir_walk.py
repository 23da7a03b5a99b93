"""Walk a FHIR resource by its rules, element by element: find free text, values to replace, and violations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from incognote.errors import SchemaViolation
from incognote.formats.base import Action, FieldAction
from incognote.formats.records.fhir_values import (
    BASE,
    Field,
    Link,
    Segment,
    bare,
    fits,
    id_form,
    is_primitive,
    items,
    revealed,
    strings,
    take_apart,
)
from incognote.formats.records.narrative import Attached, Narrative, decode
from incognote.formats.records.rawjson import Node
from incognote.nouns import Known, Text
from incognote.schemas.fhir import ElementRule, Elements, ExtensionRule, rules
from incognote.schemas.fieldnames import child, is_told, item, spoken

MAX_DEPTH = 40
_WORDS = ("string", "markdown")
_NUMBERS = ("integer", "unsignedInt", "positiveInt", "decimal")
_CODED = ("CodeableConcept", "Coding")
_VALUES = ("value", "data", "lowerLimit", "upperLimit")
_VERSION = re.compile(r"v?[0-9]{1,2}(\.[0-9]{1,3}){0,2}")
_TIME = re.compile(r"[0-9:]{8}(\.([0-9]{1,3}|0+))?")  # in FHIR, the fraction may be any number
_LONG, _IDENTIFYING = 7, 5
_LARGEST = 30  # a power of ten; no measurement is larger


@dataclass(frozen=True, slots=True)
class _Scope:
    """The position of the walk: the current object and its context."""

    holder: Node
    rule: ElementRule
    resource: str
    contained: Mapping[str, str] = field(default_factory=dict, repr=False)
    telling: str | None = None
    is_value: bool = False
    depth: int = 0


class FhirWalk:
    """One resource, or a Bundle of them.

    Attributes:
        texts, actions, known: as in OpenRecord, in the order of the record.
        fields: how each path of a text, an action or a fixed edit is written.
        drops: members that are removed whole, as `(object, name)`.

    Raises:
        SchemaViolation: something is not allowed by any rule. The message names the first such path and no value.
    """

    def __init__(self, raw: str, root: Node) -> None:
        self._raw = raw
        self._rules = rules()
        self.texts: list[Text] = []
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.fields: dict[str, Field] = {}
        self.drops: list[tuple[Node, str]] = []
        self._bases: dict[tuple[str, str], str] = {}
        self._entries = {url: kind for entry in items(root, "entry") for url in strings(entry, "fullUrl")
                         for r in items(entry, "resource") for kind in strings(r, "resourceType")}
        self._resource(root, "", 0)

    def _resource(self, node: Node, path: str, depth: int, *, contained: bool = False) -> None:
        kind = node.value.get("resourceType") if node.kind == "object" else None
        if kind is None or kind.kind != "string":
            raise _wrong(path, "must be an object with a resourceType")
        if kind.value not in self._rules.resources:
            named = f" {kind.value}" if kind.value in self._rules.vocabulary["resource_types"] else ""
            raise _wrong(child(path, "resourceType"), f"the resource type{named} is not supported. Supported: "
                         + ", ".join(self._rules.resources))
        if contained and (kind.value == "Bundle" or "contained" in node.value):
            raise _wrong(path, "a contained resource cannot be a Bundle or contain resources")
        inside = {f"#{own_id}": k for c in items(node, "contained") for own_id in strings(c, "id")
                  for k in strings(c, "resourceType")}
        scope = _Scope(node, ElementRule(kind.value), kind.value, inside, depth=depth)
        self._elements(scope, self._rules.resources[kind.value], path)
        self.known.extend(revealed(kind.value, node))

    def _elements(self, scope: _Scope, elements: Elements, path: str) -> None:
        if scope.depth > MAX_DEPTH:
            raise _wrong(path, f"nested deeper than {MAX_DEPTH} elements")
        members: dict[str, Node] = scope.holder.value
        telling = self._telling(scope)
        dropped = 0
        for position, (name, node) in enumerate(members.items(), 1):
            if name == "resourceType" and scope.rule.type == scope.resource:
                continue
            rule = elements.get(name.removeprefix("_"))
            if rule is None or (name.startswith("_") and not is_primitive(rule.type)):
                here = child(path, name) if is_told(name, elements) else path
                shown = spoken(name, position, "element", elements)
                raise _wrong(here, f"{shown} does not exist in the FHIR R4 type {scope.rule.type}")
            here = child(path, name)
            inner = scope
            if telling and name.startswith(("value", "component")):
                inner = replace(scope, telling=telling, is_value=name.startswith("value"))
            if rule.rule == "refuse":
                raise _wrong(here, "is not supported. It may change the meaning of the element that contains it")
            if rule.rule == "drop":
                self.drops.append((scope.holder, name))
                dropped += 1
            elif name.startswith("_"):
                self._sibling(scope, name, node, rule, here)
            elif rule.many:
                if node.kind != "array" or not node.value:
                    raise _wrong(here, "must be a list that is not empty")
                for i, one in enumerate(node.value):
                    self._one(inner, name, i, one, rule, item(here, i))
            else:
                self._one(inner, name, None, node, rule, here)
        if dropped == len(members):
            raise _wrong(path, "has only elements that must be removed. Remove it")

    def _one(self, scope: _Scope, name: str, index: int | None, node: Node, rule: ElementRule, path: str) -> None:
        if rule.rule == "resource":
            self._resource(node, path, scope.depth + 1, contained=name == "contained")
        elif is_primitive(rule.type):
            if node.kind == "null" and index is not None and f"_{name}" in scope.holder.value:
                return  # the sibling says why there is no value
            if not fits(rule.type, node, self._raw):
                raise _wrong(path, f"is not a valid FHIR R4 {rule.type}")
            self._primitive(scope, Field(node, scope.holder, name, index, rule.type), rule, path)
        elif node.kind != "object":
            raise _wrong(path, f"is of type {node.kind}, but {rule.type} must be an object")
        elif rule.rule == "extension":
            self._extension(scope, node, self._rules.extensions, path)
        else:
            inner = replace(scope, holder=node, rule=rule, depth=scope.depth + 1)
            self._elements(inner, self._rules.elements_of(rule) or {}, path)

    def _sibling(self, scope: _Scope, name: str, node: Node, rule: ElementRule, path: str) -> None:
        """Walk `_birthDate` next to `birthDate`: an id and extensions. Next to a list, it is a list of equal length."""
        element = ElementRule("Element")
        if not rule.many:
            self._one(scope, name, None, node, element, path)
            return
        partner = scope.holder.value.get(name[1:])
        lists = node.kind == "array" and (partner is None or partner.kind == "array")
        if not lists or (partner is not None and len(partner.value) != len(node.value)):
            raise _wrong(path, f"must be a list of the same length as {name[1:]}")
        for i, one in enumerate(node.value):
            if one.kind != "null":
                self._one(scope, name, i, one, element, item(path, i))

    def _extension(self, scope: _Scope, node: Node, allowed: Mapping[str, ExtensionRule], path: str) -> None:
        url = next(iter(strings(node, "url")), "")
        rule = allowed.get(url)
        if rule is None:
            raise _wrong(path, "is an extension that is not supported. Remove it")
        for position, (name, inner) in enumerate(node.value.items(), 1):
            here = child(path, name) if is_told(name, rule.values) else path
            if name == "extension" and rule.inner:
                if inner.kind != "array" or not inner.value:
                    raise _wrong(here, "must be a list that is not empty")
                for i, one in enumerate(inner.value):
                    self._extension(replace(scope, depth=scope.depth + 1), one, rule.inner, item(here, i))
            elif name in rule.values:
                inside = replace(scope, holder=node, depth=scope.depth + 1)
                self._one(inside, name, None, inner, rule.values[name], here)
            elif name == "id":
                self._one(replace(scope, holder=node), name, None, inner, self._rules.types["Element"]["id"], here)
            elif name != "url":
                raise _wrong(here, f"{spoken(name, position, 'element', rule.values)} is not allowed in this extension")

    def _primitive(self, scope: _Scope, field: Field, rule: ElementRule, path: str) -> None:
        node = field.node
        value: str = node.value if node.kind == "string" else self._raw[node.start : node.end]
        holder = scope.holder
        is_value = field.name.startswith(_VALUES) or (scope.is_value and scope.rule.type in _CODED)
        telling = scope.telling if is_value else None
        match rule.rule:
            case "pass" if rule.type in _NUMBERS and (named := self._told_beside(holder, value)):
                self._act(path, field, value, "absent", named)
            case "pass" if telling:
                self._act(path, field, value, "mask" if rule.type in _WORDS else "absent", telling)
            case "pass" if rule.type in _NUMBERS and self._is_long_number(holder, value):
                self._act(path, field, value, "absent", "GUID")
            case "pass":
                pattern = rule.pattern or (_TIME if rule.type == "time" else None)
                if (rule.values and value not in rule.values) or (pattern and not pattern.fullmatch(value)):
                    raise _wrong(path, f"is not an allowed value of type {rule.type}")
            case "mask" | "absent":
                told = next(iter(strings(holder, rule.sibling)), "") if rule.sibling else ""
                self._act(path, field, value, rule.rule, rule.by_sibling.get(told, rule.entity))
            case "date":
                kind = "DATE_TIME" if "T" in value else "DATE"
                self._act(path, field, value, "date", telling or rule.entity or kind)
            case "id":
                self._link(path, field, value, self._identifier_link(value, path))
            case "reference":
                self._link(path, field, value, self._reference(value, path))
            case "uri" if not self._rules.is_public(value):
                self._link(path, field, value, Link((Segment(0, len(value), "id"),), ((0, 0, f"{BASE}/uri/"),)))
            case "uri":
                pass  # a public URI names a system, not a record
            case "type":
                if value not in self._rules.vocabulary["resource_types"] and not self._rules.is_public(value):
                    raise _wrong(path, "is not the name of a resource type")
            case "code":
                system = next(iter(strings(holder, "system")), "")
                named = telling or self._told_by_display(holder, value)
                if named and field.name == "code":
                    self._act(path, field, value, "absent", named)
                    return
                if field.name == "version":
                    passes = self._rules.is_public(value) or (
                        self._rules.is_code_system(system) and _VERSION.fullmatch(value) is not None)
                else:
                    passes = self._rules.is_code(system, value)
                if not passes:
                    own = (scope.rule.type, field.name) == ("Coding", "code") and not self._rules.is_code_system(system)
                    self._coded(path, field, value, own=own)
            case "text" if field.name == "unit":
                if not self._is_unit(holder, value):
                    self._coded(path, field, value)
            case "text" if telling:
                self._act(path, field, value, "mask", telling)
            case "text":
                self._text(path, field, value)
            case "display":
                entity = self._display_of(scope)
                if entity:
                    self._act(path, field, value, "mask", entity)
                    if entity == "PERSON" and bare(value):
                        self.known.append(Known(entity, bare(value)))
                else:
                    self._text(path, field, value)
            case "narrative":
                self._markup(path, field, Narrative(value, path))
            case "attachment":
                self._attachment(scope, field, value, path)
            case _:
                raise _wrong(path, "is an element that is not supported")

    def _coded(self, path: str, field: Field, value: str, *, own: bool = False) -> None:
        """Handle an unlisted code or unit. Words are scanned as text. Other values of a local system are hashed, else
        withheld."""
        if self._rules.is_worded(value):
            self._text(path, field, value)
        elif own:
            self._link(path, field, value, Link((Segment(0, len(value), "id"),)))
        else:
            self._act(path, field, value, "absent", "GUID")

    def _text(self, path: str, field: Field, content: str) -> None:
        self.fields[path] = field
        self.texts.append(Text(content, path))

    def _act(self, path: str, field: Field, value: str, action: Action, entity: str | None) -> None:
        self.fields[path] = field
        self.actions.append(FieldAction(Text(value, path), 0, len(value), action, entity))

    def _link(self, path: str, field: Field, value: str, link: Link) -> None:
        self.fields[path] = replace(field, fixed=link.fixed, segments=link.segments)
        text = Text(value, path)
        self.actions.extend(FieldAction(text, s.start, s.end, "hash", "GUID") for s in link.segments)

    def _markup(self, path: str, field: Field, narrative: Narrative, attached: Attached | None = None) -> None:
        self.fields[path] = replace(field, narrative=narrative, attached=attached)
        self.texts.append(Text(narrative.text, path))

    def _attachment(self, scope: _Scope, field: Field, value: str, path: str) -> None:
        parent = path.rpartition(".")[0]
        if field.name == "data":
            attached = decode(value, next(iter(strings(scope.holder, "contentType")), None), parent)
            if attached.is_markup:
                self._markup(path, field, Narrative(attached.content, path, page=True), attached)
            else:
                self._text(path, replace(field, attached=attached), attached.content)
            return
        link = take_apart(value, path)
        if link.type is not None or link.id is not None:
            self._link(path, field, value, self._reference(value, path))
        elif "data" in scope.holder.value or value.startswith("data:"):
            raise _wrong(path, "refers to content outside the record, which is not de-identified. Remove it")
        else:
            self._act(path, field, value, "absent", "URL")

    def _reference(self, value: str, path: str) -> Link:
        """Split a reference, and check that no id is used on two servers, because server addresses are removed."""
        link = take_apart(value, path)
        if link.type and link.id and link.base:
            base = self._bases.setdefault((link.type, link.id), link.base)
            if base != link.base:
                raise _wrong(path, "two servers use the same id for resources of one type. Split the Bundle by server")
        return link

    def _identifier_link(self, value: str, path: str) -> Link:
        if value.startswith(("urn:", "http://", "https://")) and " " not in value:
            return self._reference(value, path)
        return Link((Segment(0, len(value), id_form(value)),))

    def _display_of(self, scope: _Scope) -> str | None:
        """Return the entity type of a Reference's display, by its actual target or else by its possible targets."""
        kinds: Mapping[str, str] = self._rules.vocabulary["display_of"]
        for written in strings(scope.holder, "reference"):
            link = take_apart(written, "reference")
            target = link.type or self._entries.get(written) or scope.contained.get(written)
            if target:
                return kinds.get(target)
        for named in strings(scope.holder, "type"):
            return kinds.get(named)
        possible = {kinds[t] for t in scope.rule.targets if t in kinds}
        return next((entity for entity in ("PERSON", "ORGANIZATION", "LOCATION") if entity in possible), None)

    def _telling(self, scope: _Scope) -> str | None:
        """Return what an Observation's values reveal about a person, by its code: an age, or a date of birth."""
        if scope.resource != "Observation":
            return None
        if scope.telling:
            return scope.telling
        known: Mapping[str, str] = self._rules.vocabulary["telling_codes"]
        kinds: Mapping[str, str] = self._rules.vocabulary["identifier_types"]
        for concept in items(scope.holder, "code"):
            for coding in items(concept, "coding"):
                for system in strings(coding, "system"):
                    for code in strings(coding, "code"):
                        if f"{system}|{code}" in known:
                            return known[f"{system}|{code}"]
                        if system.rstrip("/").endswith("/v2-0203") and code in kinds:
                            return kinds[code]
            codings = items(concept, "coding")
            labels = [*strings(concept, "text"), *(s for c in codings for s in strings(c, "display"))]
            labels += [code for c in codings for code in strings(c, "code") if code.upper() != "NO"]  # nitric oxide
            for label in labels:
                if told := self._rules.told_by(label):
                    return told
        return None

    def _told_beside(self, holder: Node, value: str) -> str | None:
        """Return the identifier type of a number of five digits or more, by the unit next to it: `MRN`."""
        if abs(Decimal(value).adjusted()) < _IDENTIFYING - 1:
            return None
        return next(filter(None, map(self._rules.told_by, (*strings(holder, "unit"), *strings(holder, "code")))), None)

    def _told_by_display(self, holder: Node, code: str) -> str | None:
        """Return the identifier type of a code with five digits or more, by its display. Not for LOINC and SNOMED."""
        if sum(c.isdigit() for c in code) < _IDENTIFYING or any(
                self._rules.is_checked(s) for s in strings(holder, "system")):
            return None
        return next(filter(None, map(self._rules.told_by, strings(holder, "display"))), None)

    def _is_unit(self, holder: Node, unit: str) -> bool:
        """Whether a unit is a common one, or repeats the code next to it, which passes on its own."""
        system = next(iter(strings(holder, "system")), "")
        same = unit in strings(holder, "code") and self._rules.is_code(system, unit)
        return same or unit in self._rules.vocabulary["units"].split()

    def _is_long_number(self, holder: Node, value: str) -> bool:
        """Whether a number is as long as an identifier and has no public unit."""
        number = Decimal(value)
        if abs(number.adjusted()) > _LARGEST:
            return True
        if not number or number.adjusted() < _LONG - 1:
            return False
        system, code = (next(iter(strings(holder, name)), "") for name in ("system", "code"))
        return not self._rules.is_unit(system, code)


def _wrong(path: str, what: str) -> SchemaViolation:
    return SchemaViolation(f"{path or 'the record'}: {what}", field=path)
