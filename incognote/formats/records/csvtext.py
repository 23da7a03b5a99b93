"""A reader of delimited text that keeps positions, so that only edited cells change.

It follows RFC 4180, also with `;`, tab or `|` as the delimiter. The reader in the standard library does not keep how a
cell was written, and stops at 131,072 characters. This one keeps the text of each row and the positions of its cells.
It agrees with the standard reader in strict mode on the values (a test compares them).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, chain

from incognote.errors import MalformedRecord

DELIMITERS = (",", ";", "\t", "|")
_INSIDE = re.compile(r'[^"]*(?:""[^"]*)*')  # a quoted cell up to its closing quote or the line's end


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as written.

    Args:
        number: the row number, from 1; the header is 0.
        raw: the text of the row, with the blank lines before it and its line end.
        cells: the position of each cell in `raw`, including quotes.
        values: the value of each cell.
        fault: what is wrong with the row, or "". With a fault, do not use cells and values.
    """

    number: int
    raw: str = field(repr=False)
    cells: tuple[tuple[int, int], ...] = field(repr=False)
    values: tuple[str, ...] = field(repr=False)
    fault: str = ""

    def offset(self, column: int, offset: int) -> int:
        """Return the position in `raw` of an offset in a cell's value."""
        start = self.cells[column][0]
        if not self.raw.startswith('"', start):
            return start + offset
        return start + 1 + len(self.values[column][:offset].replace('"', '""'))

    def rewritten(self, changed: Mapping[int, str], delimiter: str, dropped: Collection[int] = ()) -> str:
        """Return the row with some values changed and some cells left out. Every other cell keeps its bytes.

        A changed cell stays quoted if it was, and gets quotes if its new value needs them. Quotes within it are then
        doubled.
        """
        first, last = self.cells[0][0], self.cells[-1][1]
        kept = [
            self.raw[start:end] if i not in changed
            else _written(changed[i], delimiter, quoted=self.raw.startswith('"', start))
            for i, (start, end) in enumerate(self.cells) if i not in dropped
        ]
        body = delimiter.join(kept)
        return self.raw[:first] + (body or '""') + self.raw[last:]  # an empty line would not be a row


class Rows:
    """The rows of a delimited text. Iterate over them only once.

    Args:
        lines: the lines, as from a text stream opened with `newline=""`.
        delimiter: the delimiter of the cells.
        number: the number of the first row.

    Attributes:
        tail: the blank lines after the last row, available after the iteration.
    """

    def __init__(self, lines: Iterable[str], delimiter: str, number: int = 0) -> None:
        self._lines = iter(lines)
        self._delimiter = delimiter
        self._bare = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
        self._number = number
        self.tail = ""

    def __iter__(self) -> Iterator[RawRow]:
        lead: list[str] = []
        for line in self._lines:
            if not line.strip("\r\n"):
                lead.append(line)
                continue
            yield self._row("".join(lead), line)
            self._number += 1
            lead.clear()
        self.tail = "".join(lead)

    def _row(self, lead: str, line: str) -> RawRow:
        at = len(lead)
        if '"' not in line:
            values = line.rstrip("\r\n").split(self._delimiter)
            places = []
            for value in values:
                places.append((at, at + len(value)))
                at += len(value) + 1
            return RawRow(self._number, lead + line, tuple(places), tuple(values))
        return self._quoted_row(lead, line)

    def _quoted_row(self, lead: str, line: str) -> RawRow:
        """Read a row with quotes. A quoted cell may span many lines, so each line is scanned only once."""
        done, base = [lead], len(lead)  # the text before `line`, and its length
        cells: list[tuple[int, int]] = []
        values: list[str] = []
        at, fault = 0, ""
        while True:
            start = base + at
            if line.startswith('"', at):
                inside, at = [], at + 1
                while True:
                    end = _INSIDE.match(line, at).end()  # type: ignore[union-attr]  # it matches the empty string too
                    inside.append(line[at:end])
                    if end < len(line):
                        break
                    further = next(self._lines, None)
                    if further is None:
                        fault = "an opening quote is never closed"
                        break
                    done.append(line)
                    base += len(line)
                    line, at = further, 0
                if fault:
                    break
                values.append("".join(inside).replace('""', '"'))
                at = end + 1
            else:
                end = self._bare.match(line, at).end()  # type: ignore[union-attr]  # it matches the empty string too
                values.append(line[at:end])
                at = end
            cells.append((start, base + at))
            if line.startswith(self._delimiter, at):
                at += 1
                continue
            if line[at:].strip("\r\n"):
                fault = "text follows a closing quote"
            break
        return RawRow(self._number, "".join((*done, line)), tuple(cells), tuple(values), fault)


def read_table(
    lines: Iterable[str], expected: Collection[str], delimiter: str | None = None
) -> tuple[str, RawRow, Rows]:
    """Return the delimiter, the header and the rows.

    Args:
        expected: names that the header should have. The delimiter that yields the most of them is chosen and, in a
            tie, the one that yields the most columns.

    Raises:
        MalformedRecord: there is no header, it cannot be read, or a column name occurs twice.
    """
    remaining = iter(lines)
    first: list[str] = []
    for line in remaining:
        first.append(line)
        if line.strip("\ufeff\r\n") and "".join(first).count('"') % 2 == 0:
            break
    if not "".join(first).strip("\ufeff\r\n \t"):
        raise MalformedRecord("the table is empty. Its first row must name the columns")
    choices = DELIMITERS if delimiter is None else (delimiter,)
    headers = {sign: next(iter(Rows(_unmarked(first), sign))) for sign in choices}
    sign = max(choices, key=lambda s: (len(set(columns(headers[s])) & set(expected)), len(headers[s].values)))
    header = headers[sign]
    names = columns(header)
    if header.fault:
        raise MalformedRecord(f"the header cannot be read: {header.fault}")
    for position, name in enumerate(names, 1):
        if names.index(name) != position - 1:
            raise MalformedRecord(f"columns {names.index(name) + 1} and {position} have the same name")
    mark = "\ufeff" if first[0].startswith("\ufeff") else ""
    shifted = tuple((start + len(mark), end + len(mark)) for start, end in header.cells)
    header = RawRow(0, mark + header.raw, shifted, header.values)
    read = accumulate(map(len, first))  # because of a bare quote in a name, lines after the header may have been read
    beyond = [line for line, length in zip(first, read, strict=True) if length > len(header.raw)]
    return sign, header, Rows(chain(beyond, remaining), sign, 1)


def columns(header: RawRow) -> tuple[str, ...]:
    """Return the column names, without surrounding white space."""
    return tuple(value.strip() for value in header.values)


def dictionaries(lines: Iterable[str], delimiter: str | None = None) -> Iterator[dict[str, str]]:
    """Yield rows as dictionaries by column name, for schema drafts. Rows that cannot be read are skipped.

    Raises:
        MalformedRecord: as in `read_table`.
    """
    _, header, rows = read_table(lines, (), delimiter)
    names = columns(header)
    for row in rows:
        if not row.fault and len(row.values) == len(names):
            yield dict(zip(names, row.values, strict=True))


def _unmarked(lines: list[str]) -> Iterator[str]:
    return chain((lines[0].removeprefix("\ufeff"),), lines[1:])


def _written(value: str, delimiter: str, *, quoted: bool) -> str:
    if quoted or delimiter in value or value.startswith('"') or "\n" in value or "\r" in value:
        return '"' + value.replace('"', '""') + '"'
    return value
