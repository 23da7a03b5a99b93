"""Word documents."""

# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

from incognote.formats.docx import MEDIA_TYPE
from incognote.formats.office.package import zipped
from incognote.formats.registry import named

from . import Sample

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
METADATA = "http://schemas.openxmlformats.org/package/2006/relationships/metadata"
PARTS = {
    "styles": "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml",
    "settings": "application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml",
    "numbering": "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml",
    "fontTable": "application/vnd.openxmlformats-officedocument.wordprocessingml.fontTable+xml",
    "header": "application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml",
    "footer": "application/vnd.openxmlformats-officedocument.wordprocessingml.footer+xml",
    "footnotes": "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
    "endnotes": "application/vnd.openxmlformats-officedocument.wordprocessingml.endnotes+xml",
    "comments": "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml",
    "theme": "application/vnd.openxmlformats-officedocument.theme+xml",
    "chart": "application/vnd.openxmlformats-officedocument.drawingml.chart+xml",
    "core-properties": "application/vnd.openxmlformats-package.core-properties+xml",
    "extended-properties": "application/vnd.openxmlformats-officedocument.extended-properties+xml",
}
MAIN = f"{MEDIA_TYPE}.main+xml"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:r="{R}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:o="urn:schemas-microsoft-com:office:office"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
    ' xmlns:w16se="http://schemas.microsoft.com/office/word/2015/wordml/symex"'
)


def part(tag: str, inner: str) -> bytes:
    """Return an XML part with a root element and what is in it."""
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n<{tag} {NAMESPACES}>{inner}</{tag}>'.encode()


def document(
    body: str,
    others: Mapping[str, tuple[str, bytes]] | None = None,
    *,
    relations: str = "",
    types: str = "",
    root: str = "",
    main: str = MAIN,
    more: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a document.

    Args:
        body: what is in `w:body`.
        others: other parts by name, each with the last word of its relation and its bytes. They have the ids rId1, ….
        relations, types: more XML in the relations of the document and in the content types.
        root: more XML in the relations of the file.
        more: parts without relations.
    """
    own, known = [], [f'<Override PartName="/word/document.xml" ContentType="{main}"/>']
    top = [f'<Relationship Id="rId0" Type="{R}/officeDocument" Target="word/document.xml"/>']
    for number, (name, (kind, _)) in enumerate((others or {}).items(), 1):
        sort = f"{METADATA}/{kind}" if kind == "core-properties" else f"{R}/{kind}"
        relation = f'<Relationship Id="rId{number}" Type="{sort}" Target="/{name}"/>'
        (top if kind.endswith("-properties") else own).append(relation)
        if kind in PARTS:
            known.append(f'<Override PartName="/{name}" ContentType="{PARTS[kind]}"/>')
    parts = {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{"".join(known)}{types}</Types>'
        ).encode(),
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">{"".join(top)}{root}</Relationships>'.encode(),
        "word/document.xml": part("w:document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": (
            f'<Relationships xmlns="{RELATIONS}">{"".join(own)}{relations}</Relationships>'.encode()
        ),
        **{name: data for name, (_, data) in (others or {}).items()},
        **(more or {}),
    }
    return zipped(parts)


def run(text: str) -> str:
    """Return a run that shows a text, with its tabs and line breaks."""
    pieces = "".join(
        {"\n": "<w:br/>", "\t": "<w:tab/>"}.get(piece, f'<w:t xml:space="preserve">{escape(piece)}</w:t>')
        for line in text.split("\n")
        for piece in ("\n", *"\0\t\0".join(line.split("\t")).split("\0"))
        if piece
    ).removeprefix("<w:br/>")
    return f"<w:r><w:rPr><w:b/></w:rPr>{pieces}</w:r>"


def paragraph(text: str) -> str:
    """Return a paragraph that shows a text."""
    return f"<w:p>{run(text)}</w:p>"


def encrypted() -> bytes:
    """Return a document of which one entry is encrypted."""
    data = bytearray(document(paragraph("Seen by Dr. Carter.")))
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


def doubled() -> bytes:
    """Return a document with two parts of the same name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("word/document.xml", "<a/>")
        file.writestr("Word/Document.xml", "<a/>")
    return out.getvalue()


_MACROS = "application/vnd.ms-word.document.macroEnabled.main+xml"
SAMPLES = (
    Sample(
        named("docx"),
        lambda texts: document("".join(map(paragraph, texts))),
        [
            (b"Seen by Dr. Carter.", "malformed"),
            (b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n", "unsupported-format"),
            (document(paragraph("a"))[:200], "malformed"),
            (document(paragraph("a"), main=_MACROS), "unsupported-format"),
            (document("<w:p>"), "malformed"),
            (encrypted(), "unsupported-format"),
            (doubled(), "malformed"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "unsupported-format"),
            (zipped({"note.txt": b"Seen by Dr. Carter."}), "malformed"),
        ],
    ),
)
