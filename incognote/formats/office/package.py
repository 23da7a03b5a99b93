"""The ZIP file of an office document: read within bounds, and written without dates, comments, and extra fields.

A part that no edit changes keeps its bytes. The ZIP file around the parts is always written anew, so nothing can hide
in front of it, between its entries, or behind the end of a compressed stream.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from posixpath import normpath
from typing import NamedTuple

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats.base import Change, splice
from incognote.formats.encoding import MAX_BYTES, Codec
from incognote.formats.office.rules import is_part
from incognote.formats.records.rawxml import Element, Xml, XmlText, codec_of_xml, parse_xml

MAX_PARTS = 20_000
_NAME = re.compile(r"[^\x00-\x1f\\:*?\"<>|]{1,1024}")
_LARGE, _DENSEST = 2**24, 200  # bytes of a part; times that it may be larger than its compressed form
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_AGAIN = "Save the document again"
TYPES = "[Content_Types].xml"


class Relation(NamedTuple):
    """A relation of a part to another one or to an address.

    Args:
        kind: the last word of its type, such as `hyperlink`.
        target: the name of the other part, or None if it is an address or nothing.
        element: its element in the relations part.
    """

    id: str
    kind: str
    target: str | None
    element: Element


def unzipped(data: bytes) -> dict[str, bytes]:
    """Return the parts of a ZIP file by name, in the order of its directory. Folders are left out.

    Raises:
        MalformedRecord: it is damaged, two parts have the same name, a name leads out of the file, or it is too large.
        UnsupportedFormat: it is encrypted, or compressed in another way than office programs do.
    """
    parts: dict[str, bytes] = {}
    size = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            entries = file.infolist()
            if len(entries) > MAX_PARTS:
                raise MalformedRecord(f"more than {MAX_PARTS:,} parts. Split the document")
            if len({each.filename.lower() for each in entries}) < len(entries):
                raise MalformedRecord(f"two parts with the same name. {_AGAIN}")
            for number, entry in enumerate(entries, 1):
                name = entry.filename
                if entry.flag_bits & _ENCRYPTED:
                    raise UnsupportedFormat("encrypted. Save it without a password")
                if entry.compress_type not in _METHODS:
                    raise UnsupportedFormat("a ZIP file with an unusual compression. Save it again")
                if entry.orig_filename != name or not _NAME.fullmatch(name) or normpath(f"/{name}") != f"/{name}":
                    if name.endswith("/") and not entry.file_size and _NAME.fullmatch(name[:-1]):
                        continue
                    raise MalformedRecord(f"part {number} has a name that is not allowed. {_AGAIN}")
                if entry.file_size > _LARGE and entry.file_size > _DENSEST * max(entry.compress_size, 1):
                    raise MalformedRecord(f"part {number} consists of repetitions, such as blanks. Save the file again")
                size += entry.file_size
                if size > MAX_BYTES:
                    raise MalformedRecord(f"longer than {MAX_BYTES // 2**20} MiB when unpacked. Split the document")
                parts[name] = file.read(entry)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        raise MalformedRecord(f"a damaged ZIP file. {_AGAIN}") from None
    return parts


def zipped(parts: Mapping[str, bytes]) -> bytes:
    """Return a ZIP file of parts. Equal parts give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            entry.create_system = 0
            file.writestr(entry, data)
    return out.getvalue()


class XmlPart(NamedTuple):
    """A parsed part: its characters without byte order mark, its encoding, and its elements with their positions."""

    name: str
    source: str
    codec: Codec
    xml: Xml

    @property
    def shown(self) -> str:
        """Its name for a message."""
        return shown_name(self.name)

    def text(self) -> XmlText:
        """Return an empty text, to which stretches of this part are added."""
        return XmlText(self.source, self.codec.encoding)

    def rebuilt(self, changes: Iterable[Change]) -> bytes:
        """Return the bytes of the part with changes of its characters.

        Raises:
            AccountingError: changes overlap.
        """
        return self.codec.mark + self.codec.encode(splice(self.source, changes))


def parsed(name: str, data: bytes) -> XmlPart:
    """Parse an XML part.

    Raises:
        MalformedRecord: it is not well-formed, not in UTF-8 or UTF-16, or has a document type declaration.
    """
    codec = codec_of_xml(data)
    if codec is None:
        raise MalformedRecord(f"an encoding that is not supported. {_AGAIN}", field=shown_name(name))
    try:
        source = codec.decode(data[len(codec.mark) :])
    except UnicodeDecodeError:
        raise MalformedRecord(f"not in its declared encoding. {_AGAIN}", field=shown_name(name)) from None
    try:
        return XmlPart(name, source, codec, parse_xml(source, any_instruction=True))
    except MalformedRecord as problem:
        raise MalformedRecord(str(problem), field=shown_name(name)) from None


def shown_name(name: str) -> str:
    """Return the name of a part for a message, or `a part` if it could name a person."""
    return name if all(map(is_part, name.split("/"))) else "a part"


def types_of(xml: Xml, names: Mapping[str, bytes]) -> dict[str, str]:
    """Return the content type of each part, given the elements of `[Content_Types].xml`. Unknown ones have ""."""
    suffixes = {e.value("Extension").lower(): e.value("ContentType") for e in xml.root.elements if e.name == "Default"}
    own = {e.value("PartName").lstrip("/").lower(): e.value("ContentType") for e in xml.root.elements
           if e.name == "Override"}  # fmt: skip
    return {
        name: own.get(name.lower(), suffixes.get(name.rpartition(".")[2].lower(), ""))
        for name in names
        if name != TYPES
    }


def relations_part(name: str) -> str:
    """Return the name of the part that lists the relations of a part ("" for the file)."""
    folder, _, last = name.rpartition("/")
    return f"{folder}/_rels/{last}.rels".lstrip("/")


def relations(name: str, xml: Xml) -> Iterator[Relation]:
    """Yield the relations of a part, given the elements of its relations part."""
    folder = name.rpartition("/")[0]
    for element in xml.root.elements:
        kind = element.value("Type").rpartition("/")[2]
        target: str | None = element.value("Target")
        if element.value("TargetMode").lower() == "external" or not target:
            target = None
        else:
            target = normpath(target if target.startswith("/") else f"/{folder}/{target}").lstrip("/")
        yield Relation(element.value("Id"), kind, target, element)
