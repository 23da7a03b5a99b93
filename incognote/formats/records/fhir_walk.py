"""Walk a FHIR resource by its rules, element by element: find free text, values to replace, and violations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from incognote.errors import RecordProblem, SchemaViolation
from incognote.formats.base import Action, Document, FieldAction, Format
from incognote.formats.records.fhir_labels import (
    identifying_display,
    identifying_unit,
    is_long_number,
    is_unit,
    telling_label,
)
from incognote.formats.records.fhir_values import (
    BASE,
    TELECOM,
    Field,
    Link,
    Segment,
    bare,
    fits,
    id_form,
    identifier_known,
    is_primitive,
    items,
    number_known,
    revealed,
    strings,
    take_apart,
)
from incognote.formats.records.narrative import Attached, Narrative, decode, opened_inside
from incognote.formats.records.rawjson import Node
from incognote.nouns import Known, Text
from incognote.schemas.fhir import Release, rules
from incognote.schemas.fhir.elements import ElementRule, Elements, ExtensionRule
from incognote.schemas.fieldnames import child, is_told, item, spoken

MAX_DEPTH = 40
_WORDS = ("string", "markdown")
_NUMBERS = ("integer", "unsignedInt", "positiveInt", "integer64", "decimal")
_CODED = ("CodeableConcept", "Coding")
_VALUES = ("value", "data", "lowerLimit", "upperLimit")
_ABSTRACT = ("Any", "Type", "Extension")
_VERSION = re.compile(r"v?[0-9]{1,2}(\.[0-9]{1,3}){0,2}")
_TIME = re.compile(r"[0-9:]{8}(\.([0-9]{1,3}|0+))?")  # in FHIR, the fraction may be any number
_LONG_NUMBER = re.compile(r"[0-9]{6}")


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

    Args:
        raw: the JSON text. root: the parsed `raw`. release: the release of FHIR.

    Attributes:
        texts, actions, known: as in OpenRecord, in the order of the record.
        fields: how each path of a text, an action or a fixed edit is written.
        children: the attachments that other formats read, by path.
        drops: members that are removed whole, as `(object, name)`.
        unknown: lists with extensions that are removed, with their indices.
        size: the number of elements that were walked, also if the walk failed.

    """

    def __init__(self, raw: str, root: Node, release: Release = "r4") -> None:
        self._raw = raw
        self._rules = rules(release)
        self.texts: list[Text] = []
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.fields: dict[str, Field] = {}
        self.children: dict[str, tuple[Format, Document]] = {}
        self.drops: list[tuple[Node, str]] = []
        self.unknown: list[tuple[Node, list[int]]] = []
        self.size = 0
        self._bases: dict[tuple[str, str], str] = {}
        self._entries = {url: kind for entry in items(root, "entry") for url in strings(entry, "fullUrl")
                         for r in items(entry, "resource") for kind in strings(r, "resourceType")}
        self._root = root

    def walk(self) -> None:
        """Walk the record.

        Raises:
            SchemaViolation: something is not allowed by any rule. The message names the first such path and no value.
        """
        self._resource(self._root, "", 0)

    def _resource(self, node: Node, path: str, depth: int, *, contained: bool = False) -> None:
        kind = node.value.get("resourceType") if node.kind == "object" else None
        if kind is None or kind.kind != "string":
            raise _wrong(path, "must be an object with a resourceType")
        if kind.value not in self._rules.resources:
            raise _wrong(child(path, "resourceType"),
                         "is not a resource type of FHIR R4 or R5. Remove the resource, or correct its type")
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
        telling = scope.telling or telling_label(self._rules, scope.resource, scope.holder)
        dropped = 0
        for position, (name, node) in enumerate(members.items(), 1):
            if name == "resourceType" and scope.rule.type == scope.resource:
                continue
            self.size += 1
            rule = elements.get(name.removeprefix("_"))
            if rule is None or (name.startswith("_") and not is_primitive(rule.type)):
                here = child(path, name) if is_told(name, elements) else path
                shown = spoken(name, position, "element", elements)
                raise _wrong(here, f"{shown} does not exist in the FHIR {self._rules.release.upper()} type "
                             f"{scope.rule.type}")
            here = child(path, name)
            inner = scope
            if telling and name.startswith(("value", "component", "answer")):
                inner = replace(scope, telling=telling, is_value=name.startswith("value"))
            if rule.rule == "refuse":
                raise _wrong(here, "is not supported. It may change the meaning of the element that contains it")
            if rule.rule == "drop":
                self.drops.append((scope.holder, name))
                dropped += 1
            elif rule.rule == "extension":
                dropped += self._extensions(scope, node, self._rules.extensions, here)
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
                raise _wrong(path, f"is not a valid FHIR {rule.type}")
            self._primitive(scope, Field(node, scope.holder, name, index, rule.type), rule, path)
        elif node.kind != "object":
            raise _wrong(path, f"is of type {node.kind}, but {rule.type} must be an object")
        else:
            if rule.type == "Identifier":
                self.known.extend(identifier_known(node))
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

    def _extensions(self, scope: _Scope, node: Node, allowed: Mapping[str, ExtensionRule], path: str) -> bool:
        """Walk the extensions of an object. Those without a rule are removed. Return whether the whole list is."""
        if node.kind != "array" or not node.value:
            raise _wrong(path, "must be a list that is not empty")
        unknown = []
        for i, one in enumerate(node.value):
            url = next(iter(strings(one, "url")), "")
            if url and url not in allowed:
                unknown.append(i)
            else:
                self._extension(replace(scope, depth=scope.depth + 1), one, allowed, item(path, i))
        if len(unknown) == len(node.value) and scope.holder.value.keys() - {"extension", "url", "resourceType"}:
            self.drops.append((scope.holder, "extension"))
            return True
        if unknown:
            self.unknown.append((node, unknown))
        return False

    def _extension(self, scope: _Scope, node: Node, allowed: Mapping[str, ExtensionRule], path: str) -> None:
        url = next(iter(strings(node, "url")), "")
        if not url:
            raise _wrong(path, "is an extension without url")
        rule = allowed[url]
        inside = replace(scope, holder=node, depth=scope.depth + 1)
        if inside.depth > MAX_DEPTH:
            raise _wrong(path, f"nested deeper than {MAX_DEPTH} elements")
        for position, (name, inner) in enumerate(node.value.items(), 1):
            here = child(path, name) if is_told(name, rule.values) else path
            value = rule.values.get(name.removeprefix("_"))
            if name == "extension":
                self._extensions(inside, inner, rule.inner, here)
            elif value is not None and not name.startswith("_"):
                self._one(inside, name, None, inner, value, here)
            elif value is not None and is_primitive(value.type):
                self._sibling(inside, name, inner, value, here)
            elif name == "id":
                self._one(inside, name, None, inner, self._rules.types["Element"]["id"], here)
            elif name != "url":
                raise _wrong(here, f"{spoken(name, position, 'element', rule.values)} is not allowed in this extension")

    def _primitive(self, scope: _Scope, field: Field, rule: ElementRule, path: str) -> None:
        node = field.node
        value: str = node.value if node.kind == "string" else self._raw[node.start : node.end]
        holder = scope.holder
        is_value = field.name.startswith(_VALUES) or (scope.is_value and scope.rule.type in _CODED)
        telling = scope.telling if is_value else None
        match rule.rule:
            case "pass" if rule.type in _NUMBERS and (named := identifying_unit(self._rules, holder, value)):
                self._act(path, field, value, "absent", named)
            case "pass" if telling:
                self._act(path, field, value, "mask" if rule.type in _WORDS else "absent", telling)
            case "pass" if rule.type in _NUMBERS and is_long_number(self._rules, holder, value):
                self._act(path, field, value, "absent", "GUID")
            case "pass":
                pattern = rule.pattern or (_TIME if rule.type == "time" else None)
                if (rule.values and value not in rule.values) or (pattern and not pattern.fullmatch(value)):
                    raise _wrong(path, f"is not an allowed value of type {rule.type}")
            case "mask" | "absent":
                entity = rule.entity
                if entity == "TELEPHONE_NUMBER":
                    entity = TELECOM.get(next(iter(strings(holder, "system")), ""), entity)
                elif entity == "PERSON" and scope.rule.type != "HumanName" and len(bare(value)) > 1:
                    self.known.append(Known(entity, bare(value)))
                self._act(path, field, value, rule.rule, entity)
            case "date":
                kind = "DATE_TIME" if "T" in value else "DATE"
                self._act(path, field, value, "date", telling or rule.entity or kind)
            case "id":
                if rule.entity:
                    self.known.extend(number_known(rule.entity, value))
                self._link(path, field, value, self._identifier_link(value, path))
            case "reference":
                self._link(path, field, value, self._reference(value, path))
            case "link" if self._rules.is_worded(value) and not _LONG_NUMBER.search(value):
                self._text(path, field, value)
            case "link":
                self._link(path, field, value, Link((Segment(0, len(value), "id"),)))
            case "uri" if not (self._rules.is_public(value) or self._is_type(value)):
                self._link(path, field, value, Link((Segment(0, len(value), "id"),), ((0, 0, f"{BASE}/uri/"),)))
            case "uri":
                pass  # a public URI or the name of a type, not a record
            case "type":
                if not (self._is_type(value) or self._rules.is_public(value)):
                    raise _wrong(path, "is not the name of a type")
            case "code":
                system = next(iter(strings(holder, "system")), "")
                named = telling or identifying_display(self._rules, holder, value)
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
                if not is_unit(self._rules, holder, value):
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

    def _is_type(self, value: str) -> bool:
        return (is_primitive(value) or value in self._rules.types or value in _ABSTRACT
                or value in self._rules.vocabulary["resource_types"])

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
        if field.name == "data":
            media_type = next(iter(strings(scope.holder, "contentType")), None)
            try:
                attached = decode(value, media_type, path.removesuffix(field.name).removesuffix("."))
                narrative = Narrative(attached.content, path, page=True) if attached.is_markup else None
            except RecordProblem:
                inner = opened_inside(value, media_type, path)
                if inner is None:
                    raise
                self.fields[path] = field
                self.children[path] = inner
                return
            if narrative is not None:
                self._markup(path, field, narrative, attached)
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


def _wrong(path: str, what: str) -> SchemaViolation:
    return SchemaViolation(f"{path or 'the record'}: {what}", field=path)
