"""What separates the segments of a PDF page: a space, a tab between cells, a line break, or nothing.

A line goes on in the next one if it is as full as the other lines of its column, so that the next word had no room.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import inf

from incognote.formats.pdf.columns import (
    APART,
    DOWN,
    STARTS,
    LinePart,
    LineSegment,
    PagePiece,
    are_alike,
    distance,
    is_below,
    is_full,
    set_edges,
    units_of,
    usual_down,
)
from incognote.text.lexicon import is_common

# In units of the font size.
_CELL = 1.05  # the narrowest gap between cells of a table
_EVEN = 12.0  # the widest gap after a space in a line with even margins
_LEVEL = 0.5  # the most that a part of a line is above or below the one before
_LINE = 0.9  # less than the distance of two lines
_MIDDLE = 2.5  # the most that a cell is above the one before it that is beside its middle or last line
_ROW = 5.0  # the most that a cell is above the one before it in its row
_FIRST = 0.8  # the least that the first line of a paragraph is indented

_WIDER = 3.0  # the gap between sentences, in the widest one between words of a line with even margins
_MOST = 300  # segments above and below that are compared
_ROWS = 3  # the fewest rows of a column of cells that nothing crosses

_BULLET = re.compile(r"[•·▪◦●○■□✓*–-]\s")
_NUMBERED = re.compile(r"\(?\d{1,2}[.)]\s")
_LABEL = re.compile(r"[A-Z][\w&/()'’-]*(?: [\w&/()'’-]+){0,4} ?:(?:\s|$)")
_STOP = re.compile(r"[.!?:;]\s*$")
_SENTENCE = re.compile(r"(?:[^\W\d_]{5}|[\d)\]%+]|\.[A-Za-z])[.!?]\s*$")  # and not a title before a name

_COMPOUNDS = frozenset(
    "adjusted based born controlled dependent dose educated for free handed handled induced level old out positive "
    "related resistant speaking spoken the to trained treatment trimester up year years".split()
)
"""Second parts of compounds, such as year-old."""


def separators(pieces: Sequence[PagePiece]) -> list[str]:
    """Return what separates each piece from the one after it."""
    if not pieces:
        return []
    found = _in_lines(pieces)
    units = list(units_of(pieces, found))
    usual = usual_down(units)
    set_edges(units, usual)
    at = -1
    for number, (one, two) in enumerate(pairwise(units)):
        at += len(one.pieces)
        if one.line != two.line:
            found[at] = _between(units, number, usual)
    return found


def _in_lines(pieces: Sequence[PagePiece]) -> list[str]:
    """Return what separates pieces that are side by side, and a line break for all others."""
    ranked = _ranked(pieces)
    rows = _rises(pieces)
    found = []
    for number, (one, two) in enumerate(pairwise(pieces)):
        size = max(one.size, two.size)
        if one.segment.angle != two.segment.angle or abs(one.level - two.level) >= _LEVEL * size:
            found.append("\t" if number in rows else "\n")
            continue
        gap = max(two.segment.start - one.segment.end, one.segment.start - two.segment.end) / size
        follows = one.segment.glyphs[-1] + 1 == two.segment.glyphs[0]
        is_even = follows and gap * size < _WIDER * max(one.space, two.space)
        if gap < -_LEVEL:
            found.append("\n")
        elif one.text[-1] == " " and follows and gap < _EVEN:
            found.append("")
        elif (gap > _CELL and not is_even) or _is_cell(*ranked[two.segment.angle], two.segment):
            found.append("\t")
        else:
            found.append("" if one.text[-1] == " " else " ")
    return found


def _ranked(pieces: Sequence[PagePiece]) -> dict[int, tuple[list[float], list[LineSegment]]]:
    """Return the segments of each angle from the highest to the lowest, after their levels with the other sign."""
    found: dict[int, tuple[list[float], list[LineSegment]]] = {}
    for piece in sorted(pieces, key=lambda each: -each.level):
        levels, segments = found.setdefault(piece.segment.angle, ([], []))
        levels.append(-piece.level)
        segments.append(piece.segment)
    return found


def _is_cell(levels: list[float], segments: list[LineSegment], segment: LineSegment) -> bool:
    """Whether lines around a segment begin a part where it does, and none of their words are there."""
    near, at = 3 * DOWN * segment.size, bisect_left(levels, -segment.level)
    low, high = bisect_left(levels, -segment.level - near), bisect_right(levels, -segment.level + near)
    low, high = max(low, at - _MOST), min(high, at + _MOST)
    rows = set()
    for each in segments[low:high]:
        if abs(each.start - segment.start) < 1:
            rows.add(round(each.level))
        elif each.start < segment.start < each.end:
            return False
    return len(rows) >= _ROWS


def _rises(pieces: Sequence[PagePiece]) -> set[int]:
    """Return where a cell follows one that is lower, because cells of a row have several lines."""
    found: dict[tuple[int, int], list[int]] = {}
    small: set[int] = set()
    for number, (one, two) in enumerate(pairwise(pieces)):
        up = (two.level - one.level) / max(one.size, two.size)
        if one.segment.angle == two.segment.angle and _LEVEL <= up < _ROW and one.end < two.start:
            found.setdefault((two.segment.angle, round(two.start)), []).append(number)
            below = (each for each in pieces[number + 2 : number + 4] if abs(each.start - two.start) < 1)
            if up < _LINE or (up < _MIDDLE and any(each.level < one.level + 1 for each in below)):
                small.add(number)
    return small | {number for numbers in found.values() if len(numbers) > 1 for number in numbers}


def _between(units: Sequence[LinePart], number: int, usual: dict[int, float]) -> str:
    """Return what separates two lines: a line break, a space, or nothing after a hyphen."""
    one, two = units[number], units[number + 1]
    begin = next(i for i in range(number, -1, -1) if i == 0 or units[i - 1].line != one.line)
    head = units[begin]
    cells = number - begin
    is_cell = abs(one.start - two.start) < _LEVEL * one.size and (cells > 0 or one.is_cell)
    two.is_cell = is_cell
    after = units[number + 2] if number + 2 < len(units) and units[number + 2].line != two.line else None
    if _is_next_column(one, two, after):
        return " " if one.text[-1] != " " else ""
    if not is_cell and (cells > 1 or not is_below(head, two)):
        return "\n"
    down = distance(one, two)
    if not 0 < down < DOWN or one.first.segment.angle != two.first.segment.angle:
        return "\n"
    left, right = one.text, two.text
    if left[-1] in "-\xad" and left[-2:-1].isalnum() and right[0].isalnum():
        return ""
    if (
        not are_alike(one, two)
        or down > APART * min(usual.get(round(two.size), inf), _near_down(units, number))
        or _BULLET.match(right)
        or (_NUMBERED.match(right) and (_STOP.search(left) or _NUMBERED.match(left)))
        or (_LABEL.match(right) and (_SENTENCE.search(left) or _LABEL.match(left) or not one.is_text))
        or _is_indented(one if is_cell else head, two, after)
    ):
        return "\n"
    return (" " if left[-1] != " " else "") if _goes_on(units, number, is_cell=is_cell) else "\n"


def _goes_on(units: Sequence[LinePart], number: int, *, is_cell: bool) -> bool:
    """Whether a line had no room for the first word of the next one.

    Args:
        is_cell: whether it is in a cell that is not the first one of its row.
    """
    one, two = units[number], units[number + 1]
    left, right = one.text, two.text
    after = units[number + 2] if number + 2 < len(units) and units[number + 2].line == two.line else None
    if after is not None and one.end > after.start:
        return False
    column = two if two.edge < inf and abs(one.start - two.start) > STARTS else one
    edge = column.edge if after is None else min(column.edge, after.start - one.size)
    full = edge < inf and is_full(one, two, edge)
    if is_cell or after is not None:
        return full or left[-1] in ", " or right[0].islower() or (is_cell and not _STOP.search(left))
    if edge < inf:
        return full and not (_STOP.search(left) and not column.is_text)
    return left.rstrip()[-1:] == "," and not right[0].isupper()


def _is_next_column(one: LinePart, two: LinePart, after: LinePart | None) -> bool:
    """Whether the first line of a column goes on from the last one of the column before it."""
    if after is not None and two.start - after.start > _FIRST * two.size and not _BULLET.match(after.text):
        return False
    return (
        one.is_text and two.is_text and one.end < two.start and distance(one, two) < -DOWN and are_alike(one, two)
        and is_full(one, two, one.edge) and not _STOP.search(one.text)
    )  # fmt: skip


def _near_down(units: Sequence[LinePart], number: int) -> float:
    """Return the smaller distance of the lines before and after two lines, or infinity."""
    found = inf
    for i in (number - 1, number + 1):
        if 0 <= i < len(units) - 1 and units[i].line != units[i + 1].line:
            one, two = units[i], units[i + 1]
            if is_below(one, two) and are_alike(one, two):
                found = min(found, distance(one, two))
    return found


def _is_indented(one: LinePart, two: LinePart, after: LinePart | None) -> bool:
    """Whether a line is the first of a paragraph, and the one after it begins farther out."""
    least = _FIRST * two.size
    if _BULLET.match(one.text) or _NUMBERED.match(one.text):
        return False
    return two.start - one.start > least and after is not None and two.start - after.start > least


def is_division(left: str, right: str) -> bool:
    """Whether a line ends with the hyphen of a word that goes on in small letters, and not with that of a compound.

    The hyphen after `ty` stays, because it can be that of a number such as sixty-seven. So does one after capitals,
    unless both parts are the capitals of one common word.
    """
    word, end = left.split()[-1][:-1], left[-3:-1]
    [first] = re.findall(r"\A[^\W\d_]*", right)
    is_one = end.isalpha() and end != "ty" and "-" not in word and not word.isupper() and first not in _COMPOUNDS
    if left[-1] == "-" and word.isupper() and len(word) > 1 and first.isupper() and first.lower() not in _COMPOUNDS:
        return is_common((word + first).lower())
    return left[-1] == "\xad" or (left[-1] == "-" and is_one and right[0].islower())
