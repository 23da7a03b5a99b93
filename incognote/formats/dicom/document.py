"""A DICOM instance as a Document."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import BinaryIO

from incognote.formats import base, encoding
from incognote.formats.base import (
    Change,
    Document,
    Edit,
    FieldAction,
    Finding,
    Pointer,
    SeenLine,
    account,
    of_child,
    splice,
    split_edits,
)
from incognote.formats.dicom.burned import may_stay
from incognote.formats.dicom.faces import require_no_face
from incognote.formats.dicom.fields import ElementValues, Facts, Value
from incognote.formats.dicom.pixels import FIELD, PixelText
from incognote.formats.dicom.profile import CLEAN_PIXELS, Code, Profile, profile, profile_with
from incognote.formats.dicom.rewriting import new_pixels, verify
from incognote.formats.dicom.second import second
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
from incognote.formats.dicom.voice import require_no_voice
from incognote.formats.dicom.walk import DOCUMENT, DOCUMENT_LENGTH, DicomWalk
from incognote.formats.dicom.write import method, written
from incognote.formats.images.second import unread
from incognote.formats.pictures import Box, DrawnPage, PagedDocument, PagePart
from incognote.nouns import Text
from incognote.schemas.registry import Registry

_WHOLE_DATE = len("2025-03-09")


class DicomDocument(PagedDocument):
    """One instance, with or without pixels. Its pixels are read when its texts are needed, as one page for all frames.

    Args:
        data: the whole file.
        rules: the profile with its options; the shipped one by default.
        facts: what its original shows, if this is an output.

    Raises:
        RecordProblem: it cannot be read.
    """

    def __init__(self, data: bytes, rules: Profile | None = None, facts: Facts | None = None) -> None:
        self.data, self._rules, self._facts = data, rules or profile(), facts
        self._file = read_file(data, encoding.MAX_BYTES)
        require_no_face(self._file, self._rules)
        require_no_voice(self._file)
        self._walk = DicomWalk(self._file, self._rules, facts)
        self.actions, self.known = tuple(self._walk.actions), self._walk.known
        self.patient, self.id, self.children = self._walk.patient, self._walk.id, self._walk.children
        self._pieces = [value for place in self._walk.places.values() for value in place.values if value.is_text]
        self._pixels = PixelText(self._file, self.known)
        self._written = ""
        self._of_field = {
            value.field: place for place in self._walk.places.values() for value in place.values if value.action
        }
        self._cut: dict[str, tuple[str, str]] = {}

    @cached_property
    def texts(self) -> tuple[Text, ...]:  # type: ignore[override]  # read-only
        header = tuple(Text(self._shown(value), value.field) for value in self._pieces)
        body = self._burned_in
        return (*header, Text(body, FIELD)) if body.strip() else header

    @property
    def _burned_in(self) -> str:
        """The text of the pixels. That of an output is known from its original."""
        return self._written if self._facts is not None or self._pixels.frames is None else self._pixels.page.text

    @property
    def findings(self) -> Sequence[Finding]:  # type: ignore[override]  # read-only
        if self._facts is not None or not self._burned_in.strip():
            return ()
        return [replace(each, field=FIELD) for each in self._pixels.page.findings]

    @property
    def pages(self) -> Sequence[PagePart]:  # type: ignore[override]  # read-only
        return [] if self._pixels.frames is None else [PagePart(FIELD, 0, len(self._burned_in))]

    def picture(self, number: int) -> DrawnPage:
        from PIL import Image

        pixels, out = self._pixels.picture(), io.BytesIO()
        Image.fromarray(pixels).save(out, "PNG")
        return DrawnPage(out.getvalue(), pixels.shape[1], pixels.shape[0], self._pixels.page.boxes())

    def boxes_of(self, field: str, start: int, end: int) -> Sequence[tuple[int, Box]]:
        if field != FIELD or self._pixels.frames is None:
            return ()
        return [(1, box) for box in self._pixels.covers([(start, end, "")])]

    def under(self, registry: Registry, data_type: str | None) -> Document:
        rules = profile_with(registry)
        document = self if rules == self._rules else DicomDocument(self.data, rules, self._facts)
        document.registry = registry
        document.children = {name: child.under(registry, None) for name, child in document.children.items()}
        return document

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> DicomDocument:
        facts = Facts({value.field: (value.before, value.after) for value in self._pieces}, self._cut)
        made = DicomDocument(output, self._rules, facts)
        verify(self._pixels, self._pixels.covers(changes.get(FIELD, ())), made._pixels.frames)
        made._written = splice(self._burned_in, changes.get(FIELD, ()))
        return made

    def second(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Iterable[str]:
        yield from second(output)
        made = PixelText(read_file(output, encoding.MAX_BYTES), ())
        if made.frames is None:
            return
        page = self._pixels.page
        for words, parts in unread(made.picture(), page, page.covers(changes.get(FIELD, ()))):
            seen = [(start, end, None if own is None else (FIELD, *own)) for start, end, own in parts]
            yield SeenLine.of(words, [each for each in seen if each[2] or not may_stay(words[each[0] : each[1]])])

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
        made = new_pixels(self._file, self._pixels, self._pixels.covers(changes.get(FIELD, ())))
        added = method(options, [CLEAN_PIXELS] if self._pixels.frames else [], self._file.syntax, kind) | made.added
        out.write(written(self._file, new | made.values, {**found.vrs, **made.vrs}, added) or self.data)

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


