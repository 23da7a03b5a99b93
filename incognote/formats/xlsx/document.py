"""A workbook: new words go into its cells, and all parts that repeat them follow."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from incognote.formats.base import Change, Edit, account, of_child, split_edits
from incognote.formats.office.document import OfficeDocument
from incognote.formats.office.package import zipped
from incognote.formats.xlsx.book import Book, Sheet, SheetNames
from incognote.formats.xlsx.formulas import renamed
from incognote.formats.xlsx.sheetdata import attributes_of, in_range
from incognote.formats.xlsx.strings import decoded, escaped, stretches_of
from incognote.formats.xlsx.workbook import read_workbook

_FORMULA = re.compile(r"(<(?:\w+:)?(?:f|formula|formula1|formula2|definedName)(?:\s[^>]*)?>)([^<]*)(?=</)")
_LOCATION = re.compile(r"""(<(?:\w+:)?hyperlink\s[^>]*?\slocation=)(?:"([^"]*)"|'([^']*)')""")


class XlsxDocument(OfficeDocument):
    """A whole workbook.

    Args:
        data: its bytes.
        book: what its reader found.
    """

    def __init__(self, data: bytes, book: Book) -> None:
        super().__init__(data, book.parts)
        self._book = book
        records = {record for sheet in book.read.values() for record in sheet.cells.records}
        self.patient = records.pop() if len(records) == 1 else None

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        changes, values = split_edits(edits)
        account(self, changes, values)
        found, book = self._parts, self._book
        by_part: dict[str, list[Change]] = {}
        for field, own in changes.items():
            if field in found.texts:
                part, text = found.texts[field]
                by_part.setdefault(part.name, []).extend(text.edits(own))
        for action, value in values.items():
            if action not in found.fields:
                continue
            part, write = found.fields[action]
            if value != action.text.content[action.start : action.end]:
                by_part.setdefault(part.name, []).extend(write(value))
        for name, sheet in book.read.items():
            if name in by_part:
                by_part[name] += _freed(sheet, by_part[name])
        by_part.setdefault(book.strings_part, []).extend(self._unused(by_part))
        for name, change in self._columns(by_part):
            by_part.setdefault(name, []).append(change)
        left = {name: data for name, data in found.raw.items() if name not in found.removed}
        written = {name: found.replaced.get(name, data) for name, data in left.items()}
        for name in (by_part.keys() | found.fixed.keys()) & written.keys():
            merged = list(_outermost([*by_part.get(name, ()), *found.fixed.get(name, ())]))
            if merged:
                written[name] = found.xml[name].rebuilt(merged)
        for field, (name, _) in found.children.items():
            child, inner = self.children[field], io.BytesIO()
            child.rebuild(of_child(edits, field), inner)
            written[name] = child.head + inner.getvalue() + child.after
        names = found.texts["sheet names"][1]
        assert isinstance(names, SheetNames)
        if sheets := names.renamed(changes.get("sheet names", ())):
            self._rename(written, sheets)
        same = written == found.raw and not found.renamed and zipped(found.raw) == self.data
        named = {found.renamed.get(name, name): data for name, data in written.items()}
        out.write(self.data if same else zipped(named))

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> XlsxDocument:
        return XlsxDocument(output, read_workbook(output, self._book.roles))

    def _unused(self, by_part: Mapping[str, Sequence[Change]]) -> Iterator[Change]:
        """Yield the changes that empty the shared strings that no cell uses any more."""
        strings = self._book.strings
        used = Counter[int]()
        for name, sheet in self._book.read.items():
            edited = {start for start, _, _ in by_part.get(name, ())}
            used.update(index for start, index in sheet.cells.shared if start not in edited)
        for index, (start, end) in enumerate(strings.items):
            if index not in used and end > start and strings.source[start:end] != (empty := f"<{strings.prefix}t/>"):
                yield start, end, empty

    def _columns(self, by_part: Mapping[str, Sequence[Change]]) -> Iterator[tuple[str, Change]]:
        """Yield the changes that give each column of a table the words of its header cell."""
        taken: Counter[tuple[str, str]] = Counter()
        for part, (start, end), sheet, place in self._book.headers:
            at, words = self._book.read[sheet].cells.at(*place)
            for start_of, _, new in by_part.get(sheet, ()):
                if start_of == at:
                    words = "".join(decoded(new[b:c]) for b, c in stretches_of(new))
            taken[part.name, words.lower()] += 1
            count = taken[part.name, words.lower()]
            name = escaped(words + (str(count) if count > 1 or not words else ""), part.codec, attribute=True)
            name = name.replace("&#10;", "_x000a_")
            if name != part.source[start:end] and decoded(name) != decoded(part.source[start:end]):
                yield part.name, (start, end, name)

    def _rename(self, written: dict[str, bytes], sheets: Mapping[str, str]) -> None:
        """Give sheets their new names in all formulas that stay."""

        def new(match: re.Match[str]) -> str:
            return match[1] + escaped(renamed(decoded(match[2]), sheets), part.codec)

        def moved(match: re.Match[str]) -> str:
            place = renamed(decoded(match[2] or match[3] or ""), sheets)
            return f'{match[1]}"{escaped(place, part.codec, attribute=True)}"'

        for name, part in self._parts.xml.items():
            if name in written and name.endswith(".xml") and (b"!" in written[name] or b"\x00!" in written[name]):
                codec = part.codec
                source = codec.decode(written[name].removeprefix(codec.mark))
                source = _LOCATION.sub(moved, _FORMULA.sub(new, source))
                written[name] = codec.mark + codec.encode(source)


def _freed(sheet: Sheet, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes that remove formulas of other cells that depend on the formula of an edited one."""
    edited = {start for start, _, _ in changes}
    gone: set[str] = set()
    source = sheet.part.source
    places = None
    for cell in sheet.formulas:
        traits = attributes_of(cell.traits)
        if traits.get("t") == "shared" and cell.start in edited and cell.body[0] >= 0:
            gone.add(traits.get("si", ""))
    for cell in sheet.formulas:
        if cell.start in edited or cell.formula is None:
            continue
        traits = attributes_of(cell.traits)
        is_gone = traits.get("t") == "shared" and traits.get("si", "") in gone
        if traits.get("t") == "array":
            places = places or [each for each in sheet.cells.places() if each[0] in edited]
            is_gone = any(in_range(traits.get("ref", ""), row, column) for _, row, column in places)
        if is_gone and source:
            yield (*cell.formula, "")


def _outermost(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes that are not inside another one."""
    reached = -1
    for change in sorted(changes, key=lambda change: (change[0], -change[1])):
        if change[1] > reached or (change[0] == change[1] == reached):
            yield change
            reached = max(reached, change[1])
