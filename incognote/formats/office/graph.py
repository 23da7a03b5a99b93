"""The parts of an office file that stay: those that known relations lead to. All others are removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.office.document import OfficeParts
from incognote.formats.office.names import NewNames
from incognote.formats.office.package import (
    TYPES,
    Relation,
    XmlPart,
    parsed,
    relations,
    relations_part,
    shown_name,
    types_of,
    unzipped,
)
from incognote.formats.office.pictures import pictures
from incognote.formats.office.rules import lists, stays
from incognote.formats.records.rawxml import Element, XmlAttribute
from incognote.formats.records.references import escaped
from incognote.nouns import Reason

_RELATION_PARTS = "application/vnd.openxmlformats-package.relationships+xml"
_MACROS = "an office file with macros. Save it without macros, as .docx or .xlsx"
_SIGNED = "an office file with a digital signature, which edits would break. Remove it first"
_RELATION_ATTRIBUTES = frozenset(("Id", "Type", "Target", "TargetMode"))
_NESTED = {"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml": "application/"
           "vnd.openxmlformats-officedocument.wordprocessingml.document"}  # fmt: skip


class Package:
    """The parts of an office file.

    Args:
        data: the file.

    Attributes:
        parts: what is found in it. Pictures, relations, content types, and embedded documents are already there.
        kinds: the XML parts to read, in order, with the last word of the relation that leads to each.
        types: the content type of each part.
        names: the new names for those that may not stay.

    Raises:
        MalformedRecord: it is damaged. UnsupportedFormat: it is encrypted or signed, or has macros.
    """

    def __init__(self, data: bytes) -> None:
        raw = unzipped(data)
        if TYPES not in raw:
            raise MalformedRecord("a ZIP file without the list of parts of an office file. Save the document again")
        self.parts = OfficeParts(raw)
        self.names = NewNames(lambda name: name in self._values)
        self._types = self._parsed(TYPES)
        self.types = types_of(self._types.xml, raw)
        self._refuse(raw)
        self.kinds: dict[str, str] = {}
        self._kept: dict[str, str] = {}  # the kind of each part that stays, and "rels" for lists of relations
        self._links: dict[str, dict[str, Relation]] = {}  # the relations that stay, by part
        self._lower = {name.lower(): name for name in raw}
        self._reach()
        self.parts.removed.update(raw.keys() - self._kept.keys() - {TYPES})
        self._rename()
        for name in self._links:
            self._fix_relations(name)
        self._fix_types()

    def links(self, name: str) -> Mapping[str, Relation]:
        """Return the relations of a part that stay, by their ids."""
        return self._links.get(name, {})

    def main(self) -> str:
        """Return the name of the main part.

        Raises:
            MalformedRecord: there is none.
        """
        name = next((each.target for each in self.links("").values() if each.kind == "officeDocument"), None)
        if name is None:
            raise MalformedRecord("an office file without a main part. Save the document again")
        return name

    @cached_property
    def _values(self) -> frozenset[str]:
        """All values of attributes, to which no new name may be equal."""
        elements = (element for part in self.parts.xml.values() for element in part.xml.root.walk())
        return frozenset(attribute.value for element in elements for attribute in element.attributes.values())

    def _parsed(self, name: str) -> XmlPart:
        self.parts.xml[name] = parsed(name, self.parts.raw[name])
        return self.parts.xml[name]

    def _refuse(self, raw: Mapping[str, bytes]) -> None:
        types = {element.value("ContentType").lower() for element in self._types.xml.root.elements}
        if any("macroenabled" in kind or "vbaproject" in kind for kind in types):
            raise UnsupportedFormat(_MACROS)
        if any("digital-signature" in kind for kind in types) or any(name.startswith("_xmlsignatures") for name in raw):
            raise UnsupportedFormat(_SIGNED)

    def _reach(self) -> None:
        """Follow the relations from the file to all parts that stay."""
        waiting = [""]
        for source in waiting:
            own = relations_part(source)
            if own not in self.parts.raw:
                continue
            self._kept[own] = "rels"
            self._links[source] = {}
            for relation in relations(source, self._parsed(own).xml):
                kept = self._followed(relation)
                if kept is None or relation.id in self._links[source]:
                    continue
                self._links[source][relation.id] = kept
                if kept.target is not None and kept.target in self.kinds and kept.target not in waiting:
                    waiting.append(kept.target)

    def _followed(self, relation: Relation) -> Relation | None:
        """Return a relation with the real name of its part, or None if it is removed."""
        kinds = lists()["relations"]
        kind = relation.kind
        if kind in kinds["macros"]:
            raise UnsupportedFormat(_MACROS)
        if kind in kinds["signature"]:
            raise UnsupportedFormat(_SIGNED)
        if not stays("sort", relation.element.value("Type")):
            return None
        if kind in kinds["link"]:
            return relation._replace(target=None)
        name = self._lower.get((relation.target or "").lower())
        if name is None or name == TYPES or self._kept.get(name, kind) != kind:
            return None
        if name not in self._kept:
            known = self._reads(kind, name, self.types.get(name, ""))
            if not known:
                return None
            self._kept[name] = kind
        return relation._replace(target=name)

    def _reads(self, kind: str, name: str, content_type: str) -> bool:
        """Take a part over by its kind. Return whether it stays."""
        kinds = lists()["relations"]
        if kind in kinds["read"]:
            if content_type not in lists()["lists"]["types"]:
                return False
            self.kinds[name] = kind
            self._parsed(name)
        elif kind in kinds["picture"]:
            return self._shows(name, content_type)
        elif kind in kinds["embedded"]:
            return self._embeds(name)
        elif kind in kinds["inserted"]:
            self._inserts(name, content_type)
        else:
            return False
        return True

    def _shows(self, name: str, content_type: str) -> bool:
        """Read a picture, or replace it. Return whether it stays: pictures of unknown types do not."""
        from incognote.formats.registry import UnreadableSource, nested, reads_picture

        neutral, data = pictures().get(content_type.lower()), self.parts.raw[name]
        if neutral is None or data == neutral:
            return neutral is not None
        if not reads_picture(data):
            self.parts.replaced[name] = neutral
            return True
        try:
            child = nested(data, None, "picture")[1]
        except RecordProblem as problem:
            reason = Reason(problem.code, "picture", f"{shown_name(name)}: {problem}")
            raise UnreadableSource(reason) from None
        self.parts.children[self.parts.numbered("picture")] = (name, child)
        return True

    def _embeds(self, name: str) -> bool:
        from incognote.formats.registry import nested, of_container

        data = self.parts.raw[name]
        if of_container(data) is None:
            return False
        try:
            child = nested(data, None, "embedded")[1]
        except RecordProblem:  # it is removed, like an object without a reader
            return False
        self.parts.children[self.parts.numbered("embedded")] = (name, child)
        return True

    def _inserts(self, name: str, content_type: str) -> None:
        from incognote.formats.registry import nested

        field = self.parts.numbered("inserted")
        try:
            if not content_type or not stays("content", content_type):
                raise UnsupportedFormat("no reader")
            child = nested(self.parts.raw[name], _NESTED.get(content_type, content_type), field)[1]
        except UnsupportedFormat:
            raise UnsupportedFormat(
                "an inserted file (altChunk) without a reader. Save the document again in Word"
            ) from None
        self.parts.children[field] = (name, child)

    def _rename(self) -> None:
        """Give new names to parts whose names could be those of a person."""
        every = list(self.parts.raw)
        for name, kind in self._kept.items():
            if kind != "rels":
                new = self.names.part(name, every)
                if new != name:
                    self.parts.renamed[name] = new
        for name in self._links:
            own = relations_part(name)
            new = relations_part(self.parts.renamed.get(name, name))
            if new != own:
                self.parts.renamed[own] = new

    def _fix_relations(self, name: str) -> None:
        """Remove the relations that do not stay, and name the others anew."""
        own = relations_part(name)
        part = self.parts.xml[own]
        kept = {id(each.element): each for each in self._links[name].values()}
        for element in self._children(part):
            relation = kept.get(id(element))
            if relation is None:
                self.parts.fix(part, element.start, element.end)
                continue
            self._hollow(part, element)
            for key, attribute in element.attributes.items():
                if key not in _RELATION_ATTRIBUTES:
                    self.parts.fix(part, *attribute.whole)
            self._set(part, element.attributes.get("Id"), self.names.of("relation", relation.id) or "")
            target = element.attributes.get("Target")
            if relation.target is None:
                self._set(part, target, "#")
                self._set(part, element.attributes.get("TargetMode"), "External")
            elif target is not None and not self._is_plain(name, target.value, relation.target):
                self._set(part, target, "/" + self.parts.renamed.get(relation.target, relation.target))

    def _is_plain(self, source: str, written: str, target: str) -> bool:
        """Whether a target is written without detours, and neither part has a new name."""
        if source in self.parts.renamed or target in self.parts.renamed:
            return False
        if written == f"/{target}":
            return True
        folder = source.split("/")[:-1]
        steps = target.split("/")
        while folder and len(steps) > 1 and folder[0] == steps[0]:
            folder, steps = folder[1:], steps[1:]
        return written == "../" * len(folder) + "/".join(steps)

    def _fix_types(self) -> None:
        """Remove the content types of parts that do not stay."""
        known, part = lists()["lists"], self._types
        defaults: dict[str, str] = {}
        own: dict[str, str] = {}
        for element in self._children(part):
            kind = element.value("ContentType")
            self._hollow(part, element)
            name = self._lower.get(element.value("PartName").lstrip("/").lower(), "")
            suffix = element.value("Extension").lower()
            if element.name == "Default" and suffix in known["suffixes"] and kind in known["types"]:
                defaults[suffix] = kind
                allowed = ("Extension", "ContentType")
            elif element.name == "Override" and name in self._kept and kind in known["types"]:
                own[name] = kind
                allowed = ("PartName", "ContentType")
                if name in self.parts.renamed or element.value("PartName").lstrip("/") != name:
                    self._set(part, element.attributes["PartName"], "/" + self.parts.renamed.get(name, name))
            else:
                self.parts.fix(part, element.start, element.end)
                continue
            for key, attribute in element.attributes.items():
                if key not in allowed:
                    self.parts.fix(part, *attribute.whole)
        added = ""
        for name, kind in self._kept.items():
            new = self.parts.renamed.get(name, name)
            given = _RELATION_PARTS if kind == "rels" else self.types.get(name, "")
            if own.get(name, defaults.get(new.rpartition(".")[2].lower(), "")) != given:
                added += f'<Override PartName="/{new}" ContentType="{given}"/>'
        if added:
            root = part.xml.root
            prefix = root.tag.rpartition(":")[0]
            at = part.source.rindex("</", root.inside, root.end)
            self.parts.fix(part, at, at, added.replace("<Override", f"<{prefix}:Override" if prefix else "<Override"))

    def _children(self, part: XmlPart) -> Iterator[Element]:
        """Yield the elements of a list. Words, comments, and open attributes of the list itself are removed."""
        root = part.xml.root
        for start, end in (*part.xml.comments, *((each.start, each.end) for each in part.xml.stylesheets)):
            self.parts.fix(part, start, end)
        for words in root.characters:
            if part.source[words.start : words.end].strip():
                raise MalformedRecord("words in a list of parts. Save the file again", field=part.shown)
        for key, attribute in root.attributes.items():
            if not (key.startswith("xmlns") and attribute.value in lists()["spaces"].values()):
                self.parts.fix(part, *attribute.whole)
        yield from root.elements

    def _hollow(self, part: XmlPart, element: Element) -> None:
        if element.children:
            close = part.source.rindex("</", element.inside, element.end)
            self.parts.fix(part, element.inside, close)

    def _set(self, part: XmlPart, attribute: XmlAttribute | None, value: str) -> None:
        if attribute is not None and attribute.value != value:
            new = escaped(value, part.codec.encoding, attribute=True)
            self.parts.fix(part, attribute.start, attribute.end, new)


