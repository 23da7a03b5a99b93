"""The elements of a DICOM file (PS3.5 sections 6 and 7, PS3.10 section 7), by their places in its bytes.

Every length is checked against what surrounds it. Values stay bytes, except those that `DicomFile.words` returns.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from incognote.errors import MalformedRecord, UnsupportedFormat

IMPLICIT, DEFLATED, BIG_ENDIAN = "1.2.840.10008.1.2", "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2"
EXPLICIT = "1.2.840.10008.1.2.1"
_JPIP_DEFLATED = ("1.2.840.10008.1.2.4.95", "1.2.840.10008.1.2.4.205")
_DIRECTORY = "1.2.840.10008.1.3.10"
SHORT_FORM = frozenset("AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US".split())
LONG_FORM = frozenset("OB OD OF OL OV OW SQ SV UC UN UR UT UV".split())
_META = 0x0002  # the group of the file meta information
_UNDEFINED = 0xFFFFFFFF
_ITEM, _END_OF_ITEM, _END = 0xFFFEE000, 0xFFFEE00D, 0xFFFEE0DD
PIXELS = frozenset((0x7FE00008, 0x7FE00009, 0x7FE00010))
MOST_DEPTH, MOST_ELEMENTS = 32, 1_000_000
_PREAMBLE = 128


@dataclass(slots=True, eq=False)
class DataElement:
    """One data element.

    Args:
        tag: group and element in one number.
        vr: the value representation as it is written, or of the dictionary; `UN` if nobody knows it.
        start, end: the place of the whole element in the bytes, with its header.
        value: the place of its value. For encapsulated pixel data, the fragments with their delimiter.
        items: the items of a sequence, else None.
        undefined: whether its length is undefined.
    """

    tag: int
    vr: str
    start: int
    end: int
    value: tuple[int, int]
    items: list[SequenceItem] | None = None
    undefined: bool = False


@dataclass(slots=True, eq=False)
class SequenceItem:
    """The elements of a data set or of an item, by tag, in the order of their tags."""

    elements: dict[int, DataElement] = field(default_factory=dict)
    undefined: bool = False


@dataclass(frozen=True, slots=True)
class Syntax:
    """How elements are encoded."""

    explicit: bool = True
    little: bool = True

    def number(self, data: bytes) -> int:
        return int.from_bytes(data, "little" if self.little else "big")

    def bytes_of(self, number: int, size: int) -> bytes:
        return number.to_bytes(size, "little" if self.little else "big")


@dataclass(frozen=True, slots=True, eq=False)
class DicomFile:
    """A parsed file.

    Args:
        body: the bytes of the data set, inflated if it was deflated. Places in `root` refer to them.
        preamble: the 128 bytes and the prefix before the file meta information, or b"".
        head: the bytes of the file meta information, to which the places in `meta` refer.
        meta: its elements, or None if there is none.
    """

    body: bytes = field(repr=False)
    root: SequenceItem = field(repr=False)
    syntax: Syntax
    deflated: bool
    preamble: bytes = field(repr=False)
    head: bytes = field(repr=False)
    meta: SequenceItem | None = field(repr=False)

    def words(self, tag: int) -> str:
        """Return the characters of a value (Latin-1) without its padding, or "" for none and for a sequence."""
        item, data = (self.meta, self.head) if tag >> 16 == _META else (self.root, self.body)
        element = item.elements.get(tag) if item else None
        return data[slice(*element.value)].decode("latin-1").strip(" \0") if element and element.items is None else ""


def read_file(data: bytes, most: int) -> DicomFile:
    """Return the elements of a file.

    Args:
        data: the whole file.
        most: the most bytes of an inflated data set.

    Raises:
        MalformedRecord: a length, tag or value representation is wrong, an element occurs twice, or data is missing.
        UnsupportedFormat: a directory of files (DICOMDIR), or a transfer syntax whose pixels are elsewhere.
    """
    at = _PREAMBLE + 4 if data[_PREAMBLE : _PREAMBLE + 4] == b"DICM" else 0
    preamble = data[:at]
    reader = _Reader(data, Syntax())
    meta, end = None, at
    if data[at : at + 2] == b"\x02\x00":
        meta = SequenceItem()
        while data[end : end + 2] == b"\x02\x00":
            element, end = reader.element(end, len(data), 0)
            _add(meta, element)
    if preamble and meta is None:
        raise MalformedRecord("no file meta information after the preamble")
    name = _text(data, meta, 0x00020010) if meta else ""
    if meta and not name:
        raise MalformedRecord("no transfer syntax", field="TransferSyntaxUID")
    if name in _JPIP_DEFLATED or name.startswith("1.2.840.10008.1.2.4.94"):
        raise UnsupportedFormat("DICOM whose pixels are on a JPIP server")
    if meta and _text(data, meta, 0x00020002) == _DIRECTORY:
        raise UnsupportedFormat("a DICOMDIR. Leave it out, and make a new one of the outputs")
    deflated = name == DEFLATED
    body = _inflated(data[end:], most) if deflated else data[end:]
    syntax = Syntax(name != IMPLICIT, name != BIG_ENDIAN) if meta else _guessed(body)
    root = _Reader(body, syntax).data_set()
    if not root.elements:
        raise MalformedRecord("no data set")
    return DicomFile(body, root, syntax, deflated, preamble, data[:end], meta)


def _text(data: bytes, item: SequenceItem, tag: int) -> str:
    element = item.elements.get(tag)
    return data[slice(*element.value)].decode("latin-1").rstrip("\0 ") if element else ""


def _guessed(body: bytes) -> Syntax:
    """Return the syntax of a data set without file meta information."""
    if len(body) < 8 or body[0] == 0 or body[1] != 0:
        raise MalformedRecord("not a DICOM file: no prefix, and no element of a low group at its beginning")
    return Syntax(explicit=body[4:6].decode("latin-1") in SHORT_FORM | LONG_FORM)


def _inflated(data: bytes, most: int) -> bytes:
    unzip = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        found = unzip.decompress(data, most + 1)
    except zlib.error:
        raise MalformedRecord("the deflated data set is damaged") from None
    if len(found) > most:
        raise MalformedRecord(f"the data set inflates to more than {most} bytes")
    trailer = struct.pack("<II", zlib.crc32(found), len(found))  # as in gzip; some programs write it
    if not unzip.eof or unzip.unused_data.removeprefix(trailer).strip(b"\0"):
        raise MalformedRecord("the deflated data set is cut off, or other bytes follow it")
    return found


def _add(item: SequenceItem, element: DataElement) -> None:
    if element.tag in item.elements:
        raise MalformedRecord("an element occurs twice", field=f"({element.tag >> 16:04x},{element.tag & 0xFFFF:04x})")
    item.elements[element.tag] = element


class _Reader:
    """Reads elements of one syntax."""

    def __init__(self, data: bytes, syntax: Syntax) -> None:
        self._data, self._syntax, self._count = data, syntax, 0

    def data_set(self) -> SequenceItem:
        root, at, size = SequenceItem(), 0, len(self._data)
        while at < size:
            if not self._data[at : at + 8].strip(b"\0") and not self._data[at:].strip(b"\0"):
                break  # zeros after the data set
            element, at = self.element(at, size, 0)
            _add(root, element)
        root.elements = dict(sorted(root.elements.items()))
        return root

    def element(self, at: int, limit: int, depth: int) -> tuple[DataElement, int]:
        """Return the element at a place, and the place after it."""
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise MalformedRecord(f"more than {MOST_ELEMENTS} elements")
        tag, vr, length, begin = self._header(at, limit)
        where = f"({tag >> 16:04x},{tag & 0xFFFF:04x})"
        if tag >> 16 == 0xFFFE or tag == 0:
            raise MalformedRecord("a delimiter or an empty tag stands where an element must be", field=where)
        if length == _UNDEFINED:
            if tag in PIXELS and vr != "SQ":
                end = self._fragments(begin, limit)
                return DataElement(tag, vr, at, end, (begin, end), undefined=True), end
            implicit = vr == "UN" and self._syntax.explicit  # PS3.5 section 6.2.2, note 2
            inner = _Reader(self._data, Syntax(False)) if implicit else self
            if vr not in ("SQ", "UN"):
                raise MalformedRecord("an undefined length without a sequence", field=where)
            found, stop = inner._items(begin, limit, depth + 1, undefined=True)
            return DataElement(tag, "UN" if implicit else "SQ", at, stop, (begin, stop - 8), found, True), stop
        end = begin + length
        if end > limit:
            raise MalformedRecord("a length goes beyond the end of what it is in. Is the file cut off?", field=where)
        items = self._items(begin, end, depth + 1, undefined=False)[0] if vr == "SQ" else None
        return DataElement(tag, vr, at, end, (begin, end), items), end

    def _header(self, at: int, limit: int) -> tuple[int, str, int, int]:
        """Return the tag, the value representation, the length, and the place of the value."""
        data, number = self._data, self._syntax.number
        if at + 8 > limit:
            raise MalformedRecord("the data ends inside an element. Is the file cut off?")
        tag = number(data[at : at + 2]) << 16 | number(data[at + 2 : at + 4])
        if tag >> 16 == 0xFFFE or not self._syntax.explicit:
            return tag, vr_of(tag), number(data[at + 4 : at + 8]), at + 8
        vr = data[at + 4 : at + 6].decode("latin-1")
        if vr in SHORT_FORM:
            return tag, vr, number(data[at + 6 : at + 8]), at + 8
        if vr not in LONG_FORM:
            where = f"({tag >> 16:04x},{tag & 0xFFFF:04x})"
            raise MalformedRecord("an unknown value representation", field=where)
        if at + 12 > limit:
            raise MalformedRecord("the data ends inside an element. Is the file cut off?")
        return tag, vr, number(data[at + 8 : at + 12]), at + 12

    def _items(self, at: int, limit: int, depth: int, *, undefined: bool) -> tuple[list[SequenceItem], int]:
        """Return the items of a sequence, and the place after its delimiter."""
        if depth > MOST_DEPTH:
            raise MalformedRecord(f"more than {MOST_DEPTH} sequences inside each other")
        items: list[SequenceItem] = []
        while undefined or at < limit:
            tag, _, length, begin = self._header(at, limit)
            if undefined and tag == _END:
                return items, begin
            if tag != _ITEM:
                raise MalformedRecord("a sequence has something other than items")
            item, at = SequenceItem(undefined=length == _UNDEFINED), begin
            end = limit if item.undefined else begin + length
            if end > limit:
                raise MalformedRecord("the length of an item goes beyond its sequence")
            while item.undefined or at < end:
                if item.undefined and self._header(at, end)[0] == _END_OF_ITEM:
                    at += 8
                    break
                element, at = self.element(at, end, depth)
                _add(item, element)
            item.elements = dict(sorted(item.elements.items()))
            items.append(item)
        return items, at

    def _fragments(self, at: int, limit: int) -> int:
        """Return the place after the fragments of encapsulated pixel data and their delimiter."""
        while True:
            tag, _, length, begin = self._header(at, limit)
            if tag == _END:
                return begin
            if tag != _ITEM or length == _UNDEFINED or begin + length > limit:
                raise MalformedRecord("the fragments of the pixel data are damaged or cut off")
            at = begin + length


def vr_of(tag: int) -> str:
    """Return the value representation that the dictionary gives a tag of PS3.6: `UN` if it has none.

    Pixel data is OW, as in every implicit syntax. Where the choice depends on a sign, it is the first one listed.
    """
    from pydicom.datadict import dictionary_VR

    if tag in PIXELS:
        return "OW"
    if tag & 0xFFFF == 0:
        return "UL"
    if tag >> 16 & 1:
        return "LO" if 0x10 <= tag & 0xFFFF <= 0xFF else "UN"
    try:
        return dictionary_VR(tag).split()[0]
    except KeyError:
        return "UN"


def every(item: SequenceItem) -> Iterator[DataElement]:
    """Yield the elements of a data set and of all items within it."""
    for element in item.elements.values():
        yield element
        for inner in element.items or ():
            yield from every(inner)
