"""Write elements: everything that does not change keeps its bytes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from incognote.errors import MalformedRecord
from incognote.formats.dicom.profile import BASIC, OPTIONS, edition
from incognote.formats.dicom.stream import LONG_FORM, DataElement, DicomFile, SequenceItem, Syntax
from incognote.formats.dicom.values import padded

IMPLEMENTATION_UID = "2.25.203845930467125318370914468531206471"
"""The identifier of this writer, in the form of PS3.5 section B.2."""
_IMPLEMENTATION = "INCOGNOTE"
_META_KEPT = (0x00020001, 0x00020002, 0x00020003, 0x00020010)
_UNDEFINED = 0xFFFFFFFF
_LONGEST_SHORT = 0xFFFE


def written(
    file: DicomFile,
    values: Mapping[DataElement, bytes | None],
    vrs: Mapping[DataElement, str],
    added: Mapping[int, tuple[str, bytes]],
) -> bytes:
    """Return a file with new values, or b"" if it is the same as before.

    Args:
        values: the new value of each changed element, padded; None to leave it out. b"" empties a sequence, too.
        vrs: the value representation of an element whose own one was wrong.
        added: elements of the data set that are written anew, by tag: their value representation and padded value.
    """
    writer = _Writer(file.body, file.syntax, values, vrs)
    body = b"".join(writer.data_set(file.root, added))
    meta = _meta(file, values)
    if body == file.body and meta == file.head[len(file.preamble) :] and file.preamble[:-4].strip(b"\0") == b"":
        stored = b""  # the deflated bytes of the source may differ from ours
    elif file.deflated:
        squeeze = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        stored = padded(squeeze.compress(body) + squeeze.flush(), "OB")
    else:
        stored = body
    preamble = bytes(max(0, len(file.preamble) - 4)) + file.preamble[-4:]
    return preamble + meta + stored if stored else b""


def method(
    options: Sequence[str], pixels: Sequence[tuple[str, str]], syntax: Syntax, dates: str
) -> dict[int, tuple[str, bytes]]:
    """Return the elements that say how an output was de-identified.

    Args:
        options: the names of the options in force. pixels: the codes and meanings of what cleaned the pixels.
        dates: `REMOVED`, `MODIFIED` or `UNMODIFIED`.
    """
    codes = [BASIC, *pixels, *(OPTIONS[name] for name in OPTIONS if name in options)]
    items = []
    for code, meaning in codes:
        parts = {0x00080100: ("SH", code), 0x00080102: ("SH", "DCM"), 0x00080104: ("LO", meaning)}
        content = b"".join(element(syntax, tag, vr, padded(text.encode(), vr)) for tag, (vr, text) in parts.items())
        items.append(mark(syntax, 0xE000, len(content)) + content)
    name = f"incognote, DICOM PS3.15 {edition()} Annex E"
    return {
        0x00120062: ("CS", b"YES "), 0x00120063: ("LO", padded(name.encode(), "LO")),
        0x00120064: ("SQ", b"".join(items)), 0x00280303: ("CS", padded(dates.encode(), "CS")),
    }  # fmt: skip


def element(syntax: Syntax, tag: int, vr: str, value: bytes, undefined: bool = False) -> bytes:
    """Return an element with its header.

    Raises:
        MalformedRecord: the value is too long for its representation.
    """
    length = _UNDEFINED if undefined else len(value)
    head = syntax.bytes_of(tag >> 16, 2) + syntax.bytes_of(tag & 0xFFFF, 2)
    if not syntax.explicit:
        return head + syntax.bytes_of(length, 4) + value
    if vr in LONG_FORM:
        return head + vr.encode() + b"\0\0" + syntax.bytes_of(length, 4) + value
    if length > _LONGEST_SHORT:
        raise MalformedRecord("a new value is longer than its representation allows")
    return head + vr.encode() + syntax.bytes_of(length, 2) + value


def mark(syntax: Syntax, number: int, length: int) -> bytes:
    """Return the header of an item, or a delimiter."""
    return syntax.bytes_of(0xFFFE, 2) + syntax.bytes_of(number, 2) + syntax.bytes_of(length, 4)


def _meta(file: DicomFile, values: Mapping[DataElement, bytes | None]) -> bytes:
    """Return the file meta information: the class, identifier and syntax of the instance, and who wrote it."""
    if file.meta is None:
        return b""
    syntax, parts = Syntax(), {}
    for tag in _META_KEPT:
        if one := file.meta.elements.get(tag):
            new = values.get(one)
            parts[tag] = (one.vr, file.head[slice(*one.value)] if new is None else new)
    parts[0x00020012] = ("UI", padded(IMPLEMENTATION_UID.encode(), "UI"))
    parts[0x00020013] = ("SH", padded(_IMPLEMENTATION.encode(), "SH"))
    content = b"".join(element(syntax, tag, *part) for tag, part in sorted(parts.items()))
    return element(syntax, 0x00020000, "UL", len(content).to_bytes(4, "little")) + content


class _Writer:
    """Writes the elements of one data set."""

    def __init__(
        self, body: bytes, syntax: Syntax, values: Mapping[DataElement, bytes | None], vrs: Mapping[DataElement, str]
    ) -> None:
        self._body, self._syntax, self._values, self._vrs = body, syntax, values, vrs

    def data_set(self, item: SequenceItem, added: Mapping[int, tuple[str, bytes]]) -> list[bytes]:
        found = {tag: self._element(each) for tag, each in item.elements.items() if tag not in added}
        found |= {tag: element(self._syntax, tag, *new) for tag, new in added.items()}
        return [found[tag] for tag in sorted(found)]

    def _element(self, each: DataElement) -> bytes:
        if each in self._values:
            new = self._values[each]
            if new is None:
                return b""
            return element(self._syntax, each.tag, self._vrs.get(each, each.vr), new)
        if each.items is None:
            return self._body[each.start : each.end]
        content = b"".join(self._item(item) for item in each.items)
        if each.undefined:
            content += mark(self._syntax, 0xE0DD, 0)
        return element(self._syntax, each.tag, "SQ", content, each.undefined)

    def _item(self, item: SequenceItem) -> bytes:
        content = b"".join(self.data_set(item, {}))
        if item.undefined:
            return mark(self._syntax, 0xE000, _UNDEFINED) + content + mark(self._syntax, 0xE00D, 0)
        return mark(self._syntax, 0xE000, len(content)) + content
