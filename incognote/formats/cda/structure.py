"""The structure of a CDA document: its position in the walk, its attributes, and what happens to a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from incognote.errors import SchemaViolation
from incognote.formats.base import Action, Change, Document, FieldAction
from incognote.formats.cda.narrative import Anchors
from incognote.formats.records.rawxml import Element, Xml, XmlAttribute, XmlText
from incognote.nouns import Known, Text
from incognote.schemas.cda import CdaRules

V3, SDTC = "urn:hl7-org:v3", "urn:hl7-org:sdtc"
XSI_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
_XSI_TYPE = re.compile(r"(\w{1,12}:)?[A-Z][A-Za-z0-9_.]{0,60}", re.ASCII)

Shape = Literal["text", "root", "time", "url"]


@dataclass(frozen=True, slots=True)
class CdaField:
    """How a structured field is written.

    Args:
        text: the characters of the value. holder: the element that has it.
        shape: the form of its new value. A value that does not fit is withheld.
    """

    text: XmlText
    holder: Element
    shape: Shape
    attribute: XmlAttribute | None = None


@dataclass(frozen=True, slots=True)
class Embedded:
    """A document in the characters of an element, in base64 or as text."""

    document: Document
    text: XmlText
    base64: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The position of the walk.

    Args:
        element: the element. holder: the element that contains it.
        path: its path with positions, for people. plain: without them, for rules.
        words: the text for its short words. telling: the entity type of its values, if its code names one.
        entry: whether it is in an entry of a section.
    """

    element: Element
    path: str
    plain: str
    words: XmlText
    holder: Element | None = None
    telling: str | None = None
    entry: bool = False


class Structure:
    """The parts of the walk that do not depend on a data type.

    Attributes:
        texts: the texts by field. actions, known, fields: the structured fields, and how each is written.
        children: embedded documents by path. fixed: the edits that are always made.
    """

    def __init__(self, source: str, encoding: str, xml: Xml, known: CdaRules) -> None:
        self._source, self._encoding, self._known = source, encoding, known
        self.texts: dict[str, XmlText] = {}
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.fields: dict[str, CdaField] = {}
        self.children: dict[str, Embedded] = {}
        self.fixed: list[Change] = [(start, end, "") for start, end in xml.comments]
        self._anchors = Anchors(xml.root)

    def _text(self, field: str) -> XmlText:
        return self.texts.setdefault(field, XmlText(self._source, self._encoding))

    def _inner(self, scope: Scope) -> Iterator[Scope]:
        """Yield the child elements. Elements in other namespaces than CDA's are removed."""
        total = Counter(child.tag for child in scope.element.elements)
        seen: Counter[str] = Counter()
        for child in scope.element.elements:
            if child.uri not in (V3, SDTC):
                self._remove(child)
                continue
            seen[child.tag] += 1
            name = child.name if child.uri == V3 else f"sdtc:{child.name}"
            position = f"[{seen[child.tag]}]" if total[child.tag] > 1 else ""
            path, plain = f"{scope.path}/{name}{position}", f"{scope.plain}/{name}"
            yield replace(scope, element=child, holder=scope.element, path=path, plain=plain)

    def _content(self, scope: Scope, rule: str, entity: str | None) -> None:
        """Scan, mask, or hash the characters of an element."""
        if rule == "text":
            scope.words.separate("\n")
            for each in scope.element.characters:
                scope.words.add(each)
            scope.words.separate("\n")
            return
        text = XmlText(self._source, self._encoding)
        for each in scope.element.characters:
            text.add(each)
        if text.text:
            action: Action = "hash" if rule == "hash" else "mask"
            self._action(scope.path, CdaField(text, scope.element, "text"), action, entity)

    def _has_text(self, element: Element) -> bool:
        return any(self._source[each.start : each.end].strip() for each in element.characters)

    def _act(
        self, scope: Scope, attribute: XmlAttribute, action: Action, entity: str | None, shape: Shape = "text",
        start: int = 0,
    ) -> None:  # fmt: skip
        if not attribute.value.strip():
            return
        text = XmlText(self._source, self._encoding)
        text.add_attribute(attribute)
        field = CdaField(text, scope.element, shape, attribute)
        self._action(f"{scope.path}/@{attribute.name}", field, action, entity, start)

    def _action(self, path: str, field: CdaField, action: Action, entity: str | None, start: int = 0) -> None:
        self.fields[path] = field
        content = field.text.text if field.shape != "time" else dashed(field.text.text)
        self.actions.append(FieldAction(Text(content, path), start, len(content), action, entity or "GUID"))

    def _attributes(self, scope: Scope, own: Collection[str] = ()) -> None:
        """Check the attributes that a data type does not handle itself."""
        for name, attribute in scope.element.attributes.items():
            value = attribute.value.strip()
            if name in own or name == XSI_TYPE:
                if name == XSI_TYPE and not _XSI_TYPE.fullmatch(value):
                    raise self._refused(scope, "has an xsi:type that is not supported")
            elif name.partition(":")[0] == "xmlns":
                self.fixed += self._declared(attribute)
            elif name == "ID":
                self.fixed += self._anchors.edits(attribute)
            elif name == f"{{{SDTC}}}valueSet":
                if not self._known.is_public(value):
                    self._act(scope, attribute, "hash", "GUID", "root")
            elif name in self._known.attributes:
                if not self._known.attributes[name].fullmatch(value):
                    raise self._refused(scope, f"has a value of {attribute.name} that CDA does not define")
            elif name in self._known.optional:
                if not self._known.optional[name].fullmatch(value):
                    self.fixed.append((*attribute.whole, ""))
            elif name in self._known.written["removed_attributes"] or name.startswith("{"):
                self.fixed.append((*attribute.whole, ""))
            else:
                raise self._refused(scope, "has an attribute that CDA does not define there. Remove it")

    def _declared(self, attribute: XmlAttribute) -> list[Change]:
        """Remove the declaration of a namespace whose elements are removed: its name may be that of a site."""
        return [] if attribute.value in self._known.written["namespaces"] else [(*attribute.whole, "")]

    def _remove(self, element: Element) -> None:
        """Remove an element with the white space before it."""
        start = element.start
        while start and self._source[start - 1] in " \t\r\n":
            start -= 1
        self.fixed = [each for each in self.fixed if not start <= each[0] < element.end]
        self.fixed.append((start, element.end, ""))

    def _withhold(self, scope: Scope) -> None:
        """Replace an element by one with the null flavor MSK (masked)."""
        element = scope.element
        kept = element.attributes.get(XSI_TYPE)
        typed = self._source[slice(*kept.whole)] if kept else ""
        self.fixed = [each for each in self.fixed if not element.start <= each[0] < element.end]
        self.fixed.append((element.start, element.end, f'<{element.tag}{typed} nullFlavor="MSK"/>'))

    def _refused(self, scope: Scope, what: str) -> SchemaViolation:
        known = scope.plain.rpartition("/")[2] in self._known.elements
        path = scope.path if known else scope.path.rpartition("/")[0]
        return SchemaViolation(f"{path}: {'the' if known else 'an inner'} element {what}", field=path)


def dashed(time: str) -> str:
    """Return a month as operators read it, `2024-03` for `202403`. Any other time stays as it is."""
    return f"{time[:4]}-{time[4:]}" if re.fullmatch(r"[0-9]{6}", time) else time


def flavor_of(element: Element) -> str:
    """Return the attribute that marks a value as withheld, to write in place of the value."""
    return "" if "nullFlavor" in element.attributes else ' nullFlavor="MSK"'
