"""Workbooks."""
# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from incognote.formats.encoding import UTF8
from incognote.formats.office.package import zipped
from incognote.formats.registry import named
from incognote.formats.xlsx.strings import escaped

from . import Sample

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_NAMES = {"sheet.main": "xl/workbook.xml", "worksheet": "xl/worksheets/sheet1.xml", "sharedStrings": "xl/sharedStrings.xml",
          "styles": "xl/styles.xml", "comments": "xl/comments1.xml", "table": "xl/tables/table1.xml"}  # fmt: skip


def parts_of(sheet: str, more: Mapping[str, str] = MappingProxyType({}), *, names: Sequence[str] = ("Sheet1",), book: str = "") -> dict[str, bytes]:
    """Return the parts of a workbook.

    Args:
        sheet: what is inside the first worksheet.
        more: what is inside the roots of other parts, by the last word of their relation: `sharedStrings`, `styles`,
            `comments`, or `table`; or the whole content of a part, by its name.
        names: the names of the sheets. The others are empty.
        book: what follows the list of sheets in the workbook.
    """
    roots = {"sharedStrings": "sst", "styles": "styleSheet", "comments": "comments"}
    own = {kind: content for kind, content in more.items() if kind in _NAMES}
    sheets = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(names, 1))
    links = "".join(f'<Relationship Id="rId{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
                    for i in range(1, len(names) + 1))  # fmt: skip
    links += "".join(f'<Relationship Id="rId{90 + i}" Type="{OFFICE}/{kind}" Target="{_NAMES[kind].removeprefix("xl/")}"/>'
                     for i, kind in enumerate(own) if kind in ("sharedStrings", "styles"))  # fmt: skip
    inner = "".join(f'<Relationship Id="rId{i}" Type="{OFFICE}/{kind}" Target="/{_NAMES[kind]}"/>'
                    for i, kind in enumerate(own, 1) if kind in ("comments", "table"))  # fmt: skip
    kinds = {"xl/workbook.xml": "sheet.main", **{f"xl/worksheets/sheet{i}.xml": "worksheet" for i in range(1, len(names) + 1)},
             **{_NAMES[kind]: kind for kind in own}}  # fmt: skip
    types = "".join(f'<Override PartName="/{name}" ContentType="{TYPE}{kind}+xml"/>' for name, kind in kinds.items())
    found = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
        "_rels/.rels": _links(f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{sheets}</sheets>{book}</workbook>',
        "xl/_rels/workbook.xml.rels": _links(links),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}">{sheet}</worksheet>',
        **{f"xl/worksheets/sheet{i}.xml": f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>'
           for i in range(2, len(names) + 1)},
        **{_NAMES[kind]: f'<{roots[kind]} xmlns="{MAIN}">{content}</{roots[kind]}>' for kind, content in own.items()
           if kind in roots},
        **({"xl/worksheets/_rels/sheet1.xml.rels": _links(inner)} if inner else {}),
        **({"xl/tables/table1.xml": own["table"]} if "table" in own else {}),
        **{name: content for name, content in more.items() if name not in _NAMES},
    }  # fmt: skip
    return {name: content.encode() for name, content in found.items()}


def workbook(sheet: str, more: Mapping[str, str] = MappingProxyType({}), *, names: Sequence[str] = ("Sheet1",), book: str = "") -> bytes:
    """Return a workbook with the parts of `parts_of`."""
    return zipped(parts_of(sheet, more, names=names, book=book))


def data_of(*rows: Sequence[str]) -> str:
    """Return cells with these texts."""
    lines = (
        f'<row r="{r}">' + "".join(f'<c r="{chr(64 + c)}{r}" t="inlineStr"><is><t>{escaped(text, UTF8)}</t></is></c>'
                                    for c, text in enumerate(row, 1)) + "</row>"
        for r, row in enumerate(rows, 1)
    )  # fmt: skip
    return f"<sheetData>{''.join(lines)}</sheetData>"


def _links(inner: str) -> str:
    return f'<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


def _make(texts: Sequence[str]) -> bytes:
    return workbook(data_of(*([text] for text in texts)))


def _without(name: str) -> bytes:
    return zipped({each: data for each, data in parts_of(data_of(["a"])).items() if each != name})


SAMPLES = (
    Sample(
        named("xlsx"),
        _make,
        [
            (b"Seen by Dr. Carter.", "malformed"),
            (b"%PDF-1.4\n", "unsupported-format"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "unsupported-format"),
            (_make(["Seen by Dr. Carter."])[:-30], "malformed"),
            (_without("[Content_Types].xml"), "malformed"),
            (_without("xl/worksheets/sheet1.xml"), "malformed"),
            (workbook("<sheetData><row><c>Carter</c></row></sheetData>"), "malformed"),
            (workbook('<sheetData><row><c t="s"><v>7</v></c></row></sheetData>'), "malformed"),
        ],
    ),
)
