"""A worksheet: its cells, formulas, and the elements around them."""

from __future__ import annotations

import re
from collections.abc import Collection

from incognote.formats.base import Change
from incognote.formats.office.package import XmlPart
from incognote.formats.office.rules import is_font
from incognote.formats.records.rawxml import Element, parse_xml
from incognote.formats.xlsx.book import Book, Sheet
from incognote.formats.xlsx.closed import RELATIONS, is_closed
from incognote.formats.xlsx.sheet import Cells
from incognote.formats.xlsx.sheetdata import SheetCell, attributes_of, cells_of, scan
from incognote.formats.xlsx.strings import StretchText
from incognote.formats.xlsx.tree import WHOLE, Cleaner

_DATA = re.compile(r"<(?P<prefix>(?:[\w.\-]+:)?)sheetData(?:\s[^>]*)?>")
_TRAITS = {
    "t": r"array|shared|normal", "ref": r"[A-Z]{1,3}[0-9]{1,7}(?::[A-Z]{1,3}[0-9]{1,7})?", "si": r"[0-9]{1,6}",
    "xml:space": "preserve|default", **dict.fromkeys(("ca", "aca", "bx"), "0|1|true|false"),
}  # fmt: skip
_FURNITURE = re.compile(
    r'&amp;(?:"(?P<font>[^"<&]*)"|&quot;(?P<quoted>[^"<&]*)&quot;|(?P<literal>&amp;)|[0-9]{1,3}|K[0-9A-Fa-f]{6}'
    r"|K[0-9]{2}[+\-][0-9]{3}|(?P<side>[LCR])|[PNDTGFAZBIUEXYSOH](?:[+\-][0-9]{1,3})?)"
)
_LITERAL = re.compile(r'\s*(?:"|&quot;)(.*)(?:"|&quot;)\s*', re.DOTALL)
_SPOKEN = ("promptTitle", "prompt", "errorTitle", "error")


def shell_of(part: XmlPart) -> tuple[XmlPart, tuple[int, int], str]:
    """Return a worksheet with a tree of its elements without the cells, the place of the cells, and the prefix.

    Args:
        part: the characters of the worksheet. Its tree is not used.
    """
    source = part.source
    found = _DATA.search(source)
    if found is None or found[0].endswith("/>"):
        return part._replace(xml=parse_xml(source)), (0, 0), ""
    start, end = found.end(), source.index(f"</{found['prefix']}sheetData", found.end())
    shell = source[:start] + " " * (end - start) + source[end:]
    return part._replace(xml=parse_xml(shell)), (start, end), found["prefix"]


