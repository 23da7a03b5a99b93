"""A DICOM instance as a Document."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

from incognote.formats import base, encoding
from incognote.formats.base import Change, Document, Edit, FieldAction, Pointer, account, of_child, splice, split_edits
from incognote.formats.dicom.fields import ElementValues, Facts, Value
from incognote.formats.dicom.pixels import require_reader
from incognote.formats.dicom.profile import Code, Profile, profile, profile_with
from incognote.formats.dicom.stream import DataElement, read_file
from incognote.formats.dicom.values import (
    DUMMIES,
    WHOLE,
    age_of,
    aged,
    dated,
    encoded,
    fitted,
    iso_of,
    named,
    natural,
    padded,
    uid_of,
)
from incognote.formats.dicom.walk import DOCUMENT, DOCUMENT_LENGTH, DicomWalk
from incognote.formats.dicom.write import method, written
from incognote.nouns import Text
from incognote.schemas.registry import Registry

_WHOLE_DATE = len("2025-03-09")


class DicomDocument(Document):
    """One instance, with or without pixels.

    Args:
        data: the whole file.
        rules: the profile with its options; the shipped one by default.
        facts: what its original shows, if this is an output.

    Raises:
        RecordProblem: it cannot be read, or its pixels have no reader.
    """

    def __init__(self, data: bytes, rules: Profile | None = None, facts: Facts | None = None) -> None:
        self.data, self._rules, self._facts = data, rules or profile(), facts
        self._file = read_file(data, encoding.MAX_BYTES)
        self._pixels = require_reader(self._file)
        self._walk = DicomWalk(self._file, self._rules, facts)
        self.actions, self.known = tuple(self._walk.actions), self._walk.known
        self.patient, self.id, self.children = self._walk.patient, self._walk.id, self._walk.children
        self._pieces = [value for place in self._walk.places.values() for value in place.values if value.is_text]
        self.texts = tuple(Text(self._shown(value), value.field) for value in self._pieces)
        self._of_field = {
            value.field: place for place in self._walk.places.values() for value in place.values if value.action
        }
        self._cut: dict[str, tuple[str, str]] = {}

    def under(self, registry: Registry, data_type: str | None) -> Document:
        rules = profile_with(registry)
        document = self if rules == self._rules else DicomDocument(self.data, rules, self._facts)
        document.registry = registry
        document.children = {name: child.under(registry, None) for name, child in document.children.items()}
        return document

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> DicomDocument:
        facts = Facts({value.field: (value.before, value.after) for value in self._pieces}, self._cut)
        return DicomDocument(output, self._rules, facts)

    def places(self, field: str, start: int, end: int) -> tuple[base.Place, ...]:
        return (Pointer(field),)

    def written(self, action: FieldAction, value: str) -> str | None:
        place = self._of_field[action.text.field]
        content = action.text.content
        if value == content:
            return value
        new = self._new(action, place, value)
        if new is None or new == DUMMIES.get(place.vr):
            return None
        if place.vr == "PN":
            return natural(new)
        if place.vr == "AS":
            return age_of(new)
        return iso_of(new) if place.vr in ("DA", "DT") else new

    def _new(self, action: FieldAction, place: ElementValues, value: str) -> str | None:
        """Return the new value of a structured field as it is written, or None for none."""
        vr = place.vr
        old = next(each.written for each in place.values if each.action is action or each.field == action.text.field)
        if value == action.text.content:
            return old
        if vr == "PN":
            return named(value)
        if vr == "UI":
            return uid_of(value)
        if vr in DUMMIES:
            new = aged(value) if vr == "AS" else dated(vr, old, value)
            return new or (DUMMIES[vr] if place.otherwise == "dummy" else None)
        return fitted(vr, value) or None

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        changes, values = split_edits(edits)
        account(self, changes, values)
        found, by_path = self._walk, {action.text.field: value for action, value in values.items()}
        new: dict[DataElement, bytes | None] = {**dict.fromkeys(found.removed), **found.fixed}
        dates: list[tuple[str, str]] = []
        for element, place in found.places.items():
            parts: list[str] = []
            same = True
            for value in place.values:
                part: str | None = value.written
                if value.is_text:
                    part = self._fitted(place.vr, value, splice(self._shown(value), changes.get(value.field, ())))
                elif value.action is not None:
                    part = self._new(value.action, place, by_path[value.field])
                    if place.vr in ("DA", "DT"):
                        dates.append((value.written, self._shift(value, by_path[value.field])))
                same = same and part == value.written
                parts += [] if part is None else [part]
            if not same or element in found.vrs:
                new[element] = self._bytes(place, parts)
        retained = [after for _, after in dates if after]
        kind = "REMOVED" if not retained else "MODIFIED" if any(a != b for a, b in dates) else "UNMODIFIED"
        if not retained:
            for element, otherwise in found.times.items():
                new[element] = _without(otherwise)
        for path, child in self.children.items():
            self._embed(path, child, of_child(edits, path), new)
        options = [each for each in self._rules.options if each not in ("modified", "full")]
        options += {"MODIFIED": ["modified"], "UNMODIFIED": ["full"]}.get(kind, [])
        added = method(options, self._pixels, self._file.syntax, kind)
        out.write(written(self._file, new, found.vrs, added) or self.data)

    def _shift(self, value: Value, iso: str) -> str:
        """Return a date as it is written in the output if it is a whole one, else ""."""
        assert value.action is not None
        if iso == value.action.text.content:
            return value.written
        place = self._of_field[value.field]
        return (dated(place.vr, value.written, iso) or "") if len(iso) == _WHOLE_DATE else ""

    def _bytes(self, place: ElementValues, parts: Sequence[str]) -> bytes | None:
        if not parts:
            return _without(place.otherwise)
        whole = parts[0] if place.vr in WHOLE else "\\".join(parts)
        return padded(encoded(whole, place.codecs), place.vr)

    def _shown(self, value: Value) -> str:
        """Return the text of a value: in an output, with the words that were too long for it."""
        short, full = self._facts.cut.get(value.field, ("", "")) if self._facts else ("", "")
        return value.text_of(full if short and short == value.written else value.written)

    def _fitted(self, vr: str, value: Value, new: str) -> str:
        new = value.before + new + value.after
        if new == value.written:
            return new
        if vr not in WHOLE:
            new = " ".join(new.replace("\\", "/").split())
        short = fitted(vr, new)
        if short != new:
            self._cut[value.field] = (short, new)
        return short

    def _embed(self, path: str, child: Document, edits: list[Edit], new: dict[DataElement, bytes | None]) -> None:
        """Write an encapsulated document with its edits."""
        root, out = self._file.root.elements, io.BytesIO()
        child.rebuild(edits, out)
        data = child.head + out.getvalue() + child.after
        element, size = root[DOCUMENT], root.get(DOCUMENT_LENGTH)
        if padded(data, "OB") != self._walk.bytes_of(element):
            new[element] = padded(data, "OB")
            if size is not None:
                new[size] = self._file.syntax.bytes_of(len(data), 4)


def _without(otherwise: Code) -> bytes | None:
    """Return what is written for a value that the policy removes."""
    return b"" if otherwise == "empty" else DUMMIES["TM"].encode() if otherwise == "dummy" else None


