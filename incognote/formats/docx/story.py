"""Read the stories of a Word document: the body, headers, footers, notes, comments, and text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from incognote.formats.docx.hidden import HiddenStyles, switched, value_of
from incognote.formats.docx.tables import LabeledTable
from incognote.formats.office.flow import FlowText
from incognote.formats.office.graph import Package
from incognote.formats.office.rules import key_of
from incognote.formats.office.walk import PartWalk
from incognote.formats.records.rawxml import Characters, Element
from incognote.formats.rtf import closed

_FILE = re.compile(r"\s*(?:FILENAME|TEMPLATE|AUTHOR|LASTSAVEDBY|USER(?:NAME|INITIALS|ADDRESS))\b", re.IGNORECASE)
_SYMBOLS = ("Symbol", "Wingdings", "Webdings", "Marlett", "MT Extra", "ZapfDingbats", "OpenSymbol", "StarSymbol")


@dataclass(slots=True)
class _Field:
    """A field that is not yet closed. Its instruction stays if a rule keeps it, else the field becomes its result."""

    marks: list[Element] = field(default_factory=list)
    words: list[Characters] = field(default_factory=list)
    instruction: str = ""
    in_instruction: bool = True
    is_file: bool = False  # its result is a path or a user name, and is removed
    unseen: bool = False  # what was removed before the field began
    kept: bool = True


class Story(PartWalk):
    """Reads a part with paragraphs.

    Args:
        field: the field of its text. Each note and comment is a text of its own.
        styles: the styles that can hide text.
    """

    def __init__(self, package: Package, name: str, field: str, styles: HiddenStyles) -> None:
        super().__init__(package, name, "drawing")
        self._story, self._styles = field, styles
        self._flow: FlowText | None = None
        self._cells = LabeledTable()
        self._fields: list[_Field] = []
        self._paragraph = self._table = ""
        self.handlers |= {
            "w:p": self._read_paragraph, "w:r": self._read_run, "w:tbl": self._read_table, "w:tr": self._read_row,
            "w:tc": self._read_cell, "w:del": self._read_deleted, "w:moveFrom": self._read_deleted,
            "w:txbxContent": self._read_box, "w:footnote": self._read_note, "w:endnote": self._read_note,
            "w:comment": self._read_note, "w:rt": self._read_ruby, "w:fldSimple": self._read_simple,
            "m:t": self._read_words, "w:t": self._read_words, "w:delText": self._read_deleted,
            "w:instrText": self._read_instruction, "w:delInstrText": self._read_instruction,
            "w:fldChar": self._read_mark, "w:tabs": self._read_stops,
            **dict.fromkeys(("w:tab", "w:ptab", "w:br", "w:cr"), self._read_layout),
            **dict.fromkeys(("w:noBreakHyphen", "w:sym", "w16se:symEx"), self._read_sign),
        }  # fmt: skip

    @property
    def flow(self) -> FlowText:
        """The text around."""
        if self._flow is None:
            self._flow = self.parts.flow(self.part, self._story)
        return self._flow

    @property
    def unseen(self) -> bool:
        return self.removing or any(each.in_instruction or each.is_file for each in self._fields)

    @cached_property
    def _ruby(self) -> FlowText:
        return self.parts.flow(self.part, "ruby")

    @cached_property
    def _copies(self) -> FlowText:
        return self.parts.flow(self.part, "alternate")

    def run(self) -> None:
        if self._story in ("body", "header", "footer"):
            self._flow = self.flow
        super().run()
        self._close_fields()

    @contextmanager
    def _within(self, flow: FlowText, paragraph: str = "", table: str = "") -> Iterator[None]:
        """Read another text, with its own fields and styles."""
        held = (self._flow, self._fields, self._paragraph, self._table)
        with self._removing(self.unseen):
            self._flow, self._fields, self._paragraph, self._table = flow, [], paragraph, table
            yield
            self._close_fields()
        self._flow, self._fields, self._paragraph, self._table = held

    @contextmanager
    def _removing(self, removing: bool = True) -> Iterator[None]:
        held, self.removing = self.removing, self.removing or removing
        yield
        self.removing = held

    def _read_paragraph(self, element: Element) -> None:
        held, self._paragraph = self._paragraph, value_of(element.child("pPr"), "pStyle")
        self.inner(element, "w:p")
        self._paragraph = held
        self.flow.end_paragraph()

    def _read_run(self, element: Element) -> None:
        properties = element.child("rPr")
        hidden = switched(properties, "vanish")
        if hidden is None:
            hidden = self._styles.hides(self._paragraph, value_of(properties, "rStyle"), self._table)
        with self._removing(hidden):
            self.inner(element, "w:r")

    def _read_stops(self, element: Element) -> None:
        """Read the positions of tabs, which are elements of the same name as the tabs."""
        for child in element.children:
            if isinstance(child, Characters):
                self.characters(child, element, "w:tabs")
            elif key_of(child.uri, child.name) != "w:tab" or child.children:
                self.remove(child)
            else:
                self.attributes(child, "w:tab", "w:tabs")

    def _read_layout(self, element: Element) -> None:
        self.inner(element)
        self.flow.layout("\t" if element.name.endswith("tab") else "\n")

    def _read_sign(self, element: Element) -> None:
        """Read an element that shows a character."""
        self.inner(element)
        if not self.unseen:
            self.flow.sign(_symbol(element), element)
        elif element.name != "noBreakHyphen":
            self.remove(element)

    def _read_words(self, element: Element) -> None:
        for child in element.children:
            if isinstance(child, Element):
                self.remove(child)
            elif self.unseen:
                self.parts.fix(self.part, child.start, child.end)
            else:
                self.flow.words(child, element)

    def _read_deleted(self, element: Element) -> None:
        with self._removing():
            if element.name == "delText":
                self._read_words(element)
            else:
                self.inner(element, f"w:{element.name}")

    def _read_table(self, element: Element) -> None:
        held, self._cells = (self._table, self._cells), LabeledTable()
        self._table = value_of(element.child("tblPr"), "tblStyle")
        self.inner(element, "w:tbl")
        self.parts.known += self._cells.known(self.flow.text)
        self._table, self._cells = held

    def _read_row(self, element: Element) -> None:
        properties = element.child("trPr")
        self._cells.begin_row(properties)
        with self._removing(properties is not None and properties.child("del") is not None):
            self.inner(element, "w:tr")
        self.flow.end_row()

    def _read_cell(self, element: Element) -> None:
        properties = element.child("tcPr")
        start = self.flow.size
        with self._removing(properties is not None and properties.child("cellDel") is not None):
            self.inner(element, "w:tc")
        self._cells.add(properties, start, self.flow.size)
        self.flow.end_cell()

    def _read_box(self, element: Element) -> None:
        with self._within(self.parts.flow(self.part, "text box")):
            self.inner(element, "w:txbxContent")

    def _read_note(self, element: Element) -> None:
        kind = next((a.value for key, a in element.attributes.items() if key.endswith("}type")), "normal")
        name = self._story if kind == "normal" else "note separator"
        with self._within(self.parts.flow(self.part, name)):
            self.inner(element, f"w:{element.name}")

    def _read_ruby(self, element: Element) -> None:
        with self._within(self._ruby):
            self.inner(element, "w:rt")
            self._ruby.end_paragraph()

    def _read_simple(self, element: Element) -> None:
        instruction = next((a.value for key, a in element.attributes.items() if key.endswith("}instr")), "")
        if self.unseen or not closed.keeps("field", instruction):
            self.unwrap(element)
        with self._removing(_FILE.match(instruction) is not None):
            self.inner(element, "w:fldSimple")

    def _read_instruction(self, element: Element) -> None:
        open_fields = self._fields
        for child in element.children:
            if isinstance(child, Element):
                self.remove(child)
            elif not open_fields or not open_fields[-1].in_instruction or element.name == "delInstrText":
                self.parts.fix(self.part, child.start, child.end)
            else:
                open_fields[-1].words.append(child)
                open_fields[-1].instruction += self.shown(child)

    def _read_mark(self, element: Element) -> None:
        """Read the beginning, the middle, or the end of a field."""
        kind = next((a.value for key, a in element.attributes.items() if key.endswith("}fldCharType")), "")
        fields = self._fields
        if kind == "begin":
            nested = any(each.in_instruction for each in fields)
            for each in fields:
                each.kept = each.kept and not each.in_instruction  # an instruction with a field in it
            fields.append(_Field([element], unseen=self.unseen, kept=not nested and not self.unseen))
            self.inner(element, "w:fldChar")
        elif not fields or kind not in ("separate", "end"):
            self.remove(element)
        else:
            self.inner(element, "w:fldChar")
            fields[-1].marks.append(element)
            if kind == "separate":
                fields[-1].in_instruction = False
                fields[-1].is_file = _FILE.match(fields[-1].instruction) is not None
            else:
                self._close(fields.pop())

    def _close(self, found: _Field) -> None:
        new = self.names.of("instruction", found.instruction) if found.kept else None
        if new is None:
            for mark in found.marks:
                self.remove(mark)
        if new != found.instruction:
            for i, words in enumerate(found.words):
                self.parts.fix(self.part, words.start, words.end, (new or "") if i == 0 else "")

    def _close_fields(self) -> None:
        """Remove the fields that have no end."""
        for found in self._fields:
            found.kept = False
            self._close(found)
        self._fields = []

    def alternate(self, element: Element) -> None:
        """Read the first branch where it is. The others show the same words again, and are a text of their own."""
        choices, fallback = self.branches(element)
        others = [*choices[1:], *([fallback] if fallback is not None else [])]
        if choices:
            self.element(choices[0])
        for each in others:
            if not choices:
                self.inner(each)
            elif not self.has_text(choices[0]):
                self.element(each)
            else:
                with self._within(self._copies, self._paragraph, self._table):
                    self.element(each)
                    self._copies.end_paragraph()


def _symbol(element: Element) -> str:
    """Return the character of a symbol. In fonts of symbols, it stays in the private area, so it is no letter."""
    if element.name == "noBreakHyphen":
        return "-"
    named = {key.rpartition("}")[2]: a.value for key, a in element.attributes.items()}
    try:
        code = int(named.get("char", ""), 16)
    except ValueError:
        code = 0
    if 0xF000 <= code <= 0xF0FF and not any(font in named.get("font", "") for font in _SYMBOLS):
        code -= 0xF000
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else "\ufffd"
