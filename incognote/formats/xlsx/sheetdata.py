"""The cells of a worksheet: a fast scan of `<sheetData>`, with the position of each cell in its part.

The part was checked to be well-formed. The scan accepts only the elements that a cell can have, so it cannot overlook
one. A tree of all elements would need ten times the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from incognote.errors import MalformedRecord

MAX_CELLS = 1_000_000
MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
_ATTRIBUTES = r"""(?:\s+[\w:.\-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*"""
_ATTRIBUTE = re.compile(r"""\s+([\w:.\-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_PLACE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_PLAIN_CELL = re.compile(r'(?: r="[A-Z]{1,3}[0-9]{1,7}")?(?: s="[0-9]{1,6}")?(?: t="[a-zA-Z]{1,9}")?')
_ROW = {
    "r": r"[0-9]{1,7}", "spans": r"(?:[0-9]{1,5}:[0-9]{1,5} ?){1,9}", "s": r"[0-9]{1,6}",
    "ht": r"[0-9]{1,4}(?:\.[0-9]{1,17})?",
    "outlineLevel": r"[0-9]", "x14ac:dyDescent": r"[0-9]{1,3}(?:\.[0-9]{1,17})?",
    **dict.fromkeys("customFormat hidden customHeight collapsed thickTop thickBot".split(), r"[01]|true|false"),
}  # fmt: skip
_KINDS = frozenset(("b", "n", "e", "s", "str", "inlineStr", "d"))
_AGAIN = "Save the workbook again"


class SheetCell(NamedTuple):
    """A cell that has a value or a formula.

    Args:
        row, column: from 1.
        start, end: its position. Its opening tag begins `<c` and has the attributes `head` without its type.
        kind: its type: s, str, inlineStr, n, d, b, or e.
        style: the index of its style.
        value: the position of the characters of its value, or of the content of `<is>`. None if it has none.
        formula: the position of `<f>`. body: the position of the characters in it. traits: its attributes, as written.
    """

    row: int
    column: int
    start: int
    end: int
    head: str
    kind: str
    style: int
    value: tuple[int, int] | None
    formula: tuple[int, int] | None
    body: tuple[int, int]
    traits: str

    @property
    def place(self) -> str:
        return f"{letters(self.column)}{self.row}"


class SheetData(NamedTuple):
    """All cells by row, and the changes that are made to every document."""

    rows: list[list[SheetCell]]
    fixed: list[tuple[int, int, str]]


def letters(column: int) -> str:
    """Return the letters of a column, from 1."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def column_of(name: str) -> int:
    """Return the number of a column, from 1."""
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - 64
    return number


def attributes_of(written: str) -> dict[str, str]:
    """Return the raw attributes of a tag."""
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(written)}


@cache
def _token(prefix: str) -> re.Pattern[str]:
    p, a = re.escape(prefix), _ATTRIBUTES
    return re.compile(
        rf"\s*(?:<{p}c(?P<cell>{a})(?:/>|>\s*"
        rf"(?P<formula><{p}f(?P<fa>{a})(?:/>|>(?P<f>[^<]*)</{p}f\s*>))?\s*"
        rf"(?:<{p}v(?:\s+xml:space=[\"']preserve[\"'])?\s*(?:/>|>(?P<v>[^<]*)</{p}v\s*>))?\s*"
        rf"(?:<{p}is\s*(?:/>|>(?P<is>.*?)</{p}is\s*>))?\s*"
        rf"(?P<more><{p}extLst\s*(?:/>|>.*?</{p}extLst\s*>))?\s*</{p}c\s*>)"
        rf"|<{p}row(?P<row>{a})(?P<empty>/)?>|</{p}row\s*>)",
        re.DOTALL,
    )


def scan(source: str, start: int, end: int, prefix: str, left: int = MAX_CELLS) -> SheetData:
    """Return the cells between `start` and `end`.

    Args:
        prefix: the prefix of the elements, with its colon, or "".
        left: the most cells.

    Raises:
        MalformedRecord: there is anything else, or there are too many cells.
    """
    token = _token(prefix)
    rows: list[list[SheetCell]] = []
    fixed: list[tuple[int, int, str]] = []
    at, row, column, count = start, 0, 0, 0
    while match := token.match(source, at, end):
        at = match.end()
        written = match["cell"]
        if written is None:
            if (own := match["row"]) is not None:
                row = _row(source, match.span("row"), own, row, fixed)
                column = 0
                rows.append([])
            continue
        if not rows:
            raise MalformedRecord(f"a cell outside a row. {_AGAIN}")
        count += 1
        if count > left:
            raise MalformedRecord(f"more than {MAX_CELLS:,} cells. Split the workbook")
        cell = _cell(match, written, row, column, fixed)
        column = cell.column
        if cell.value is not None or cell.formula is not None:
            rows[-1].append(cell)
    if source[at:end].strip():
        raise MalformedRecord(f"an element in the cells that has no rule. {_AGAIN}")
    return SheetData(rows, fixed)


def _row(source: str, span: tuple[int, int], written: str, before: int, fixed: list[tuple[int, int, str]]) -> int:
    found = attributes_of(written)
    kept = {name: value for name, value in found.items() if name in _ROW and re.fullmatch(_ROW[name], value)}
    if len(kept) < len(found):
        fixed.append((*span, "".join(f' {name}="{value}"' for name, value in kept.items())))
    number = int(kept.get("r", before + 1))
    if not 0 < number <= MAX_ROW:
        raise MalformedRecord(f"a row with a wrong number. {_AGAIN}")
    return number


def _cell(
    match: re.Match[str], written: str, row: int, before: int, fixed: list[tuple[int, int, str]]
) -> SheetCell:  # fmt: skip
    found = attributes_of(written)
    place = _PLACE.fullmatch(found["r"]) if "r" in found else None
    if "r" in found and place is None:
        raise MalformedRecord(f"row {row}: a cell with a wrong position. {_AGAIN}")
    column = column_of(place[1]) if place else before + 1
    kind, style = found.get("t", "n"), found.get("s", "0")
    if column > MAX_COLUMN or kind not in _KINDS or not (style.isdecimal() and len(style) < 7):
        raise MalformedRecord(f"row {row}: a cell with a wrong position, type, or style. {_AGAIN}")
    head = (f' r="{found["r"]}"' if place else "") + (f' s="{style}"' if "s" in found else "")
    start, end = match.span("cell")[0], match.end()
    start = match.string.rfind("<", 0, start)
    if not _PLAIN_CELL.fullmatch(written):
        fixed.append((*match.span("cell"), head + (f' t="{kind}"' if "t" in found else "")))
    inline = kind == "inlineStr"
    if match["v" if inline else "is"] is not None:
        raise MalformedRecord(f"row {row}: a cell with two values. {_AGAIN}")
    value = match.span("is" if inline else "v")
    if match["more"] is not None:
        fixed.append((*match.span("more"), ""))
    return SheetCell(
        row if place is None else int(place[2]), column, start, end, head, kind, int(style),
        value if value[0] >= 0 else None,
        match.span("formula") if match["formula"] is not None else None, match.span("f"), match["fa"] or "",
    )  # fmt: skip


def in_range(cells: str, row: int, column: int) -> bool:
    """Whether a cell is in a range such as `C1:C5`. A range that cannot be read contains every cell."""
    first, _, last = cells.partition(":")
    a, b = _PLACE.fullmatch(first), _PLACE.fullmatch(last or first)
    if a is None or b is None:
        return True
    return int(a[2]) <= row <= int(b[2]) and column_of(a[1]) <= column <= column_of(b[1])


def cells_of(rows: list[list[SheetCell]]) -> Iterator[SheetCell]:
    """Yield all cells in order."""
    for row in rows:
        yield from row
