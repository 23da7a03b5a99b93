"""Find identifiers in tables within notes, from the headers of the columns.

A bare `67` is an identifier only under a header such as "Age". Columns are separated by bars, tabs or commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from incognote.detectors.rules.patterns.context import expand
from incognote.detectors.rules.patterns.rule import shipped_macros
from incognote.detectors.rules.view import Candidate, View
from incognote.languages import language

_DELIMITERS = ("|", "\t", ",")
_MOST_CELLS = 60  # a line with more cells is machine data, not a table in a note
_HEADER_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Column:
    """A column under a header: its type, the pattern of a value (group `v`), and whether it is about a person.

    A `needs_person` column counts only if the table also has a column about a person. A list of drugs may also have a
    "Name" column.
    """

    id: str
    type: str
    pattern: re.Pattern[str]
    score: float
    about_person: bool
    needs_person: bool


@cache
def columns(code: str = "en") -> dict[str, Column]:
    """Return columns by header in lower case, from a language's rules/tables.toml."""
    found: dict[str, Column] = {}
    for raw in language(code).table("rules", "tables.toml").get("column", ()):
        column = Column(
            id=f"tables.{raw['id']}",
            type=raw["type"],
            pattern=re.compile(expand(raw["pattern"], shipped_macros(code)), re.IGNORECASE),
            score=raw.get("score", 0.85),
            about_person=raw.get("about_person", False),
            needs_person=raw.get("needs_person", False),
        )
        found.update(dict.fromkeys(raw["headers"], column))
    return found


def finder(code: str = "en") -> Callable[[View], Iterator[Candidate]]:
    """Return a function that finds cells under headers that name an identifier in a language."""
    return lambda view: _found(view, columns(code))


def _found(view: View, known: Mapping[str, Column]) -> Iterator[Candidate]:
    text = view.text
    for delimiter in _DELIMITERS:
        if text.count(delimiter, 0) >= 4:
            yield from _find(text, view.line_starts, delimiter, known)


def _find(text: str, line_starts: list[int], delimiter: str, known: Mapping[str, Column]) -> Iterator[Candidate]:
    table: dict[int, Column] = {}
    for start, end in zip(line_starts, [*line_starts[1:], len(text)], strict=True):
        cells = _cells(text, start, end, delimiter)
        if len(cells) < 3 or len(cells) > _MOST_CELLS:
            table = {}
            continue
        if header := _header(text, cells, known):
            table = header
            continue
        for n, column in table.items():
            if n < len(cells) and (match := column.pattern.match(text, *cells[n])):
                yield Candidate(*match.span("v"), column.type, column.score, column.id)


def _cells(text: str, start: int, end: int, delimiter: str) -> list[tuple[int, int]]:
    """Return the start and end of each cell of a line, without the white space around it."""
    cells: list[tuple[int, int]] = []
    at = start
    while at <= end and len(cells) <= _MOST_CELLS:
        stop = text.find(delimiter, at, end)
        stop = end if stop < 0 else stop
        low, high = at, stop
        while low < high and text[low].isspace():
            low += 1
        while high > low and text[high - 1].isspace():
            high -= 1
        cells.append((low, high))
        at = stop + 1
    return cells if len(cells) > 1 else []


def _header(text: str, cells: list[tuple[int, int]], known: Mapping[str, Column]) -> dict[int, Column]:
    """Return the columns that a header line defines, or nothing if the line is not a header."""
    words = [text[low:high].lower().strip(" .:*\"'") if high - low < 40 else "" for low, high in cells]
    found = {n: known[word] for n, word in enumerate(words) if word in known}
    if not found or any(re.search(r"\d{3}|\d[/.:]\d", word) for word in words):
        return {}
    if len(found) < 2 and sum(bool(_HEADER_WORD.search(word)) for word in words) < 3:
        return {}
    if not any(column.about_person for column in found.values()):
        found = {n: column for n, column in found.items() if not column.needs_person}
    return found
