"""Packages of Office Open XML, marked words, and lines of gold for the corpora of `office.py`."""

from __future__ import annotations

import html
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MARK = re.compile(r"«(?:([A-Z_]+):)?([^»]*)»")
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
PACKAGE_REL = "http://schemas.openxmlformats.org/package/2006/relationships/"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
DATE = (1980, 1, 1, 0, 0, 0)

Words = tuple[str, str]
Content = str | bytes


@dataclass(frozen=True, slots=True)
class Made:
    """One file of a corpus, with its gold. `held` is the reason why it must not be released."""

    name: str
    data: bytes = field(repr=False)
    made_by: str
    kind: str
    identifiers: tuple[Words, ...] = ()
    note: str | None = None
    keeps: tuple[str, ...] = ()
    held: str = ""
    language: str = "en"

    @property
    def line(self) -> str:
        """The line of gold.jsonl."""
        row: dict[str, Any] = {
            "file": self.name, "made_by": self.made_by, "kind": self.kind,
            "media_type": DOCX if self.name.endswith("docx") else XLSX, "note": self.note, "keeps": list(self.keeps),
            "identifiers": [{"text": words, "type": kind} for words, kind in dict(self.identifiers).items()],
        }  # fmt: skip
        if self.language != "en":
            row["language"] = self.language
        if self.held:
            row |= {"held": True, "why": self.held}
        return json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a package. With a relationship type, `owner` has a relationship to it, with the given ID."""

    name: str
    content: Content = field(repr=False)
    media_type: str = ""
    relation: str = ""
    id: str = ""
    owner: str = "word/document.xml"


def plain(marked: str) -> str:
    """Return a text without its marks."""
    return MARK.sub(r"\2", marked)


def marks(content: Content) -> list[Words]:
    """Return the marked words of a content, as they read, with their types."""
    if isinstance(content, bytes):
        return []
    return [(html.unescape(words), kind or "PATIENT") for kind, words in MARK.findall(content)]


def identifiers(contents: Iterable[Content], also: Iterable[Words] = ()) -> tuple[Words, ...]:
    """Return the marked words of all contents, and others, each once."""
    found = [words for content in contents for words in marks(content)]
    return tuple(dict([*found, *also]).items())


def as_bytes(content: Content) -> bytes:
    """Return the bytes of a content, in UTF-8 and without marks."""
    return content if isinstance(content, bytes) else plain(content).encode()


def entry(name: str, data: bytes, comment: bytes = b"", extra: bytes = b"") -> tuple[zipfile.ZipInfo, bytes]:
    """Return an entry of a ZIP file with a fixed date."""
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type, info.comment, info.extra, info.external_attr = zipfile.ZIP_DEFLATED, comment, extra, 0
    info.create_system = 0
    return info, data


def zipped(files: Mapping[str, Content] | Iterable[tuple[zipfile.ZipInfo, bytes]], comment: bytes = b"") -> bytes:
    """Return a ZIP file with a fixed date in every entry."""
    entries = [entry(name, as_bytes(each)) for name, each in files.items()] if isinstance(files, Mapping) else files
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in entries:
            archive.writestr(info, data)
        archive.comment = comment
    return target.getvalue()


def settled(data: bytes, changed: Mapping[str, tuple[str, str]] | None = None) -> bytes:
    """Return a package with fixed dates. `changed` has a pattern and its replacement by the name of a part."""
    files = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            for part, (pattern, replacement) in (changed or {}).items():
                if re.fullmatch(part, info.filename):
                    content = re.sub(pattern, replacement, content.decode()).encode()
            info.date_time = DATE
            files.append((info, content))
    return zipped(files)


def relations_of(owner: str) -> str:
    """Return the name of the part with the relationships of a part, or of the package if it has no name."""
    folder, _, name = owner.rpartition("/")
    return f"{folder}/_rels/{name}.rels".lstrip("/")


def package(parts: Iterable[Part], links: Iterable[tuple[str, str, str, str]] = ()) -> dict[str, Content]:
    """Return the files of a package. A link is an owner, an ID, a relationship type, and an external target."""
    parts = list(parts)
    types = "".join(f'<Override PartName="/{part.name}" ContentType="{part.media_type}"/>'
                    for part in parts if part.media_type)  # fmt: skip
    relations: dict[str, list[str]] = {}
    for part in parts:
        if part.relation:
            kind = part.relation if ":" in part.relation else REL + part.relation
            rows = relations.setdefault(part.owner, [])
            rows.append(f'<Relationship Id="{part.id or f"rIdA{len(rows)}"}" Type="{kind}" Target="/{part.name}"/>')
    for owner, name, kind, target in links:
        relations.setdefault(owner, []).append(
            f'<Relationship Id="{name}" Type="{REL}{kind}" Target="{target}" TargetMode="External"/>'
        )
    files: dict[str, Content] = {"[Content_Types].xml": (
        f'{HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
        '<Default Extension="bin" ContentType="application/vnd.openxmlformats-officedocument.oleObject"/>'
        f'<Default Extension="docx" ContentType="{DOCX}"/><Default Extension="xlsx" ContentType="{XLSX}"/>'
        '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>'
        f"{types}</Types>")}  # fmt: skip
    for owner in sorted(relations):
        files[relations_of(owner)] = (f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
                                      f'relationships">{"".join(relations[owner])}</Relationships>')  # fmt: skip
    return files | {part.name: part.content for part in parts}


def properties(core: str = "", app: str = "", custom: str = "") -> list[Part]:
    """Return the parts with the properties of a document."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/"
    media = "application/vnd.openxmlformats-officedocument."
    parts = [
        Part("docProps/core.xml", f'{HEAD}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/'
             'metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
             'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
             f"{core}</cp:coreProperties>", "application/vnd.openxmlformats-package.core-properties+xml",
             PACKAGE_REL + "metadata/core-properties", owner=""),
        Part("docProps/app.xml", f'{HEAD}<Properties xmlns="{office}extended-properties" '
             f'xmlns:vt="{office}docPropsVTypes">{app}</Properties>', media + "extended-properties+xml",
             "extended-properties", owner=""),
    ]  # fmt: skip
    if custom:
        parts.append(Part("docProps/custom.xml", f'{HEAD}<Properties xmlns="{office}custom-properties" '
                          f'xmlns:vt="{office}docPropsVTypes">{custom}</Properties>', media + "custom-properties+xml",
                          "custom-properties", owner=""))  # fmt: skip
    return parts


