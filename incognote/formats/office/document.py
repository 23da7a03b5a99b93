"""An office document: it is opened by the rules of its format, and written back part by part."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from typing import BinaryIO

from incognote.formats.base import (
    Change,
    Document,
    Edit,
    FieldAction,
    Place,
    Pointer,
    account,
    of_child,
    split_edits,
)
from incognote.formats.office.package import XmlPart, zipped
from incognote.formats.records.rawxml import XmlText
from incognote.formats.rtf.stretch import outside
from incognote.nouns import Known, Text


class OfficeParts:
    """What a reader finds in an office file. It grows while the file is read.

    Attributes:
        raw: the bytes of each part, in order.
        xml: the parts that were parsed, by name.
        texts: each text by its field, with its part.
        fields: the structured fields. For each: its part, and the function that writes a new value as changes of it.
        fixed: the changes that are made to every document, by part. A change of a text inside one of them is dropped.
        replaced: parts that get new bytes, such as pictures. removed: parts that are left out.
        children: documents inside, by field, with the name of their part.
        known: the names in structured fields.
    """

    def __init__(self, raw: Mapping[str, bytes]) -> None:
        self.raw = dict(raw)
        self.xml: dict[str, XmlPart] = {}
        self.texts: dict[str, tuple[XmlPart, XmlText]] = {}
        self.fields: dict[FieldAction, tuple[XmlPart, Callable[[str], list[Change]]]] = {}
        self.fixed: dict[str, list[Change]] = {}
        self.replaced: dict[str, bytes] = {}
        self.removed: set[str] = set()
        self.children: dict[str, tuple[str, Document]] = {}
        self.known: list[Known] = []

    def text(self, part: XmlPart, field: str) -> XmlText:
        """Begin a text of a part. A second one with the same field gets a number."""
        name, number = field, 1
        while name in self.texts:
            number += 1
            name = f"{field} {number}"
        self.texts[name] = (part, part.text())
        return self.texts[name][1]

    def fix(self, part: XmlPart, start: int, end: int, new: str = "") -> None:
        """Change a stretch of a part in every document."""
        self.fixed.setdefault(part.name, []).append((start, end, new))


class OfficeDocument(Document):
    """A whole office file.

    Args:
        data: its bytes.
        parts: what its reader found.
    """

    def __init__(self, data: bytes, parts: OfficeParts) -> None:
        self.data = data
        self._parts = parts
        texts = {field: text.text for field, (_, text) in parts.texts.items()}
        self.texts = tuple(Text(content, field) for field, content in texts.items() if content.strip())
        self.actions = tuple(parts.fields)
        self.known = tuple(dict.fromkeys(parts.known))
        self.children = {field: child for field, (_, child) in parts.children.items()}

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        changes, values = split_edits(edits)
        account(self, changes, values)
        found = self._parts
        by_part: dict[str, list[Change]] = {}
        for field, own in changes.items():
            if field in found.texts:
                part, text = found.texts[field]
                by_part.setdefault(part.name, []).extend(text.edits(own))
        for action, value in values.items():
            if action in found.fields and value != action.text.content[action.start : action.end]:
                part, write = found.fields[action]
                by_part.setdefault(part.name, []).extend(write(value))
        left = (each for each in found.raw.items() if each[0] not in found.removed)
        written = {name: found.replaced.get(name, data) for name, data in left}
        for name in by_part.keys() | found.fixed.keys():
            fixed = found.fixed.get(name, [])
            kept = outside(by_part.get(name, ()), fixed)
            written[name] = found.xml[name].rebuilt([*fixed, *kept])
        for field, (name, child) in found.children.items():
            inner = io.BytesIO()
            child.rebuild(of_child(edits, field), inner)
            written[name] = child.head + inner.getvalue() + child.after
        out.write(self.data if written == found.raw and zipped(found.raw) == self.data else zipped(written))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)
