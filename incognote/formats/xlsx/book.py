"""What the parts of a workbook share while they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from incognote.errors import MalformedRecord
from incognote.formats.base import Change, splice
from incognote.formats.encoding import Codec
from incognote.formats.office.document import OfficeParts
from incognote.formats.office.package import XmlPart
from incognote.formats.records.rawxml import Element
from incognote.formats.xlsx.closed import is_plain_name
from incognote.formats.xlsx.dates import Styles
from incognote.formats.xlsx.formulas import is_closed
from incognote.formats.xlsx.shared import SharedStrings
from incognote.formats.xlsx.sheet import Cells, Roles
from incognote.formats.xlsx.sheetdata import MAX_CELLS, SheetCell
from incognote.formats.xlsx.strings import decoded, escaped

MOST_NAME = 31
"""The characters that the name of a sheet may have."""
_NUMBER = re.compile(r" \d{1,3}\Z")
_TO_TEXT = str.maketrans("()", "[]")
_TO_NAME = str.maketrans({"[": "(", "]": ")", **dict.fromkeys(":*?/\\", "-")})


@dataclass(frozen=True, slots=True)
class Sheet:
    """A worksheet with its cells, and its formulas that stay."""

    part: XmlPart
    cells: Cells
    formulas: list[SheetCell]


@dataclass(slots=True)
class Book:
    """A workbook.

    Attributes:
        parts: what was found so far. strings: the shared strings, and the name of their part. styles: number formats.
        sheets: the names of the sheets, and `names` the defined names that stay, in lower case.
        read: the worksheets by part.
        headers: for each column of a table, its part, the place of its name, the worksheet, and the cell of its header.
        roles: the roles of the cells by worksheet, such as `sheet 1`.
        left: how many cells may follow.
        ids: returns the new id of a relation.
    """

    parts: OfficeParts
    strings: SharedStrings
    styles: Styles
    ids: Callable[[str], str]
    strings_part: str = ""
    sheets: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    read: dict[str, Sheet] = field(default_factory=dict)
    headers: list[tuple[XmlPart, tuple[int, int], str, tuple[int, int]]] = field(default_factory=list)
    roles: dict[str, Roles] = field(default_factory=dict)
    left: int = MAX_CELLS

    def keeps(self, formula: str) -> bool:
        """Whether a formula stays, given its characters as written in a part."""
        return is_closed(decoded(formula), self.sheets, self.names)


class SheetNames:
    """The names of sheets that are read, as a text of one line each.

    A sheet cannot have brackets in its name, so parentheses are read as brackets and written as parentheses. A number
    at the end is not part of the text. It keeps names apart that are equal otherwise.

    Args:
        codec: the encoding of the part.
        names: the elements of all sheets.
    """

    def __init__(self, codec: Codec, names: Iterable[Element]) -> None:
        self._codec = codec
        self._all = [(each.attributes["name"], decoded(each.attributes["name"].value)) for each in names]
        self._read = [i for i, (_, name) in enumerate(self._all) if "(" in name or not is_plain_name(name)]
        self._lines = [_NUMBER.sub("", self._all[i][1]).translate(_TO_TEXT) for i in self._read]

    @property
    def text(self) -> str:
        """The names, one a line."""
        return "\n".join(self._lines)

    def names(self) -> list[str]:
        """Return the names of all sheets."""
        return [name for _, name in self._all]

    def edits(self, changes: Iterable[Change]) -> list[Change]:
        """Return changes of the text as changes of the workbook part.

        Raises:
            MalformedRecord: a new name is too long.
        """
        return [(*self._all[i][0][2:4], escaped(name, self._codec, attribute=True)) for i, name in self._new(changes)]

    def renamed(self, changes: Iterable[Change]) -> dict[str, str]:
        """Return the new names by the old ones in lower case."""
        return {self._all[i][1].lower(): name for i, name in self._new(changes)}

    def _new(self, changes: Iterable[Change]) -> list[tuple[int, str]]:
        changes = sorted(changes, key=lambda change: change[:2])
        splice(self.text, changes)
        own: dict[int, list[Change]] = {}
        at = 0
        starts = []
        for line in self._lines:
            starts.append(at)
            at += len(line) + 1
        for start, end, new in changes:
            for number, line in enumerate(self._lines):
                a, b = start - starts[number], end - starts[number]
                if (a < len(line) and b > 0) or (a == b and 0 <= a <= len(line)):
                    own.setdefault(number, []).append((max(a, 0), min(b, len(line)), new))
                    new = ""
                    if a == b:
                        break
        taken = {name.lower() for i, (_, name) in enumerate(self._all) if i not in {self._read[n] for n in own}}
        found: list[tuple[int, str]] = []
        for number, edits in own.items():
            old = self._all[self._read[number]][1]
            words = splice(self._lines[number], edits).translate(_TO_NAME).strip("'") or "Sheet"
            ending = _NUMBER.search(old)
            name, count = words + (ending[0] if ending else ""), 1
            while name.lower() in taken:
                count += 1
                name = f"{words} {count}"
            if len(name) > MOST_NAME or count > 999:
                remedy = "Give the sheet a shorter name"
                raise MalformedRecord(f"the new name of a sheet is too long. {remedy}", field="sheet names")
            taken.add(name.lower())
            found.append((self._read[number], name))
        return found
