"""The reading order of words on a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import radians, tan
from statistics import median

from incognote.pages.nouns import Box, Turn, Word

GAP = 2.2
"""A gap wider than this many heights of a line ends it: the next words are another column or cell."""
GUTTER = 1.5
"""The least width of a gap between columns, in heights of a line."""
LEVEL = 0.25
"""Heights of a line by which the lines of a row may be higher or lower than each other."""


def ordered(words: Iterable[Word], size: tuple[int, int], skew: float = 0.0) -> list[Word]:
    """Return words in reading order, with lines numbered from 0.

    Rows go from top to bottom. A row is split into lines at wide gaps. Cells of a row follow each other, but columns of
    running text are read one after another. Words of a line written from right to left are in logical order. Words with
    other turns follow those of the turn that most words have.

    Args:
        words: with boxes on a page.
        size: width and height of the page.
        skew: by how many degrees its lines fall to the right.
    """
    by_turn: dict[Turn, list[Word]] = {}
    for word in words:
        by_turn.setdefault(word.turn, []).append(word)
    found: list[Word] = []
    count = 0
    for turn, group in sorted(by_turn.items(), key=lambda item: (-len(item[1]), item[0])):
        upright = [(_level(turned(word.box, turn, size), skew), word) for word in group]
        rows = [_lines(row) for row in _rows(upright)]
        for line in _columns(rows):
            found += [replace(word, line=count) for word in _logical(line)]
            count += 1
    return found


def turned(box: Box, turn: Turn, size: tuple[int, int]) -> Box:
    """Return a box on the page that is turned so that words with this turn are upright."""
    left, top, right, bottom = box
    width, height = size
    match turn:
        case 90:
            return top, width - right, bottom, width - left
        case 180:
            return width - right, height - bottom, width - left, height - top
        case 270:
            return height - bottom, left, height - top, right
    return box


def _level(box: Box, skew: float) -> Box:
    """Return a box moved up so that its line does not fall to the right."""
    left, top, right, bottom = box
    down = round((left + right) / 2 * tan(radians(skew)))
    return left, top - down, right, bottom - down


Placed = tuple[Box, Word]
Line = list[Placed]


def _rows(words: list[Placed]) -> list[list[Placed]]:
    """Return words grouped by the height at which they stand, from top to bottom, each row from left to right."""
    if not words:
        return []
    typical = median(box[3] - box[1] for box, _ in words)
    rows: list[list[Placed]] = []
    open_rows: list[list[Placed]] = []
    for box, word in sorted(words, key=lambda item: ((item[0][1] + item[0][3]), item[0][0])):
        middle, height = (box[1] + box[3]) / 2, box[3] - box[1]
        open_rows = [row for row in open_rows if max(each[3] for each, _ in row[-8:]) + 2 * typical > box[1]]
        best: tuple[float, list[Placed]] | None = None
        for row in open_rows:
            # compare with the neighbor, since a line may fall or rise slowly
            near = min((each for each, _ in row), key=lambda each: max(each[0] - box[2], box[0] - each[2]))
            if max(near[0] - box[2], box[0] - near[2]) < -0.5 * min(near[2] - near[0], box[2] - box[0]):
                continue  # one stands above the other
            lower = min(near[3], box[3]) - max(near[1], box[1])
            share = lower / min(height, near[3] - near[1])
            off = abs(middle - (near[1] + near[3]) / 2)
            if share > 0.5 and off < 0.6 * max(height, near[3] - near[1]) and (best is None or share > best[0]):
                best = share, row
        if best is None:
            rows.append([(box, word)])
            open_rows.append(rows[-1])
        else:
            best[1].append((box, word))
    for row in rows:
        row.sort(key=lambda item: item[0][0])
    rows.sort(key=lambda row: median((box[1] + box[3]) / 2 for box, _ in row))
    return rows


def _lines(row: list[Placed]) -> list[list[Placed]]:
    """Return a row split at wide gaps."""
    height = _height(row)
    lines = [[row[0]]]
    for before, item in pairwise(row):
        if item[0][0] - before[0][2] > GAP * height:
            lines.append([])
        lines[-1].append(item)
    if sum(map(_is_rtl, row)) * 2 > len(row):
        lines.reverse()
    return lines


def _columns(rows: list[list[Line]]) -> list[Line]:
    """Return the lines of rows in reading order: row by row, but independent columns one after another."""
    found: list[Line] = []
    start = 0
    while start < len(rows):
        end, split = _block(rows, start)
        block = rows[start:end]
        sides = [[line for line in row if line[0][0][0] < split] for row in block], [
            [line for line in row if line[0][0][0] >= split] for row in block
        ]
        if _are_independent(*sides):
            items = [item for row in block for line in row for item in line]
            rtl = sum(map(_is_rtl, items)) * 2 > len(items)
            for side in reversed(sides) if rtl else sides:
                found += _columns([row for row in side if row])
            start = end
        else:
            found += rows[start]
            start += 1
    return found


def _block(rows: list[list[Line]], start: int) -> tuple[int, float]:
    """Return the end of the longest run of rows with a common gap that no line crosses, and a place in the gap."""
    spans: list[tuple[float, float]] = []
    end, split = start + 1, 0.0
    for at in range(start, len(rows)):
        for line in rows[at]:
            spans = _joined(spans, line[0][0][0], line[-1][0][2], GUTTER * _height(line))
        if len(spans) > 1:
            (_, low), (high, _) = max(pairwise(spans), key=lambda pair: pair[1][0] - pair[0][1])
            end, split = at + 1, (low + high) / 2
    return end, split


def _joined(
    spans: list[tuple[float, float]], left: float, right: float, gap: float
) -> list[tuple[float, float]]:
    """Return stretches from left to right with one more; those that are nearer to it than a gap are one with it."""
    found = []
    for low, high in spans:
        if low - right < gap and left - high < gap:
            left, right = min(left, low), max(right, high)
        else:
            found.append((low, high))
    return sorted([*found, (left, right)])


def _are_independent(left: list[list[Line]], right: list[list[Line]]) -> bool:
    """Whether two columns are not the cells of one table: both are running text, or most lines are at other heights."""
    least = min(sum(map(bool, left)), sum(map(bool, right)))
    if least < 3:
        return False
    if all(median(len(line) for row in side for line in row) >= 4 for side in (left, right)):
        return True
    level = sum(_is_level(one[-1], two[0]) for one, two in zip(left, right, strict=True) if one and two)
    return least >= 4 and level < 0.5 * least


def _is_level(one: Line, two: Line) -> bool:
    """Whether two lines stand at the same height."""
    (_, top, _, bottom), (_, other_top, _, other_bottom) = one[-1][0], two[0][0]
    return abs(bottom - other_bottom) < LEVEL * _height(one) or abs(top - other_top) < LEVEL * _height(one)


def _height(line: Line) -> float:
    return median(box[3] - box[1] for box, _ in line)


def _is_rtl(item: Placed) -> bool:
    return item[1].is_rtl


def _logical(line: Sequence[Placed]) -> list[Word]:
    """Return the words of a line from left to right, or, if most letters are of a script from right to left, in
    logical order."""
    words = [word for _, word in line]
    strong = [unicodedata.bidirectional(letter) for word in words for letter in word.text]
    if sum(kind in ("R", "AL") for kind in strong) <= sum(kind == "L" for kind in strong):
        return words
    found: list[Word] = []
    for word in reversed(words):
        found.append(word)
    # runs of words from left to right within the line keep their order
    at = 0
    while at < len(found):
        end = at
        while end < len(found) and _is_ltr(found[end]):
            end += 1
        found[at:end] = reversed(found[at:end])
        at = max(end, at + 1)
    return found


def _is_ltr(word: Word) -> bool:
    return any(unicodedata.bidirectional(letter) == "L" for letter in word.text)
