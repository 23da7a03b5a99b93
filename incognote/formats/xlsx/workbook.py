"""Read a workbook: its parts, sheets, and names, in order."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import partial

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats.office.graph import Package
from incognote.formats.office.package import TYPES, XmlPart, shown_name
from incognote.formats.office.rules import is_font, key_of
from incognote.formats.office.walk import PartWalk
from incognote.formats.records.rawxml import Characters, Element, check_well_formed, codec_of_xml, parse_xml
from incognote.formats.xlsx.book import Book, SheetNames
from incognote.formats.xlsx.closed import RELATIONS, is_built_in, is_code, is_plain_name, is_plain_style
from incognote.formats.xlsx.dates import Styles, shown_by
from incognote.formats.xlsx.notes import boxes_of, read_comments
from incognote.formats.xlsx.shared import SharedStrings
from incognote.formats.xlsx.sheet import Roles
from incognote.formats.xlsx.sheetdata import column_of
from incognote.formats.xlsx.strict import transitional
from incognote.formats.xlsx.strings import StretchText, decoded, without_sections
from incognote.formats.xlsx.tree import WHOLE, Cleaner, Rule
from incognote.formats.xlsx.worksheet import Worksheet

_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_OWN = {
    "officeDocument": "sheet.main", "worksheet": "worksheet", "sharedStrings": "sharedStrings", "styles": "styles",
    "comments": "comments", "table": "table",
}  # fmt: skip
"""The kinds of parts that are read here, with their content types."""
_BOXES = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_LARGE = (f"{_TYPE}worksheet+xml", f"{_TYPE}sharedStrings+xml")
_FORMATS = {"date": "yyyy\\-mm\\-dd", "time": "hh:mm", "number": "General", "code": "General"}
_STYLE = re.compile(r"(?:TableStyle|PivotStyle)(?:Light|Medium|Dark)[0-9]{1,2}")
_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})(?::[A-Z]{1,3}[0-9]{1,7})?")


class BookPackage(Package):
    """The parts of a workbook. Worksheets and shared strings are not parsed into trees."""

    def _reads(self, kind: str, name: str, content_type: str) -> bool:
        if kind in _OWN:
            if content_type != _TYPE + _OWN[kind] + "+xml":
                return kind == "officeDocument"
            self.kinds[name] = kind
            self._parsed(name)
            return True
        return super()._reads(kind, name, content_type)

    def _parsed(self, name: str) -> XmlPart:
        kind = self.types.get(name, "") if name != TYPES else ""
        if kind.startswith(_TYPE):
            self.parts.xml[name] = self._plain(name, kind)
            return self.parts.xml[name]
        try:
            return super()._parsed(name)
        except MalformedRecord:
            if kind != _BOXES:
                raise
            self.parts.xml[name] = self._types  # the boxes of comments are drawn anew
            return self._types

    def _plain(self, name: str, kind: str) -> XmlPart:
        """Return a part without comments, instructions, and CDATA sections."""
        data = self.parts.raw[name]
        codec = codec_of_xml(data)
        if codec is None:
            raise MalformedRecord("an encoding that is not supported. Save it again", field=shown_name(name))
        try:
            source = codec.decode(data[len(codec.mark) :])
        except UnicodeDecodeError:
            raise MalformedRecord("not in its declared encoding. Save it again", field=shown_name(name)) from None
        try:
            check_well_formed(source)
            plain = without_sections(source)
            if plain != source:
                self.parts.replaced[name] = codec.mark + codec.encode(plain)
            return XmlPart(name, plain, codec, self._types.xml if kind in _LARGE else parse_xml(plain))
        except MalformedRecord as problem:
            raise MalformedRecord(str(problem), field=shown_name(name)) from None

    def new_id(self, old: str) -> str:
        """Return the new id of a relation."""
        return self.names.of("relation", old) or ""


def read_workbook(data: bytes, roles: dict[str, Roles] | None = None) -> Book:
    """Return a workbook with its texts and structured fields.

    Args:
        roles: the roles of the cells by worksheet, if they are known.

    Raises:
        MalformedRecord: it is damaged, or has a part that cannot be read. UnsupportedFormat: it is no plain workbook.
    """
    package = BookPackage(transitional(data))
    main = package.main()
    if main not in package.kinds:
        raise UnsupportedFormat("a template, a binary workbook, or another file than .xlsx. Save it as .xlsx")
    return _Reader(package, main, roles or {}).book


class BookWalk(PartWalk):
    """Reads a drawing, a chart, a theme, or properties. Charts keep the references to cells that formulas may have."""

    def __init__(self, package: Package, name: str, field: str, book: Book) -> None:
        super().__init__(package, name, field)
        self._book = book
        self.handlers |= dict.fromkeys(("c:numRef", "c:strRef", "c:multiLvlStrRef"), self._cells)

    def _cells(self, element: Element) -> None:
        """Read a reference to cells. Its copy of their values is removed if the reference stays, else read."""
        formula = element.child("f")
        written = [self.part.source[each.start : each.end] for each in formula.characters] if formula else []
        is_copy = bool(written) and self._book.keeps("".join(written))
        key = key_of(element.uri, element.name)
        for child in element.children:
            if not isinstance(child, Element):
                self.characters(child, element, key)
            elif is_copy and child.name.endswith("Cache"):
                self._copy(child, key)
            else:
                self.element(child, key)

    def _copy(self, element: Element, holder: str) -> None:
        """Read a copy of cells without their values."""
        key = key_of(element.uri, element.name)
        if not key:
            self.remove(element)
        elif self.attributes(element, key, holder):
            for child in element.children:
                if not isinstance(child, Element):
                    self.characters(child, element, key)
                elif child.name in ("pt", "lvl"):
                    self.remove(child)
                else:
                    self.element(child, key)

    def characters(self, found: Characters, holder: Element, key: str) -> None:
        if key != "c:f":
            super().characters(found, holder, key)
        elif not self._book.keeps(self.part.source[found.start : found.end]):
            self.parts.fix(self.part, found.start, found.end, "#REF!")


class _Reader:
    def __init__(self, package: BookPackage, main: str, roles: dict[str, Roles]) -> None:
        self.package, self.parts = package, package.parts
        self.main = self.parts.xml[main]
        self._tables = 0
        links = package.links(main)
        of = {relation.kind: relation.target for relation in links.values()}
        properties = self.main.xml.root.child("workbookPr")
        from_1904 = properties is not None and properties.value("date1904") in ("1", "true")
        styles = self.parts.xml.get(of.get("styles") or "")
        self.book = Book(
            self.parts, self._strings(of.get("sharedStrings")),
            Styles(styles.xml if styles else None, from_1904=from_1904), package.new_id,
            of.get("sharedStrings") or "", roles=roles,
        )  # fmt: skip
        self._read_main()
        for number, element in enumerate(self._sheets(), 1):
            relation = links.get(element.value(f"{{{RELATIONS}}}id"))
            if relation is None or relation.target is None:
                raise MalformedRecord(f"the sheet {number} has no part, or is not a worksheet. Save it again")
            self._read_sheet(relation.target, f"sheet {number}")
        if styles is not None:
            self._clean(styles, self._style_rules(styles))
        for name, kind in package.kinds.items():
            if kind not in (*_OWN, "vmlDrawing"):
                BookWalk(package, name, kind, self.book).run()

    def _strings(self, name: str | None) -> SharedStrings:
        if name is None:
            return SharedStrings()
        part = self.parts.xml[name]
        strings = SharedStrings(part.source, part.codec)
        for change in strings.fixed:
            self.parts.fix(part, *change)
        return strings

    def _sheets(self) -> list[Element]:
        sheets = self.main.xml.root.child("sheets")
        every = sheets.elements if sheets else ()
        found = [each for each in every if each.name == "sheet" and "name" in each.attributes]
        if not found:
            raise MalformedRecord("a workbook without sheets. Save it again")
        return found

    def _clean(self, part: XmlPart, rules: Mapping[str, Rule]) -> None:
        for change in Cleaner(part, rules, self.book.ids).clean():
            self.parts.fix(part, *change)

    def _read_main(self) -> None:
        """Read the names of sheets and the defined names."""
        names = SheetNames(self.main.codec, self._sheets())
        self.parts.texts["sheet names"] = (self.main, names)
        self.book.sheets = frozenset(name.lower() for name in names.names())
        defined = self.main.xml.root.child("definedNames")
        kept = [each for each in defined.elements if self._keeps_name(each)] if defined else []
        self.book.names = frozenset(each.value("name").lower() for each in kept)
        starts = {each.start for each in kept}
        self._clean(self.main, {
            "sheet": lambda element: ("name",), "definedName": lambda e: ("name", WHOLE) if e.start in starts else None,
        })  # fmt: skip

    def _keeps_name(self, element: Element) -> bool:
        name = element.value("name")
        formula = "".join(self.main.source[each.start : each.end] for each in element.characters)
        return (is_built_in(name) or is_plain_name(name)) and not any(element.elements) and self.book.keeps(formula)

    def _read_sheet(self, name: str, field: str) -> None:
        kind = self.package.kinds.get(name)
        if kind != "worksheet":
            remedy = "Remove it, and save the workbook again"
            raise UnsupportedFormat(f"{field} is a chart, a dialog, or a macro sheet. {remedy}")
        if name in self.book.read:
            raise MalformedRecord(f"{field} shows the part of another sheet. Save the workbook again")
        links = self.package.links(name)
        notes = [each.target for each in links.values() if each.kind == "comments" and each.target]
        shapes = [each for each in links.values() if each.kind == "vmlDrawing" and each.target]
        kept = {each.id for each in links.values() if each.kind in ("drawing", "table")}
        kept |= {each.id for each in shapes if notes}
        Worksheet(self.book, name, field, kept)
        places: list[str] = []
        for each in notes:
            part = self.parts.xml[each]
            places += read_comments(self.parts, part, field)
        for shape in shapes:
            if shape.target:
                boxes = boxes_of(self.parts.xml[shape.target], places)
                if boxes != self.parts.raw[shape.target]:
                    self.parts.replaced[shape.target] = boxes
        for relation in links.values():
            if relation.kind == "table" and relation.target:
                self._read_table(self.parts.xml[relation.target], name)

    def _read_table(self, part: XmlPart, sheet: str) -> None:
        """Read a table, whose columns have the names in its first row."""
        root = part.xml.root
        place = _PLACE.fullmatch(root.value("ref"))
        if place is None:
            raise MalformedRecord("a table without a place. Save the workbook again", field=part.shown)
        row, column = int(place[2]), column_of(place[1])
        columns = root.child("tableColumns")
        has_header = root.value("headerRowCount") != "0"
        totals = StretchText(part.source, part.codec)
        for number, element in enumerate(columns.elements if columns else ()):
            if (name := element.attributes.get("name")) is None:
                continue
            if has_header:
                self.book.headers.append((part, (name.start, name.end), sheet, (row, column + number)))
            else:
                self.parts.fix(part, name.start, name.end, f"Column{number + 1}")
            if (total := element.attributes.get("totalsRowLabel")) is not None:
                totals.separate()
                totals.add(total.start, total.end, attribute=True)
        self.parts.texts[self.parts.numbered("table totals")] = (part, totals)
        self._clean(part, {
            "table": partial(self._table_names, part), "tableColumn": lambda element: ("name", "totalsRowLabel"),
            "tableStyleInfo": lambda element: ("name",) if _STYLE.fullmatch(element.value("name")) else (),
        })  # fmt: skip

    def _table_names(self, part: XmlPart, element: Element) -> Collection[str]:
        """Give a table a new name, if its name could be that of a person."""
        self._tables += 1
        for each in ("name", "displayName"):
            attribute = element.attributes.get(each)
            if attribute is not None and not is_plain_name(attribute.value):
                self.parts.fix(part, attribute.start, attribute.end, f"Table_{self._tables}")
        return ("name", "displayName")

    def _style_rules(self, part: XmlPart) -> Mapping[str, Rule]:
        def change(element: Element, name: str, new: str) -> None:
            attribute = element.attributes.get(name)
            if attribute is not None:
                self.parts.fix(part, attribute.start, attribute.end, new)

        def code(element: Element) -> Collection[str]:
            written = decoded(element.value("formatCode"))
            if not is_code(written):
                change(element, "formatCode", _FORMATS[shown_by(written)])
            return ("formatCode",)

        def font(element: Element) -> Collection[str]:
            if not is_font(element.value("val")):
                change(element, "val", "Arial")
            return ("val",)

        def style(element: Element) -> Collection[str]:
            if not is_plain_style(element.value("name")):
                change(element, "name", f"Style {element.start % 10_000}")
            return ("name",)

        return {"numFmt": code, "name": font, "cellStyle": style}
