"""Read one XML part of an office file by the closed rules: its attributes, names, drawings, charts, and properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property

from incognote.errors import MalformedRecord
from incognote.formats.base import Change
from incognote.formats.office.flow import FlowText
from incognote.formats.office.graph import Package
from incognote.formats.office.rules import (
    attribute_of,
    characters_of,
    css_declarations,
    is_declared,
    is_prefix,
    key_of,
    kind_of,
    lists,
    prefix_of,
    stays,
)
from incognote.formats.records.rawxml import Characters, Element, XmlAttribute, XmlText
from incognote.formats.records.references import escaped, unescaped

_REMAIN = frozenset(("w:hyperlink", "a:blip", "v:imagedata", "v:fill", "v:stroke", "v:shape"))
"""Elements that stay without the relation that they refer to."""
_VALUES = frozenset(("w:val", "m:val", "val", "w14:val", "w15:val"))
"""Attributes without which their element says nothing."""
_DATES = re.compile(r"[dmyhs]", re.IGNORECASE)
_LITERALS = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\.|General|Standard", re.IGNORECASE)


class PartWalk:
    """Reads a part. Its texts, structured fields, and removals go to the parts of the package.

    Args:
        package: the file.
        name: the name of the part.
        field: the field of the lines of a part without paragraphs of its own, such as a chart.
    """

    def __init__(self, package: Package, name: str, field: str) -> None:
        self.package, self.parts, self.names = package, package.parts, package.names
        self.part = package.parts.xml[name]
        self.field = field
        self.removing = False
        self.handlers: dict[str, Callable[[Element], None]] = {
            "mc:AlternateContent": self.alternate, "a:p": self.drawing_paragraph, "a:t": self.drawing_words,
            "a:br": self.drawing_break, "c:numCache": self.numbers, "c:numLit": self.numbers,
        }  # fmt: skip
        self._links = package.links(name)

    def run(self) -> None:
        """Read the part.

        Raises:
            MalformedRecord: it declares a prefix that no office program writes.
        """
        for start, end in self.part.xml.comments:
            self.parts.fix(self.part, start, end)
        for instruction in self.part.xml.stylesheets:
            self.parts.fix(self.part, instruction.start, instruction.end)
        self.element(self.part.xml.root)

    @property
    def unseen(self) -> bool:
        """Whether what is read now is removed."""
        return self.removing

    @cached_property
    def lines(self) -> FlowText:
        """The text of lines that belong to no paragraph."""
        return self.parts.flow(self.part, self.field)

    @cached_property
    def labels(self) -> XmlText:
        """The text of alternative texts, tooltips, choices, and other attributes."""
        return self.parts.text(self.part, "label")

    @cached_property
    def _scopes(self) -> Mapping[str, set[str]]:
        """The namespaces that each prefix is declared for."""
        scopes: dict[str, set[str]] = {}
        for element in self.part.xml.root.walk():
            for key, attribute in element.attributes.items():
                if key.startswith("xmlns:"):
                    scopes.setdefault(key[6:], set()).add(attribute.value)
        return scopes

    def element(self, element: Element, holder: str = "") -> None:
        """Read an element in the element `holder`."""
        key = key_of(element.uri, element.name)
        if not key or key in lists()["elements_rules"]["unwrapped"]:
            self._strange(element, key)
        elif key in lists()["elements_rules"]["removed"]:
            self.remove(element)
        elif self.attributes(element, key, holder):
            handler = self.handlers.get(key)
            if handler is not None:
                handler(element)
            else:
                self.inner(element, key)

    def inner(self, element: Element, key: str = "") -> None:
        """Read what is inside an element."""
        for child in element.children:
            if isinstance(child, Element):
                self.element(child, key)
            else:
                self.characters(child, element, key)

    def characters(self, found: Characters, holder: Element, key: str) -> None:
        """Read characters outside of paragraphs."""
        value = self.shown(found).strip()
        if not value:
            return
        kind, whole = characters_of(key), "".join(map(self.shown, holder.characters)).strip()
        if kind in ("person", "organization"):
            field = f"{key.partition(':')[0].replace('dc', 'core').replace('cp', 'core')}.{holder.name}"
            self.parts.structured(self.part, field, kind.upper(), value, lambda new: self._words(found, new))
        elif self.unseen:
            self.parts.fix(self.part, found.start, found.end)
        elif stays(kind, whole):
            pass
        elif kind == "property":
            self.parts.flow(self.part, f"core.{holder.name}").words(found, holder)
        elif kind == "geometry" and (new := self.names.of(kind, whole)) is not None:
            self.parts.fix(self.part, found.start, found.end, new if found is next(iter(holder.characters)) else "")
        elif kind in ("value", "geometry"):
            self.lines.words(found, holder)
            self.lines.end_paragraph()
        elif kind == "reference":
            cell = re.sub(r".*!", "Sheet1!", value)
            self.parts.fix(self.part, found.start, found.end, cell if stays(kind, cell) else "Sheet1!$A$1")
        else:
            self.parts.fix(self.part, found.start, found.end, self.names.of(kind, value) or "")

    def shown(self, found: Characters) -> str:
        """Return characters with their references resolved."""
        raw = self.part.source[found.start : found.end]
        return raw if found.cdata else unescaped(raw)

    def remove(self, element: Element) -> None:
        """Remove an element in every document."""
        self.parts.fix(self.part, element.start, element.end)

    def unwrap(self, element: Element) -> None:
        """Remove the tags of an element in every document."""
        if element.empty:
            self.remove(element)
            return
        self.parts.fix(self.part, element.start, element.inside)
        self.parts.fix(self.part, self.part.source.rindex("</", element.inside, element.end), element.end)

    def set(self, attribute: XmlAttribute, value: str) -> None:
        """Give an attribute a new value in every document."""
        if value != attribute.value:
            new = escaped(value, self.part.codec.encoding, attribute=True)
            self.parts.fix(self.part, attribute.start, attribute.end, new)

    def has_text(self, element: Element) -> bool:
        """Whether an element has words or paragraphs in it."""
        texts = lists()["elements_rules"]["texts"]
        return any(key_of(each.uri, each.name) in texts for each in element.walk())

    def attributes(self, element: Element, key: str, holder: str) -> bool:
        """Read the attributes of an element. Return whether it stays."""
        for name, attribute in element.attributes.items():
            if name == "xmlns" or name.startswith("xmlns:"):
                self._namespace(name[6:], attribute)
                continue
            own = attribute_of(name)
            kind = kind_of(key, own, holder) if own else ""
            if not own or kind == "removed":
                self.parts.fix(self.part, *attribute.whole)
            elif not self._attribute(element, key, own, kind, attribute):
                self.remove(element)
                return False
        return True

    def _attribute(self, element: Element, key: str, own: str, kind: str, attribute: XmlAttribute) -> bool:
        """Read an attribute with a rule. Return whether its element stays."""
        value = attribute.value
        if kind == "relation":
            if value not in self._links:
                self.parts.fix(self.part, *attribute.whole)
                return key in _REMAIN or self.has_text(element)
            self.set(attribute, self.names.of(kind, value) or "")
        elif kind == "text":
            if self.unseen:
                self.set(attribute, "")
            elif not stays(kind, value):
                self.labels.add_attribute(attribute)
        elif kind == "author":
            self.parts.structured(self.part, "author", "PERSON", value, lambda new: self._value(attribute, new))
        elif kind == "initials":
            self.set(attribute, "")
        elif kind == "css":
            self.set(attribute, ";".join(css_declarations(value)))
        elif kind == "prefixes":
            self.set(attribute, " ".join(each for each in value.split() if self._is_known(each.partition(":")[0])))
        elif (new := self.names.of(kind, value)) is not None:
            self.set(attribute, new)
        elif kind == "extension" or (own in _VALUES and not self.has_text(element)):
            return False
        else:
            self.parts.fix(self.part, *attribute.whole)
        return True

    def _namespace(self, prefix: str, attribute: XmlAttribute) -> None:
        if not is_declared(attribute.value):
            self.parts.fix(self.part, *attribute.whole)
        elif prefix and not is_prefix(prefix):
            raise MalformedRecord("an unusual prefix of a namespace. Save the document again", field=self.part.shown)

    def _is_known(self, prefix: str) -> bool:
        return prefix in self._scopes and all(map(is_declared, self._scopes[prefix]))

    def _is_read(self, prefix: str) -> bool:
        return prefix in self._scopes and all(map(prefix_of, self._scopes[prefix]))

    def _strange(self, element: Element, key: str) -> None:
        """Remove an element that no standard defines, or only its tags if it has words."""
        if not key and not self.has_text(element):
            self.remove(element)
            return
        self.unwrap(element)
        for child in element.children:
            if isinstance(child, Element):
                self.element(child, "")
            else:
                self.parts.fix(self.part, child.start, child.end)

    def branches(self, element: Element) -> tuple[list[Element], Element | None]:
        """Return the choices of an alternate content that are read, and its fallback. Others are removed."""
        choices: list[Element] = []
        fallback: Element | None = None
        for child in element.children:
            if not isinstance(child, Element):
                self.characters(child, element, "mc:AlternateContent")
                continue
            key = key_of(child.uri, child.name)
            if key == "mc:Fallback" and fallback is None:
                fallback = child
            elif key == "mc:Choice" and all(map(self._is_read, child.value("Requires").split())):
                choices.append(child)
            else:
                self.remove(child)
        if not choices:
            self.unwrap(element)
            if fallback is not None:
                self.unwrap(fallback)
        return choices, fallback

    def alternate(self, element: Element) -> None:
        """Read an element whose branches show the same content in other ways."""
        choices, fallback = self.branches(element)
        for each in choices:
            self.element(each)
        if fallback is not None:
            if choices:
                self.element(fallback)
            else:
                self.inner(fallback)

    def drawing_paragraph(self, element: Element) -> None:
        """Read a paragraph of a drawing."""
        self.inner(element, "a:p")
        self.lines.end_paragraph()

    def drawing_words(self, element: Element) -> None:
        """Read the words of a drawing."""
        for child in element.children:
            if isinstance(child, Element):
                self.remove(child)
            elif self.unseen:
                self.parts.fix(self.part, child.start, child.end)
            else:
                self.lines.words(child, element)

    def drawing_break(self, element: Element) -> None:
        """Read a line break of a drawing."""
        self.inner(element, "a:br")
        self.lines.layout("\n")

    def numbers(self, element: Element) -> None:
        """Read the stored numbers of a chart. Those that are dates are removed."""
        code = element.child("formatCode")
        codes = [self.part.source[words.start : words.end] for words in code.characters] if code else []
        for child in element.children:
            if isinstance(child, Element) and child.name == "pt" and _is_date(*codes, child.value("formatCode")):
                self.remove(child)
            elif isinstance(child, Element):
                self.element(child, "c:numCache")
            else:
                self.characters(child, element, "c:numCache")

    def _words(self, found: Characters, new: str) -> list[Change]:
        return [(found.start, found.end, escaped(new, self.part.codec.encoding, cdata=found.cdata))]

    def _value(self, attribute: XmlAttribute, new: str) -> list[Change]:
        return [(attribute.start, attribute.end, escaped(new, self.part.codec.encoding, attribute=True))]


def _is_date(*codes: str) -> bool:
    """Whether a format of numbers shows dates or times."""
    return any(_DATES.search(_LITERALS.sub("", code)) for code in codes)
