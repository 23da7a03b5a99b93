"""Delimited text read with positions (RFC 4180, and `;`, tab or `|` for the comma), so that only changed cells change.

The standard library's reader forgets how a cell was written and stops at 131,072 characters; this one keeps every
row's text and where its cells stand, and agrees with that reader, in its strict mode, on what they hold (a test
compares them).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, chain

from incognote.errors import MalformedRecord

DELIMITERS = (",", ";", "\t", "|")
_INSIDE = re.compile(r'[^"]*(?:""[^"]*)*')  # of a quoted cell, up to its closing quote or the end of what is read


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as written.

    Args:
        number: from 1; the header is 0.
        raw: its text with the blank lines before it and its own line end.
        cells: where each cell stands in `raw`, quotes included.
        values: what each cell holds.
        fault: what is wrong with it, "" for nothing; cells and values are then not to be used.
    """

    number: int
    raw: str = field(repr=False)
    cells: tuple[tuple[int, int], ...] = field(repr=False)
    values: tuple[str, ...] = field(repr=False)
    fault: str = ""

    def offset(self, column: int, offset: int) -> int:
        """Where an offset into a cell's value stands in `raw`."""
        start = self.cells[column][0]
        if not self.raw.startswith('"', start):
            return start + offset
        return start + 1 + len(self.values[column][:offset].replace('"', '""'))

    def rewritten(self, changed: Mapping[int, str], delimiter: str, dropped: Collection[int] = ()) -> str:
        """The row with some cells' values changed and some cells left out; every other cell keeps its bytes.

        A changed cell stays quoted if it was, and is quoted where its new value needs it; then quotes that stood bare
        in it are doubled.
        """
        first, last = self.cells[0][0], self.cells[-1][1]
        kept = [
            self.raw[start:end] if i not in changed
            else _written(changed[i], delimiter, quoted=self.raw.startswith('"', start))
            for i, (start, end) in enumerate(self.cells) if i not in dropped
        ]
        body = delimiter.join(kept)
        return self.raw[:first] + (body or '""') + self.raw[last:]  # an empty line would be no row


class Rows:
    """The rows of a delimited text; iterate once.

    Args:
        lines: as a text stream opened with `newline=""` yields them.
        number: of the first row.

    Attributes:
        tail: once read to the end, the blank lines after the last row.
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
        """A row with quotes in it; a quoted cell may go on over many lines, so each line is scanned once."""
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
                        fault = "a quote is opened and never closed"
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
    """The delimiter, the header and the rows.

    Args:
        expected: names the header should have; of the delimiters, the one that shows most of them is taken, and among
            equals the one that makes most columns.

    Raises:
        MalformedRecord: no header, one that cannot be read, or a column name twice.
    """
    remaining = iter(lines)
    first: list[str] = []
    for line in remaining:
        first.append(line)
        if line.strip("\ufeff\r\n") and "".join(first).count('"') % 2 == 0:
            break
    if not "".join(first).strip("\ufeff\r\n \t"):
        raise MalformedRecord("the table is empty: its first row names the columns")
    choices = DELIMITERS if delimiter is None else (delimiter,)
    headers = {sign: next(iter(Rows(_unmarked(first), sign))) for sign in choices}
    sign = max(choices, key=lambda s: (len(set(columns(headers[s])) & set(expected)), len(headers[s].values)))
    header = headers[sign]
    names = columns(header)
    if header.fault:
        raise MalformedRecord(f"the header cannot be read: {header.fault}")
    for position, name in enumerate(names, 1):
        if names.index(name) != position - 1:
            raise MalformedRecord(f"columns {names.index(name) + 1} and {position} bear one name")
    mark = "\ufeff" if first[0].startswith("\ufeff") else ""
    shifted = tuple((start + len(mark), end + len(mark)) for start, end in header.cells)
    header = RawRow(0, mark + header.raw, shifted, header.values)
    read = accumulate(map(len, first))  # a bare quote in a name may have made us read on into the rows
    beyond = [line for line, length in zip(first, read, strict=True) if length > len(header.raw)]
    return sign, header, Rows(chain(beyond, remaining), sign, 1)


def columns(header: RawRow) -> tuple[str, ...]:
    """The columns' names, without white space around them."""
    return tuple(value.strip() for value in header.values)


def dictionaries(lines: Iterable[str], delimiter: str | None = None) -> Iterator[dict[str, str]]:
    """Rows by column name, for drafts; rows that cannot be read are left out.

    Raises:
        MalformedRecord: as `read_table`.
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
