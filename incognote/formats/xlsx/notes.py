"""Comments of cells: their words, their authors, and the boxes that show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from incognote.errors import MalformedRecord
from incognote.formats.office.document import OfficeParts
from incognote.formats.office.package import XmlPart
from incognote.formats.records.rawxml import Element
from incognote.formats.xlsx.shared import rich_fixes, rich_text
from incognote.formats.xlsx.sheetdata import column_of
from incognote.formats.xlsx.strings import StretchText, escaped
from incognote.formats.xlsx.tree import WHOLE, Cleaner

_ANCHOR = re.compile(r"\s*\d{1,5}(?:\s*,\s*\d{1,5}){7}\s*")
_PLACE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_AUTHOR = "Author"
VML, OFFICE, EXCEL = (f"urn:schemas-microsoft-com:{each}" for each in ("vml", "office:office", "office:excel"))
_HEAD = (
    f'<xml xmlns:v="{VML}" xmlns:o="{OFFICE}" xmlns:x="{EXCEL}"><o:shapelayout v:ext="edit">'
    '<o:idmap v:ext="edit" data="1"/></o:shapelayout><v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" '
    'path="m,l,21600r21600,l21600,xe">'
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_BOX = (
    '<v:shape id="_x0000_s{id}" type="#_x0000_t202" style="position:absolute;margin-left:60pt;margin-top:2pt;'
    'width:108pt;height:60pt;z-index:{number};visibility:{visibility}" fillcolor="#ffffe1" o:insetmode="auto">'
    '<v:fill color2="#ffffe1"/>'
    '<v:shadow color="black" obscured="t"/><v:path o:connecttype="none"/><v:textbox style="mso-direction-alt:auto">'
    '<div style="text-align:left"></div></v:textbox><x:ClientData ObjectType="Note"><x:MoveWithCells/>'
    "<x:SizeWithCells/>"
    "<x:Anchor>{anchor}</x:Anchor><x:AutoFill>False</x:AutoFill><x:Row>{row}</x:Row><x:Column>{column}</x:Column>{visible}</x:ClientData></v:shape>"
)


def is_box(words: str) -> bool:
    """Whether words are in every drawing of boxes, apart from their numbers. For the second reader."""
    return _bare(words) in _BOXES


def _bare(words: str) -> str:
    return re.sub(r"[0-9, ]+", "", words)


_SHOWN = (_BOX.replace("{visibility}", each) for each in ("hidden", "visible"))
_BOXES = _bare(_HEAD + re.sub(r"\{\w+\}", "", "".join(_SHOWN)))


def read_comments(parts: OfficeParts, part: XmlPart, field: str) -> list[str]:
    """Read the comments of a sheet: one text for each, and a structured field for each author.

    Returns:
        The places of the cells with comments.
    """
    root = part.xml.root
    authors = root.child("authors")
    for author in authors.elements if authors else ():
        _author(parts, part, author, f"{field} comment author")
    comments = root.child("commentList")
    places: list[str] = []
    for comment in comments.elements if comments else ():
        text, place = comment.child("text"), comment.value("ref")
        if not _PLACE.fullmatch(place):
            raise MalformedRecord("a comment without a cell. Save the workbook again", field=part.shown)
        places.append(place)
        if text is not None and not text.empty:
            inner = text.inside, part.source.rindex("</", text.inside, text.end)
            for change in rich_fixes(part.source, *inner):
                parts.fix(part, *change)
            parts.texts[parts.numbered(f"{field}!{place} comment")] = (part, rich_text(part.source, part.codec, *inner))
    for change in Cleaner(part, dict.fromkeys(("author", "text"), lambda element: (WHOLE,))).clean():
        parts.fix(part, *change)
    return places


def _author(parts: OfficeParts, part: XmlPart, author: Element, field: str) -> None:
    text = StretchText(part.source, part.codec)
    if any(author.elements):
        parts.fix(part, author.inside, part.source.rindex("</", author.inside, author.end), _AUTHOR)
        return
    for characters in author.characters:
        text.add(characters.start, characters.end)
    if text.text.strip():
        stretch = author.inside, part.source.rindex("</", author.inside, author.end)
        parts.structured(part, field, "PERSON", text.text, lambda new: [(*stretch, escaped(new, part.codec))])


def boxes_of(part: XmlPart, places: Iterable[str]) -> bytes:
    """Return a drawing with a box for each comment. Their positions and visibility are those of the old drawing.

    Args:
        part: the old drawing.
        places: the cells with comments.
    """
    old: dict[tuple[str, str], Mapping[str, str]] = {}
    for element in part.xml.root.walk():
        if element.name == "ClientData":
            inner = {each.name: part.source[each.inside : each.end].partition("<")[0] for each in element.elements}
            inner = {name: words.strip() for name, words in inner.items()}
            old[inner.get("Row", ""), inner.get("Column", "")] = inner
    boxes = [_HEAD]
    for number, place in enumerate(places, 1):
        match = _PLACE.fullmatch(place)
        assert match is not None  # the reader checked it
        row, column = int(match[2]) - 1, column_of(match[1]) - 1
        box = old.get((str(row), str(column)), {})
        anchor = box.get("Anchor", "")
        if not _ANCHOR.fullmatch(anchor):
            anchor = f"{column + 1}, 15, {row}, 2, {column + 3}, 15, {row + 4}, 4"
        is_visible = box.get("Visible") in ("", "True")
        boxes.append(_BOX.format(
            id=1024 + number, number=number, row=row, column=column, visible="<x:Visible/>" if is_visible else "",
            visibility="visible" if is_visible else "hidden",
            anchor=anchor,
        ))  # fmt: skip
    return "".join([*boxes, "</xml>"]).encode()
