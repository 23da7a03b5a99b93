"""The narrative of a section: its title and text as one text, with a line for each paragraph, item, and table row.

Tags are kept. Anchors are kept or renamed together with what points to them, and links to anything outside are removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from incognote.errors import SchemaViolation
from incognote.formats.base import Change
from incognote.formats.records.rawxml import Characters, Element, XmlAttribute, XmlText
from incognote.schemas.cda import CdaRules
from incognote.schemas.fhir import rules as fhir_rules

_OWN = re.compile(r"anchor[0-9]{1,6}")
_MOST_DIGITS = 4


class Anchors:
    """The ids of a document, which entries and links refer to.

    An id is kept if it consists of known words and at most four digits. Any other id could name a person or a record,
    so it becomes `anchor1`, `anchor2`, and so on.

    Args:
        root: the document.
    """

    def __init__(self, root: Element) -> None:
        written = (element.value(name) for element in root.walk() for name in ("ID", "name"))
        self._taken = {name for name in written if _OWN.fullmatch(name)}
        self._new: dict[str, str] = {}

    def edits(self, attribute: XmlAttribute) -> list[Change]:
        """Return the edits of an attribute that names an anchor, or refers to some, with or without `#`."""
        return [
            (attribute.start, attribute.end, new)
            for new in [" ".join(map(self._renamed, attribute.value.split()))]
            if new != attribute.value
        ]

    def _renamed(self, written: str) -> str:
        name = written.removeprefix("#")
        if _OWN.fullmatch(name) or (fhir_rules().is_worded(name) and sum(c.isdigit() for c in name) <= _MOST_DIGITS
                                    and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]*", name)):  # fmt: skip
            return written
        if name not in self._new:
            number = len(self._new) + 1
            while f"anchor{number}" in self._taken:
                number += 1
            self._taken.add(f"anchor{number}")
            self._new[name] = f"anchor{number}"
        return ("#" if written.startswith("#") else "") + self._new[name]


class NarrativeReader:
    """Reads narrative blocks into a text.

    Args:
        known: the rules.
        anchors: the anchors of the document.
        declared: handles a namespace declaration.
    """

    def __init__(self, known: CdaRules, anchors: Anchors, declared: Callable[[XmlAttribute], list[Change]]) -> None:
        self._known, self._anchors, self._declared = known, anchors, declared
        listed = known.written["narrative"]
        self._separators = {
            **dict.fromkeys(listed["inline"], ""), **dict.fromkeys(listed["block"], "\n"),
            **dict.fromkeys(listed["cell"], "\t"), **dict.fromkeys(listed["last"], "\n"),
        }  # fmt: skip
        self._listed = {kind: frozenset(listed[kind])
                        for kind in ("last", "worded", "scanned", "anchors", "links")}  # fmt: skip

    def read(self, block: Element, text: XmlText, path: str) -> list[Change]:
        """Add a block to a text. Footnotes, deleted words, and attributes with words follow at the end.

        Returns:
            The edits that are always made: removed attributes, renamed anchors.

        Raises:
            SchemaViolation: an element is not part of CDA's narrative.
        """
        fixed: list[Change] = []
        later: list[Element] = []
        words: list[XmlAttribute] = []

        def walk(element: Element) -> None:
            if element.uri != block.uri or element.name not in self._separators:
                raise refused(path, element, "is not part of a CDA narrative. Remove it")
            for name, attribute in element.attributes.items():
                fixed.extend(self._attribute(name, attribute, words))
            separator = self._separators[element.name]
            if element.name == "br" or (element.name == "paragraph" and not element.children):
                text.line_break()
            elif separator:
                text.separate(separator)
            for child in element.children:
                if isinstance(child, Characters):
                    text.add(child)
                elif child.name in self._listed["last"] or child.value("revised") == "delete":
                    later.append(child)
                else:
                    walk(child)
            if separator:
                text.separate(separator)

        walk(block)
        while later:
            text.separate("\n")
            walk(later.pop(0))
        for attribute in words:
            text.add_attribute(attribute)
        return fixed

    def _attribute(
        self, name: str, attribute: XmlAttribute, words: list[XmlAttribute]
    ) -> Iterable[Change]:
        if name.partition(":")[0] == "xmlns":
            return self._declared(attribute)
        if name in self._known.kept:
            return [] if self._known.kept[name].fullmatch(attribute.value.strip()) else [(*attribute.whole, "")]
        if name in self._listed["scanned"]:
            words.append(attribute)
            return []
        if name in self._listed["worded"]:
            return [] if self._known.styles.issuperset(attribute.value.split()) else [(*attribute.whole, "")]
        if name in self._listed["anchors"] | self._listed["links"]:
            return self._anchors.edits(attribute)
        if name == "href" and attribute.value.startswith("#"):
            return self._anchors.edits(attribute)
        return [(*attribute.whole, "")]  # layout that some vendors write, and what no reader shows


def refused(path: str, element: Element, what: str) -> SchemaViolation:
    """Return the error for an element. It names the path and, if CDA has it, the element."""
    return SchemaViolation(f"{path}: an element {what}", field=path)
