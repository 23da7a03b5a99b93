"""An office document: it is opened by the rules of its format, and written back part by part."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO, Protocol

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
from incognote.formats.office.flow import FlowText
from incognote.formats.office.package import XmlPart, zipped
from incognote.formats.records.rawxml import XmlText
from incognote.formats.rtf import closed
from incognote.formats.rtf.stretch import outside
from incognote.nouns import Known, Text


class PartText(Protocol):
    """A text of a part, with the conversion of its edits."""

    @property
    def text(self) -> str: ...

    def edits(self, changes: Iterable[Change]) -> list[Change]: ...


class OfficeParts:
    """What a reader finds in an office file. It grows while the file is read.

    Attributes:
        raw: the bytes of each part, in order.
        xml: the parts that were parsed, by name.
        texts: each text by its field, with its part.
        fields: the structured fields. For each: its part, and the function that writes a new value as changes of it.
        fixed: the changes that are made to every document, by part. A change inside another one is dropped.
        replaced: parts that get new bytes, such as pictures. removed: parts that are left out.
        renamed: the new names of parts.
        children: documents inside, by field, with the name of their part.
        known: the names in structured fields.
    """

    def __init__(self, raw: Mapping[str, bytes]) -> None:
        self.raw = dict(raw)
        self.xml: dict[str, XmlPart] = {}
        self.texts: dict[str, tuple[XmlPart, PartText]] = {}
        self.fields: dict[FieldAction, tuple[XmlPart, Callable[[str], list[Change]]]] = {}
        self.fixed: dict[str, list[Change]] = {}
        self.replaced: dict[str, bytes] = {}
        self.removed: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.children: dict[str, tuple[str, Document]] = {}
        self.known: list[Known] = []
        self._numbers: Counter[str] = Counter()

    def text(self, part: XmlPart, field: str) -> XmlText:
        """Begin a text of a part. A second one with the same field gets a number."""
        text = part.text()
        self.texts[self.numbered(field)] = (part, text)
        return text

    def flow(self, part: XmlPart, field: str) -> FlowText:
        """Begin a text that is composed of runs. A second one with the same field gets a number."""
        flow = FlowText(part)
        self.texts[self.numbered(field)] = (part, flow)
        return flow

    def numbered(self, field: str) -> str:
        """Return a field, with a number unless it is the first one of this name."""
        self._numbers[field] += 1
        return field if self._numbers[field] == 1 else f"{field} {self._numbers[field]}"

    def structured(
        self, part: XmlPart, field: str, kind: str, value: str, write: Callable[[str], list[Change]]
    ) -> None:
        """Add a structured field with a name, which is masked. A full name is also searched for in the texts.

        Args:
            kind: PERSON or ORGANIZATION.
            write: returns a new value as changes of the part.
        """
        name = value.strip()
        if name.casefold() in closed.NOBODY:
            return
        text = Text(value, f"{field} {len(self.fields) + 1}")
        self.fields[FieldAction(text, 0, len(value), "mask", kind)] = (part, write)
        if kind == "ORGANIZATION" or closed.is_full_name(name):
            self.known.append(Known(kind, name))

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
        self._fixed = {name: list(_outermost(changes)) for name, changes in parts.fixed.items()}
        texts = {field: text.text for field, (_, text) in parts.texts.items()}
        self.texts = tuple(Text(content, field) for field, content in texts.items() if content.strip())
        self.actions = tuple(parts.fields)
        self.known = tuple({each.value: each for each in reversed(parts.known)}.values())[::-1]  # the first type counts
        self.children = {field: child for field, (_, child) in parts.children.items()}
        for part in parts.xml.values():
            part.xml.root.children.clear()  # only reading needs the elements, and they take much memory

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
        for name in (by_part.keys() | self._fixed.keys()) & written.keys():
            fixed = self._fixed.get(name, [])
            kept = outside(by_part.get(name, ()), fixed)
            written[name] = found.xml[name].rebuilt([*fixed, *kept])
        for field, (name, _) in found.children.items():
            child = self.children[field]
            inner = io.BytesIO()
            child.rebuild(of_child(edits, field), inner)
            written[name] = child.head + inner.getvalue() + child.after
        if written == found.raw and not found.renamed and zipped(found.raw) == self.data:
            out.write(self.data)
        else:
            out.write(zipped({found.renamed.get(name, name): data for name, data in written.items()}))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)


def _outermost(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes that are not inside another one."""
    reached = -1
    for change in sorted(changes, key=lambda change: (change[0], -change[1])):
        if change[1] > reached or (change[0] == change[1] == reached):
            yield change
            reached = max(reached, change[1])