class Worksheet:
    """Reads one worksheet into a book.

    Args:
        book: the workbook. name: the part. field: the name of its text, such as `sheet 1`.
        kept: the ids of its relations to drawings, tables, and boxes of comments that stay.

    Raises:
        MalformedRecord: it cannot be read.
    """

    def __init__(self, book: Book, name: str, field: str, kept: Collection[str]) -> None:
        self._book, self._field, self._kept = book, field, kept
        self.part, place, prefix = shell_of(book.parts.xml[name])
        book.parts.xml[name] = self.part
        data = scan(self.part.source, *place, prefix, book.left)
        count = sum(map(len, data.rows))
        book.left -= count
        cells = Cells(self.part, prefix, data.rows, book.strings, book.styles, field, book.roles.setdefault(field, {}))
        formulas, fixed = self._formulas(list(cells_of(data.rows)))
        book.read[name] = Sheet(self.part, cells, formulas)
        book.parts.texts[field] = (self.part, cells.text)
        book.parts.fields |= {action: (self.part, write) for action, write in cells.fields.items()}
        book.parts.known += cells.known
        rules = {
            **dict.fromkeys(("sheetData", "formula", "formula1", "formula2"), lambda element: (WHOLE,)),
            "cfRule": self._condition, "dataValidation": self._validation, "hyperlink": self._hyperlink,
            **dict.fromkeys(("drawing", "legacyDrawing", "tablePart"), self._related),
            **{f"{page}{place}": self._furniture for page in ("odd", "even", "first")
               for place in ("Header", "Footer")},
        }  # fmt: skip
        for change in (*data.fixed, *cells.fixed, *fixed, *Cleaner(self.part, rules, book.ids).clean()):
            book.parts.fix(self.part, *change)

    def _formulas(self, cells: list[SheetCell]) -> tuple[list[SheetCell], list[Change]]:
        """Return the cells whose formula stays, and the changes that remove the others."""
        source = self.part.source
        kept: list[SheetCell] = []
        gone: set[str] = set()
        masters = set()
        for cell in cells:
            if cell.formula is None:
                continue
            traits = attributes_of(cell.traits)
            whole = all(name in _TRAITS and re.fullmatch(_TRAITS[name], value) for name, value in traits.items())
            body = source[slice(*cell.body)] if cell.body[0] >= 0 else ""
            if traits.get("t") == "shared" and body:
                masters.add(traits.get("si"))
            if whole and (self._book.keeps(body) if body else traits.get("t") == "shared"):
                kept.append(cell)
            elif traits.get("t") == "shared":
                gone.add(traits.get("si", ""))
        left = [cell for cell in kept if not self._is_gone(cell, gone, masters)]
        stay = {cell.start for cell in left}
        return left, [(*cell.formula, "") for cell in cells if cell.formula is not None and cell.start not in stay]

    @staticmethod
    def _is_gone(cell: SheetCell, gone: set[str], masters: set[str | None]) -> bool:
        traits = attributes_of(cell.traits)
        return traits.get("t") == "shared" and (traits.get("si", "") in gone or traits.get("si") not in masters)

    def _condition(self, element: Element) -> Collection[str] | None:
        """Keep a conditional format if its formulas and thresholds are closed."""
        for inner in element.walk():
            if inner.name == "cfvo" and inner.value("val") and not is_closed("val", inner.value("val")):
                return None
            if inner.name == "formula" and not self._keeps(inner):
                return None
        return ()

    def _keeps(self, element: Element) -> bool:
        return not any(element.elements) and self._book.keeps(
            "".join(self.part.source[each.start : each.end] for each in element.characters)
        )

    def _validation(self, element: Element) -> Collection[str] | None:
        """Read the choices and messages of a data validation."""
        choices: tuple[int, int] | None = None
        for each in element.elements:
            if each.name not in ("formula1", "formula2"):
                continue
            end = self.part.source.rfind("</", each.inside, each.end)
            literal = _LITERAL.fullmatch(self.part.source, each.inside, end)
            if literal and element.value("type") == "list" and not any(each.elements):
                choices = literal.span(1)
            elif not self._keeps(each):
                return None
        for name in _SPOKEN:
            if name in element.attributes:
                text = self._text(f"{self._field} message")
                text.add(element.attributes[name].start, element.attributes[name].end, attribute=True)
        if choices:
            self._text(f"{self._field} choices").add(*choices)
        return _SPOKEN

    def _hyperlink(self, element: Element) -> Collection[str] | None:
        """Keep a link within the workbook. Its words are those of the cell."""
        location = element.attributes.get("location")
        if f"{{{RELATIONS}}}id" in element.attributes or location is None:
            return None
        return {"location"} if self._book.keeps(self.part.source[location.start : location.end]) else None

    def _related(self, element: Element) -> Collection[str] | None:
        return () if element.value(f"{{{RELATIONS}}}id") in self._kept else None

    def _furniture(self, element: Element) -> Collection[str] | None:
        """Read a header or footer of pages, whose codes begin with an ampersand."""
        if any(element.elements):
            return None
        text = self._text(f"{self._field} {'header' if element.name.endswith('Header') else 'footer'}")
        for characters in element.characters:
            at = characters.start
            for code in _FURNITURE.finditer(self.part.source, characters.start, characters.end):
                text.add(at, code.start())
                at = code.end()
                if code["side"]:
                    text.separate()
                elif code["literal"]:
                    text.add_as("&", *code.span())
                else:
                    self._font(code)
            text.add(at, characters.end)
        return {WHOLE}

    def _font(self, code: re.Match[str]) -> None:
        kind = "font" if code["font"] is not None else "quoted"
        if code[kind] is not None and not all(is_font(each) or each == "-" for each in code[kind].split(",")):
            self._book.parts.fix(self.part, *code.span(kind), "-,Regular")

    def _text(self, field: str) -> StretchText:
        text = StretchText(self.part.source, self.part.codec)
        self._book.parts.texts[self._book.parts.numbered(field)] = (self.part, text)
        return text