def png(text: str = "") -> bytes:
    """Return a picture of one pixel. A text becomes its comment."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    said = chunk(b"tEXt", b"Comment\0" + text.encode("latin-1")) if text else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + said
            + chunk(b"IDAT", zlib.compress(b"\0\x20\x40\x80")) + chunk(b"IEND", b""))  # fmt: skip


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE compound file with streams in its root. Each stream is padded to 4,096 bytes or more."""
    sector, end, free, fat_mark = 512, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    padded = {name: data.ljust(4096, b"\0") for name, data in sorted(streams.items(), key=lambda it: (len(it[0]), it))}
    place = 0
    table: list[int] = []

    def chain(size: int) -> int:
        nonlocal place
        count = -(-size // sector)
        table.extend([*range(place + 1, place + count), end])
        place += count
        return place - count

    starts = {name: chain(len(data)) for name, data in padded.items()}
    directory = chain(-(-(len(padded) + 1) // 4) * sector)
    table.append(fat_mark)

    def item(name: str, kind: int, start: int, size: int, right: int = free, child: int = free) -> bytes:
        raw = name.encode("utf-16-le")
        return struct.pack("<64sHBBIII16sIQQIQ", raw, len(raw) + 2, kind, 1, free, right, child, b"", 0, 0, 0,
                           start, size)  # fmt: skip

    names = list(padded)
    items = [item("Root Entry", 5, end, 0, child=1 if names else free)]
    items += [item(name, 2, starts[name], len(padded[name]), i + 2 if i + 1 < len(names) else free)
              for i, name in enumerate(names)]  # fmt: skip
    items += [struct.pack("<64sHBBIII16sIQQIQ", b"", 0, 0, 0, free, free, free, b"", 0, 0, 0, 0, 0)] * (-len(items) % 4)
    header = struct.pack("<8s16sHHHHH6sIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"",
                         0, 1, directory, 0, 4096, end, 0, end, 0)  # fmt: skip
    header += struct.pack("<109I", place, *[free] * 108)
    body = b"".join(data.ljust(-(-len(data) // sector) * sector, b"\0") for data in padded.values())
    if len(table) > 128:
        raise ValueError("too large for one table: shorten the streams")
    return header + body + b"".join(items) + struct.pack("<128I", *table, *[free] * (128 - len(table)))

